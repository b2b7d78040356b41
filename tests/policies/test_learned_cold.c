/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that loads what an earlier run learned has compiled nothing yet: devices that compile
 * before a first run get work when the runs have paid for that, in virtual time.
 */
#include <dynsel/learned.h>

#include "policies/finish_world.h"
#include "policies/learned_memory.h"

enum { DEVICE, THREAD, FIRST_START_NS = 2000000, IN_FLIGHT = 8, RUNS = 2000 };

static dynsel_backend_ops compiling[WORLD_CLASSES];

static void open_world(void)
{
    world_begin(-1);
    world_open();
}

static void close_world(void)
{
    world_drain();
    world_assert_idle();
    world_close();
}

static void submit_many(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)world_submit(0, 0);
    }
    world_drain();
}

/* A run of the program that learns of a device and a thread, and the next one, which loads that. */
static void begin_again(uint32_t what, uint64_t device_ns, uint64_t thread_ns)
{
    dynsel_learned_report report;
    (void)memset(&w, 0, sizeof w);
    w.count = 2;
    w.in_flight = IN_FLIGHT;
    w.devices[DEVICE] = (world_device){.what = what, .submit_ns = 300, .latency_ns = 500};
    w.devices[THREAD] = (world_device){.what = WORLD_THREAD, .submit_ns = 300, .latency_ns = 500};
    w.random.state = 1;
    w.times[0][DEVICE].fixed_ns = device_ns;
    w.times[0][THREAD].fixed_ns = thread_ns;
    open_world();
    for (uint32_t i = 0; i < 20 && (w.runs[0][DEVICE] < 8 || w.runs[0][THREAD] < 8); i++) {
        submit_many(RUNS);
    }
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&finisher, &store, NULL));
    close_world();
    open_world();
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&finisher, &store, &report));
    assert_int_equal(report.kinds, 1);
    assert_int_equal(report.devices, 2);
}

/* How many runs the device gets no work, up to `most`. */
static uint32_t runs_before_first(uint32_t most)
{
    uint32_t runs = 0;
    while (runs < most && world_submit(0, 0) != DEVICE) {
        runs++;
    }
    return runs;
}

/* Each run on the device would have taken 5 us less: about 400 of them have paid for 2 ms. */
static void device_on_the_host_begins_when_it_has_paid(void **state)
{
    (void)state;
    begin_again(WORLD_PROCESSORS, 5000, 10000);
    assert_in_range(runs_before_first(RUNS), 200, 700);
    submit_many(RUNS);
    assert_true(w.runs[0][DEVICE] > RUNS / 2);
    close_world();
}

static void compile_at_first_start(const world_piece *piece)
{
    if (piece->is_first && piece->selection.index == DEVICE) {
        w.now_ns += FIRST_START_NS;
    }
}

/* The program waits for each piece: what is compiled in a submit is not how late it sees ends. */
static void compilation_is_no_latency(void **state)
{
    (void)state;
    begin_again(WORLD_PROCESSORS, 5000, 10000);
    w.in_flight = 1;
    w.submitted = compile_at_first_start;
    assert_in_range(runs_before_first(RUNS), 200, 700);
    world_drain();
    assert_in_range(finisher.states[DEVICE].is.latency.value & INT32_MAX, 0, 20);
    submit_many(100);
    assert_in_range(w.runs[0][DEVICE], 90, 101);
    close_world();
}

static void long_work_begins_on_the_fastest_device(void **state)
{
    (void)state;
    begin_again(WORLD_PROCESSORS, 1000000, 40000000);
    assert_int_equal(0, runs_before_first(1));
    close_world();
}

/* As without a table: nobody knows how long the program runs. */
static void fastest_device_apart_begins_at_once(void **state)
{
    (void)state;
    begin_again(WORLD_GPU, 5000, 10000);
    assert_int_equal(0, runs_before_first(1));
    close_world();
}

/* One of two equal devices is a bit faster now and then: that pays for no compilation. */
static void equal_devices_do_not_compile_one_after_the_other(void **state)
{
    (void)state;
    begin_again(WORLD_GPU, 5000, 50000);
    assert_int_equal(0, runs_before_first(1));
    world_drain();
    close_world();
    /* a second GPU, which is a bit faster, in place of the thread */
    w.devices[THREAD] = w.devices[DEVICE];
    w.times[0][THREAD].fixed_ns = 4900;
    open_world();
    for (uint32_t i = 0; i < 40 && w.runs[0][THREAD] < 100; i++) {
        submit_many(RUNS);
    }
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&finisher, &store, NULL));
    close_world();
    open_world();
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&finisher, &store, NULL));
    const uint32_t first = world_submit(0, 0);
    w.times[0][first].fixed_ns = 5200;
    for (uint32_t i = 0; i < 300; i++) {
        assert_int_equal(first, world_submit(0, 0));
    }
    close_world();
}

