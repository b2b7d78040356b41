/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish where an OpenCL device and threads are the same processors of the host: what it
 * assumes of them, what it predicts while others work there, and what it learns from times that are
 * reported late, or while others seem to work.
 */
#include "policies/earliest_finish_parts.h"
#include "policies/finish_world.h"

enum {
    DEVICE, /* on all processors */
    THREAD,
    SECOND, /* further threads */
    THIRD,
    ALONE_US = 100,
    CROWDED_US = 150 /* the same beside a device on both of two processors: three are busy */
};

#define US UINT64_C(1000)

static const dynsel_aspect_set only[] = {
    [DEVICE] = DYNSEL_ASPECT_BIT(cpu),
    [THREAD] = DYNSEL_ASPECT_BIT(host),
};

/* A device that says that it is so many processors (0: it does not say), and threads. */
static void begin(uint32_t processors, uint32_t threads)
{
    w = (world){.count = threads + 1, .in_flight = 1};
    w.devices[DEVICE] = (world_device){
        .what = WORLD_PROCESSORS, .submit_ns = 1000, .latency_ns = 1000, .processors = processors};
    for (uint32_t i = THREAD; i < w.count; i++) {
        w.devices[i] = (world_device){.what = WORLD_THREAD, .submit_ns = 1000, .latency_ns = 1000};
    }
    world_begin(-1);
    world_open();
}

/* A device on two processors, a thread, and one more. */
static void begin_with(world_device third)
{
    begin(2, 2);
    world_close();
    w.devices[SECOND] = third;
    world_begin(-1);
    world_open();
}

static void end(void)
{
    world_drain();
    world_close();
}

/*
 * What is assumed.
 */

static void slowness_of_processors_follows_from_their_number(void **state)
{
    static const struct {
        uint32_t processors;
        uint32_t slowness; /* compared with a GPU, as a power of two; that of a thread is 9 */
    } cases[] = {{0, 5}, {1, 8}, {2, 8}, {4, 7}, {16, 5}, {64, 3}, {1 << 10, 5}};
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(cases[i].processors, 1);
        for (uint32_t k = 0; k < DYNSEL_FINISH_SCALES; k++) {
            assert_int_equal(cases[i].slowness * DYNSEL_LOG2_ONE,
                             finisher.speeds[DEVICE][k].slowness.value);
            assert_int_equal(9 * DYNSEL_LOG2_ONE, finisher.speeds[THREAD][k].slowness.value);
        }
        end();
    }
}

static uint32_t runs_until_thread_is_tried(uint32_t processors)
{
    uint32_t runs = 0;
    begin(processors, 1);
    w.times[0][DEVICE].fixed_ns = 200 * US;
    w.times[0][THREAD].fixed_ns = 100 * US;
    while (w.runs[0][THREAD] == 0 && runs < 1000) {
        (void)world_submit(0, 1);
        runs++;
    }
    end();
    return runs;
}

/* A trial run on the thread may cost no more than 5 percent of the runs so far. */
static void thread_is_tried_soon_beside_few_processors(void **state)
{
    (void)state;
    assert_in_range(runs_until_thread_is_tried(2), 2, 80);
    assert_in_range(runs_until_thread_is_tried(16), 200, 999);
}

/*
 * What is predicted.
 */

/* The work of other programs: a queue that takes so long from now on. */
static void set_queue(uint32_t index, uint32_t us)
{
    const uint32_t ticks = (uint32_t)(us * US >> DYNSEL_FINISH_TICK_SHIFT);
    const uint32_t now = (uint32_t)(dynsel_now_ns() >> DYNSEL_FINISH_TICK_SHIFT);
    finisher.states[index].is.unfinished.value = ticks;
    finisher.states[index].is.free_at.value = now + ticks;
}

