/* SPDX-License-Identifier: Apache-2.0 */
/* Failing resources: out of service, excluded, and reinstated. */
#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "room.h"
#include "test.h"

static manual_backend manual;
static dynsel_round_robin_policy round_robin;
static dynsel_fixed_resource_policy fixed;

enum {
    COUNT = RESOURCES_UP_TO(3),
    LAST = COUNT - 1,
    FIXED = COUNT < 2 ? 0 : 1,
    LIMIT = CONFIG_DYNSEL_MAX_FAILURES > 0 ? CONFIG_DYNSEL_MAX_FAILURES : 1 /* 0: no limit */
};

static dynsel_resource resources[COUNT];

static int set_up(void **state)
{
    (void)state;
    manual_backend_reset(&manual, false);
    for (unsigned i = 0; i < COUNT; i++) {
        resources[i] = manual_resource(&manual, i);
    }
    const dynsel_options options = {.resources = resources, .count = COUNT};
    const dynsel_status status = dynsel_round_robin_init(&round_robin, &options, 0);
    return status != DYNSEL_OK ? status : dynsel_fixed_resource_init(&fixed, &options, FIXED);
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&round_robin.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&fixed.policy));
    manual_assert_clean(&manual);
    return 0;
}

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    if (args != NULL) {
        *(const dynsel_resource **)args = where;
    }
    done->native = manual_event_new(&manual, where);
    return DYNSEL_OK;
}

static dynsel_status end_with(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    return *(const dynsel_status *)args;
}

static uint32_t chosen_by(dynsel_policy *policy)
{
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(policy, &DYNSEL_TASK(enqueue, NULL), &selection));
    return selection.index;
}

static void fail_on(uint32_t index, dynsel_status status)
{
    dynsel_selection selection = {.policy = &round_robin.policy, .index = index};
    assert_status(status,
                  dynsel_submit_selection_and_wait(&selection, &DYNSEL_TASK(end_with, &status)));
}

static void refusing_resource_is_replaced_by_another(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2);
    atomic_store(&manual.queues[0].refuses, true);
    const dynsel_resource *where = NULL;
    assert_status(DYNSEL_OK,
                  dynsel_submit_and_wait(&round_robin.policy, &DYNSEL_TASK(enqueue, &where)));
    assert_ptr_not_equal(where->handle, &manual.queues[0]);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&round_robin.policy, 0));
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&round_robin.policy, 1));
    for (int i = 0; i < 10; i++) {
        assert_int_not_equal(chosen_by(&round_robin.policy), 0);
    }
    assert_int_equal(atomic_load(&manual.starts), 1);
}

static void submit_refused_by_all_returns_first_reason(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        atomic_store(&manual.queues[i].refuses, true);
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit(&round_robin.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_error_code(-6);
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit(&round_robin.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_error_says("reinstate");
    assert_int_equal(atomic_load(&manual.starts), 0);
}

static void fixed_resource_never_uses_another_resource(void **state)
{
    (void)state;
    atomic_store(&manual.queues[FIXED].refuses, true);
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit(&fixed.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_error_code(-6);
    atomic_store(&manual.queues[FIXED].refuses, false);
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit(&fixed.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_error_says("fixed_resource");
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&fixed.policy, FIXED));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&fixed.policy, &DYNSEL_TASK(enqueue, NULL)));
}

static void consecutive_failures_take_resource_out_of_service(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_FAILURES > 0);
    for (int i = 0; i < LIMIT; i++) {
        assert_status(DYNSEL_OK, dynsel_resource_in_service(&round_robin.policy, LAST));
        fail_on(LAST, DYNSEL_E_DEVICE);
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&round_robin.policy, LAST));
    dynsel_selection selection = {.policy = &round_robin.policy, .index = LAST};
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&round_robin.policy, LAST));
    assert_status(DYNSEL_OK,
                  dynsel_submit_selection_and_wait(&selection, &DYNSEL_TASK(enqueue, NULL)));
}

static void success_between_failures_resets_count(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * LIMIT; i++) {
        fail_on(LAST, i % LIMIT == 0 ? DYNSEL_OK : DYNSEL_E_DEVICE);
        assert_status(DYNSEL_OK, dynsel_resource_in_service(&round_robin.policy, LAST));
    }
}

static void application_failures_do_not_count_against_resource(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * LIMIT; i++) {
        fail_on(LAST, i % 2 == 0 ? DYNSEL_E_TASK : (dynsel_status)(DYNSEL_E_USER - 1));
    }
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&round_robin.policy, LAST));
}

