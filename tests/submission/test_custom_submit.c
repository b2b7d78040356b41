/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that define submit, try_submit or submit_and_wait themselves. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "test.h"

static int runs;
static int own_calls;
static int busy_rounds;

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    runs++;
    return DYNSEL_OK;
}

static const dynsel_task task = {.function = run};

static dynsel_status choose_first(dynsel_policy *policy, const dynsel_task *of,
                                  dynsel_selection *selection)
{
    (void)policy;
    (void)of;
    selection->index = 0;
    return DYNSEL_OK;
}

static dynsel_status own_submit(dynsel_policy *policy, const dynsel_task *of,
                                dynsel_submission *submission)
{
    own_calls++;
    dynsel_selection selection = {.policy = policy, .index = 0};
    return dynsel_submit_selection(&selection, of, submission);
}

static dynsel_status own_try_submit(dynsel_policy *policy, const dynsel_task *of,
                                    dynsel_submission *submission)
{
    own_calls++;
    if (busy_rounds > 0) {
        busy_rounds--;
        return DYNSEL_E_AGAIN;
    }
    dynsel_selection selection = {.policy = policy, .index = 0};
    return dynsel_try_submit_selection(&selection, of, submission);
}

static dynsel_status own_submit_and_wait(dynsel_policy *policy, const dynsel_task *of)
{
    own_calls++;
    dynsel_selection selection = {.policy = policy, .index = 0};
    return dynsel_submit_selection_and_wait(&selection, of);
}

static dynsel_policy policy;

static void start(const dynsel_policy_ops *ops)
{
    const dynsel_options options = {.backend = &dynsel_inline_backend};
    policy = (dynsel_policy){0};
    runs = 0;
    own_calls = 0;
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, ops, &options));
}

static void stop(int expected_runs, int expected_own_calls)
{
    assert_int_equal(runs, expected_runs);
    assert_int_equal(own_calls, expected_own_calls);
    assert_true(dynsel_invariants_hold(&policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

static void custom_submit_entries_precede_select(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "all",
                                          .try_select = choose_first,
                                          .submit = own_submit,
                                          .try_submit = own_try_submit,
                                          .submit_and_wait = own_submit_and_wait};
    start(&ops);
    assert_status(DYNSEL_OK, dynsel_submit(&policy, &task, NULL));
    assert_status(DYNSEL_OK, dynsel_try_submit(&policy, &task, NULL));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy, &task));
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&policy, &task, &selection));
    assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &task, NULL));
    stop(4, 3);
}

static void custom_submit_alone_serves_submit_and_wait(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "submits", .submit = own_submit};
    start(&ops);
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_submit(&policy, &task, NULL));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy, &task));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_try_submit(&policy, &task, NULL));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_submit_for(&policy, &task, NULL, 1));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_select(&policy, &task, &selection));
    stop(2, 2);
}

/* As the blocking submit may wait, and these calls must not. */
static void custom_submit_leaves_bounded_submits_to_select(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {
        .name = "both", .try_select = choose_first, .submit = own_submit};
    start(&ops);
    assert_status(DYNSEL_OK, dynsel_try_submit(&policy, &task, NULL));
    assert_status(DYNSEL_OK, dynsel_submit_for(&policy, &task, NULL, 1));
    assert_int_equal(own_calls, 0);
    assert_status(DYNSEL_OK, dynsel_submit(&policy, &task, NULL));
    stop(3, 1);
}

static dynsel_status choose_when_free(dynsel_policy *of, const dynsel_task *what,
                                      dynsel_selection *selection)
{
    if (busy_rounds > 0) {
        busy_rounds--;
        return DYNSEL_E_AGAIN;
    }
    return choose_first(of, what, selection);
}

static void submit_waits_for_policy_without_free_resource(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "busy", .try_select = choose_when_free};
    start(&ops);
    busy_rounds = 3;
    assert_status(DYNSEL_E_AGAIN, dynsel_try_submit(&policy, &task, NULL));
    assert_status(DYNSEL_OK, dynsel_submit(&policy, &task, NULL));
    assert_int_equal(busy_rounds, 0);
    busy_rounds = 1000000;
    assert_status(DYNSEL_E_TIMEOUT, dynsel_submit_for(&policy, &task, NULL, 1000));
    busy_rounds = 0;
    stop(1, 0);
}

