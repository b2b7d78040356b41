/* SPDX-License-Identifier: Apache-2.0 */
/* In virtual time: a program that loads what the run before learned is as fast from its first pass
 * on as that run became, without trial runs. */
#include <dynsel/learned.h>

#include "policies/finish_world.h"
#include "policies/learned_memory.h"

enum { KINDS = 6, PASSES = 30, PIECES = 200, SETTLED = 10 };

/* A GPU, the processors through OpenCL, and a thread; kinds that are fast on either. */
static void build_world(uint32_t in_flight, uint64_t seed)
{
    (void)memset(&w, 0, sizeof w);
    w.count = 3;
    w.devices[0] = (world_device){
        .what = WORLD_GPU, .submit_ns = 4000, .latency_ns = 9000, .compile_ns = 30000000};
    w.devices[1] = (world_device){
        .what = WORLD_PROCESSORS, .submit_ns = 3000, .latency_ns = 6000, .compile_ns = 20000000};
    w.devices[2] = (world_device){.what = WORLD_THREAD, .submit_ns = 800, .latency_ns = 3000};
    w.in_flight = in_flight;
    w.random.state = seed;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        w.times[kind][0] = (world_time){8000, 20 + 2 * kind};
        w.times[kind][1] = (world_time){5000, 60 - 8 * kind};
        w.times[kind][2] = (world_time){300, 300 + 50 * kind};
    }
}

static void submit_pieces(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t amount = (uint64_t)1 << (20 + i * 7 % 5 * 2);
        (void)world_submit(i % KINDS, amount);
    }
}

/* Returns the time of the pass. */
static uint64_t pass(void)
{
    const uint64_t begin_ns = w.now_ns;
    submit_pieces(PIECES);
    world_drain();
    return w.now_ns - begin_ns;
}

static void begin_run_of_program(void)
{
    world_begin(-1);
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        for (uint32_t i = 0; i < w.count; i++) {
            w.runs[kind][i] = 1; /* compiled before the clock runs, as with a cache of programs */
        }
    }
    world_open();
}

/* 0 without passes. longest_ns: out; may be NULL. */
static uint64_t mean_of_passes(uint32_t passes, uint64_t *longest_ns)
{
    uint64_t sum_ns = 0;
    uint64_t most_ns = 0;
    for (uint32_t i = 0; i < passes; i++) {
        const uint64_t time_ns = pass();
        sum_ns += time_ns;
        most_ns = time_ns > most_ns ? time_ns : most_ns;
    }
    if (longest_ns != NULL) {
        *longest_ns = most_ns;
    }
    return passes != 0 ? sum_ns / passes : 0;
}

static uint32_t trials(void)
{
    return w.reasons[DYNSEL_REASON_EXPLORING];
}

static void loaded_run_is_settled(uint32_t in_flight)
{
    build_world(in_flight, 1);
    begin_run_of_program();
    const uint64_t first_ns = pass();
    assert_true(w.reasons[DYNSEL_REASON_PROFILING] + trials() != 0);
    (void)mean_of_passes(PASSES, NULL);
    uint64_t longest_ns = 0;
    const uint64_t settled_ns = mean_of_passes(SETTLED, &longest_ns);
    dynsel_learned_report report;
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&finisher, &store, &report));
    assert_int_equal(report.kinds, KINDS);
    world_close();
    begin_run_of_program();
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&finisher, &store, NULL));
    submit_pieces(PIECES / 3);
    assert_int_equal(trials(), 0); /* later ones are earned, as in the run before */
    world_drain();
    const uint64_t loaded_first_ns = pass();
    const uint64_t loaded_ns = mean_of_passes(SETTLED, NULL);
    print_message("%u in flight: first %u us, settled %u us; loaded: first %u us, then %u us; "
                  "%u bytes\n",
                  in_flight, (unsigned)(first_ns / 1000), (unsigned)(settled_ns / 1000),
                  (unsigned)(loaded_first_ns / 1000), (unsigned)(loaded_ns / 1000), report.bytes);
    assert_int_equal(w.reasons[DYNSEL_REASON_PROFILING], 0);
    assert_true(loaded_first_ns * 100 <= longest_ns * 102);
    assert_true(loaded_ns * 100 <= settled_ns * 107); /* trial runs may cost 5 percent */
    world_close();
}

static void loaded_run_is_settled_with_one_in_flight(void **state)
{
    (void)state;
    loaded_run_is_settled(1);
}

static void loaded_run_is_settled_with_several_in_flight(void **state)
{
    (void)state;
    loaded_run_is_settled(4);
    loaded_run_is_settled(16);
}

/* The same with the devices in another order. */
static void loaded_run_is_settled_in_other_order(void **state)
{
    (void)state;
    build_world(4, 1);
    begin_run_of_program();
    (void)mean_of_passes(PASSES, NULL);
    const uint64_t settled_ns = mean_of_passes(SETTLED, NULL);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&finisher, &store, NULL));
    world_close();
    const world_device first = w.devices[0];
    w.devices[0] = w.devices[2];
    w.devices[2] = first;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        const world_time time = w.times[kind][0];
        w.times[kind][0] = w.times[kind][2];
        w.times[kind][2] = time;
    }
    begin_run_of_program();
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&finisher, &store, NULL));
    const uint64_t loaded_ns = pass();
    assert_int_equal(w.reasons[DYNSEL_REASON_EXPLORING] + w.reasons[DYNSEL_REASON_PROFILING], 0);
    assert_true(loaded_ns * 100 <= settled_ns * 102);
    world_close();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(loaded_run_is_settled_with_one_in_flight),
    cmocka_unit_test(loaded_run_is_settled_with_several_in_flight),
    cmocka_unit_test(loaded_run_is_settled_in_other_order),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
