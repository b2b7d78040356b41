/* SPDX-License-Identifier: Apache-2.0 */
/* The one world of a test program: its clock is the library's. */
#ifndef TESTS_AUTO_TUNE_ONE_WORLD_H
#define TESTS_AUTO_TUNE_ONE_WORLD_H

#include "policies/auto_tune_world.h"

static world w;

uint64_t dynsel_now_ns(void)
{
    return w.now_ns;
}

enum {
    EXPLORES = CONFIG_DYNSEL_AUTO_TUNE_EXPLORE_PERCENT > 0,
    SETTLED_AFTER = 8 /* more runs than that after the first turns */
};

static void begin(uint32_t count, uint64_t resample_interval_ns)
{
    w = (world){.count = count, .now_ns = 1};
    for (uint32_t i = 0; i < count; i++) {
        w.devices[i].ns = 1000 + 100 * i;
    }
    world_open(count, resample_interval_ns);
}

static void live(const dynsel_task *what, uint32_t runs)
{
    for (uint32_t i = 0; i < runs; i++) {
        (void)world_run(&w, what);
    }
}

#endif