/* A choice that is no trial, for work that waits for other work until then; 0: for none. */
static uint32_t choose(uint64_t ready_ns)
{
    dynsel_task task = world_task(0, 1);
    dynsel_selection selection = {.reason = DYNSEL_REASON_EXPLORING};
    dynsel_data_outlook data = {
        .ready_on = UINT32_MAX, .ready_ns = ready_ns, .uses_ahead = 1, .expected_on = UINT32_MAX};
#if CONFIG_DYNSEL_RESOURCE_SETS
    data.resources = w.count;
#endif
    task.data = &data;
    assert_status(DYNSEL_OK, finisher.policy.ops->try_select(&finisher.policy, &task, &selection));
    assert_int_equal(DYNSEL_REASON_EARLIEST_FINISH, selection.reason);
    return selection.index;
}

/* On four processors, with threads: 5 ms on all of them, 11 ms or a bit more on a thread. */
static void begin_long_work(uint32_t threads)
{
    begin(4, threads);
    w.times[0][DEVICE].fixed_ns = 5000 * US;
    w.times[0][THREAD].fixed_ns = 11000 * US;
    w.times[0][SECOND].fixed_ns = 11000 * US;
    w.times[0][THIRD].fixed_ns = 12000 * US;
    for (uint32_t i = 0; i < 1000; i++) {
        (void)world_submit(0, 1);
    }
    world_drain();
    for (uint32_t i = 0; i < w.count; i++) {
        assert_true(w.runs[0][i] > 1);
    }
}

static void end_long_work(void)
{
    for (uint32_t i = 0; i < w.count; i++) {
        set_queue(i, 0);
    }
    end();
}

/* Beside threads that have work for 10 ms the device would have a quarter of the time of each of
 * their processors, too: the threads would end after 11.25 ms if it is one, and 12.5 if two,
 * and after 9.25 ms for 8. */
static void device_delays_busiest_thread(void **state)
{
    (void)state;
    begin_long_work(3);
    set_queue(THREAD, 10000);
    assert_int_equal(SECOND, choose(0));
    set_queue(SECOND, 2000);
    assert_int_equal(THIRD, choose(0));
    set_queue(SECOND, 10000);
    assert_int_equal(THIRD, choose(0));
    set_queue(THREAD, 8000);
    set_queue(SECOND, 0);
    assert_int_equal(DEVICE, choose(0));
    end_long_work();
}

/* Where work waits for other work, other work fills the gaps. */
static void work_that_waits_delays_no_thread(void **state)
{
    (void)state;
    begin_long_work(3);
    set_queue(THREAD, 10000);
    assert_int_equal(DEVICE, choose(dynsel_now_ns() + US));
    end_long_work();
}

/* The device takes a quarter of its processor from a thread that is done after 11 ms without it,
 * or behind its queue after 12: with 6.5 ms on the device after 12.6, and behind the queue after
 * 14.1 with 8.5 ms and 14.5 with 10. */
static void device_slows_threads_down(void **state)
{
    (void)state;
    begin_long_work(1);
    set_queue(DEVICE, 6500);
    assert_int_equal(DEVICE, choose(0));
    set_queue(DEVICE, 20000);
    assert_int_equal(THREAD, choose(0));
    set_queue(THREAD, 1000);
    set_queue(DEVICE, 8500);
    assert_int_equal(DEVICE, choose(0));
    set_queue(DEVICE, 10000);
    assert_int_equal(THREAD, choose(0));
    end_long_work();
}

/* So many times of the only kind of work. */
static void teach(uint32_t index, uint64_t ns)
{
    for (uint32_t k = 0; k < CONFIG_DYNSEL_EARLIEST_FINISH_KINDS; k++) {
        for (uint32_t i = 0; finisher.kinds[k].tag.value != 0 && i < DYNSEL_FINISH_ROBUST; i++) {
            dynsel_finish_learn(&finisher.kinds[k].resources[index], dynsel_finish_amount(1), ns);
        }
    }
}

/* A device that copies results back for 30 us, a thread, and the caller, which takes 1.3 us. The
 * thread is busy for 20 us, and a start there takes as long: it would have to be woken. No start on
 * the device is known, but the program could do nothing else while it copies. */
