/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What earliest_finish expects of data that are updated again and again: two equal devices, of
 * which each has data, and a choice for data on the first.
 */
#include "policies/earliest_finish_parts.h"
#include "policies/finish_world.h"

enum {
    HERE,
    THERE,
    RUN_NS = 100000,
    TICK_NS = 256,
    UPDATES = 4,
    COPY_BYTES = 1 << 20, /* about 110 us, as long as nothing is known of copies */
    QUEUED = 10           /* runs on each device */
};

static dynsel_finish_place places[] = {DYNSEL_FINISH_APART, DYNSEL_FINISH_APART};
static bool are_idle; /* the devices, at a choose_with() */

static const uint32_t run_ticks = RUN_NS / TICK_NS;

static void begin(void)
{
    w = (world){.count = 2, .in_flight = 2 * QUEUED};
    for (uint32_t i = 0; i < w.count; i++) {
        w.devices[i] = (world_device){.what = WORLD_GPU, .submit_ns = 1000, .latency_ns = 1000};
        w.times[0][i].fixed_ns = RUN_NS;
    }
    world_begin(-1);
    world_open();
    for (uint32_t i = 0; i < 200; i++) {
        (void)world_submit(0, 1);
    }
    world_drain();
    assert_true(w.runs[0][HERE] > 50 && w.runs[0][THERE] > 50);
}

/* Work for other data, in equal parts on both. */
static void fill_queues(void)
{
    for (uint32_t i = 0; i < 2 * QUEUED; i++) {
        (void)world_submit(0, 1);
    }
}

static void end(void)
{
    world_drain();
    world_close();
}

/* Data on the first device, that the program updates so many times more. */
static dynsel_data_outlook data_here(uint32_t updates)
{
    dynsel_data_outlook data = {
        .ready_on = UINT32_MAX, .uses_ahead = 1, .expected_on = HERE, .updates_ahead = updates};
    data.bytes_in[THERE] = COPY_BYTES;
#if CONFIG_DYNSEL_RESOURCE_SETS
    data.resources = w.count;
#endif
    return data;
}

static uint32_t choose(dynsel_data_outlook *data)
{
    dynsel_task task = world_task(0, 1);
    dynsel_selection selection = {
        .policy = &finisher.policy, .claims = 1, .wants = DYNSEL_EARLIEST_FINISH_NEEDS};
    task.data = data;
    assert_status(DYNSEL_OK, finisher.policy.ops->try_select(&finisher.policy, &task, &selection));
    finisher.policy.ops->report(&finisher.policy, &selection, DYNSEL_TASK_COMPLETION, 0);
    return selection.index;
}

static uint32_t expected_on(uint32_t device)
{
    return finisher.states[device].is.expected.value;
}

static void assert_runs_expected(uint32_t runs, uint32_t device)
{
    const uint32_t error = runs * run_ticks / 50 + (runs != 0 ? 1 : 0);
    const uint32_t least = runs * run_ticks - error;
    assert_in_range(expected_on(device), least, least + 2 * error);
}

static void updates_are_expected_until_they_come(void **state)
{
    (void)state;
    begin();
    uint64_t before_ns = 0;
    for (uint32_t left = UPDATES; left != UINT32_MAX; left--) {
        dynsel_data_outlook data = data_here(left);
        data.expected_ns = before_ns;
        assert_int_equal(HERE, choose(&data));
        assert_runs_expected(left, HERE);
        assert_int_equal(0, expected_on(THERE));
        before_ns = data.expected_ns;
    }
    assert_int_equal(0, before_ns);
    assert_int_equal(0, expected_on(HERE));
    end();
}

static void data_that_move_take_their_updates_along(void **state)
{
    (void)state;
    begin();
    dynsel_data_outlook data = data_here(UPDATES);
    assert_int_equal(HERE, choose(&data));
    data.updates_ahead--;
    data.bytes_in[HERE] = (uint64_t)COPY_BYTES << 10; /* no trial run is worth that */
    data.bytes_in[THERE] = 0;
    assert_int_equal(THERE, choose(&data));
    assert_int_equal(0, expected_on(HERE));
    assert_runs_expected(UPDATES - 1, THERE);
    end();
}

/* So many runs are expected on each device, some of them of the data. Returns the choice. */
static uint32_t choose_with(uint32_t runs_here, uint32_t runs_there, uint64_t ready_ns)
{
    begin();
    if (!are_idle) {
        fill_queues();
    }
    finisher.states[HERE].is.expected.value = runs_here * run_ticks;
    finisher.states[THERE].is.expected.value = runs_there * run_ticks;
    finisher.states[HERE].is.place.value = places[HERE];
    finisher.states[THERE].is.place.value = places[THERE];
    dynsel_data_outlook data = data_here(UPDATES);
    data.expected_ns = (uint64_t)(UPDATES + 1) * RUN_NS;
    if (ready_ns != 0) {
        data.ready_ns = dynsel_now_ns() + ready_ns;
        data.ready_on = HERE;
    }
    const uint32_t chosen = choose(&data);
    end();
    return chosen;
}