static void failed_event_counts_as_device_failure(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_FAILURES > 0);
    for (unsigned i = 0; i < LIMIT; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&fixed.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
        manual_fail(&manual, i);
        assert_status(DYNSEL_E_DEVICE,
                      dynsel_wait_group(dynsel_get_submission_group(&fixed.policy)));
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&fixed.policy, FIXED));
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&round_robin.policy, FIXED));
}

static void resource_index_beyond_count_is_refused(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_resource_in_service(&fixed.policy, COUNT));
    assert_error_number(COUNT);
    assert_status(DYNSEL_E_INVALID, dynsel_resource_reinstate(&fixed.policy, SIZE_MAX));
    assert_status(DYNSEL_E_INVALID,
                  dynsel_resource_reinstate(&fixed.policy, LAST)); /* in service */
}

static void try_submit_to_full_backend_returns_again(void **state)
{
    (void)state;
    atomic_store(&manual.queues[FIXED].is_full, true);
    assert_status(DYNSEL_E_AGAIN,
                  dynsel_try_submit(&fixed.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&fixed.policy, &DYNSEL_TASK(enqueue, NULL), &selection));
    assert_status(DYNSEL_E_AGAIN,
                  dynsel_try_submit_selection(&selection, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_ptr_equal(selection.policy, &fixed.policy);
    atomic_store(&manual.queues[FIXED].is_full, false);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&fixed.policy, &DYNSEL_TASK(enqueue, NULL)));
}

static void failures_without_limit_keep_resource_in_service(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_FAILURES == 0);
    for (int i = 0; i < 2000; i++) {
        fail_on(LAST, DYNSEL_E_DEVICE);
    }
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&round_robin.policy, LAST));
}

static void fail_until_out(uint32_t index)
{
    for (int i = 0; i < LIMIT; i++) {
        fail_on(index, DYNSEL_E_DEVICE);
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&round_robin.policy, index));
}

static void late_success_does_not_reinstate_resource(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_FAILURES > 0 && CONFIG_DYNSEL_MAX_IN_FLIGHT >= 2);
    dynsel_submission late;
    dynsel_selection selection = {.policy = &round_robin.policy, .index = LAST};
    assert_status(DYNSEL_OK,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(enqueue, NULL), &late));
    fail_until_out(LAST);
    assert_status(DYNSEL_OK, dynsel_wait(&late));
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&round_robin.policy, LAST));
}

static void reinstate_of_resource_in_service_changes_nothing(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_FAILURES > 0 && COUNT >= 2);
    for (int i = 0; i < LIMIT - 1; i++) {
        fail_on(LAST, DYNSEL_E_DEVICE);
    }
    assert_status(DYNSEL_E_INVALID, dynsel_resource_reinstate(&round_robin.policy, LAST));
    assert_error_says("in service");
    fail_on(LAST, DYNSEL_E_DEVICE); /* the failures before still count */
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&round_robin.policy, LAST));
    for (int i = 0; i < 10; i++) {
        assert_int_not_equal(chosen_by(&round_robin.policy), LAST);
    }
}

static void resource_refusing_selection_goes_out_of_service(void **state)
{
    (void)state;
    atomic_store(&manual.queues[LAST].refuses, true);
    dynsel_selection selection = {.policy = &round_robin.policy, .index = LAST};
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_ptr_equal(selection.policy, &round_robin.policy);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&round_robin.policy, LAST));
}

static dynsel_status enqueue_and_return(const dynsel_resource *where, void *args,
                                        dynsel_event *done)
{
    (void)enqueue(where, NULL, done);
    return *(const dynsel_status *)args;
}

/* What the work ended with counts: the function's own status before that of its event. */
static void task_function_status_decides_whether_device_failed(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_FAILURES > 0);
    dynsel_status own = DYNSEL_E_TASK;
    const dynsel_task task = DYNSEL_TASK(enqueue_and_return, &own);
    const dynsel_submission_group group = dynsel_get_submission_group(&fixed.policy);
    for (unsigned i = 0; i < 2 * LIMIT; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&fixed.policy, &task, NULL));
        manual_fail(&manual, i);
        assert_status(own, dynsel_wait_group(group));
    }
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&fixed.policy, FIXED));
    own = DYNSEL_E_DEVICE;
    for (unsigned i = 0; i < LIMIT; i++) {
        assert_status(own, dynsel_submit_and_wait(&fixed.policy, &task));
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&fixed.policy, FIXED));
}

