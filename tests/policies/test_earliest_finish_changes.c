/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish while devices change, fail and leave, on clocks and with amounts that say
 * nothing, and with results that have to be copied back; in virtual time. What it chooses is right
 * again some runs later.
 */
#include "policies/finish_world.h"

#include <dynsel/resource_states.h>
#include <dynsel/submission.h>

enum { LIVES = 50, MANY = 200000, GPU = 0, PROCESSORS = 1, THREAD = 2 };

static uint64_t seed;

/* A GPU that needs 10 us, processors 20 us, a thread 100 us; jitter of 5 percent. */
static void begin(uint32_t life, uint32_t devices, uint32_t in_flight)
{
    (void)memset(&w, 0, sizeof w);
    w.count = devices;
    w.in_flight = in_flight;
    w.jitter_percent = 5;
    w.devices[GPU] = (world_device){.what = WORLD_GPU, .submit_ns = 300, .latency_ns = 500};
    w.devices[PROCESSORS] = w.devices[GPU];
    w.devices[PROCESSORS].what = WORLD_PROCESSORS;
    w.devices[THREAD] = w.devices[GPU];
    w.devices[THREAD].what = WORLD_THREAD;
    w.times[0][GPU].fixed_ns = 10000;
    w.times[0][PROCESSORS].fixed_ns = 20000;
    w.times[0][THREAD].fixed_ns = 100000;
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

static void run(uint32_t pieces, uint64_t amount)
{
    for (uint32_t i = 0; i < pieces; i++) {
        (void)world_submit(0, amount);
        if (w.in_flight == 1) {
            world_drain();
        }
    }
}

/* Of 100 pieces, how many a device gets. */
static uint32_t share_of(uint32_t device, uint64_t amount)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 100; i++) {
        count += world_submit(0, amount) == device ? 1 : 0;
        if (w.in_flight == 1) {
            world_drain();
        }
    }
    return count;
}

/* How many runs it takes until a device gets nearly all. */
static uint32_t runs_until(uint32_t device, uint32_t most)
{
    uint32_t runs = 0;
    while (runs < most) {
        const uint32_t share = share_of(device, 0);
        if (share >= 90) {
            break;
        }
        runs += 100;
    }
    return runs;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void slowed_best_is_left_and_found_again(void **state)
{
    (void)state;
    uint32_t left = 0;
    uint32_t back = 0;
    for (uint32_t k = 0; k < LIVES; k++) {
        begin(k, 2, 1);
        assert_true(runs_until(GPU, 1000) < 1000);
        run(2000, 0);
        w.times[0][GPU].fixed_ns *= 10;
        left = larger(left, runs_until(PROCESSORS, MANY));
        run(2000, 0);
        w.times[0][GPU].fixed_ns /= 10;
        back = larger(back, runs_until(GPU, MANY));
        end();
    }
    printf("10 times slower: left within %u runs, found again within %u\n", left, back);
    assert_true(left <= 100);
    assert_true(back <= 5000);
}

/* Another device that has lost wants further trial runs, too, and they are estimated to cost less.
 */
static void recovered_device_competes_for_trial_runs(void **state)
{
    (void)state;
    uint32_t found = 0;
    for (uint32_t k = 0; k < LIVES; k++) {
        begin(k, 3, 1);
        run(2000, 0);
        w.times[0][GPU].fixed_ns *= 10;
        assert_true(runs_until(PROCESSORS, MANY) <= 100);
        run(2000, 0);
        w.times[0][GPU].fixed_ns /= 10;
        found += runs_until(GPU, 20000) < 20000 ? 1 : 0;
        end();
    }
    assert_int_equal(found, LIVES);
}

static void slowed_best_is_left_with_work_in_flight(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < LIVES; k++) {
        begin(k, 2, 8);
        run(2000, 0);
        const uint32_t before = share_of(GPU, 0);
        w.times[0][GPU].fixed_ns *= 10;
        run(300, 0);
        assert_true(share_of(GPU, 0) < before / 2);
        w.times[0][GPU].fixed_ns /= 10;
        run(5000, 0);
        assert_true(share_of(GPU, 0) >= 55);
        end();
    }
}

