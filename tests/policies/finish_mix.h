/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines in virtual time for tests of earliest_finish, and a program with many kinds of work:
 * some are too small for a GPU, some need one.
 */
#ifndef DYNSEL_TESTS_FINISH_MIX_H
#define DYNSEL_TESTS_FINISH_MIX_H

#include "policies/finish_compare.h"

enum { MIX_KINDS = 42, MIX_PASSES = 40, MIX_PIECES = 100 };

/* A thread or the caller, all processors, and a GPU. */
static inline void machine(uint32_t host, uint64_t compile_ns, uint32_t in_flight)
{
    (void)memset(&w, 0, sizeof w);
    w.count = 3;
    w.jitter_percent = 5;
    w.in_flight = in_flight;
    w.devices[0] = host == WORLD_CALLER
                       ? (world_device){.what = WORLD_CALLER}
                       : (world_device){.what = host, .submit_ns = 300, .latency_ns = 5000};
    w.devices[1] = (world_device){
        .what = WORLD_PROCESSORS, .submit_ns = 3000, .latency_ns = 20000, .compile_ns = compile_ns};
    w.devices[2] = (world_device){.what = WORLD_GPU, .submit_ns = 7000, .latency_ns = 12000};
}

static inline void mix_begin(uint32_t host, uint64_t compile_ns, uint32_t in_flight)
{
    machine(host, compile_ns, in_flight);
    for (uint32_t k = 0; k < MIX_KINDS; k++) {
        const uint64_t operations = (uint64_t)1 << (4 * (k / 15));
        w.times[k][0] = (world_time){100, 300 * operations};
        w.times[k][1] = (world_time){10000, 20 * operations + 20};
        w.times[k][2] = (world_time){3500, operations + 80};
    }
}

static inline void mix_pass(void)
{
    for (uint32_t i = 0; i < MIX_PIECES; i++) {
        const uint32_t kind = test_random_below(&w.random, MIX_KINDS);
        (void)world_submit(kind, UINT64_C(1) << (8 + 4 * (kind % 5)));
        if (w.in_flight == 1) {
            world_drain();
        }
    }
}

static inline compare_result compare_mix(uint32_t host, uint64_t compile_ns, uint32_t in_flight)
{
    char name[80];
    (void)snprintf(name, sizeof name, "42 kinds, %2u in flight, %s%s", (unsigned)in_flight,
                   host == WORLD_CALLER ? "caller" : "thread",
                   compile_ns != 0 ? ", compilations" : "");
    mix_begin(host, compile_ns, in_flight);
    return compare(name, MIX_PASSES, mix_pass);
}

static const uint32_t mix_hosts[] = {WORLD_THREAD, WORLD_CALLER};

/* With each host, without compilations: at least these shares of the speed of the best single
 * device once enough is known, in each life and in the mean of all. */
static inline void mix_check(uint32_t in_flight, double least_later, double mean_later)
{
    for (uint32_t i = 0; i < 2; i++) {
        const compare_result it = compare_mix(mix_hosts[i], 0, in_flight);
        assert_true(it.least.first >= 0.9);
        assert_true(it.least.later >= least_later);
        assert_true(it.mean.later >= mean_later);
    }
}

#endif
