/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of bytes from and to a store, with their checksum: the CRC-32 of IEEE 802.3, as zlib and
 * PNG have it.
 */
#include "base/fail.h"
#include "policies/learned_table_parts.h"

uint32_t dynsel_learned_crc(uint32_t before, const unsigned char *bytes, size_t count)
{
    static const uint32_t of_four_bits[16] = {0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu,
                                              0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
                                              0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
                                              0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
    uint32_t crc = ~before;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ of_four_bits[crc & 15];
        crc = crc >> 4 ^ of_four_bits[crc & 15];
    }
    return ~crc;
}

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
    reader->crc = dynsel_learned_crc(reader->crc, reader->bytes, count);
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
    writer->crc = dynsel_learned_crc(writer->crc, from, count);
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
