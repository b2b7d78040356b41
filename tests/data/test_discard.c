/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that end without their results: nothing is copied to the host's memory. */
#include "data/pair.h"

static unsigned fetches(void)
{
    return sim.counts.fetched;
}

/* The rest of a test: `a` was discarded. */
static void finish_without_a(void)
{
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    places_end();
}

static void discard(void)
{
    const dynsel_buffer before = a;
    assert_status(DYNSEL_OK, dynsel_buffer_discard(&a));
    assert_int_equal(0, a.token);
    dynsel_buffer old = before;
    assert_status(DYNSEL_E_STALE, dynsel_buffer_discard(&old));
    assert_error_says("dynsel_buffer_discard");
}

static void results_on_device_are_not_copied(void **state)
{
    (void)state;
    run_on(0, set_all(a, 5));
    discard();
    assert_int_equal(0, fetches());
    assert_int_equal(1, sim.counts.released);
    for (int32_t i = 0; i < ELEMENTS; i++) {
        assert_int_equal(i, numbers[i]); /* as it was at first */
    }
    finish_without_a();
}

/* Memory that is shared is not mapped, either. */
static void shared_memory_is_given_back_unmapped(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    run_on(0, set_all(a, 5));
    discard();
    assert_int_equal(0, fetches());
    finish_without_a();
}

static void unused_buffer_can_be_discarded(void **state)
{
    (void)state;
    discard();
    finish_without_a();
}

static void wrong_discard_is_refused(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_buffer_discard(NULL));
    dynsel_buffer none = {0};
    assert_status(DYNSEL_E_INVALID, dynsel_buffer_discard(&none));
    assert_error_says("dynsel_buffer_discard");
    discard();
    finish_without_a();
}

/* In each state of the work that uses it: pending, started, over; and an open host accessor. */
static void buffer_in_use_is_not_discarded(void **state)
{
    (void)state;
    dynsel_submission submissions[2];
    dynsel_host_accessor open = {.data = NULL};
    sim.devices[0].pace = SIMULATED_BY_HAND;
    sim.devices[1].pace = SIMULATED_BY_HAND;
    const job first = add_to(a, 1);
    const job second = add_to(a, 2);
    assert_status(DYNSEL_OK, send_job(0, &first, &submissions[0]));
    assert_status(DYNSEL_OK, send_job(1, &second, &submissions[1])); /* waits for the first */
    sim.devices[0].pace = SIMULATED_AT_ONCE;                         /* copies to the host */
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_discard(&a));
    assert_error_says("wait for it first");
    assert_true(a.token != 0);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_discard(&a));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&open, a, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_discard(&a));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&open));
    discard();
    finish_without_a();
}

/* Work that is over, though nobody has looked, is no obstacle. */
static void end_of_last_work_is_seen(void **state)
{
    (void)state;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    const job changes = add_to(a, 1);
    assert_status(DYNSEL_OK, send_job(0, &changes, NULL));
    simulated_finish(&sim);
    discard();
    assert_int_equal(0, fetches());
    finish_without_a();
}

/* Where another use began a copy to the host, and gave up, the end waits for that copy. */
static void running_copy_to_host_ends_first(void **state)
{
    (void)state;
    dynsel_host_accessor open = {.data = NULL};
    run_on(0, set_all(a, 5));
    sim.devices[0].pace = SIMULATED_WHEN_POLLED;
    sim.devices[0].polls = 50;
    assert_status(DYNSEL_E_TIMEOUT, dynsel_host_accessor_open_for(&open, a, DYNSEL_ACCESS_READ, 0));
    assert_int_equal(1, fetches());
    discard();
    assert_int_equal(1, fetches());
    assert_int_equal(0, simulated_pending(&sim));
    finish_without_a();
}

/* Failed work, a copy to the host that fails, and a device that is lost are no errors. */
static void failures_of_unwanted_results_are_none(void **state)
{
    (void)state;
    const job fails = {
        .kind = FAIL, .value = DYNSEL_E_TASK, .buffers = {a}, .modes = {DYNSEL_ACCESS_READ_WRITE}};
    for (int i = 0; i < 3; i++) {
        run_on(0, set_all(a, 5));
        sim.failures_are_losses = i == 2;
        if (i == 0) {
            job of_a = fails;
            of_a.buffers[0] = a;
            assert_status(DYNSEL_E_TASK, run_job(0, &of_a));
        } else {
            dynsel_host_accessor seen = {.data = NULL};
            simulated_fail(&sim, SIMULATED_FETCH, 1, false, DYNSEL_E_DEVICE);
            assert_status(DYNSEL_E_DEVICE, dynsel_host_accessor_open(&seen, a, DYNSEL_ACCESS_READ));
        }
        discard();
        a = new_buffer(numbers);
    }
    discard();
    finish_without_a();
}

static dynsel_status discard_inside(const dynsel_launch *launch)
{
    (void)launch;
    return dynsel_buffer_discard(&b);
}

static dynsel_status run_discard(dynsel_handler *handler, void *args)
{
    (void)args;
    return dynsel_host_task(handler, discard_inside);
}

static void discard_in_task_is_refused(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_IN_TASK,
                  dynsel_submit_command_group_and_wait(&places[HOST].policy, run_discard, NULL));
    discard();
    finish_without_a();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(results_on_device_are_not_copied),
        TEST_SET_UP(shared_memory_is_given_back_unmapped),
        TEST_SET_UP(unused_buffer_can_be_discarded),
        TEST_SET_UP(wrong_discard_is_refused),
        TEST_SET_UP(buffer_in_use_is_not_discarded),
        TEST_SET_UP(end_of_last_work_is_seen),
        TEST_SET_UP(running_copy_to_host_ends_first),
        TEST_SET_UP(failures_of_unwanted_results_are_none),
        TEST_SET_UP(discard_in_task_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