static void copies_back_take_time_of_program(void **state)
{
    enum { CALLER = SECOND };
    (void)state;
    begin_with((world_device){.what = WORLD_CALLER});
    w.devices[DEVICE].readback_ns = 30 * US;
    w.results = 1;
    w.times[0][DEVICE].fixed_ns = US / 2;
    w.times[0][THREAD].fixed_ns = 1000 * US;
    w.times[0][CALLER].fixed_ns = 1000 * US;
    while (w.runs[0][DEVICE] < 10) {
        (void)world_submit(0, 1);
        world_drain();
    }
    teach(THREAD, US / 10);
    teach(CALLER, 13 * US / 10);
    finisher.one_by_one.value = 0; /* others are in flight, so the caller is not blocked */
    finisher.states[THREAD].is.start_ns.value = 20 * US;
    set_queue(THREAD, 20);
    assert_int_equal(THREAD, choose(0));
    set_queue(THREAD, 0);
    end();
}

/*
 * What is learned.
 */

static dynsel_selection start(uint32_t index)
{
    dynsel_selection selection;
    dynsel_task task = world_task(index, 1);
    task.aspects = only[index];
    assert_status(DYNSEL_OK, dynsel_select(&finisher.policy, &task, &selection));
    assert_int_equal(index, selection.index);
    assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
    return selection;
}

static void pass(uint32_t us)
{
    w.now_ns += us * US;
}

/* Returns 1 if the time counts, else 0. */
static uint32_t complete(dynsel_selection *selection, uint32_t us)
{
    const uint32_t is_timed = dynsel_selection_needs(selection, DYNSEL_TASK_TIME) ? 1 : 0;
    world_tell(selection, DYNSEL_TASK_TIME, us * US);
    world_tell(selection, DYNSEL_TASK_COMPLETION, 0);
    return is_timed;
}

/* So many timed runs on a resource, with nothing else in flight. */
static void run_alone(uint32_t times, uint32_t index, uint32_t us)
{
    uint32_t timed = 0;
    while (timed < times) {
        dynsel_selection selection = start(index);
        pass(us);
        timed += complete(&selection, us);
    }
}

/* So many timed runs on the thread beside one on the device each, of which the end is reported
 * first. */
static void run_together(uint32_t times, uint32_t us)
{
    uint32_t timed = 0;
    while (timed < times) {
        dynsel_selection on_device = start(DEVICE);
        dynsel_selection on_thread = start(THREAD);
        pass(us);
        (void)complete(&on_device, us);
        timed += complete(&on_thread, us);
    }
}

/* The same, but the device ends soon. */
static void run_behind(uint32_t times, uint32_t us)
{
    uint32_t timed = 0;
    while (timed < times) {
        dynsel_selection on_device = start(DEVICE);
        dynsel_selection on_thread = start(THREAD);
        pass(1);
        (void)complete(&on_device, 1);
        pass(us - 1);
        timed += complete(&on_thread, us);
    }
}

/* So many timed runs on the thread, now and then, while the device has something to do, as it seems
 * for so long. */
static void run_beside_queue(uint32_t times, uint32_t us, uint32_t queue_us)
{
    uint32_t timed = 0;
    while (timed < times) {
        pass(100000);
        dynsel_selection on_device = start(DEVICE);
        dynsel_selection on_thread = start(THREAD);
        set_queue(DEVICE, queue_us);
        pass(us);
        timed += complete(&on_thread, us);
        set_queue(DEVICE, 0);
        (void)complete(&on_device, us);
    }
}

static uint32_t learned_us(uint32_t index)
{
    dynsel_task task = world_task(index, 1);
    task.aspects = only[index];
    const dynsel_finish_kinds kinds = dynsel_finish_find(&finisher, &task);
    return (uint32_t)(dynsel_finish_predict(&kinds.own->resources[index],
                                            dynsel_finish_amount(task.amount), 1) /
                      US);
}

/* The device had ended before the program reported the thread's end, but had run beside it. */
static void times_of_crowd_that_are_reported_late_teach_nothing(void **state)
{
    (void)state;
    begin(2, 1);
    run_alone(4, THREAD, ALONE_US);
    run_together(20, CROWDED_US);
    assert_in_range(learned_us(THREAD), ALONE_US - 2, ALONE_US + 2);
    end();
}

