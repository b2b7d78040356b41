/* SPDX-License-Identifier: Apache-2.0 */
/* Submitting over the inline backend: forms, results, handles, failures, nesting. */
#include <dynsel/dynsel.h>

#include "room.h"
#include "test.h"

/* For work that is complete at once, which otherwise needs none. */
#if CONFIG_DYNSEL_IN_FLIGHT_SMALL
#define SLOTS CONFIG_DYNSEL_MAX_IN_FLIGHT
#else
#define SLOTS 5000
#endif

enum { OWN_STATUS = DYNSEL_E_USER - 3, COUNT = RESOURCES_UP_TO(2), LAST = COUNT - 1 };

static dynsel_fixed_resource_policy policy;
static const dynsel_resource hosts[] = {{&dynsel_inline_backend, (void *)"a"},
                                        {&dynsel_inline_backend, (void *)"b"}};

static int set_up(void **state)
{
    (void)state;
    const dynsel_options options = {.resources = hosts, .count = COUNT};
    return dynsel_fixed_resource_init(&policy, &options, LAST);
}

static int tear_down(void **state)
{
    (void)state;
    return dynsel_policy_deinit(&policy.policy);
}

typedef struct call {
    int count;
    const dynsel_resource *where;
    dynsel_status returns;
    uintptr_t value;
    void *native;
} call;

static dynsel_status note(const dynsel_resource *where, void *args, dynsel_event *done)
{
    call *c = args;
    assert_null(done->native);
    assert_int_equal(done->value, 0);
    c->count++;
    c->where = where;
    done->value = c->value;
    done->native = c->native;
    return c->returns;
}

static dynsel_status fail_with_details(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return dynsel_fail(&(dynsel_error){.status = DYNSEL_E_TASK, .function = "sensor", .code = 42});
}

static void task_runs_once_on_selected_resource(void **state)
{
    (void)state;
    size_t count = 0;
    const dynsel_resource *resources = dynsel_get_resources(&policy.policy, &count);
    call c = {0};
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &c), NULL));
    assert_int_equal(c.count, 1);
    assert_ptr_equal(c.where, &resources[LAST]);
    assert_status(DYNSEL_OK, dynsel_try_submit(&policy.policy, &DYNSEL_TASK(note, &c), NULL));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(note, &c)));
    assert_int_equal(c.count, 3);
}

static void second_wait_for_submission_is_stale(void **state)
{
    (void)state;
    call c = {.value = 17};
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &c), &submission));
    assert_ptr_equal(dynsel_submission_policy(&submission), &policy.policy);
    dynsel_event done = {0};
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_int_equal(done.value, 17);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_release(&submission));
    done.value = 0;
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_int_equal(done.value, 17);
    assert_null(done.native);
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &c), &submission));
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_unwrap(&submission, &done));
}

#if CONFIG_DYNSEL_SUBMISSION_CONTROL
static void poll_of_direct_work_collects_nothing(void **state)
{
    (void)state;
    call c = {0};
    dynsel_submission submission = {.policy = NULL};
    assert_status(DYNSEL_E_INVALID, dynsel_submission_poll(NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_submission_poll(&submission));
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &c), &submission));
    assert_status(DYNSEL_OK, dynsel_submission_poll(&submission));
    assert_status(DYNSEL_OK, dynsel_submission_poll(&submission));
    assert_status(DYNSEL_E_BUSY, dynsel_cancel(&submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_poll(&submission));
    assert_error_says("dynsel_submission_poll");
    assert_status(DYNSEL_E_STALE, dynsel_cancel(&submission));
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(fail_with_details, NULL),
                                           &submission));
    assert_status(DYNSEL_OK, dynsel_submission_poll(&submission)); /* however it ended */
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_poll(&submission));
    const dynsel_submission_group group = dynsel_get_submission_group(&policy.policy);
    assert_status(DYNSEL_E_TASK, dynsel_wait_group_for(group, 0));
    assert_status(DYNSEL_OK, dynsel_wait_group_for(group, 0));
}
#endif

static void second_wait_for_failed_submission_is_stale(void **state)
{
    (void)state;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(fail_with_details, NULL),
                                           &submission));
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_release(&submission));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
}

