/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a learned table, byte by byte: nothing here depends on the machine.
 */
#include "base/checksum.h"
#include "base/fail.h"
#include "policies/learned_table_parts.h"

static const unsigned char magic[8] = {'d', 'y', 'n', 's', 'e', 'l', 'L', 'T'};

enum { CRC_AT = DYNSEL_LEARNED_HEAD_BYTES - 4 };

/* The largest amount, as in points. */
#define MOST_AMOUNT (dynsel_compact(UINT64_MAX) + 1)

void dynsel_learned_take_device(dynsel_learned_reader *reader, dynsel_learned_device *device)
{
    dynsel_learned_take_bytes(reader, device->backend, sizeof device->backend);
    dynsel_learned_take_bytes(reader, device->vendor, sizeof device->vendor);
    dynsel_learned_take_bytes(reader, device->name, sizeof device->name);
    dynsel_learned_take_bytes(reader, device->driver, sizeof device->driver);
    device->whole = (uint32_t)dynsel_learned_take(reader, 4);
    device->worth = (int32_t)(uint32_t)dynsel_learned_take(reader, 4);
    device->shortest_ns = (uint32_t)dynsel_learned_take(reader, 4);
    device->copy_rate = (uint32_t)dynsel_learned_take(reader, 4);
    device->latency = (uint32_t)dynsel_learned_take(reader, 4);
    device->submit = (uint32_t)dynsel_learned_take(reader, 4);
    for (uint32_t i = 0; i < DYNSEL_FINISH_SCALES; i++) {
        device->speeds[i].slowness = (int32_t)(uint32_t)dynsel_learned_take(reader, 4);
        device->speeds[i].spread = (uint32_t)dynsel_learned_take(reader, 4);
        device->speeds[i].measured = (uint32_t)dynsel_learned_take(reader, 4);
    }
    device->first_start_ns = (uint32_t)dynsel_learned_take(reader, 4);
}

void dynsel_learned_put_device(dynsel_learned_writer *writer, const dynsel_learned_device *device)
{
    dynsel_learned_put_bytes(writer, device->backend, sizeof device->backend);
    dynsel_learned_put_bytes(writer, device->vendor, sizeof device->vendor);
    dynsel_learned_put_bytes(writer, device->name, sizeof device->name);
    dynsel_learned_put_bytes(writer, device->driver, sizeof device->driver);
    dynsel_learned_put(writer, device->whole, 4);
    dynsel_learned_put(writer, (uint32_t)device->worth, 4);
    dynsel_learned_put(writer, device->shortest_ns, 4);
    dynsel_learned_put(writer, device->copy_rate, 4);
    dynsel_learned_put(writer, device->latency, 4);
    dynsel_learned_put(writer, device->submit, 4);
    for (uint32_t i = 0; i < DYNSEL_FINISH_SCALES; i++) {
        dynsel_learned_put(writer, (uint32_t)device->speeds[i].slowness, 4);
        dynsel_learned_put(writer, device->speeds[i].spread, 4);
        dynsel_learned_put(writer, device->speeds[i].measured, 4);
    }
    dynsel_learned_put(writer, device->first_start_ns, 4);
}

void dynsel_learned_take_kind(dynsel_learned_reader *reader, const dynsel_learned_head *head,
                              dynsel_learned_kind *kind)
{
    kind->id = (uint32_t)dynsel_learned_take(reader, 4);
    kind->key_word_count = (uint32_t)dynsel_learned_take(reader, 1);
    const uint64_t reserved = dynsel_learned_take(reader, 1);
    kind->times = (uint32_t)dynsel_learned_take(reader, 2);
    kind->aspects = dynsel_learned_take(reader, 8);
    kind->smallest = (uint32_t)dynsel_learned_take(reader, 4);
    const bool has_other_aspects =
        head->aspects < DYNSEL_LEARNED_MOST_ASPECTS && kind->aspects >> (head->aspects & 63u) != 0;
    if (kind->id == 0 || kind->key_word_count > DYNSEL_LEARNED_MOST_KEY_WORDS || reserved != 0 ||
        kind->times > head->devices || has_other_aspects) {
        dynsel_learned_is_wrong(reader, DYNSEL_TEXT("a kind of task is out of its bounds"));
        kind->key_word_count = 0;
        kind->times = 0;
    }
    for (uint32_t i = 0; i < kind->key_word_count; i++) {
        kind->key_words[i] = (uint32_t)dynsel_learned_take(reader, 4);
    }
}

void dynsel_learned_put_kind(dynsel_learned_writer *writer, const dynsel_learned_kind *kind)
{
    dynsel_learned_put(writer, kind->id, 4);
    dynsel_learned_put(writer, kind->key_word_count, 1);
    dynsel_learned_put(writer, 0, 1);
    dynsel_learned_put(writer, kind->times, 2);
    dynsel_learned_put(writer, kind->aspects, 8);
    dynsel_learned_put(writer, kind->smallest, 4);
    for (uint32_t i = 0; i < kind->key_word_count; i++) {
        dynsel_learned_put(writer, kind->key_words[i], 4);
    }
}

