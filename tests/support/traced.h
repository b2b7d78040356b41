/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace in memory, as the test reads it: out of the file that the library writes, or from the
 * hook. The format is checked on the way.
 */
#ifndef DYNSEL_TESTS_SUPPORT_TRACED_H
#define DYNSEL_TESTS_SUPPORT_TRACED_H

#include <stdbool.h>

#include <dynsel/trace.h>

#include "test.h"

enum {
    TRACED_RECORDS = CONFIG_DYNSEL_HAS_MUCH_RAM ? 4096 : 128, /* memory of traced_begin() */
    TRACED_RINGS = 70
};

typedef struct traced_ring {
    uint64_t written;
    uint32_t first; /* of traced.records */
    uint32_t count;
} traced_ring;

/* What was read; with the hook all is one ring. */
typedef struct traced_file {
    dynsel_trace_record records[TRACED_RECORDS];
    uint32_t count;
    traced_ring rings[TRACED_RINGS];
    uint32_t ring_count;
    uint64_t first_ticks, last_ticks, first_ns, last_ns;
} traced_file;

extern traced_file traced;

/* Starts a trace in TRACED_RECORDS records. */
void traced_begin(void);

/* Ends it, and reads it. */
void traced_end(void);

/* Reads the trace that was stopped last again. */
void traced_read(void);

/* The n-th record of the event, of this piece; piece 0: of any. NULL: there is none. */
const dynsel_trace_record *traced_find(dynsel_trace_event event, uint32_t piece, uint32_t n);
uint32_t traced_count(dynsel_trace_event event, uint32_t piece);

/* These are all events of the piece among those that each piece of work has, in this order: CHOICE,
 * START, RAN, END, REFUSED, WAIT. The list ends with 0. */
void traced_check_life(uint32_t piece, const dynsel_trace_event *events);

/* The text of the n-th name of this event and piece, put together. */
const char *traced_name(dynsel_trace_event event, uint32_t piece, uint16_t policy);

static inline uint64_t traced_low(const dynsel_trace_record *record)
{
    return record->words[0] | (uint64_t)record->words[1] << 32;
}

static inline uint64_t traced_high(const dynsel_trace_record *record)
{
    return record->words[2] | (uint64_t)record->words[3] << 32;
}

#endif