static void data_go_where_less_is_expected(void **state)
{
    (void)state;
    assert_int_equal(HERE, choose_with(UPDATES + 1, 0, 0));
    assert_int_equal(HERE, choose_with(30, 30, 0));
    assert_int_equal(HERE, choose_with(30, 25, 0)); /* the own ones would be too much there */
    assert_int_equal(THERE, choose_with(30, 10, 0));
    assert_int_equal(HERE, choose_with(10, 30, 0));
}

static void work_for_same_processors_gains_nothing_elsewhere(void **state)
{
    (void)state;
    places[HERE] = DYNSEL_FINISH_PROCESSORS;
    places[THERE] = DYNSEL_FINISH_THREAD;
    assert_int_equal(HERE, choose_with(30, 10, 0));
    places[HERE] = DYNSEL_FINISH_APART;
    assert_int_equal(THERE, choose_with(30, 10, 0));
    places[THERE] = DYNSEL_FINISH_APART;
}

/* Then a device with fewer data would not do it sooner. */
static void data_stay_where_they_wait_for_other_work(void **state)
{
    (void)state;
    const uint64_t queue_ns = (uint64_t)QUEUED * RUN_NS;
    assert_int_equal(THERE, choose_with(30, 10, queue_ns / 8));
    assert_int_equal(HERE, choose_with(30, 10, queue_ns / 4 * 3));
    assert_int_equal(HERE, choose_with(30, 10, queue_ns * 2));
    are_idle = true;
    assert_int_equal(HERE, choose_with(30, 10, queue_ns));
    are_idle = false;
}

static void what_does_not_come_is_forgotten(void **state)
{
    (void)state;
    begin();
    enum { EXPECTED = 20 };
    finisher.states[THERE].is.expected.value = EXPECTED * run_ticks;
    for (uint32_t i = 0; i < 2 * EXPECTED; i++) {
        dynsel_data_outlook data = data_here(0);
        data.bytes_in[THERE] = (uint64_t)COPY_BYTES << 10;
        const uint32_t before = expected_on(THERE);
        finisher.states[HERE].is.unfinished.value = run_ticks; /* of other work */
        assert_int_equal(HERE, choose(&data));
        assert_true(expected_on(THERE) < before || before == 0 || i == 0);
        w.now_ns += RUN_NS;
    }
    finisher.states[HERE].is.unfinished.value = 0;
    assert_int_equal(0, expected_on(THERE));
    end();
}

static void nothing_is_forgotten_while_program_waits(void **state)
{
    (void)state;
    begin();
    finisher.states[THERE].is.expected.value = run_ticks;
    w.now_ns += (uint64_t)1 << 32;
    dynsel_data_outlook data = data_here(0);
    assert_int_equal(HERE, choose(&data));
    assert_int_equal(run_ticks, expected_on(THERE));
    end();
}

static void expectations_have_a_bound(void **state)
{
    (void)state;
    begin();
    for (uint32_t i = 0; i < 3; i++) {
        finisher.states[HERE].is.expected.value = (1 << 30) - i;
        dynsel_data_outlook data = data_here(UINT32_MAX);
        data.bytes_in[THERE] = (uint64_t)1 << 50;
        assert_int_equal(HERE, choose(&data));
        assert_int_equal(1 << 30, expected_on(HERE));
        data.expected_ns = UINT64_MAX;
        data.updates_ahead = 0;
        assert_int_equal(HERE, choose(&data));
        assert_int_equal(0, expected_on(HERE));
    }
    end();
}

/* The data's last writer ran on a resource of another policy, which has more of them; or there is
 * none, although a program says that it expects updates. */
static void resource_of_another_policy_is_ignored(void **state)
{
    const uint32_t others[] = {2, CONFIG_DYNSEL_MAX_RESOURCES - 1, UINT32_MAX};
    (void)state;
    for (uint32_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        begin();
        dynsel_finish_resource *const other =
            &finisher.states[others[i] < CONFIG_DYNSEL_MAX_RESOURCES ? others[i] : w.count];
        dynsel_data_outlook data = data_here(UPDATES);
        data.expected_on = others[i];
        data.expected_ns = RUN_NS;
        other->is.expected.value = run_ticks;
        assert_int_equal(HERE, choose(&data));
        assert_runs_expected(UPDATES, HERE);
        assert_int_equal(run_ticks, other->is.expected.value);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_are_expected_until_they_come),
        cmocka_unit_test(data_that_move_take_their_updates_along),
        cmocka_unit_test(data_go_where_less_is_expected),
        cmocka_unit_test(work_for_same_processors_gains_nothing_elsewhere),
        cmocka_unit_test(data_stay_where_they_wait_for_other_work),
        cmocka_unit_test(what_does_not_come_is_forgotten),
        cmocka_unit_test(nothing_is_forgotten_while_program_waits),
        cmocka_unit_test(expectations_have_a_bound),
        cmocka_unit_test(resource_of_another_policy_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