/* It is worth some of the work where 8 pieces are in flight, but not a compilation in 20 ms.
 */
static void slower_device_waits(void **state)
{
    (void)state;
    static const uint32_t whats[] = {WORLD_GPU, WORLD_PROCESSORS};
    for (uint32_t i = 0; i < 2; i++) {
        begin_again(whats[i], 20000, 10000);
        assert_int_equal(RUNS, runs_before_first(RUNS));
        close_world();
    }
}

static void what_compiles_nothing_begins(void **state)
{
    (void)state;
    world_backends[WORLD_PROCESSORS].ops = &world_ops[WORLD_PROCESSORS];
    begin_again(WORLD_PROCESSORS, 5000, 10000);
    assert_int_equal(0, runs_before_first(1));
    close_world();
    world_backends[WORLD_PROCESSORS].ops = &compiling[WORLD_PROCESSORS];
}

/* The table says that a first start took a second: the driver may have kept what it compiled. */
static void first_start_is_half_forgotten(void **state)
{
    (void)state;
    begin_again(WORLD_PROCESSORS, 5000, 10000);
    finisher.first_starts[DEVICE].value = 1000000000;
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&finisher, &store, NULL));
    close_world();
    open_world();
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&finisher, &store, NULL));
    assert_int_equal(finisher.first_starts[DEVICE].value, (1000000000 + FIRST_START_NS) / 2);
    assert_int_equal(finisher.first_starts[THREAD].value, 0);
    assert_int_equal(RUNS, runs_before_first(RUNS));
    close_world();
}

#if CONFIG_DYNSEL_MAX_KEY_WORDS >= 1

/* Selects for a size of the kind, and reports its run. Returns the resource. */
static uint32_t run_size(uint32_t size)
{
    dynsel_selection selection = {.policy = NULL};
    dynsel_task task = world_task(0, size);
    task.key_words = &size;
    task.key_word_count = 1;
    assert_status(DYNSEL_OK, dynsel_select(&finisher.policy, &task, &selection));
    const uint32_t chosen = selection.index;
    world_tell(&selection, DYNSEL_TASK_SUBMISSION, 0);
    w.now_ns += world_true_ns(0, chosen, 0);
    world_tell(&selection, DYNSEL_TASK_TIME, world_true_ns(0, chosen, 0));
    world_tell(&selection, DYNSEL_TASK_COMPLETION, 0);
    return chosen;
}

/* Sizes of one id run the same kernel, which is compiled once. */
static void sizes_share_what_is_compiled(void **state)
{
    (void)state;
    begin_again(WORLD_PROCESSORS, 5000, 10000);
    for (uint32_t i = 0; i < RUNS; i++) {
        (void)run_size(1);
        (void)run_size(2);
    }
    assert_int_equal(DEVICE, run_size(1));
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&finisher, &store, NULL));
    close_world();
    open_world();
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&finisher, &store, NULL));
    assert_int_equal(THREAD, run_size(1));
    assert_int_equal(THREAD, run_size(2));
    for (uint32_t i = 0; i < RUNS && run_size(1) != DEVICE; i++) {
    }
    for (uint32_t i = 0; i < 8; i++) {
        (void)run_size(1);
    }
    assert_int_equal(DEVICE, run_size(2));
    close_world();
}

#endif

static int setup(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WORLD_CLASSES; i++) {
        compiling[i] = world_ops[i];
        compiling[i].first_start_ns = i == WORLD_GPU || i == WORLD_PROCESSORS ? FIRST_START_NS : 0;
        world_backends[i].ops = &compiling[i];
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_on_the_host_begins_when_it_has_paid),
        cmocka_unit_test(compilation_is_no_latency),
        cmocka_unit_test(long_work_begins_on_the_fastest_device),
        cmocka_unit_test(fastest_device_apart_begins_at_once),
        cmocka_unit_test(equal_devices_do_not_compile_one_after_the_other),
        cmocka_unit_test(slower_device_waits),
        cmocka_unit_test(what_compiles_nothing_begins),
        cmocka_unit_test(first_start_is_half_forgotten),
#if CONFIG_DYNSEL_MAX_KEY_WORDS >= 1
        cmocka_unit_test(sizes_share_what_is_compiled),
#endif
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
