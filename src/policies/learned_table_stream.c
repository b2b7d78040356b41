/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of bytes from and to a store, with their checksum. */
#include "base/checksum.h"
#include "base/fail.h"
#include "policies/learned_table_parts.h"

void dynsel_learned_read_from(dynsel_learned_reader *reader, const dynsel_learned_store *store,
                              size_t at, size_t bytes)
{
    reader->store = store;
    reader->at = at;
    reader->left = bytes;
    reader->crc = 0;
    reader->taken = 0;
    reader->fetched = 0;
    reader->fault = (dynsel_learned_fault){.status = DYNSEL_OK};
}

void dynsel_learned_is_wrong(dynsel_learned_reader *reader, const char *detail)
{
    if (dynsel_learned_is_good(reader)) {
        reader->fault = (dynsel_learned_fault){.status = DYNSEL_E_INVALID, .detail = detail};
    }
}

static void fetch(dynsel_learned_reader *reader)
{
    const size_t count = reader->left < sizeof reader->bytes ? reader->left : sizeof reader->bytes;
    if (count == 0) {
        dynsel_learned_is_wrong(reader, DYNSEL_TEXT("the table ends within a record"));
        return;
    }
    const dynsel_status status =
        reader->store->read(reader->store->context, reader->at, reader->bytes, count);
    if (status != DYNSEL_OK) {
        reader->fault = (dynsel_learned_fault){
            .status = status, .detail = DYNSEL_TEXT("the store's read operation failed")};
        return;
    }
    reader->crc = dynsel_crc32(reader->crc, reader->bytes, count);
    reader->at += count;
    reader->left -= count;
    reader->taken = 0;
    reader->fetched = (uint32_t)count;
}

static unsigned char take_byte(dynsel_learned_reader *reader)
{
    if (dynsel_learned_is_good(reader) && reader->taken == reader->fetched) {
        fetch(reader);
    }
    return dynsel_learned_is_good(reader) ? reader->bytes[reader->taken++] : 0;
}

void dynsel_learned_take_bytes(dynsel_learned_reader *reader, void *bytes, size_t count)
{
    unsigned char *to = bytes;
    for (size_t i = 0; i < count; i++) {
        to[i] = take_byte(reader);
    }
}

uint64_t dynsel_learned_take(dynsel_learned_reader *reader, uint32_t bytes)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        number |= (uint64_t)take_byte(reader) << 8 * i;
    }
    return number;
}

void dynsel_learned_skip(dynsel_learned_reader *reader, size_t count)
{
    for (size_t i = 0; i < count && dynsel_learned_is_good(reader); i++) {
        (void)take_byte(reader);
    }
}

static void write_out(dynsel_learned_writer *writer, size_t count)
{
    if (writer->status == DYNSEL_OK) {
        writer->status =
            writer->store->write(writer->store->context, writer->at, writer->bytes, count);
    }
    writer->at += count;
    writer->filled = 0;
}

void dynsel_learned_put_bytes(dynsel_learned_writer *writer, const void *bytes, size_t count)
{
    const unsigned char *from = bytes;
    writer->crc = dynsel_crc32(writer->crc, from, count);
    for (size_t i = 0; i < count; i++) {
        writer->bytes[writer->filled++] = from[i];
        if (writer->filled == sizeof writer->bytes) {
            write_out(writer, sizeof writer->bytes);
        }
    }
}

void dynsel_learned_put(dynsel_learned_writer *writer, uint64_t number, uint32_t bytes)
{
    unsigned char low_first[8];
    for (uint32_t i = 0; i < bytes; i++) {
        low_first[i] = (unsigned char)(number >> 8 * i);
    }
    dynsel_learned_put_bytes(writer, low_first, bytes);
}

void dynsel_learned_flush(dynsel_learned_writer *writer)
{
    const size_t align = writer->store->align;
    const size_t count = (writer->filled + align - 1) / align * align;
    if (count != 0) {
        (void)__builtin_memset(writer->bytes + writer->filled, 0, count - writer->filled);
        write_out(writer, count);
    }
}
