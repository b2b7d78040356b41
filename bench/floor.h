/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What placing a piece of work cannot do without: three indirect calls (choose, start, the task
 * function), and what the policy has to share between threads. Everything else is the library's
 * own doing.
 */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <stdint.h>

#include <dynsel/task.h>

typedef enum floor_kind {
    FLOOR_NOTHING_SHARED, /* fixed_resource */
    FLOOR_ONE_COUNTER,    /* round_robin: one atomic addition */
    FLOOR_LOADS,          /* dynamic_load: one when the work begins, one when it ends */
    FLOOR_SAMPLED_CLOCK   /* auto_tune when settled: two looks at the clock in 16 */
} floor_kind;

/* Begins anew with so many resources. */
void floor_prepare(floor_kind kind, uint32_t resources, const dynsel_task *task);

/* For measure_loop. */
void floor_run(void *unused, unsigned thread, uint32_t times);

#endif