static void wait_and_unwrap_returns_value_of_direct_work(void **state)
{
    (void)state;
    call c = {.value = 17};
    dynsel_submission submission;
    dynsel_event done = {.native = &c};
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &c), &submission));
    assert_status(DYNSEL_OK, dynsel_wait_and_unwrap(&submission, &done));
    assert_int_equal(done.value, 17);
    assert_null(done.native);
    assert_status(DYNSEL_E_STALE, dynsel_wait_and_unwrap(&submission, &done));
    c.returns = DYNSEL_E_TASK;
    c.value = 18;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &c), &submission));
    assert_status(DYNSEL_E_TASK, dynsel_wait_and_unwrap(&submission, &done));
    assert_int_equal(done.value, 18);
}

/* Where every piece of work has a slot, the policy does not end before that. */
static void failure_released_after_policy_end_is_dropped(void **state)
{
    (void)state;
    NEEDS(!CONFIG_DYNSEL_IN_FLIGHT_SMALL);
    dynsel_submission submission;
    const dynsel_options options = {.resources = hosts, .count = COUNT};
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(fail_with_details, NULL),
                                           &submission));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    const dynsel_fixed_resource_policy ended = policy;
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_memory_equal(&ended, &policy, sizeof ended);
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, LAST));
}

static void resource_of_submission_is_null_after_reinit_with_fewer(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && !CONFIG_DYNSEL_IN_FLIGHT_SMALL);
    call c = {0};
    dynsel_submission submission;
    const dynsel_options options = {.resources = hosts, .count = 1};
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &c), &submission));
    assert_non_null(dynsel_submission_resource(&submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_null(dynsel_submission_resource(&submission));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_null(dynsel_submission_resource(&submission));
}

/* Nothing is kept in flight, so no table can be full. */
static void direct_work_needs_no_slot(void **state)
{
    (void)state;
    call c = {0};
    dynsel_submission submission;
    NEEDS(SLOTS >= 5000);
    for (int i = 0; i < 5000; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_try_submit(&policy.policy, &DYNSEL_TASK(note, &c), &submission));
    }
    assert_int_equal(c.count, 5000);
}

static void success_is_not_reported_as_group_failure(void **state)
{
    (void)state;
    const dynsel_submission_group group = dynsel_get_submission_group(&policy.policy);
    call c = {0};
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &c), NULL));
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &c), &submission));
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_OK,
                  dynsel_submit(&policy.policy, &DYNSEL_TASK(fail_with_details, NULL), NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_wait(NULL)); /* not what the group tells of */
    assert_status(DYNSEL_E_TASK, dynsel_wait_group(group));
    assert_error_code(42);
}

static dynsel_status fail_after_another_failure(const dynsel_resource *where, void *args,
                                                dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_BUSY, .code = 7});
    return DYNSEL_E_TASK;
}

static void failure_details_of_other_status_are_ignored(void **state)
{
    (void)state;
    assert_status(
        DYNSEL_E_TASK,
        dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(fail_after_another_failure, NULL)));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_TASK);
    assert_error_code(0);
}

static void wait_returns_task_function_status(void **state)
{
    (void)state;
    call c = {.returns = (dynsel_status)OWN_STATUS};
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &c), &submission));
    assert_status((dynsel_status)OWN_STATUS, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    assert_status((dynsel_status)OWN_STATUS,
                  dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(note, &c)));
    assert_error_code(0);
}

static void group_wait_returns_earliest_detached_failure(void **state)
{
    (void)state;
    call second = {.returns = DYNSEL_E_TASK};
    assert_status(DYNSEL_OK,
                  dynsel_submit(&policy.policy, &DYNSEL_TASK(fail_with_details, NULL), NULL));
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &second), NULL));
    assert_status(DYNSEL_E_TASK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    assert_error_code(42);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
}

static void released_failure_reaches_group(void **state)
{
    (void)state;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(fail_with_details, NULL),
                                           &submission));
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_TASK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    assert_error_says("sensor");
}

static void details_of_older_failure_are_ignored(void **state)
{
    (void)state;
    (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_TASK, .code = 99});
    call c = {.returns = DYNSEL_E_TASK};
    assert_status(DYNSEL_E_TASK, dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(note, &c)));
    assert_error_code(0);
}

static void event_from_inline_task_is_invalid(void **state)
{
    (void)state;
    int something = 0;
    call c = {.native = &something};
    assert_status(DYNSEL_E_INVALID, dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(note, &c)));
    assert_error_says("event");
    c.returns = DYNSEL_E_TASK;
    assert_status(DYNSEL_E_TASK, dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(note, &c)));
    dynsel_submission submission;
    dynsel_event done;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &c), &submission));
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_null(done.native);
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
}

