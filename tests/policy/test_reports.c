/* SPDX-License-Identifier: Apache-2.0 */
/* Reports on submitted work to policies, and work that a group wait leaves running. */
#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "room.h"
#include "support/do_nothing.h"
#include "test.h"

enum { SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT, COUNT = RESOURCES_UP_TO(2) };

static manual_backend manual;
static dynsel_dynamic_load_policy policy;
static dynsel_resource resources[2];
static dynsel_options options;

static int set_up(void **state)
{
    (void)state;
    manual_backend_reset(&manual, true);
    for (unsigned i = 0; i < COUNT; i++) {
        resources[i] = manual_resource(&manual, i);
    }
    options = (dynsel_options){.resources = resources, .count = COUNT};
    return dynsel_dynamic_load_init(&policy, &options);
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    manual_assert_clean(&manual);
    return 0;
}

static const dynsel_task task = {.function = manual_enqueue};

static dynsel_status wait_group(dynsel_policy *of)
{
    return dynsel_wait_group(dynsel_get_submission_group(of));
}

static void completions_are_reported_before_each_selection(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && SLOTS >= 4);
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &task, &selection));
    assert_int_equal(selection.index, 1);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &task, &selection));
    assert_int_equal(selection.index, 0);
    for (unsigned i = 1; i < 3; i++) { /* to the first again, as its work is complete each time */
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
        assert_ptr_equal(manual.events[i].queue, &manual.queues[0]);
        manual_complete(&manual, i);
    }
    assert_status(DYNSEL_OK, wait_group(&policy.policy));
}

/* Only the oldest work of each resource is looked at, however much is waiting. */
static void selection_polls_oldest_work_only(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    }
    const unsigned before = atomic_load(&manual.polls);
    assert_true(before <= (SLOTS + 8) * COUNT); /* and a few while more slots are opened */
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &task, &selection));
    assert_in_range(atomic_load(&manual.polls) - before, 1, COUNT);
    assert_status(DYNSEL_OK, wait_group(&policy.policy));
}

static void wait_reports_completion_to_policy(void **state)
{
    (void)state;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    assert_int_equal(policy.loads[0].value, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(policy.loads[0].value, 0);
}

static void policy_group_wait_leaves_work_of_others_running(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    dynsel_dynamic_load_policy other = {0};
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&other, &options));
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    assert_status(DYNSEL_OK, dynsel_submit(&other.policy, &task, NULL)); /* the same queue */
    assert_ptr_equal(manual.events[0].queue, manual.events[1].queue);
    assert_status(DYNSEL_OK, wait_group(&policy.policy));
    assert_int_equal(atomic_load(&manual.events[0].state), MANUAL_RELEASED);
    assert_int_equal(atomic_load(&manual.events[1].state), MANUAL_RUNNING);
    assert_status(DYNSEL_OK, wait_group(&other.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&other.policy));
}

/* What the backend was asked to measure for the newest work. */
static unsigned wanted;

static dynsel_status start_and_note(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    wanted = work->wants;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static const dynsel_backend_ops noting_ops = {.name = "noting",
                                              .reports = DYNSEL_TASK_SUBMISSION |
                                                         DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
                                              .start = start_and_note};

static dynsel_status choose_the_first(dynsel_policy *base, const dynsel_task *of,
                                      dynsel_selection *selection)
{
    (void)base;
    (void)of;
    selection->index = 0;
    return DYNSEL_OK;
}

static unsigned heard_times;

static void hear(dynsel_policy *base, const dynsel_selection *selection, dynsel_execution_info info,
                 uint64_t value)
{
    (void)base;
    (void)selection;
    assert_int_equal(info, DYNSEL_TASK_TIME);
    assert_true(value > 0);
    heard_times++;
}

/* Each policy hears what it needs, whatever others on the same resource need. */
static void policy_gets_only_reports_it_needs(void **state)
{
    (void)state;
    static const dynsel_policy_ops deaf_ops = {.name = "deaf", .try_select = choose_the_first};
    static const dynsel_policy_ops timing_ops = {.name = "timing",
                                                 .needs = DYNSEL_TASK_TIME,
                                                 .try_select = choose_the_first,
                                                 .report = hear};
    dynsel_backend noting = {&noting_ops};
    const dynsel_resource one = {&noting, NULL};
    const dynsel_options only = {.resources = &one, .count = 1};
    dynsel_policy deaf = {0};
    dynsel_policy timing = {0};
    assert_status(DYNSEL_OK, dynsel_policy_init(&timing, &timing_ops, &only));
    assert_status(DYNSEL_OK, dynsel_policy_init(&deaf, &deaf_ops, &only));
    heard_times = 0;
    for (int i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&timing, &DYNSEL_TASK(do_nothing, NULL), NULL));
        assert_int_equal(wanted, DYNSEL_TASK_TIME);
        assert_status(DYNSEL_OK, dynsel_submit(&deaf, &DYNSEL_TASK(do_nothing, NULL), NULL));
        assert_int_equal(wanted, 0);
    }
    assert_int_equal(heard_times, 3);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&deaf));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&timing));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(completions_are_reported_before_each_selection),
        TEST(selection_polls_oldest_work_only),
        TEST(wait_reports_completion_to_policy),
        TEST(policy_group_wait_leaves_work_of_others_running),
        TEST(policy_gets_only_reports_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
