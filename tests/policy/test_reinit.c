/* SPDX-License-Identifier: Apache-2.0 */
/* State of one initialization of a policy does not reach the next one at the same address. */
#include <dynsel/dynsel.h>

#include "test.h"

enum { TASK_FAILS = DYNSEL_E_USER - 1 };

static dynsel_dynamic_load_policy policy;
static dynsel_status ends_with;

static void begin_life(void)
{
    const dynsel_options options = {.backend = &dynsel_inline_backend};
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&policy, &options));
}

static void end_life(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static int set_up(void **state)
{
    (void)state;
    ends_with = DYNSEL_OK;
    begin_life();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_true(dynsel_invariants_hold(&policy.policy));
    end_life();
    return 0;
}

static dynsel_status end(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return ends_with;
}

static const dynsel_task task = {.function = end};

static dynsel_selection choose(void)
{
    dynsel_selection selection = {0};
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &task, &selection));
    return selection;
}

static void report_of_selection_before_reinit_is_refused(void **state)
{
    (void)state;
    dynsel_selection selection = choose();
    assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
    assert_int_equal(policy.loads[0].value, 1);
    end_life();
    begin_life();
    assert_status(DYNSEL_E_INVALID, dynsel_report(&selection, DYNSEL_TASK_COMPLETION));
    assert_error_says("deinitialized");
    assert_status(DYNSEL_E_INVALID, dynsel_report_value(&selection, DYNSEL_TASK_TIME, 1));
    assert_false(dynsel_selection_needs(&selection, DYNSEL_TASK_COMPLETION));
    assert_int_equal(policy.loads[0].value, 0);
}

/* The policy of the new life has chosen too. */
static void selection_before_reinit_is_refused_beside_current_one(void **state)
{
    (void)state;
    dynsel_selection old = choose();
    end_life();
    begin_life();
    dynsel_selection selection = choose();
    assert_null(dynsel_selection_unwrap(&old));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
    assert_status(DYNSEL_E_INVALID, dynsel_submit_selection(&old, &task, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_try_submit_selection(&old, &task, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_submit_selection_and_wait(&old, &task));
    assert_non_null(dynsel_selection_unwrap(&selection));
    assert_status(DYNSEL_OK, dynsel_submit_selection_and_wait(&selection, &task));
}

static void selection_of_deinitialized_policy_is_refused(void **state)
{
    (void)state;
    dynsel_selection selection = choose();
    end_life();
    assert_null(dynsel_selection_unwrap(&selection));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_submit_selection(&selection, &task, NULL));
    begin_life();
}

/* Copies know nothing of each other. */
static void load_stays_zero_after_duplicate_completion_reports(void **state)
{
    (void)state;
    dynsel_selection selection = choose();
    assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
    dynsel_selection copy = selection;
    assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_COMPLETION));
    assert_status(DYNSEL_OK, dynsel_report(&copy, DYNSEL_TASK_COMPLETION));
    assert_int_equal(policy.loads[0].value, 0);
}

/* Where every piece of work has a slot, the policy cannot end before that; where no work has, the
 * smallest library does not know. */
static void failure_released_after_reinit_stays_out_of_new_group(void **state)
{
    (void)state;
    if (CONFIG_DYNSEL_IN_FLIGHT_SMALL || CONFIG_DYNSEL_SUBMITS_IN_CALLER) {
        skip();
    }
    dynsel_submission submission;
    ends_with = (dynsel_status)TASK_FAILS;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    end_life();
    begin_life();
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(report_of_selection_before_reinit_is_refused),
        TEST(selection_before_reinit_is_refused_beside_current_one),
        TEST(selection_of_deinitialized_policy_is_refused),
        TEST(load_stays_zero_after_duplicate_completion_reports),
        TEST(failure_released_after_reinit_stays_out_of_new_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
