/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that does the same work again and again, with earliest_finish and on each device alone:
 * what share of the speed of the best single device it has. More than 1 is faster than that.
 */
#ifndef DYNSEL_TESTS_FINISH_COMPARE_H
#define DYNSEL_TESTS_FINISH_COMPARE_H

#include "policies/finish_world.h"

enum {
    COMPARE_MOST_PASSES = 100,
    COMPARE_FIRST = 20,                /* the passes at the start of which nothing is known */
    COMPARE_LEARNED = 4,               /* after so many, enough is known */
    COMPARE_LIVES = SLOW_HERE ? 2 : 10 /* each with other random numbers */
};

static uint64_t compare_seed;

/* Of a group of tests. */
static inline int compare_setup(void **state)
{
    (void)state;
    compare_seed = test_seed();
    return 0;
}

typedef struct compare_times {
    uint64_t first_ns;
    uint64_t later_ns;
} compare_times;

typedef struct compare_shares {
    double first;
    double later;
} compare_shares;

static inline compare_times compare_play(int32_t always, uint32_t passes, void (*pass)(void),
                                         uint64_t seed)
{
    compare_times times = {.first_ns = 0};
    world_begin(always);
    w.random.state = seed;
    for (uint32_t i = 0; i < passes; i++) {
        const uint64_t began_ns = w.now_ns;
        pass();
        world_drain();
        times.first_ns += i < COMPARE_FIRST ? w.now_ns - began_ns : 0;
        times.later_ns += i >= COMPARE_LEARNED ? w.now_ns - began_ns : 0;
    }
    return times;
}

/* The world stays set up. */
static inline compare_shares compare_once(uint32_t passes, void (*pass)(void), uint64_t seed)
{
    compare_times best = {UINT64_MAX, UINT64_MAX};
    for (int32_t i = 0; i < (int32_t)w.count; i++) {
        const compare_times alone = compare_play(i, passes, pass, seed);
        best.first_ns = alone.first_ns < best.first_ns ? alone.first_ns : best.first_ns;
        best.later_ns = alone.later_ns < best.later_ns ? alone.later_ns : best.later_ns;
    }
    world_open();
    const compare_times times = compare_play(-1, passes, pass, seed);
    world_assert_idle();
    world_close();
    return (compare_shares){(double)best.first_ns / (double)times.first_ns,
                            (double)best.later_ns / (double)times.later_ns};
}

/* Of some lives. */
typedef struct compare_result {
    compare_shares least;
    compare_shares mean;
} compare_result;

/* Prints the shares. */
static inline compare_result compare(const char *name, uint32_t passes, void (*pass)(void))
{
    compare_shares least = {1e9, 1e9};
    compare_shares mean = {0, 0};
    for (uint32_t i = 0; i < COMPARE_LIVES; i++) {
        const compare_shares shares = compare_once(passes, pass, compare_seed + (uint64_t)i * 7919);
        least.first = shares.first < least.first ? shares.first : least.first;
        least.later = shares.later < least.later ? shares.later : least.later;
        mean.first += shares.first / COMPARE_LIVES;
        mean.later += shares.later / COMPARE_LIVES;
    }
    printf("%-50s first %d passes %.3f (least %.3f), from the 5th on %.3f (%.3f)\n", name,
           COMPARE_FIRST, mean.first, least.first, mean.later, least.later);
    return (compare_result){least, mean};
}

#endif
