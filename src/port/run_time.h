/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a function of this thread took of a processor. Other threads may get the processor
 * meanwhile, which says nothing of the function; what it waits for, asleep, belongs to its time.
 */
#ifndef DYNSEL_PORT_RUN_TIME_H
#define DYNSEL_PORT_RUN_TIME_H

#include <dynsel/backend.h>

#if CONFIG_DYNSEL_BACKEND_THREADS && CONFIG_DYNSEL_HAS_HOSTED

typedef struct dynsel_run_begin {
    uint64_t at_ns;
    uint64_t used_ns; /* of processors, by this thread so far */
    long taken;       /* so often the system gave its processor to another thread, */
    long slept;       /* and so often it gave it back itself, to sleep */
} dynsel_run_begin;

/* Cost: a system call, 0.15 us. */
dynsel_run_begin dynsel_run_begins(void);

/* The time in ns of what began then and ends at `end_ns`; at least 1. Cost: a system call. */
uint64_t dynsel_run_ns(const dynsel_run_begin *begin, uint64_t end_ns);

#else

typedef struct dynsel_run_begin {
    uint64_t at_ns;
} dynsel_run_begin;

static inline dynsel_run_begin dynsel_run_begins(void)
{
    return (dynsel_run_begin){.at_ns = dynsel_now_ns()};
}

static inline uint64_t dynsel_run_ns(const dynsel_run_begin *begin, uint64_t end_ns)
{
    return end_ns > begin->at_ns ? end_ns - begin->at_ns : 1;
}

#endif

#endif