static void swapped_speeds_are_noticed(void **state)
{
    (void)state;
    uint32_t runs = 0;
    for (uint32_t k = 0; k < LIVES; k++) {
        begin(k, 3, 1);
        run(2000, 0);
        w.times[0][GPU].fixed_ns = 100000;
        w.times[0][THREAD].fixed_ns = 10000;
        runs = larger(runs, runs_until(THREAD, MANY));
        end();
    }
    printf("swapped speeds: right within %u runs\n", runs);
    assert_true(runs <= 20000);
}

static void choice_settles_after_times_that_jump(void **state)
{
    (void)state;
    uint32_t runs = 0;
    for (uint32_t k = 0; k < LIVES; k++) {
        begin(k, 2, 1);
        for (uint32_t jump = 0; jump < 50; jump++) {
            const uint32_t device = test_random_below(&w.random, 2);
            w.times[0][device].fixed_ns = UINT64_C(1000) << test_random_below(&w.random, 10);
            run(100 + test_random_below(&w.random, 400), 0);
        }
        w.times[0][GPU].fixed_ns = 10000;
        w.times[0][PROCESSORS].fixed_ns = 20000;
        runs = larger(runs, runs_until(GPU, MANY));
        end();
    }
    printf("after 50 jumps: right within %u runs\n", runs);
    assert_true(runs <= 100000);
}

/* Its queues never end, but for the reports of ends. */
static void clock_that_stands_still_is_survived(void **state)
{
    (void)state;
    static const uint32_t in_flight[] = {1, 8, 64};
    for (uint32_t i = 0; i < 3; i++) {
        begin(i, 3, in_flight[i]);
        w.clock_ns = 1;
        run(2000, 0);
        const uint32_t share = share_of(GPU, 0);
        printf("no clock, %u in flight: %u %% on the fastest\n", in_flight[i], share);
        assert_true(share >= (in_flight[i] == 1 ? 90 : 50));
        end();
    }
}

/* Of 100 pieces, how many are sent to another device, but for trial runs. */
static uint32_t wrong_choices(uint32_t device, uint64_t amount, uint32_t *trials)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 100; i++) {
        const uint32_t trials_before = w.reasons[DYNSEL_REASON_EXPLORING];
        const bool is_wrong = world_submit(0, amount) != device;
        const bool is_trial = w.reasons[DYNSEL_REASON_EXPLORING] != trials_before;
        count += is_wrong && !is_trial ? 1 : 0;
        *trials += is_trial ? 1 : 0;
        world_drain();
    }
    return count;
}

/* The least and the most work there is in turn; the thread has no fixed cost. What the long runs
 * earn pays for trial runs of short work: how many is printed. */
static void extreme_amounts_are_told_apart(void **state)
{
    (void)state;
    uint32_t trials = 0;
    for (uint32_t k = 0; k < LIVES; k++) {
        begin(k, 3, 1);
        w.times[0][GPU] = (world_time){10000, 1};
        w.times[0][PROCESSORS] = (world_time){20000, 10};
        w.times[0][THREAD] = (world_time){100, 1000};
        for (uint32_t i = 0; i < 2000; i++) {
            run(1, i % 2 == 0 ? 0 : UINT64_MAX);
        }
        uint32_t trials_of_long = 0;
        assert_true(wrong_choices(GPU, UINT64_MAX, &trials_of_long) == 0);
        assert_true(wrong_choices(THREAD, 0, &trials) == 0);
        end();
    }
    printf("amounts 0 and 2^64: of the short runs %u in 1000 are trial runs\n",
           trials * 10 / LIVES);
}

