/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a trace: a head, and for each ring its head and its records, the oldest first. All
 * numbers are as the machine has them; the heads tell the order of their bytes. */
#include "base/checksum.h"
#include "base/fail.h"
#include "port/context.h"
#include "trace/rings.h"
#include "trace/trace.h"

#define ORDER 0x01020304u /* as a number of the machine */

enum { VERSION = 1 };

typedef struct file_head {
    char magic[8];
    uint32_t order;
    uint16_t version;
    uint16_t record_bytes;
    uint64_t first_ticks;
    uint64_t first_ns;
    uint64_t last_ticks;
    uint64_t last_ns;
    uint32_t error_ns;
    uint32_t rings;
    uint32_t unused;
    uint32_t crc; /* of what stands before it */
} file_head;

typedef struct ring_head {
    uint32_t order;
    uint32_t number;  /* 0: the names */
    uint64_t written; /* records, also those that are lost */
    uint64_t count;   /* that follow */
    uint32_t records_crc;
    uint32_t crc; /* of what stands before it */
} ring_head;

_Static_assert(sizeof(file_head) == 64 && sizeof(ring_head) == 32,
               "the format of doc/trace.md has heads of these sizes, without padding");

typedef struct output {
    dynsel_status (*write)(void *context, const void *bytes, size_t count);
    void *context;
} output;

/* How many records are in a ring, and where the oldest is. */
typedef struct extent {
    uint64_t written;
    uint32_t count;
    uint32_t oldest;
} extent;

static bool counts_up(uint32_t number)
{
    return number == 0 || (CONFIG_DYNSEL_CONTEXT_THREADS && number == CONFIG_DYNSEL_TRACE_THREADS);
}

static extent extent_of(uint32_t number)
{
    const dynsel_trace_ring *const ring = dynsel_trace_ring_at(number);
    const uint32_t next = dynsel_word_load_acquire(&ring->next);
    const uint32_t laps = dynsel_word_load_relaxed(&ring->laps);
    extent found = {.written = counts_up(number) ? (uint64_t)laps << 32 | next
                                                 : (uint64_t)laps * ring->room + next};
    found.count = found.written < ring->room ? (uint32_t)found.written : ring->room;
    found.oldest = number != 0 && found.count == ring->room ? next % ring->room : 0;
    return found;
}

static uint32_t crc_of(const dynsel_trace_ring *ring, const extent *of)
{
    const uint32_t first =
        ring->room - of->oldest < of->count ? ring->room - of->oldest : of->count;
    const uint32_t crc = dynsel_crc32(0, (const unsigned char *)&ring->records[of->oldest],
                                      first * sizeof(dynsel_trace_record));
    return dynsel_crc32(crc, (const unsigned char *)ring->records,
                        (of->count - first) * sizeof(dynsel_trace_record));
}

static dynsel_status write_ring(const output *to, uint32_t number)
{
    const dynsel_trace_ring *const ring = dynsel_trace_ring_at(number);
    const extent of = extent_of(number);
    const uint32_t first = ring->room - of.oldest < of.count ? ring->room - of.oldest : of.count;
    ring_head head = {.order = ORDER,
                      .number = number,
                      .written = of.written,
                      .count = of.count,
                      .records_crc = crc_of(ring, &of)};
    head.crc = dynsel_crc32(0, (const unsigned char *)&head, sizeof head - sizeof head.crc);
    dynsel_status status = to->write(to->context, &head, sizeof head);
    if (status == DYNSEL_OK && first != 0) {
        status =
            to->write(to->context, &ring->records[of.oldest], first * sizeof(dynsel_trace_record));
    }
    if (status == DYNSEL_OK && of.count != first) {
        status =
            to->write(to->context, ring->records, (of.count - first) * sizeof(dynsel_trace_record));
    }
    return status;
}

/* There is a trace that can be read. */
static bool is_stopped(void)
{
    return dynsel_trace_ring_at(0)->records != NULL && !dynsel_trace_is_on();
}

uint64_t dynsel_trace_lost(void)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < DYNSEL_TRACE_RINGS && is_stopped(); i++) {
        const extent of = extent_of(i);
        lost += of.written - of.count;
    }
    return lost;
}

dynsel_status dynsel_trace_write(dynsel_status (*write)(void *context, const void *bytes,
                                                        size_t count),
                                 void *context)
{
    const dynsel_trace_memory *const held = &dynsel_trace_held;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (write == NULL || !is_stopped()) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID,
                           "write is NULL, or no trace was stopped: call dynsel_trace_stop()");
    }
    file_head head = {.magic = {'d', 'y', 'n', 's', 'e', 'l', 'T', 'R'},
                      .order = ORDER,
                      .version = VERSION,
                      .record_bytes = sizeof(dynsel_trace_record),
                      .first_ticks = held->first.ticks,
                      .first_ns = held->first.ns,
                      .last_ticks = held->last.ticks,
                      .last_ns = held->last.ns,
                      .error_ns = held->first.error_ns > held->last.error_ns ? held->first.error_ns
                                                                             : held->last.error_ns,
                      .rings = DYNSEL_TRACE_RINGS};
    head.crc = dynsel_crc32(0, (const unsigned char *)&head, sizeof head - sizeof head.crc);
    const output to = {.write = write, .context = context};
    dynsel_status status = write(context, &head, sizeof head);
    for (uint32_t i = 0; status == DYNSEL_OK && i < DYNSEL_TRACE_RINGS; i++) {
        status = write_ring(&to, i);
    }
    return status;
}
