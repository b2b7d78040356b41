/* SPDX-License-Identifier: Apache-2.0 */
#include "support/traced.h"

#include <string.h>

traced_file traced;

#if CONFIG_DYNSEL_TRACE_TO_HOOK

static bool is_read;

void dynsel_trace_hook(const dynsel_trace_record *record)
{
    if (traced.count < TRACED_RECORDS) {
        traced.records[traced.count++] = *record;
    }
}

void traced_begin(void)
{
    memset(&traced, 0, sizeof traced);
    is_read = false;
    assert_status(DYNSEL_OK, dynsel_trace_start(NULL, 0));
}

void traced_end(void)
{
    assert_status(DYNSEL_OK, dynsel_trace_stop());
    traced_read();
}

void traced_read(void)
{
    traced.rings[0] = (traced_ring){.written = traced.count, .count = traced.count};
    traced.ring_count = 1;
    assert_true(traced.count < TRACED_RECORDS);
}

#else

enum {
    ORDER = 0x01020304,
    FILE_HEAD = 64,
    RING_HEAD = 32,
    FILE_CRC = 60, /* where they stand in the heads */
    RECORDS_CRC = 24,
    RING_CRC = 28,
    FILE_BYTES = FILE_HEAD + TRACED_RINGS * RING_HEAD + TRACED_RECORDS * 32
};

static dynsel_trace_record memory[TRACED_RECORDS];
static unsigned char file[FILE_BYTES];
static size_t file_bytes;

/* IEEE 802.3, a bit at a time. */
static uint32_t crc_of(const unsigned char *bytes, size_t count)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
        }
    }
    return ~crc;
}

static uint32_t word_at(size_t offset)
{
    uint32_t word = 0;
    assert_true(offset + sizeof word <= file_bytes);
    memcpy(&word, &file[offset], sizeof word);
    return word;
}

static uint64_t long_at(size_t offset)
{
    uint64_t number = 0;
    assert_true(offset + sizeof number <= file_bytes);
    memcpy(&number, &file[offset], sizeof number);
    return number;
}

static dynsel_status append(void *context, const void *bytes, size_t count)
{
    (void)context;
    assert_true(count <= sizeof file - file_bytes);
    memcpy(&file[file_bytes], bytes, count);
    file_bytes += count;
    return DYNSEL_OK;
}

/* Returns where the next one begins. */
static size_t read_ring(size_t at, uint32_t number)
{
    const uint64_t written = long_at(at + 8);
    const uint32_t count = (uint32_t)long_at(at + 16);
    assert_int_equal(word_at(at), ORDER);
    assert_int_equal(word_at(at + 4), number);
    assert_int_equal(word_at(at + RING_CRC), crc_of(&file[at], RING_CRC));
    assert_true(count <= written && count <= TRACED_RECORDS - traced.count);
    const size_t bytes = count * sizeof(dynsel_trace_record);
    assert_true(at + RING_HEAD + bytes <= file_bytes);
    assert_int_equal(word_at(at + RECORDS_CRC), crc_of(&file[at + RING_HEAD], bytes));
    traced.rings[number] = (traced_ring){.written = written, .first = traced.count, .count = count};
    memcpy(&traced.records[traced.count], &file[at + RING_HEAD], bytes);
    traced.count += count;
    return at + RING_HEAD + bytes;
}

void traced_read(void)
{
    memset(&traced, 0, sizeof traced);
    file_bytes = 0;
    assert_status(DYNSEL_OK, dynsel_trace_write(append, NULL));
    assert_memory_equal(file, "dynselTR", 8);
    assert_int_equal(word_at(8), ORDER);
    assert_int_equal(word_at(FILE_CRC), crc_of(file, FILE_CRC));
    uint16_t halves[2];
    memcpy(halves, &file[12], sizeof halves);
    assert_int_equal(halves[0], 1); /* the version */
    assert_int_equal(halves[1], sizeof(dynsel_trace_record));
    traced.first_ticks = long_at(16);
    traced.first_ns = long_at(24);
    traced.last_ticks = long_at(32);
    traced.last_ns = long_at(40);
    traced.ring_count = word_at(52);
    assert_int_equal(traced.ring_count, CONFIG_DYNSEL_TRACE_THREADS + 1);
    size_t at = FILE_HEAD;
    for (uint32_t i = 0; i < traced.ring_count; i++) {
        at = read_ring(at, i);
    }
    assert_int_equal(at, file_bytes);
}

void traced_begin(void)
{
    assert_status(DYNSEL_OK, dynsel_trace_start(memory, TRACED_RECORDS));
}

void traced_end(void)
{
    assert_status(DYNSEL_OK, dynsel_trace_stop());
    traced_read();
}

#endif

static bool is_of(const dynsel_trace_record *record, dynsel_trace_event event, uint32_t piece)
{
    return record->event == event && (piece == 0 || record->piece == piece);
}

const dynsel_trace_record *traced_find(dynsel_trace_event event, uint32_t piece, uint32_t n)
{
    for (uint32_t i = 0; i < traced.count; i++) {
        if (is_of(&traced.records[i], event, piece) && n-- == 0) {
            return &traced.records[i];
        }
    }
    return NULL;
}

uint32_t traced_count(dynsel_trace_event event, uint32_t piece)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < traced.count; i++) {
        count += is_of(&traced.records[i], event, piece) ? 1 : 0;
    }
    return count;
}

static bool is_of_life(uint8_t event)
{
    return event == DYNSEL_TRACE_CHOICE || event == DYNSEL_TRACE_START ||
           event == DYNSEL_TRACE_RAN || event == DYNSEL_TRACE_END ||
           event == DYNSEL_TRACE_REFUSED || event == DYNSEL_TRACE_WAIT;
}

void traced_check_life(uint32_t piece, const dynsel_trace_event *events)
{
    uint64_t ticks = 0;
    for (uint32_t i = 0; i < traced.count; i++) {
        const dynsel_trace_record *record = &traced.records[i];
        if (record->piece == piece && is_of_life(record->event)) {
            assert_int_equal(record->event, *events);
            assert_true(record->ticks >= ticks);
            ticks = record->ticks;
            events++;
        }
    }
    assert_int_equal(*events, 0);
}

const char *traced_name(dynsel_trace_event event, uint32_t piece, uint16_t policy)
{
    static char text[3 * sizeof(((dynsel_trace_record *)NULL)->words) + 1];
    size_t length = 0;
    memset(text, 0, sizeof text);
    for (uint32_t i = 0; i < traced.count && length + 1 < sizeof text; i++) {
        const dynsel_trace_record *record = &traced.records[i];
        if (record->event == event && record->piece == piece && record->policy == policy) {
            assert_int_equal(record->resource, length / sizeof record->words);
            memcpy(&text[length], record->words, sizeof record->words);
            length += sizeof record->words;
        }
    }
    return text;
}
