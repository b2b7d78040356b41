/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where earliest_finish keeps data that are used again and again: on the resource where work with
 * data usually takes the least time, and not to and fro between resources that are about equal.
 */
#include "policies/earliest_finish_parts.h"
#include "policies/finish_world.h"

enum { HERE, THERE, RUN_NS = 100000, PIECES = 400 };

/* Learns that work takes so long there. */
static void learn(uint64_t there_ns)
{
    w.times[0][THERE].fixed_ns = there_ns;
    for (uint32_t i = 0; i < PIECES; i++) {
        (void)world_submit(0, 1);
    }
    world_drain();
}

/* Work that uses data which are used again. */
static void use_data(void)
{
    for (uint32_t i = 0; i < PIECES; i++) {
        dynsel_data_outlook data = {
            .ready_on = UINT32_MAX, .uses_ahead = 4, .expected_on = UINT32_MAX};
#if CONFIG_DYNSEL_RESOURCE_SETS
        data.resources = w.count;
#endif
        dynsel_selection selection = {
            .policy = &finisher.policy, .claims = 1, .wants = DYNSEL_EARLIEST_FINISH_NEEDS};
        dynsel_task task = world_task(0, 1);
        task.data = &data;
        assert_status(DYNSEL_OK,
                      finisher.policy.ops->try_select(&finisher.policy, &task, &selection));
        finisher.policy.ops->report(&finisher.policy, &selection, DYNSEL_TASK_COMPLETION, 0);
    }
}

/* The home of data where work takes RUN_NS here and as much there at first, and then less. */
static uint32_t home_if_work_takes(uint64_t there_ns)
{
    w = (world){.count = 2, .in_flight = 20};
    for (uint32_t i = 0; i < w.count; i++) {
        w.devices[i] = (world_device){.what = WORLD_GPU, .submit_ns = 1000, .latency_ns = 1000};
    }
    w.times[0][HERE].fixed_ns = RUN_NS;
    world_begin(-1);
    world_open();
    learn(RUN_NS);
    use_data();
    assert_int_equal(HERE + 1, finisher.data_home.value);
    learn(there_ns);
    use_data();
    const uint32_t home = finisher.data_home.value;
    world_close();
    return home - 1;
}

/* An eighth is the margin. */
static void data_move_to_resource_that_needs_clearly_less_time(void **state)
{
    (void)state;
    assert_int_equal(HERE, home_if_work_takes(RUN_NS));
    assert_int_equal(HERE, home_if_work_takes(RUN_NS * 95 / 100));
    assert_int_equal(HERE, home_if_work_takes(RUN_NS * 90 / 100));
    assert_int_equal(THERE, home_if_work_takes(RUN_NS * 85 / 100));
    assert_int_equal(THERE, home_if_work_takes(RUN_NS * 78 / 100));
    assert_int_equal(THERE, home_if_work_takes(RUN_NS / 2));
}

/* Which resources share data, and how many of them have a processor beside the program. */
static void assert_sharing(const uint32_t *classes, uint32_t count, uint32_t processors,
                           uint32_t set, uint32_t sharers)
{
    w = (world){.count = count, .in_flight = 1};
    for (uint32_t i = 0; i < count; i++) {
        w.devices[i] = (world_device){.what = classes[i], .processors = processors};
    }
    world_begin(-1);
    world_open();
    assert_int_equal(set, (uint32_t)dynsel_finish_sharing(&finisher));
    assert_int_equal(sharers, finisher.sharers.value);
    world_close();
}

static void worker_threads_share_data(void **state)
{
    static const uint32_t gpu[] = {WORLD_GPU, WORLD_THREAD, WORLD_THREAD, WORLD_THREAD};
    static const uint32_t processors[] = {WORLD_PROCESSORS, WORLD_THREAD, WORLD_THREAD};
    static const uint32_t caller[] = {WORLD_CALLER, WORLD_THREAD, WORLD_GPU};
    (void)state;
    assert_sharing(gpu, 4, 0, 7u << 1, 3);
    assert_sharing(gpu, 2, 0, 0, 1); /* one thread */
    assert_sharing(processors, 3, 16, 3u << 1, 2);
    assert_sharing(processors, 3, 3, 3u << 1, 2);
    assert_sharing(processors, 3, 2, 0, 1); /* the program needs one of them */
    assert_sharing(caller, 3, 0, 0, 1);     /* the caller is the program */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_move_to_resource_that_needs_clearly_less_time),
        cmocka_unit_test(worker_threads_share_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
