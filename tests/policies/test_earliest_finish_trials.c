/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trial runs of earliest_finish find what is faster than it was assumed to be, also where
 * other resources want trial runs, too, and where it is faster for large amounts only; in virtual
 * time.
 */
#include "policies/finish_world.h"

enum { LIVES = 20, GPU = 0, PROCESSORS = 1, THREAD = 2, SMALL = 1000, LARGE = 1000000 };

static uint64_t seed;

static void begin(uint32_t life, uint32_t devices)
{
    (void)memset(&w, 0, sizeof w);
    w.count = devices;
    w.in_flight = 1;
    w.jitter_percent = 5;
    for (uint32_t i = 0; i < devices; i++) {
        static const uint32_t classes[] = {WORLD_GPU, WORLD_PROCESSORS, WORLD_THREAD, WORLD_THREAD};
        w.devices[i] = (world_device){.what = classes[i], .submit_ns = 300, .latency_ns = 500};
    }
    world_begin(-1);
    w.random.state = seed + life * UINT64_C(7919);
    world_open();
}

static void end(void)
{
    world_drain();
    world_assert_idle();
    world_close();
}

static uint32_t run(uint64_t amount)
{
    const uint32_t device = world_submit(0, amount);
    world_drain();
    return device;
}

/* How many runs it takes until the device gets 90 of 100 in a row. */
static uint32_t runs_until(uint32_t device, uint32_t most)
{
    uint32_t runs = 0;
    uint32_t share = 0;
    while (runs < most && share < 90) {
        share = 0;
        for (uint32_t i = 0; i < 100; i++) {
            share += run(0) == device ? 1 : 0;
        }
        runs += 100;
    }
    return runs;
}

/* A resource that has lost by little would like another trial run at any time; what is assumed to
 * be much slower must wait until 5 percent of the time are what it may lose: 512 times as long as
 * a run, which takes 10000 runs. */
static void resource_that_lost_lets_another_be_tried(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < LIVES; k++) {
        begin(k, 3);
        w.times[0][GPU].fixed_ns = 10000;
        w.times[0][PROCESSORS].fixed_ns = 14000;
        w.times[0][THREAD].fixed_ns = 5000;
        assert_true(runs_until(THREAD, 200000) <= 40000);
        end();
    }
}

/* Of each amount, how many of 100 runs a device gets. */
typedef struct shares {
    uint32_t small;
    uint32_t large;
} shares;

static shares alternate(uint32_t device)
{
    shares counted = {.small = 0};
    for (uint32_t i = 0; i < 100; i++) {
        counted.small += run(SMALL) == device ? 1 : 0;
        counted.large += run(LARGE) == device ? 1 : 0;
    }
    return counted;
}

static void large_amounts_find_their_device(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < LIVES; k++) {
        begin(k, 2);
        w.times[0][GPU] = (world_time){5000, 5000};
        w.times[0][PROCESSORS] = (world_time){30000, 100};
        for (uint32_t i = 0; i < 10; i++) {
            (void)alternate(PROCESSORS);
        }
        const shares settled = alternate(PROCESSORS);
        assert_true(settled.large >= 90);
        assert_true(settled.small <= 10);
        end();
    }
}

/* The first run of a large amount is a first trial, though small ones are well known there: it
 * costs what it loses, and leaves most of the credit. */
static void first_large_run_costs_what_it_loses(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < LIVES; k++) {
        begin(k, 2);
        w.times[0][GPU] = (world_time){5000, 500};
        w.times[0][PROCESSORS] = (world_time){30000, 900};
        for (uint32_t i = 0; i < 2000; i++) {
            (void)run(SMALL);
        }
        const uint32_t before = w.runs[0][PROCESSORS];
        for (uint32_t i = 0; i < 4000 && w.runs[0][PROCESSORS] == before; i++) {
            (void)run(LARGE);
        }
        assert_int_equal(w.runs[0][PROCESSORS], before + 1);
        for (uint32_t i = 0; i < CONFIG_DYNSEL_EARLIEST_FINISH_KINDS; i++) {
            const dynsel_finish_kind *kind = &finisher.kinds[i];
            assert_true(kind->tag.value == 0 || (int32_t)kind->credit.value > 30000);
        }
        end();
    }
}

/* What a first start on the processors takes, and how often one was told of. */
static uint64_t first_start_ns;
static uint32_t first_starts;

static void compile_at_first_start(const world_piece *piece)
{
    if (!piece->is_first || piece->selection.index != PROCESSORS) {
        return;
    }
    w.now_ns += first_start_ns;
    if (dynsel_selection_needs(&piece->selection, DYNSEL_TASK_START_TIME)) {
        finisher.policy.ops->report(&finisher.policy, &piece->selection, DYNSEL_TASK_START_TIME,
                                    first_start_ns);
        first_starts++;
    }
    for (uint32_t i = 0; i < CONFIG_DYNSEL_EARLIEST_FINISH_KINDS; i++) {
        assert_true((int32_t)finisher.kinds[i].credit.value >= 0);
    }
}

/* How many runs of a kind it takes until the processors get one. */
static uint32_t runs_before_first(uint32_t kind)
{
    uint32_t runs = 0;
    while (runs < 10000 && w.runs[kind][PROCESSORS] == 0) {
        (void)world_submit(kind, 0);
        world_drain();
        runs++;
    }
    return runs;
}

/* A kind pays for it before, by 5 percent of its runs; by what the first starts of other kinds
 * took. */
static void compilation_is_paid_for(void **state)
{
    (void)state;
    enum { RUN_NS = 100000, FIRST_START_NS = 2000000, FIRST_CREDIT_RUNS = 30, SHARE = 20 };
    const uint64_t took_ns = UINT64_C(5) * FIRST_START_NS;
    dynsel_backend_ops compiling = world_ops[WORLD_PROCESSORS];
    compiling.first_start_ns = FIRST_START_NS;
    world_backends[WORLD_PROCESSORS].ops = &compiling;
    for (uint32_t k = 0; k < LIVES; k++) {
        begin(k, 2);
        first_start_ns = took_ns;
        first_starts = 0;
        w.submitted = compile_at_first_start;
        for (uint32_t kind = 0; kind < 2; kind++) {
            w.times[kind][GPU].fixed_ns = RUN_NS;
            w.times[kind][PROCESSORS].fixed_ns = RUN_NS / 2;
        }
        const uint32_t runs = FIRST_START_NS / RUN_NS * SHARE;
        const uint32_t first = runs_before_first(0);
        const uint32_t second = runs_before_first(1);
        assert_in_range(first, runs - FIRST_CREDIT_RUNS - 50, 3 * runs);
        assert_in_range(second, 3 * runs - FIRST_CREDIT_RUNS - 100, 5 * runs);
        assert_int_equal(2, first_starts);
        end();
    }
    world_backends[WORLD_PROCESSORS].ops = &world_ops[WORLD_PROCESSORS];
}

static int setup(void **state)
{
    (void)state;
    seed = test_seed();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resource_that_lost_lets_another_be_tried),
        cmocka_unit_test(large_amounts_find_their_device),
        cmocka_unit_test(first_large_run_costs_what_it_loses),
        cmocka_unit_test(compilation_is_paid_for),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