static void task_forms_are_searched_in_order(void **state)
{
    (void)state;
    dynsel_backend other = {.ops = dynsel_inline_backend.ops};
    call c = {0};
    const dynsel_task_form only_other[] = {{&other, note}};
    const dynsel_task_form both[] = {{&dynsel_inline_backend, note}, {NULL, fail_with_details}};
    const dynsel_task_form any[] = {{&other, fail_with_details}, {NULL, note}};
    const dynsel_task_form none_here[] = {{&dynsel_inline_backend, NULL}, {NULL, note}};
    assert_status(DYNSEL_E_UNSUPPORTED,
                  dynsel_submit(&policy.policy,
                                &(dynsel_task){.forms = only_other, .form_count = 1, .args = &c},
                                NULL));
    assert_error_says("form");
    assert_status(DYNSEL_E_UNSUPPORTED,
                  dynsel_submit(&policy.policy,
                                &(dynsel_task){.forms = none_here, .form_count = 2, .args = &c},
                                NULL));
    assert_int_equal(c.count, 0);
    assert_status(DYNSEL_OK,
                  dynsel_submit_and_wait(
                      &policy.policy, &(dynsel_task){.forms = both, .form_count = 2, .args = &c}));
    assert_status(DYNSEL_OK,
                  dynsel_submit_and_wait(
                      &policy.policy, &(dynsel_task){.forms = any, .form_count = 2, .args = &c}));
    const dynsel_task fallback = {
        .function = note, .forms = only_other, .form_count = 1, .args = &c};
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &fallback));
    const dynsel_task form_first = {
        .function = fail_with_details, .forms = both, .form_count = 1, .args = &c};
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &form_first));
    assert_int_equal(c.count, 4);
    dynsel_selection here = {.policy = &policy.policy, .index = LAST};
    assert_status(
        DYNSEL_E_UNSUPPORTED,
        dynsel_submit_selection(&here, &(dynsel_task){.forms = only_other, .form_count = 1}, NULL));
    assert_ptr_equal(here.policy, &policy.policy);
    assert_null(dynsel_task_function_for(NULL, &other));
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    dynsel_submission never = {0};
    dynsel_event done;
    const dynsel_task empty = {0};
    const dynsel_task no_table = {.form_count = 1};
    const dynsel_task *const wrong[] = {NULL, &empty, &no_table};
    for (size_t i = 0; i < 3; i++) {
        dynsel_selection selection = {.policy = &policy.policy, .index = 0};
        assert_status(DYNSEL_E_INVALID, dynsel_submit(&policy.policy, wrong[i], NULL));
        assert_status(DYNSEL_E_INVALID, dynsel_try_submit(&policy.policy, wrong[i], NULL));
        assert_status(DYNSEL_E_INVALID, dynsel_submit_and_wait(&policy.policy, wrong[i]));
        assert_status(DYNSEL_E_INVALID, dynsel_submit_selection(&selection, wrong[i], NULL));
        assert_status(DYNSEL_E_INVALID, dynsel_select(&policy.policy, wrong[i], &selection));
        assert_ptr_equal(selection.policy, &policy.policy);
    }
    assert_status(DYNSEL_E_INVALID, dynsel_select(&policy.policy, &DYNSEL_TASK(note, NULL), NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_wait(NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_wait(&never));
    assert_status(DYNSEL_E_INVALID, dynsel_submission_release(NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_submission_release(&never));
    assert_status(DYNSEL_E_INVALID, dynsel_submission_unwrap(NULL, &done));
    assert_status(DYNSEL_E_INVALID, dynsel_submission_unwrap(&never, &done));
    dynsel_submission fine;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &(call){0}), &fine));
    assert_status(DYNSEL_E_INVALID, dynsel_submission_unwrap(&fine, NULL));
    assert_status(DYNSEL_OK, dynsel_wait(&fine));
    assert_status(DYNSEL_E_INVALID, dynsel_submit_selection(NULL, &DYNSEL_TASK(note, NULL), NULL));
    assert_null(dynsel_submission_policy(NULL));
    assert_null(dynsel_selection_policy(NULL));
    assert_null(dynsel_selection_unwrap(NULL));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
}

