/* SPDX-License-Identifier: Apache-2.0 */
/* The library's state per thread; without threads, of the program. */
#ifndef DYNSEL_PORT_THREAD_H
#define DYNSEL_PORT_THREAD_H

#include <stdint.h>

#include <dynsel/error.h>

typedef struct dynsel_thread {
    dynsel_error last_error;
    uint32_t failure_count;  /* of last_error: tells whether it is new */
    uint32_t counting_place; /* of this thread's counts, + 1; 0: it has none yet */
    uint32_t task_depth;     /* task functions that this thread is in */
    uint32_t slot_cursor;    /* where this thread looks for a free slot first */
#if CONFIG_DYNSEL_BACKEND_OPENCL
    void *timed_start; /* of that backend: the work that it starts and times in this thread */
#endif
#if CONFIG_DYNSEL_COMMAND_GROUPS
    uint32_t recordings; /* group functions that this thread is in: each has a slot */
    uint32_t identity;   /* of dynsel_thread_identity(); 0: it has none yet */
#endif
#if CONFIG_DYNSEL_TRACE_TO_RINGS
    uint32_t trace_life; /* the trace in which it has a ring; 0: in none */
    uint32_t trace_ring; /* its number */
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE && !CONFIG_DYNSEL_AUTO_TUNE_SMALL
    uint32_t countdown;       /* until the next sample; see port/sampling.h */
    uint32_t countdowns;      /* that began at a pseudo-random place */
    uint8_t countdown_place;  /* its end within the interval, of 256 */
    uint8_t countdown_length; /* calls that it spans */
    uint8_t counted_off;      /* calls that the previous one spanned */
    const void *counted;      /* the subject of the countdown */
    uint32_t turns_missed;    /* to time a run, because another thread did */
#endif
} dynsel_thread;

#if CONFIG_DYNSEL_CONTEXT_THREADS
#define DYNSEL_EACH_THREAD _Thread_local
#else
#define DYNSEL_EACH_THREAD
#endif

extern DYNSEL_EACH_THREAD dynsel_thread dynsel_thread_state;

static inline dynsel_thread *dynsel_this_thread(void)
{
    return &dynsel_thread_state;
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* A number that differs from those of all other threads, also ended ones, unlike the address of the
 * state. Never 0; wraps after 2^32 threads. */
uint32_t dynsel_thread_identity(void);
#endif

#endif
