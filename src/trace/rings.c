/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/rings.h"

#include <dynsel/backend.h>

#include "port/likely.h"
#include "port/sampling.h"
#include "port/thread.h"

enum {
    LEAST_RECORDS = DYNSEL_TRACE_LEAST_RECORDS,
    LEAST_ROOM = LEAST_RECORDS / DYNSEL_TRACE_RINGS,
    NAMES_SHARE = 8,   /* one of so many records is for names, */
    MOST_NAMES = 1024, /* up to so many */
    SHARED = 1 << 16   /* of the number of a ring: other threads write into it, too */
};

dynsel_trace_memory dynsel_trace_held;

dynsel_trace_moment dynsel_trace_now(void)
{
    const uint64_t before_ns = dynsel_now_ns();
    const uint64_t ticks = dynsel_trace_ticks();
    const uint64_t after_ns = dynsel_now_ns();
    return (dynsel_trace_moment){.ticks = ticks,
                                 .ns = before_ns + (after_ns - before_ns) / 2,
                                 .error_ns = (uint32_t)(after_ns - before_ns)};
}

DYNSEL_RARE bool dynsel_trace_rings_begin(dynsel_trace_record *records, size_t count)
{
    if (records == NULL || count < LEAST_RECORDS) {
        return false;
    }
    const size_t share = count / NAMES_SHARE > LEAST_ROOM ? count / NAMES_SHARE : LEAST_ROOM;
    const uint32_t names = share < MOST_NAMES ? (uint32_t)share : MOST_NAMES;
    const size_t each = (count - names) / CONFIG_DYNSEL_TRACE_THREADS;
    const uint32_t room = each < INT32_MAX ? (uint32_t)each : INT32_MAX;
    const uint32_t before = dynsel_word_load_relaxed(&dynsel_trace_held.set);
    const uint32_t set = DYNSEL_TRACE_SETS == 2 && before == 0 ? DYNSEL_TRACE_RINGS : 0;
    for (uint32_t i = 0; i < DYNSEL_TRACE_RINGS; i++) {
        (void)dynsel_word_load_acquire(
            &dynsel_trace_held.rings[set + i].next); /* of its last use */
        dynsel_trace_held.rings[set + i] =
            (dynsel_trace_ring){.records = records, .room = i == 0 ? names : room};
        records += dynsel_trace_held.rings[set + i].room;
    }
    dynsel_word_store_relaxed(&dynsel_trace_held.set, set);
    dynsel_word_store_relaxed(&dynsel_trace_held.taken, 0);
    dynsel_trace_held.first = dynsel_trace_now();
    dynsel_word_store_release(&dynsel_trace_held.divided,
                              dynsel_word_load_relaxed(&dynsel_trace_held.divided) + 1);
    return true;
}

/* The first event of a thread in this trace. */
DYNSEL_RARE static void take_ring(dynsel_thread *thread, uint32_t life)
{
    (void)dynsel_word_load_acquire(&dynsel_trace_held.divided); /* the rings are ready */
    uint32_t taken = dynsel_word_load_relaxed(&dynsel_trace_held.taken);
    while (taken + 1 < CONFIG_DYNSEL_TRACE_THREADS &&
           !dynsel_word_swap(&dynsel_trace_held.taken, &taken, taken + 1)) {
    }
    thread->trace_ring = dynsel_word_load_relaxed(&dynsel_trace_held.set) + taken + 1;
    if (CONFIG_DYNSEL_CONTEXT_THREADS && taken + 1 == CONFIG_DYNSEL_TRACE_THREADS) {
        thread->trace_ring |= SHARED;
    }
    thread->trace_life = life;
    dynsel_sampling_forget(thread); /* so that the choices of the thread can be repeated */
}

void dynsel_trace_rings_enter(uint32_t life)
{
    if (!DYNSEL_LIKELY(dynsel_this_thread()->trace_life == life)) {
        take_ring(dynsel_this_thread(), life);
    }
}

