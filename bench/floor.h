/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least cost of a submit: three indirect calls (choose, start, the task function), and the
 * words that the policy shares between threads. All other cost is the library's.
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <stdint.h>

#include <dynsel/task.h>

typedef enum floor_kind {
    FLOOR_NOTHING_SHARED, /* fixed_resource */
    FLOOR_ONE_COUNTER,    /* round_robin: one atomic addition */
    FLOOR_LOADS,          /* dynamic_load: two atomic additions, at the start and at the end */
    FLOOR_SAMPLED_CLOCK,  /* auto_tune when settled: reads the clock twice in one of 16 submits */
    FLOOR_QUEUES          /* earliest_finish: reads the clock and two words of each resource; a
                             compare-and-swap and an atomic addition at the start, one at the end */
} floor_kind;

/* Resets the words for this number of resources. */
void floor_prepare(floor_kind kind, uint32_t resources, const dynsel_task *task);

/* For measure_loop. */
void floor_run(void *unused, unsigned thread, uint32_t times);

#endif