static void submit_consumes_selection(void **state)
{
    (void)state;
    call c = {0};
    dynsel_selection selection;
    size_t count = 0;
    const dynsel_resource *resources = dynsel_get_resources(&policy.policy, &count);
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &DYNSEL_TASK(note, &c), &selection));
    assert_ptr_equal(dynsel_selection_unwrap(&selection), &resources[LAST]);
    assert_ptr_equal(dynsel_selection_policy(&selection), &policy.policy);
    selection.index = 0; /* a program may overrule the choice */
    assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &DYNSEL_TASK(note, &c), NULL));
    assert_ptr_equal(c.where, &resources[0]);
    assert_status(DYNSEL_E_STALE,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(note, &c), NULL));
    assert_status(DYNSEL_E_STALE,
                  dynsel_submit_selection_and_wait(&selection, &DYNSEL_TASK(note, &c)));
    assert_null(dynsel_selection_unwrap(&selection));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_STALE);
    assert_int_equal(c.count, 1);
    selection = (dynsel_selection){.policy = &policy.policy, .index = COUNT};
    assert_status(DYNSEL_E_INVALID,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(note, &c), NULL));
    assert_null(dynsel_selection_unwrap(&selection));
    selection.index = LAST;
    c.returns = DYNSEL_E_TASK;
    assert_status(DYNSEL_E_TASK,
                  dynsel_submit_selection_and_wait(&selection, &DYNSEL_TASK(note, &c)));
    assert_null(selection.policy);
}

/* That is what the token of work is that is complete when it was started. */
static void completion_of_token_zero_is_stale(void **state)
{
    (void)state;
    call c = {0};
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, &c), NULL));
    assert_int_equal(DYNSEL_E_STALE, dynsel_complete(0, DYNSEL_OK, 0));
    assert_int_equal(DYNSEL_E_STALE, dynsel_complete(0, DYNSEL_E_DEVICE, 1));
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
}

static void selection_of_ended_policy_is_refused(void **state)
{
    (void)state;
    const dynsel_options options = {.resources = hosts, .count = COUNT};
    dynsel_fixed_resource_policy ended = {0};
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&ended, &options, LAST));
    assert_status(DYNSEL_OK, dynsel_select(&ended.policy, &DYNSEL_TASK(note, NULL), &selection));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&ended.policy));
    assert_status(DYNSEL_E_UNINITIALIZED,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(note, NULL), NULL));
    assert_null(dynsel_selection_unwrap(&selection));
}

static dynsel_status nest(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    call *inner = args;
    dynsel_submission submission;
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, inner), NULL));
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(note, inner), &submission));
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &DYNSEL_TASK(note, inner), &selection));
    assert_status(DYNSEL_E_IN_TASK, dynsel_wait(&submission));
    assert_status(DYNSEL_E_IN_TASK,
                  dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(note, inner)));
    assert_status(DYNSEL_E_IN_TASK,
                  dynsel_submit_selection_and_wait(&selection, &DYNSEL_TASK(note, inner)));
    assert_ptr_equal(selection.policy, &policy.policy);
    assert_status(DYNSEL_E_IN_TASK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    return DYNSEL_OK;
}

static void task_function_may_submit_but_not_wait(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 4);
    call inner = {0};
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(nest, &inner)));
    assert_int_equal(inner.count, 2);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(task_runs_once_on_selected_resource),
        TEST(second_wait_for_submission_is_stale),
#if CONFIG_DYNSEL_SUBMISSION_CONTROL
        TEST(poll_of_direct_work_collects_nothing),
#endif
        TEST(second_wait_for_failed_submission_is_stale),
        TEST(wait_and_unwrap_returns_value_of_direct_work),
        TEST(failure_released_after_policy_end_is_dropped),
        TEST(resource_of_submission_is_null_after_reinit_with_fewer),
        TEST(direct_work_needs_no_slot),
        TEST(success_is_not_reported_as_group_failure),
        TEST(wait_returns_task_function_status),
        TEST(group_wait_returns_earliest_detached_failure),
        TEST(released_failure_reaches_group),
        TEST(details_of_older_failure_are_ignored),
        TEST(failure_details_of_other_status_are_ignored),
        TEST(event_from_inline_task_is_invalid),
        TEST(task_forms_are_searched_in_order),
        TEST(wrong_arguments_are_refused),
        TEST(submit_consumes_selection),
        TEST(completion_of_token_zero_is_stale),
        TEST(selection_of_ended_policy_is_refused),
        TEST(task_function_may_submit_but_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