/* Times may be any: who uses them limits them. */
void dynsel_learned_take_times(dynsel_learned_reader *reader, const dynsel_learned_head *head,
                               dynsel_learned_times *times)
{
    times->device = (uint32_t)dynsel_learned_take(reader, 2);
    times->samples = (uint32_t)dynsel_learned_take(reader, 1);
    times->count = (uint32_t)dynsel_learned_take(reader, 1);
    times->error = (uint32_t)dynsel_learned_take(reader, 2);
    const uint64_t reserved = dynsel_learned_take(reader, 2);
    times->readback = (uint32_t)dynsel_learned_take(reader, 4);
    if (times->device >= head->devices || times->samples == 0 || times->count == 0 ||
        times->count > DYNSEL_LEARNED_MOST_POINTS || reserved != 0) {
        dynsel_learned_is_wrong(reader, DYNSEL_TEXT("times of a kind are out of their bounds"));
        times->count = 0;
    }
    for (uint32_t i = 0; i < times->count; i++) {
        const uint32_t amount = (uint32_t)dynsel_learned_take(reader, 4);
        times->points[i].time = (uint32_t)dynsel_learned_take(reader, 4);
        times->points[i].samples = (uint32_t)dynsel_learned_take(reader, 1);
        if (amount >= MOST_AMOUNT || times->points[i].samples == 0) {
            dynsel_learned_is_wrong(reader, DYNSEL_TEXT("a time of a kind is out of its bounds"));
        }
        times->points[i].amount = amount + 1;
    }
}

void dynsel_learned_put_times(dynsel_learned_writer *writer, const dynsel_learned_times *times)
{
    dynsel_learned_put(writer, times->device, 2);
    dynsel_learned_put(writer, times->samples, 1);
    dynsel_learned_put(writer, times->count, 1);
    dynsel_learned_put(writer, times->error, 2);
    dynsel_learned_put(writer, 0, 2);
    dynsel_learned_put(writer, times->readback, 4);
    for (uint32_t i = 0; i < times->count; i++) {
        dynsel_learned_put(writer, times->points[i].amount - 1, 4);
        dynsel_learned_put(writer, times->points[i].time, 4);
        dynsel_learned_put(writer, times->points[i].samples, 1);
    }
}

static unsigned char *pack(unsigned char *to, uint32_t number, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(number >> 8 * i);
    }
    return to + bytes;
}

static uint32_t unpack(const unsigned char **from, uint32_t bytes)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        number |= (uint32_t)(*from)[i] << 8 * i;
    }
    *from += bytes;
    return number;
}

void dynsel_learned_pack_head(const dynsel_learned_head *head, unsigned char *head_bytes)
{
    (void)__builtin_memcpy(head_bytes, magic, sizeof magic);
    unsigned char *to = head_bytes + sizeof magic;
    to = pack(to, DYNSEL_LEARNED_VERSION, 2);
    to = pack(to, head->body_at, 2);
    to = pack(to, head->bytes, 4);
    to = pack(to, head->generation, 4);
    to = pack(to, head->devices, 2);
    to = pack(to, head->aspects, 2);
    to = pack(to, head->kinds, 4);
    to = pack(to, 0, 4);
    to = pack(to, head->body_crc, 4);
    (void)pack(to, dynsel_crc32(0, head_bytes, CRC_AT), 4);
}

static dynsel_learned_fault wrong(dynsel_status status, const char *detail, uint32_t number)
{
    return (dynsel_learned_fault){.status = status, .number = number, .detail = detail};
}

/* The version comes before the checksum: another version may have another head. */
dynsel_learned_fault dynsel_learned_unpack_head(const unsigned char *head_bytes,
                                                dynsel_learned_head *head)
{
    if (__builtin_memcmp(head_bytes, magic, sizeof magic) != 0) {
        return wrong(DYNSEL_E_INVALID, DYNSEL_TEXT("the store holds no learned table"), 0);
    }
    const unsigned char *from = head_bytes + sizeof magic;
    const uint32_t version = unpack(&from, 2);
    if (version != DYNSEL_LEARNED_VERSION) {
        return wrong(DYNSEL_E_UNSUPPORTED,
                     DYNSEL_TEXT("the table is of version {}, this library reads version 2: learn "
                                 "anew, or use the library that wrote it"),
                     version);
    }
    head->body_at = unpack(&from, 2);
    head->bytes = unpack(&from, 4);
    head->generation = unpack(&from, 4);
    head->devices = unpack(&from, 2);
    head->aspects = unpack(&from, 2);
    head->kinds = unpack(&from, 4);
    const uint32_t reserved = unpack(&from, 4);
    head->body_crc = unpack(&from, 4);
    if (unpack(&from, 4) != dynsel_crc32(0, head_bytes, CRC_AT)) {
        return wrong(DYNSEL_E_INVALID, DYNSEL_TEXT("the head of the table is damaged"), 0);
    }
    if (head->body_at < DYNSEL_LEARNED_HEAD_BYTES || head->body_at > DYNSEL_LEARNED_MOST_ALIGN ||
        head->bytes < head->body_at || head->aspects > DYNSEL_LEARNED_MOST_ASPECTS ||
        reserved != 0) {
        return wrong(DYNSEL_E_INVALID, DYNSEL_TEXT("the head of the table is out of its bounds"),
                     0);
    }
    return wrong(DYNSEL_OK, NULL, 0);
}