static int selections_until_free;

static dynsel_status have_nothing_at_first(dynsel_policy *policy, const dynsel_task *task,
                                           dynsel_selection *selection)
{
    (void)policy;
    (void)task;
    selection->index = 0;
    return selections_until_free-- > 0 ? DYNSEL_E_AGAIN : DYNSEL_OK;
}

static void submit_waits_for_resource_and_try_submit_does_not(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "busy", .try_select = have_nothing_at_first};
    dynsel_policy busy = {0};
    const dynsel_options options = {.resources = resources, .count = COUNT};
    assert_status(DYNSEL_OK, dynsel_policy_init(&busy, &ops, &options));
    selections_until_free = 25;
    assert_status(DYNSEL_E_AGAIN, dynsel_try_submit(&busy, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_int_equal(selections_until_free, 24);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&busy, &DYNSEL_TASK(enqueue, NULL)));
    assert_int_equal(selections_until_free, -1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&busy));
}

static dynsel_status submit_to(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    return dynsel_submit(args, &DYNSEL_TASK(enqueue, NULL), NULL);
}

static void submit_in_task_function_does_not_wait_for_resource(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_IN_FLIGHT >= 2);
    static const dynsel_policy_ops ops = {.name = "busy", .try_select = have_nothing_at_first};
    dynsel_policy busy = {0};
    const dynsel_options options = {.resources = resources, .count = COUNT};
    assert_status(DYNSEL_OK, dynsel_policy_init(&busy, &ops, &options));
    selections_until_free = 2;
    assert_status(DYNSEL_E_AGAIN,
                  dynsel_submit_and_wait(&fixed.policy, &DYNSEL_TASK(submit_to, &busy)));
    assert_int_equal(selections_until_free, 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&busy));
}

/* The first resource, then nothing. */
static dynsel_status only_once(dynsel_policy *policy, const dynsel_task *task,
                               dynsel_selection *selection)
{
    (void)policy;
    (void)task;
    selection->index = 0;
    return selections_until_free++ == 0 ? DYNSEL_OK : DYNSEL_E_AGAIN;
}

static void policy_status_after_refusal_is_returned(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "only once", .try_select = only_once};
    dynsel_policy once = {0};
    const dynsel_options options = {.resources = resources, .count = COUNT};
    assert_status(DYNSEL_OK, dynsel_policy_init(&once, &ops, &options));
    atomic_store(&manual.queues[0].refuses, true);
    selections_until_free = 0;
    assert_status(DYNSEL_E_AGAIN, dynsel_try_submit(&once, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&once));
}

static dynsel_status always_the_first(dynsel_policy *policy, const dynsel_task *task,
                                      dynsel_selection *selection)
{
    (void)policy;
    (void)task;
    selection->index = 0;
    return DYNSEL_OK;
}

static void custom_policy_selecting_lost_resource_gets_reason(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "stubborn", .try_select = always_the_first};
    dynsel_policy stubborn = {0};
    const dynsel_options options = {.resources = resources, .count = COUNT};
    assert_status(DYNSEL_OK, dynsel_policy_init(&stubborn, &ops, &options));
    atomic_store(&manual.queues[0].refuses, true);
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit(&stubborn, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_error_code(-6);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&stubborn));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(refusing_resource_is_replaced_by_another),
        TEST(submit_refused_by_all_returns_first_reason),
        TEST(fixed_resource_never_uses_another_resource),
        TEST(consecutive_failures_take_resource_out_of_service),
        TEST(success_between_failures_resets_count),
        TEST(application_failures_do_not_count_against_resource),
        TEST(failed_event_counts_as_device_failure),
        TEST(failures_without_limit_keep_resource_in_service),
        TEST(late_success_does_not_reinstate_resource),
        TEST(reinstate_of_resource_in_service_changes_nothing),
        TEST(resource_refusing_selection_goes_out_of_service),
        TEST(task_function_status_decides_whether_device_failed),
        TEST(submit_in_task_function_does_not_wait_for_resource),
        TEST(policy_status_after_refusal_is_returned),
        TEST(resource_index_beyond_count_is_refused),
        TEST(try_submit_to_full_backend_returns_again),
        TEST(submit_waits_for_resource_and_try_submit_does_not),
        TEST(custom_policy_selecting_lost_resource_gets_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