static void custom_try_submit_alone_is_retried_by_submit(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "tries", .try_submit = own_try_submit};
    start(&ops);
    busy_rounds = 3;
    assert_status(DYNSEL_E_AGAIN, dynsel_try_submit(&policy, &task, NULL));
    assert_status(DYNSEL_OK, dynsel_submit(&policy, &task, NULL));
    busy_rounds = 1000000;
    assert_status(DYNSEL_E_TIMEOUT, dynsel_submit_for(&policy, &task, NULL, 1000));
    busy_rounds = 0;
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy, &task));
    assert_int_equal(runs, 2);
    stop(2, own_calls);
}

static void custom_try_submit_precedes_select_without_submit(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {
        .name = "both", .try_select = choose_first, .try_submit = own_try_submit};
    start(&ops);
    busy_rounds = 2;
    assert_status(DYNSEL_OK, dynsel_submit(&policy, &task, NULL));
    assert_int_equal(own_calls, 3);
    busy_rounds = 1;
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy, &task));
    assert_int_equal(own_calls, 5);
    assert_status(DYNSEL_OK, dynsel_submit_for(&policy, &task, NULL, UINT64_MAX));
    stop(3, 6);
}

static dynsel_status place_nothing(dynsel_policy *of, const dynsel_task *what,
                                   dynsel_submission *submission)
{
    (void)of;
    (void)what;
    (void)submission;
    own_calls++;
    return DYNSEL_OK;
}

static void custom_submit_returning_ok_without_work_is_invalid(void **state)
{
    (void)state;
    static const dynsel_policy_ops submits = {.name = "lies", .submit = place_nothing};
    static const dynsel_policy_ops tries = {.name = "lies", .try_submit = place_nothing};
    static const dynsel_policy_ops *const all[] = {&submits, &tries};
    for (int i = 0; i < 2; i++) {
        start(all[i]);
        dynsel_submission submission;
        dynsel_submission before;
        memset(&submission, 0x5a, sizeof submission);
        before = submission;
        assert_status(DYNSEL_E_INVALID, dynsel_submit(&policy, &task, &submission));
        assert_error_says("placed no work");
        assert_memory_equal(&submission, &before, sizeof before);
        assert_status(DYNSEL_E_INVALID, dynsel_submit_and_wait(&policy, &task));
        stop(0, 2);
    }
}

static dynsel_status place_and_fail(dynsel_policy *of, const dynsel_task *what,
                                    dynsel_submission *submission)
{
    const dynsel_status status = own_submit(of, what, submission);
    return status == DYNSEL_OK ? DYNSEL_E_USER : status;
}

static void work_of_failed_custom_submit_is_detached(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "fails", .submit = place_and_fail};
    start(&ops);
    dynsel_submission submission = {0};
    assert_status(DYNSEL_E_USER, dynsel_submit(&policy, &task, &submission));
    assert_status(DYNSEL_E_INVALID, dynsel_wait(&submission));
    stop(1, 1);
}

static void custom_submit_and_wait_alone_leaves_submit_unsupported(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "waits", .submit_and_wait = own_submit_and_wait};
    start(&ops);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy, &task));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_submit(&policy, &task, NULL));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_try_submit(&policy, &task, NULL));
    stop(1, 1);
}

static void policy_without_submit_entry_is_refused(void **state)
{
    (void)state;
    static const dynsel_policy_ops none = {.name = "none"};
    static const dynsel_policy_ops deaf = {
        .name = "deaf", .needs = DYNSEL_TASK_TIME, .try_select = choose_first};
    dynsel_policy other = {0};
    assert_status(DYNSEL_E_INVALID, dynsel_policy_init(&other, &none, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_policy_init(&other, &deaf, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(custom_submit_entries_precede_select),
        cmocka_unit_test(custom_try_submit_precedes_select_without_submit),
        cmocka_unit_test(custom_submit_returning_ok_without_work_is_invalid),
        cmocka_unit_test(work_of_failed_custom_submit_is_detached),
        cmocka_unit_test(custom_submit_alone_serves_submit_and_wait),
        cmocka_unit_test(custom_submit_leaves_bounded_submits_to_select),
        cmocka_unit_test(submit_waits_for_policy_without_free_resource),
        cmocka_unit_test(custom_try_submit_alone_is_retried_by_submit),
        cmocka_unit_test(custom_submit_and_wait_alone_leaves_submit_unsupported),
        cmocka_unit_test(policy_without_submit_entry_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
