/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that an interrupt may not make are refused, and change nothing. */
#define _POSIX_C_SOURCE 200809L /* sigaction() */

#include <dynsel/dynsel.h>
#include <dynsel/port.h>

#include "interrupted.h"
#include "test.h"

static int runs;

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    runs++;
    return DYNSEL_OK;
}

static const dynsel_task task = {.function = run};
static dynsel_fixed_resource_policy policy, other;
static dynsel_submission submission;
static dynsel_selection selection;

enum { MOST = 32 };

static dynsel_status statuses[MOST];
static int calls;

static void note(dynsel_status status)
{
    statuses[calls++] = status;
}

static void call_all(void)
{
    static dynsel_submission mine;
    static dynsel_selection choice;
    const dynsel_options options = {.backend = &dynsel_inline_backend};
    dynsel_resource_statistics counts;
    dynsel_event done;
    size_t count = 1;
    note(dynsel_submit(&policy.policy, &task, &mine));
    note(dynsel_submit(&policy.policy, &task, NULL));
    note(dynsel_try_submit(&policy.policy, &task, NULL));
    note(dynsel_submit_for(&policy.policy, &task, NULL, 1));
    note(dynsel_submit_and_wait(&policy.policy, &task));
    note(dynsel_select(&policy.policy, &task, &choice));
    note(dynsel_submit_selection(&selection, &task, NULL));
    note(dynsel_try_submit_selection(&selection, &task, NULL));
    note(dynsel_submit_selection_and_wait(&selection, &task));
    note(dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
    note(dynsel_report_value(&selection, DYNSEL_TASK_TIME, 1));
    note(dynsel_wait(&submission));
    note(dynsel_wait_for(&submission, 1));
    note(dynsel_wait_and_unwrap(&submission, &done));
    note(dynsel_submission_unwrap(&submission, &done));
    note(dynsel_submission_release(&submission));
#if CONFIG_DYNSEL_SUBMISSION_CONTROL
    note(dynsel_submission_poll(&submission));
    note(dynsel_cancel(&submission));
#endif
    note(dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    note(dynsel_wait_group(dynsel_get_backend_submission_group(&dynsel_inline_backend)));
#if CONFIG_DYNSEL_SUBMISSION_CONTROL
    note(dynsel_wait_group_for(dynsel_get_submission_group(&policy.policy), 1));
#endif
    note(dynsel_get_statistics(&policy.policy, 0, &counts));
    note(dynsel_resource_in_service(&policy.policy, 0));
    note(dynsel_resource_reinstate(&policy.policy, 0));
    note(dynsel_fixed_resource_init(&other, &options, 0));
    note(dynsel_policy_deinit(&policy.policy));
    note(dynsel_get_resources(&policy.policy, &count) == NULL ? DYNSEL_E_CONTEXT : DYNSEL_OK);
    note(dynsel_selection_unwrap(&selection) == NULL ? DYNSEL_E_CONTEXT : DYNSEL_OK);
    dynsel_progress();
}

static void set_up_policy(void)
{
    const dynsel_options options = {.backend = &dynsel_inline_backend};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
}

static void calls_in_interrupt_are_refused_unless_permitted(void **state)
{
    (void)state;
    set_up_policy();
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &task, &selection));
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    assert_status(DYNSEL_E_INVALID, dynsel_wait(NULL));
    interrupt(call_all);
    assert_true(calls > 20);
    for (int i = 0; i < calls; i++) {
        if (statuses[i] != DYNSEL_E_CONTEXT) {
            print_message("call %d: ", i);
        }
        assert_int_equal(statuses[i], DYNSEL_E_CONTEXT);
    }
    assert_int_equal(runs, 1);
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID); /* the program's own */
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_policy_deinit(&other.policy));
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &task, NULL));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static uint64_t noted_ns;

static void look_at_clock(void)
{
    noted_ns = dynsel_now_ns();
    note(dynsel_complete(0, DYNSEL_OK, 0));
}

static void complete_and_clock_in_interrupt_are_permitted(void **state)
{
    (void)state;
    calls = 0;
    interrupt(look_at_clock);
    assert_true(noted_ns != 0 && noted_ns <= dynsel_now_ns());
    assert_int_equal(statuses[0], DYNSEL_E_STALE);
}

static void calls_in_critical_section_are_permitted(void **state)
{
    (void)state;
    set_up_policy();
    runs = 0;
    const uint32_t before = dynsel_port_enter_critical();
    const dynsel_status status = dynsel_submit_and_wait(&policy.policy, &task);
    dynsel_port_leave_critical(before);
    assert_status(DYNSEL_OK, status);
    assert_int_equal(runs, 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_in_interrupt_are_refused_unless_permitted),
        cmocka_unit_test(complete_and_clock_in_interrupt_are_permitted),
        cmocka_unit_test(calls_in_critical_section_are_permitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