static void only_resource_gets_all(void **state)
{
    (void)state;
    begin(0, 3, 8);
    world_close();
    w.count = 1;
    world_open();
    run(1000, 7);
    assert_int_equal(w.runs[0][GPU], 1000);
    assert_int_equal(w.reasons[DYNSEL_REASON_ONLY_CANDIDATE], 1000);
    end();
}

static void resource_is_out_of_service_for_a_while(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_RESOURCE_STATES
    for (uint32_t in_flight = 1; in_flight <= 8; in_flight += 7) {
        begin(0, 3, in_flight);
        run(1000, 0);
        assert_status(DYNSEL_OK, dynsel_resource_retire(&finisher.policy, GPU));
        const uint32_t before = w.runs[0][GPU];
        run(1000, 0);
        assert_int_equal(w.runs[0][GPU], before);
        assert_true(share_of(PROCESSORS, 0) >= (in_flight == 1 ? 90 : 60));
        assert_status(DYNSEL_OK, dynsel_resource_reinstate(&finisher.policy, GPU));
        run(100, 0);
        assert_true(share_of(GPU, 0) >= (in_flight == 1 ? 90 : 50));
        end();
    }
#endif
}

/* Its work fails, so that there is no time. */
static void device_that_fails_gets_few_runs(void **state)
{
    (void)state;
    begin(0, 3, 1);
    w.devices[PROCESSORS].fails = true;
    run(20000, 0);
    assert_true(w.runs[0][PROCESSORS] <= 4);
    assert_true(share_of(GPU, 0) >= 90);
    end();
}

static void device_with_copies_of_results_loses(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_COMMAND_GROUPS
    for (uint32_t k = 0; k < LIVES; k++) {
        begin(k, 3, 1);
        w.times[0][PROCESSORS].fixed_ns = 13000;
        w.devices[GPU].readback_ns = 6000;
        run(300, 0);
        assert_true(share_of(GPU, 0) >= 90); /* no task says that it has results */
        w.results = 1;
        end();
        world_open();
        run(300, 0);
        assert_true(share_of(PROCESSORS, 0) >= 90);
        end();
    }
#endif
}

/* Begins so many pieces at once on the first of two devices: all are chosen before the first is
 * submitted. */
static void begin_long_pieces(world_piece *pieces, uint32_t count)
{
    const dynsel_task task = world_task(0, 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_status(DYNSEL_OK, dynsel_select(&finisher.policy, &task, &pieces[i].selection));
        assert_int_equal(pieces[i].selection.index, 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        world_tell(&pieces[i].selection, DYNSEL_TASK_SUBMISSION, 0);
    }
}

static uint32_t next_device(void)
{
    const dynsel_task task = world_task(0, 0);
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&finisher.policy, &task, &selection));
    return selection.index;
}

/* Four of them are predicted to take 2^32 ticks. */
static void queues_of_many_minutes_are_not_idle(void **state)
{
    (void)state;
    const uint64_t run_ns = 300 * UINT64_C(1000000000);
    world_piece pieces[9];
    for (uint32_t count = 2; count <= 9; count++) {
        begin(0, 2, 1);
        w.devices[1].what = WORLD_GPU;
        w.jitter_percent = 0;
        w.times[0][0].fixed_ns = run_ns;
        w.times[0][1].fixed_ns = run_ns + run_ns / 4;
        world_close();
        world_open();
        run(40, 0);
        begin_long_pieces(pieces, count);
        assert_int_equal(next_device(), 1);
        for (uint32_t i = 0; i < count; i++) {
            assert_true(i >= 4 || finisher.states[0].is.unfinished.value != 0);
            w.now_ns += run_ns;
            world_tell(&pieces[i].selection, DYNSEL_TASK_TIME, run_ns);
            world_tell(&pieces[i].selection, DYNSEL_TASK_COMPLETION, 0);
        }
        end();
    }
}

/*
 * Real submits.
 */

static uint64_t run_ns[2];
static uint32_t refuses_percent; /* of starts */
static uint32_t fails_percent;   /* of runs */
static uint32_t ran[2];

