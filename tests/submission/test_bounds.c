/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded waits, polling without waiting, and the group of a backend. */
#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "room.h"
#include "test.h"

enum { SHORT_NS = 1000000, SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT };

static manual_backend manual;
static dynsel_fixed_resource_policy policy;

static int set_up(void **state)
{
    (void)state;
    manual_backend_reset(&manual, false);
    atomic_store(&manual.wait_completes, false);
    const dynsel_resource resource = manual_resource(&manual, 0);
    const dynsel_options options = {.resources = &resource, .count = 1};
    return dynsel_fixed_resource_init(&policy, &options, 0);
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    manual_assert_clean(&manual);
    return 0;
}

static const dynsel_task task = {.function = manual_enqueue};

static void finish_all(void)
{
    for (unsigned i = 0; i < atomic_load(&manual.event_count); i++) {
        if (atomic_load(&manual.events[i].state) == MANUAL_RUNNING) {
            manual_complete(&manual, i);
        }
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
}

static void wait_after_timeout_can_be_repeated(void **state)
{
    (void)state;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
    const uint64_t before = dynsel_now_ns();
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, SHORT_NS));
    assert_true(dynsel_now_ns() - before >= SHORT_NS);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait_for(&submission, 0));
    assert_true(manual_is_synchronized(&manual, 0));
    assert_status(DYNSEL_E_STALE, dynsel_wait_for(&submission, SHORT_NS));
}

static void bounded_wait_returns_failures_and_argument_errors(void **state)
{
    (void)state;
    dynsel_submission submission;
    dynsel_submission never = {0};
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait_for(&submission, UINT64_MAX));
    assert_status(DYNSEL_E_INVALID, dynsel_wait_for(NULL, 1));
    assert_status(DYNSEL_E_INVALID, dynsel_wait_for(&never, 1));
    assert_status(DYNSEL_E_INVALID, dynsel_submit_for(NULL, &task, NULL, 1));
    assert_status(DYNSEL_E_INVALID, dynsel_submit_for(&policy.policy, NULL, NULL, 1));
}

static void bounded_submit_without_free_slot_times_out(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_for(&policy.policy, &task, NULL, 0));
    }
    assert_status(DYNSEL_E_TIMEOUT, dynsel_submit_for(&policy.policy, &task, NULL, SHORT_NS));
    assert_error_says("slot");
    assert_int_equal(atomic_load(&manual.starts), SLOTS);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_submit_for(&policy.policy, &task, NULL, 0));
    finish_all();
}

static void bounded_submit_to_full_resource_times_out(void **state)
{
    (void)state;
    atomic_store(&manual.queues[0].is_full, true);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_submit_for(&policy.policy, &task, NULL, SHORT_NS));
    assert_error_says("resource");
    atomic_store(&manual.queues[0].is_full, false);
    assert_status(DYNSEL_OK, dynsel_submit_for(&policy.policy, &task, NULL, SHORT_NS));
    finish_all();
}

static void progress_collects_completed_work_without_waiting(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    dynsel_progress();
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy.policy));
    manual_complete(&manual, 0);
    dynsel_progress();
    const dynsel_resource resource = manual_resource(&manual, 0);
    const dynsel_options options = {.resources = &resource, .count = 1};
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
}

/* Not for the oldest piece of work alone, nor for the newest. */
static void submit_with_full_table_waits_for_quarter_of_queue(void **state)
{
    (void)state;
    atomic_store(&manual.wait_completes, true);
    for (unsigned i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    }
    assert_int_equal(atomic_load(&manual.waits), 0);
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    assert_int_equal(atomic_load(&manual.waits), 1);
    assert_int_equal(atomic_load(&manual.queues[0].newest_waited), SLOTS / 4 + 1);
    finish_all();
}

/* How often one call polled. */
static unsigned polls_of_progress(void)
{
    const unsigned before = atomic_load(&manual.polls);
    dynsel_progress();
    return atomic_load(&manual.polls) - before;
}

static void progress_polls_completed_and_oldest_work_only(void **state)
{
    enum { COUNT = SLOTS < (int)MANUAL_EVENTS ? SLOTS : (int)MANUAL_EVENTS };
    (void)state;
    NEEDS(COUNT >= 2);
    assert_int_equal(polls_of_progress(), 0);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    }
    assert_in_range(polls_of_progress(), 1, 2);
    for (unsigned i = 0; i + 1 < COUNT; i++) {
        manual_complete(&manual, i);
    }
    assert_in_range(polls_of_progress(), COUNT, COUNT + 1);
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 1);
    manual_complete(&manual, COUNT - 1);
    assert_int_equal(polls_of_progress(), 1);
    assert_int_equal(polls_of_progress(), 0);
}

static void backend_group_wait_covers_all_policies(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2); /* both pieces of work are in flight at once */
    dynsel_fixed_resource_policy other = {0};
    const dynsel_resource resource = manual_resource(&manual, 1);
    const dynsel_options options = {.resources = &resource, .count = 1};
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&other, &options, 0));
    atomic_store(&manual.wait_completes, true);
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    assert_status(DYNSEL_OK, dynsel_submit(&other.policy, &task, &submission));
    const dynsel_submission_group group = dynsel_get_backend_submission_group(&manual.backend);
    assert_status(DYNSEL_OK, dynsel_wait_group(group));
    assert_int_equal(atomic_load(&manual.events[1].state), MANUAL_COMPLETE);
    assert_int_not_equal(atomic_load(&manual.events[0].state), MANUAL_RUNNING);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_wait_group(group));
    assert_status(DYNSEL_E_INVALID, dynsel_wait_group(dynsel_get_backend_submission_group(NULL)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&other.policy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(wait_after_timeout_can_be_repeated),
        TEST(bounded_wait_returns_failures_and_argument_errors),
        TEST(bounded_submit_without_free_slot_times_out),
        TEST(bounded_submit_to_full_resource_times_out),
        TEST(submit_with_full_table_waits_for_quarter_of_queue),
        TEST(progress_collects_completed_work_without_waiting),
        TEST(progress_polls_completed_and_oldest_work_only),
        TEST(backend_group_wait_covers_all_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