/* The device had work in its queue, but that did not begin. */
static void few_times_alone_beside_queue_teach_little(void **state)
{
    (void)state;
    begin(2, 1);
    run_alone(4, THREAD, ALONE_US);
    run_beside_queue(3, ALONE_US, 1000);
    assert_in_range(learned_us(THREAD), 9 * ALONE_US / 10, ALONE_US - 1);
    end();
}

/* The device seems to have ended before the run, or in its first half, but may have ended later. */
static void few_times_behind_device_teach_little(void **state)
{
    (void)state;
    begin(2, 1);
    run_alone(4, THREAD, ALONE_US);
    run_behind(3, CROWDED_US);
    assert_in_range(learned_us(THREAD), ALONE_US, ALONE_US * 6 / 5);
    end();
    begin(2, 1);
    run_alone(4, THREAD, ALONE_US);
    run_beside_queue(3, CROWDED_US, 1);
    assert_in_range(learned_us(THREAD), ALONE_US, ALONE_US * 6 / 5);
    end();
}

static void what_is_likely_is_learned_in_the_end(void **state)
{
    (void)state;
    begin(2, 1);
    run_alone(4, THREAD, ALONE_US);
    run_behind(50, CROWDED_US);
    assert_in_range(learned_us(THREAD), CROWDED_US - 3, CROWDED_US);
    run_beside_queue(50, CROWDED_US, 1000);
    assert_in_range(learned_us(THREAD), ALONE_US, ALONE_US + 3);
    end();
}

static void first_time_counts_as_is_likely(void **state)
{
    (void)state;
    begin(2, 1);
    run_together(2, CROWDED_US);
    assert_in_range(learned_us(THREAD), ALONE_US - 2, ALONE_US + 2);
    end();
    begin(2, 1);
    run_behind(1, ALONE_US);
    assert_in_range(learned_us(THREAD), ALONE_US - 2, ALONE_US + 2);
    end();
}

/* Others cannot have made a run longer than so. */
static void work_that_takes_longer_is_noticed_in_crowd(void **state)
{
    (void)state;
    begin(2, 1);
    run_alone(4, THREAD, ALONE_US);
    run_together(4, 4 * CROWDED_US);
    assert_in_range(learned_us(THREAD), 4 * ALONE_US - 8, 4 * ALONE_US + 8);
    end();
}

static void work_that_takes_less_is_noticed_in_crowd(void **state)
{
    (void)state;
    begin(2, 1);
    run_alone(4, THREAD, ALONE_US);
    run_together(4, ALONE_US / 2);
    assert_in_range(learned_us(THREAD), ALONE_US / 3, ALONE_US / 2);
    end();
}

/* Nothing ran beside it, although the device was used just before. */
static void times_of_one_piece_at_a_time_count_whole(void **state)
{
    (void)state;
    begin(2, 1);
    run_alone(4, THREAD, ALONE_US);
    for (uint32_t i = 0; i < 4; i++) {
        run_alone(1, DEVICE, ALONE_US);
        run_alone(1, THREAD, CROWDED_US);
    }
    assert_in_range(learned_us(THREAD), CROWDED_US - 3, CROWDED_US + 3);
    end();
}

/* In ticks of 256 ns the clock wraps after 18 minutes. */
static void device_that_was_used_long_ago_does_not_count(void **state)
{
    (void)state;
    for (uint64_t minutes = 1; minutes <= 17; minutes += 4) {
        begin(2, 1);
        run_together(2, CROWDED_US);
        w.now_ns += minutes * 60 * UINT64_C(1000000000);
        run_alone(20, THREAD, ALONE_US);
        assert_in_range(learned_us(THREAD), ALONE_US - 2, ALONE_US + 2);
        run_alone(4, THREAD, CROWDED_US);
        assert_in_range(learned_us(THREAD), CROWDED_US - 3, CROWDED_US + 3);
        end();
    }
}

/*
 * A thread that sleeps after a while.
 */