/* Names: the first ones stay. */
static void keep_name(const dynsel_trace_record *record)
{
    dynsel_trace_ring *const ring = dynsel_trace_ring_at(0);
    const uint32_t number = dynsel_word_add_relaxed(&ring->next, 1);
    if (number < ring->room) {
        ring->records[number] = *record;
    } else if (number > INT32_MAX) {
        dynsel_word_store_relaxed(&ring->next, number); /* so that it never comes round */
    } else {
        /* it is lost, and counted */
    }
    (void)dynsel_word_add_synchronized(&ring->next, 0); /* for dynsel_trace_rings_begin() */
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
typedef uint32_t __attribute__((may_alias)) part;

enum { PARTS = sizeof(dynsel_trace_record) / sizeof(part) };

/* Another thread may be a whole lap behind, and writes its record to the same place: then parts of
 * both stay there. A lock would hang the child of a fork(). */
static inline void store(dynsel_trace_record *to, const dynsel_trace_record *record)
{
    for (uint32_t i = 0; i < PARTS; i++) {
        __atomic_store_n((part *)to + i, ((const part *)record)[i], __ATOMIC_RELAXED);
    }
}
#else
static inline void store(dynsel_trace_record *to, const dynsel_trace_record *record)
{
    *to = *record;
}
#endif

/* The ring of several threads. */
static void keep_shared(dynsel_trace_ring *ring, const dynsel_trace_record *record)
{
    const uint32_t number = dynsel_word_add_relaxed(&ring->next, 1);
    if (number == UINT32_MAX) {
        (void)dynsel_word_add_relaxed(&ring->laps, 1);
    }
    store(&ring->records[number % ring->room], record);
    (void)dynsel_word_add_synchronized(&ring->next, 0); /* as above */
}

/* Puts the record into the ring, where no other thread does. */
static inline void advance(dynsel_trace_ring *ring, uint32_t place)
{
    if (DYNSEL_LIKELY(place + 1 < ring->room)) {
        dynsel_word_store_release(&ring->next, place + 1);
    } else {
        dynsel_word_store_relaxed(&ring->laps, dynsel_word_load_relaxed(&ring->laps) + 1);
        dynsel_word_store_release(&ring->next, 0);
    }
}

/* Whether the trace with this number still runs: the thread has a ring then. */
static bool enter(dynsel_thread *thread, uint32_t life)
{
    if (life != 0 && thread->trace_life != life) {
        take_ring(thread, life);
    }
    return life != 0;
}

static void keep_in_ring(const dynsel_thread *thread, const dynsel_trace_record *record)
{
    dynsel_trace_ring *const ring =
        &dynsel_trace_held.rings[thread->trace_ring & ~(uint32_t)SHARED];
    if ((thread->trace_ring & SHARED) != 0) {
        keep_shared(ring, record);
    } else {
        const uint32_t place = dynsel_word_load_relaxed(&ring->next);
        ring->records[place] = *record;
        advance(ring, place);
    }
}

void dynsel_trace_rings_keep(const dynsel_trace_record *record, uint32_t life)
{
    dynsel_thread *const thread = dynsel_this_thread();
    if (!enter(thread, life)) {
        return;
    }
    if (record->event < DYNSEL_TRACE_CHOICE) {
        keep_name(record);
    } else {
        keep_in_ring(thread, record);
    }
}

#if CONFIG_DYNSEL_CONTEXT_THREADS

/* Whether the thread has a ring that no other one writes into. */
static inline bool has_own_ring(const dynsel_thread *thread)
{
    return thread->trace_life == dynsel_trace_life() && thread->trace_ring != 0 &&
           (thread->trace_ring & SHARED) == 0;
}

DYNSEL_RARE static void put_elsewhere(dynsel_thread *thread, dynsel_trace_place place, uint64_t low,
                                      uint64_t high)
{
    dynsel_trace_record record;
    if (enter(thread, dynsel_trace_life())) {
        dynsel_trace_fill(&record, place, low, high);
        keep_in_ring(thread, &record);
    }
}

#endif

/* Without threads there is one ring, and nothing that could stop the trace meanwhile. */
void dynsel_trace_put_event(dynsel_trace_place place, uint64_t low, uint64_t high)
{
    dynsel_thread *const thread = dynsel_this_thread();
#if CONFIG_DYNSEL_CONTEXT_THREADS
    if (!DYNSEL_LIKELY(has_own_ring(thread))) {
        put_elsewhere(thread, place, low, high);
        return;
    }
#endif
    dynsel_trace_ring *const ring =
        &dynsel_trace_held.rings[CONFIG_DYNSEL_CONTEXT_THREADS ? thread->trace_ring : 1];
    const uint32_t at = dynsel_word_load_relaxed(&ring->next);
    dynsel_trace_fill(&ring->records[at], place, low, high);
    advance(ring, at);
}
