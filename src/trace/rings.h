/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a trace: one ring for names, which keeps its oldest records, and one for each
 * thread, which keeps its newest. The last of these is shared by all threads that have none. */
#ifndef DYNSEL_TRACE_RINGS_H
#define DYNSEL_TRACE_RINGS_H

#include <dynsel/trace.h>

#if CONFIG_DYNSEL_TRACE_TO_RINGS

#include "trace/record.h"

/* One moment on the clock of the trace and on dynsel_now_ns(). */
typedef struct dynsel_trace_moment {
    uint64_t ticks;
    uint64_t ns;
    uint32_t error_ns; /* by how much `ns` may be wrong */
} dynsel_trace_moment;

typedef struct dynsel_trace_ring {
    dynsel_trace_record *records;
    uint32_t room;    /* records */
    dynsel_word next; /* where the next record goes; of a shared ring and of names: how many came */
    dynsel_word laps; /* how often it was full */
} dynsel_trace_ring;

enum {
    DYNSEL_TRACE_RINGS = CONFIG_DYNSEL_TRACE_THREADS + 1,
    /* Two traces in a row have rings of their own: a thread that was in the middle of an event when
     * the first was stopped still writes into its memory. */
    DYNSEL_TRACE_SETS = CONFIG_DYNSEL_CONTEXT_THREADS ? 2 : 1
};

typedef struct dynsel_trace_memory {
    dynsel_trace_ring rings[DYNSEL_TRACE_SETS * DYNSEL_TRACE_RINGS]; /* of each set the first has
                                                                        the names */
    dynsel_word set;     /* where the rings of the last trace begin */
    dynsel_word taken;   /* rings that threads have */
    dynsel_word divided; /* how often; for the order of memory */
    dynsel_trace_moment first;
    dynsel_trace_moment last;
} dynsel_trace_memory;

extern dynsel_trace_memory dynsel_trace_held;

/* A ring of the last trace. */
static inline dynsel_trace_ring *dynsel_trace_ring_at(uint32_t number)
{
    return &dynsel_trace_held.rings[dynsel_word_load_relaxed(&dynsel_trace_held.set) + number];
}

dynsel_trace_moment dynsel_trace_now(void);

/* Divides the memory. False: there is too little. */
bool dynsel_trace_rings_begin(dynsel_trace_record *records, size_t count);

/* The calling thread gets its ring, if it has none. life: of the trace that is running. */
void dynsel_trace_rings_enter(uint32_t life);

void dynsel_trace_rings_keep(const dynsel_trace_record *record, uint32_t life);

/* Records the event in `place`, which takes place now. */
DYNSEL_ASIDE void dynsel_trace_put_event(dynsel_trace_place place, uint64_t low, uint64_t high);

#endif

#endif