static void begin_beside_gpu(void)
{
    w = (world){.count = 2, .in_flight = 1};
    w.devices[DEVICE] = (world_device){.what = WORLD_GPU, .submit_ns = US, .latency_ns = 40 * US};
    w.devices[THREAD] =
        (world_device){.what = WORLD_THREAD, .submit_ns = US, .latency_ns = US, .wake_ns = 50 * US};
    w.times[0][DEVICE].fixed_ns = 2 * US;
    w.times[0][THREAD].fixed_ns = 2 * US;
    world_begin(-1);
    world_open();
}

/* One piece, with nothing else in flight. */
static uint32_t run_one(void)
{
    const uint32_t there = world_submit(0, 1);
    world_drain();
    return there;
}

/* The program does something else for so long before each piece. Returns how many of the last 100
 * ran on the thread. */
static uint32_t runs_on_thread_that_sleeps(uint32_t pause_us)
{
    enum { PIECES = 1000, LAST = 100 };
    uint32_t on_thread = 0;
    begin_beside_gpu();
    for (uint32_t i = 0; i < PIECES; i++) {
        const bool there = run_one() == THREAD;
        on_thread += there && i >= PIECES - LAST ? 1 : 0;
        w.now_ns += pause_us * US;
    }
    end();
    return on_thread;
}

/* It is woken for a trial run, in 50 us; the device needs 42. */
static void thread_that_stays_awake_is_faster_than_its_trial(void **state)
{
    (void)state;
    assert_true(runs_on_thread_that_sleeps(0) > 95);
    assert_true(runs_on_thread_that_sleeps(20) > 95);
}

static void thread_that_is_woken_each_time_is_not(void **state)
{
    (void)state;
    assert_true(runs_on_thread_that_sleeps(80) < 5);
}

/* The thread was late once, so the GPU is chosen, but not for good. Its latency fades as well, and
 * it is tried now and then. */
static void latency_of_one_bad_run_fades(void **state)
{
    enum { PIECES = 5000, RUNS = 1000 };
    uint32_t on_gpu = 0;
    (void)state;
    begin_beside_gpu();
    for (uint32_t i = 0; i < RUNS; i++) {
        (void)run_one();
    }
    finisher.states[THREAD].is.latency.value = 4 * 80; /* 80 us in ticks of 256 ns */
    for (uint32_t i = 0; i < PIECES; i++) {
        on_gpu += run_one() == DEVICE ? 1 : 0;
    }
    assert_in_range(on_gpu, 1, PIECES / 2);
    on_gpu = 0;
    for (uint32_t i = 0; i < PIECES; i++) {
        on_gpu += run_one() == DEVICE ? 1 : 0;
    }
    assert_true(on_gpu < 10); /* that it is late is seen each time */
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slowness_of_processors_follows_from_their_number),
        cmocka_unit_test(thread_is_tried_soon_beside_few_processors),
        cmocka_unit_test(device_delays_busiest_thread),
        cmocka_unit_test(work_that_waits_delays_no_thread),
        cmocka_unit_test(device_slows_threads_down),
        cmocka_unit_test(copies_back_take_time_of_program),
        cmocka_unit_test(times_of_crowd_that_are_reported_late_teach_nothing),
        cmocka_unit_test(few_times_alone_beside_queue_teach_little),
        cmocka_unit_test(few_times_behind_device_teach_little),
        cmocka_unit_test(what_is_likely_is_learned_in_the_end),
        cmocka_unit_test(first_time_counts_as_is_likely),
        cmocka_unit_test(work_that_takes_longer_is_noticed_in_crowd),
        cmocka_unit_test(work_that_takes_less_is_noticed_in_crowd),
        cmocka_unit_test(times_of_one_piece_at_a_time_count_whole),
        cmocka_unit_test(device_that_was_used_long_ago_does_not_count),
        cmocka_unit_test(thread_that_stays_awake_is_faster_than_its_trial),
        cmocka_unit_test(thread_that_is_woken_each_time_is_not),
        cmocka_unit_test(latency_of_one_bad_run_fades),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