static dynsel_status work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    (void)done;
    const uint32_t index = where->handle == &run_ns[1] ? 1 : 0;
    w.now_ns += run_ns[index];
    ran[index]++;
    return test_random_below(&w.random, 100) < fails_percent ? DYNSEL_E_INVALID : DYNSEL_OK;
}

static dynsel_status start_or_refuse(dynsel_backend *backend, dynsel_work *it)
{
    (void)backend;
    if (test_random_below(&w.random, 100) < refuses_percent) {
        return DYNSEL_E_AGAIN;
    }
    dynsel_work_call(it);
    return DYNSEL_OK;
}

static const dynsel_backend_ops refusing_ops = {.name = "refusing",
                                                .reports = WORLD_REPORTS,
                                                .describe = world_describe_host,
                                                .start = start_or_refuse};
static dynsel_backend refusing = {.ops = &refusing_ops};

static void open_refusing(uint32_t refuses, uint32_t fails)
{
    (void)memset(&w, 0, sizeof w);
    w.count = 2;
    world_begin(-1);
    w.random.state = seed;
    run_ns[0] = 20000;
    run_ns[1] = 10000;
    refuses_percent = refuses;
    fails_percent = fails;
    (void)memset(ran, 0, sizeof ran);
    const dynsel_resource resources[] = {{&refusing, &run_ns[0]}, {&refusing, &run_ns[1]}};
    (void)memset(&finisher.policy, 0, sizeof finisher.policy);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(
                                 &finisher, &(dynsel_options){.resources = resources, .count = 2}));
}

static uint32_t submit(uint32_t count)
{
    uint32_t failed = 0;
    for (uint32_t i = 0; i < count; i++) {
        const dynsel_task task = {.function = work, .id = 1};
        failed += dynsel_submit_and_wait(&finisher.policy, &task) != DYNSEL_OK ? 1 : 0;
    }
    return failed;
}

static void withdrawn_and_failed_work_leaves_nothing_behind(void **state)
{
    (void)state;
    open_refusing(0, 0);
    assert_int_equal(submit(100), 0);
    refuses_percent = 30;
    fails_percent = 20;
    (void)submit(20000);
    world_assert_idle();
    assert_int_equal(ran[0] + ran[1], 20100);
    refuses_percent = 0;
    fails_percent = 0;
    const uint32_t before = ran[1];
    assert_int_equal(submit(1000), 0);
    assert_true(ran[1] - before >= 900);
    world_close();
}

static void resource_that_was_full_is_tried_again(void **state)
{
    (void)state;
    open_refusing(0, 0);
    run_ns[1] = 5000;
    (void)submit(1);
    refuses_percent = 90;
    (void)submit(200);
    refuses_percent = 0;
    (void)submit(1000);
    const uint32_t before = ran[1];
    (void)submit(1000);
    assert_true(ran[1] - before >= 900);
    world_assert_idle();
    world_close();
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
        cmocka_unit_test(slowed_best_is_left_and_found_again),
        cmocka_unit_test(recovered_device_competes_for_trial_runs),
        cmocka_unit_test(slowed_best_is_left_with_work_in_flight),
        cmocka_unit_test(swapped_speeds_are_noticed),
        cmocka_unit_test(choice_settles_after_times_that_jump),
        cmocka_unit_test(clock_that_stands_still_is_survived),
        cmocka_unit_test(extreme_amounts_are_told_apart),
        cmocka_unit_test(only_resource_gets_all),
        cmocka_unit_test(resource_is_out_of_service_for_a_while),
        cmocka_unit_test(device_that_fails_gets_few_runs),
        cmocka_unit_test(withdrawn_and_failed_work_leaves_nothing_behind),
        cmocka_unit_test(resource_that_was_full_is_tried_again),
        cmocka_unit_test(device_with_copies_of_results_loses),
        cmocka_unit_test(queues_of_many_minutes_are_not_idle),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
