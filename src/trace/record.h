/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a trace is running, and its records; no code without CONFIG_DYNSEL_TRACE. */
#ifndef DYNSEL_TRACE_RECORD_H
#define DYNSEL_TRACE_RECORD_H

#include <dynsel/trace.h>

#if CONFIG_DYNSEL_TRACE

#include <stddef.h>

#include "port/atomic.h"
#include "port/likely.h"

_Static_assert(sizeof(dynsel_trace_record) == 32,
               "the format of doc/trace.md has records of 32 bytes");

enum {
    DYNSEL_TRACE_UNIT_SHIFT = 4, /* times in words are in units of 16 ns */
    DYNSEL_TRACE_NO_RESOURCE = UINT8_MAX
};

typedef struct dynsel_trace_state {
    dynsel_word life;     /* of the trace that is running, never 0; 0: none */
    dynsel_word lives;    /* how many traces began */
    dynsel_word pieces;   /* that were counted */
    dynsel_word policies; /* that were seen */
} dynsel_trace_state;

extern dynsel_trace_state dynsel_trace;

/* 0: no trace is running. */
static inline uint32_t dynsel_trace_life(void)
{
    return dynsel_word_load_relaxed(&dynsel_trace.life);
}

static inline bool dynsel_trace_is_on(void)
{
    return !DYNSEL_LIKELY(dynsel_trace_life() == 0);
}

/* Where an event belongs: the middle of a record, stored at once, in two words. */
typedef struct __attribute__((may_alias)) dynsel_trace_place {
    uint32_t piece;
    uint8_t event;
    uint8_t resource;
    uint16_t policy;
} dynsel_trace_place;

_Static_assert(
    offsetof(dynsel_trace_record, piece) == 8 &&
        offsetof(dynsel_trace_record, event) == 8 + offsetof(dynsel_trace_place, event) &&
        offsetof(dynsel_trace_record, resource) == 8 + offsetof(dynsel_trace_place, resource) &&
        offsetof(dynsel_trace_record, policy) == 8 + offsetof(dynsel_trace_place, policy),
    "a place is a part of a record");

/* The clock is read last, so that the arguments are stored out of their registers. */
static inline void dynsel_trace_fill(dynsel_trace_record *record, dynsel_trace_place place,
                                     uint64_t low, uint64_t high)
{
    *(dynsel_trace_place *)&record->piece = place;
    record->words[0] = (uint32_t)low;
    record->words[1] = (uint32_t)(low >> 32);
    record->words[2] = (uint32_t)high;
    record->words[3] = (uint32_t)(high >> 32);
    record->ticks = dynsel_trace_ticks();
}

/* Two words. */
static inline uint64_t dynsel_trace_pair(uint32_t first, uint32_t second)
{
    return (uint64_t)second << 32 | first;
}

/* A time in the unit of words. */
static inline uint32_t dynsel_trace_units(uint64_t ns)
{
    const uint64_t units = ns >> DYNSEL_TRACE_UNIT_SHIFT;
    return units < UINT32_MAX ? (uint32_t)units : UINT32_MAX;
}

/* The number of a new piece of work. */
static inline uint32_t dynsel_trace_new_piece(void)
{
    return dynsel_word_add_relaxed(&dynsel_trace.pieces, 1) + 1;
}

#endif

#endif
