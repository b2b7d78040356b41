/* SPDX-License-Identifier: Apache-2.0 */
/* Resources that fail: out of service, passed over, and back again. */
#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "test.h"

static manual_backend manual;
static dynsel_round_robin_policy round_robin;
static dynsel_fixed_resource_policy fixed;
static dynsel_resource resources[3];

static int set_up(void **state)
{
    (void)state;
    manual_backend_reset(&manual, false);
    for (unsigned i = 0; i < 3; i++) {
        resources[i] = manual_resource(&manual, i);
    }
    const dynsel_options options = {.resources = resources, .count = 3};
    const dynsel_status status = dynsel_round_robin_init(&round_robin, &options, 0);
    return status != DYNSEL_OK ? status : dynsel_fixed_resource_init(&fixed, &options, 1);
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

static void a_resource_that_refuses_is_left_for_another(void **state)
{
    (void)state;
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

static void when_all_refuse_the_first_reason_is_told(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        atomic_store(&manual.queues[i].refuses, true);
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit(&round_robin.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_int_equal(dynsel_last_error()->code, -6);
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit(&round_robin.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_error_says("reinstate");
    assert_int_equal(atomic_load(&manual.starts), 0);
}

static void fixed_resource_never_evades(void **state)
{
    (void)state;
    atomic_store(&manual.queues[1].refuses, true);
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit(&fixed.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_int_equal(dynsel_last_error()->code, -6);
    atomic_store(&manual.queues[1].refuses, false);
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit(&fixed.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_error_says("fixed_resource");
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&fixed.policy, 1));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&fixed.policy, &DYNSEL_TASK(enqueue, NULL)));
}

static void failures_in_a_row_take_a_resource_out_of_service(void **state)
{
    (void)state;
    for (int i = 0; i < CONFIG_DYNSEL_MAX_FAILURES; i++) {
        assert_status(DYNSEL_OK, dynsel_resource_in_service(&round_robin.policy, 2));
        fail_on(2, DYNSEL_E_DEVICE);
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&round_robin.policy, 2));
    dynsel_selection selection = {.policy = &round_robin.policy, .index = 2};
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&round_robin.policy, 2));
    assert_status(DYNSEL_OK,
                  dynsel_submit_selection_and_wait(&selection, &DYNSEL_TASK(enqueue, NULL)));
}

static void a_success_in_between_starts_the_count_anew(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * CONFIG_DYNSEL_MAX_FAILURES; i++) {
        fail_on(2, i % CONFIG_DYNSEL_MAX_FAILURES == 0 ? DYNSEL_OK : DYNSEL_E_DEVICE);
        assert_status(DYNSEL_OK, dynsel_resource_in_service(&round_robin.policy, 2));
    }
}

static void the_applications_own_failures_do_not_count(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * CONFIG_DYNSEL_MAX_FAILURES; i++) {
        fail_on(2, i % 2 == 0 ? DYNSEL_E_TASK : (dynsel_status)(DYNSEL_E_USER - 1));
    }
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&round_robin.policy, 2));
}

static void a_failed_event_counts_as_a_failure_of_the_device(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_FAILURES; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&fixed.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
        manual_fail(&manual, i);
        assert_status(DYNSEL_E_DEVICE,
                      dynsel_wait_group(dynsel_get_submission_group(&fixed.policy)));
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&fixed.policy, 1));
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&round_robin.policy, 1));
}

static void an_index_past_the_table_is_refused(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_resource_in_service(&fixed.policy, 3));
    assert_error_says("3 resources");
    assert_status(DYNSEL_E_INVALID, dynsel_resource_reinstate(&fixed.policy, SIZE_MAX));
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&fixed.policy, 2));
}

static void try_submit_says_again_where_the_backend_is_full(void **state)
{
    (void)state;
    atomic_store(&manual.queues[1].is_full, true);
    assert_status(DYNSEL_E_AGAIN,
                  dynsel_try_submit(&fixed.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    atomic_store(&manual.queues[1].is_full, false);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&fixed.policy, &DYNSEL_TASK(enqueue, NULL)));
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

static void submit_waits_for_a_resource_and_try_submit_does_not(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "busy", .try_select = have_nothing_at_first};
    dynsel_policy busy = {0};
    const dynsel_options options = {.resources = resources, .count = 3};
    assert_status(DYNSEL_OK, dynsel_policy_init(&busy, &ops, &options));
    selections_until_free = 25;
    assert_status(DYNSEL_E_AGAIN, dynsel_try_submit(&busy, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_int_equal(selections_until_free, 24);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&busy, &DYNSEL_TASK(enqueue, NULL)));
    assert_int_equal(selections_until_free, -1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&busy));
}

static dynsel_status always_the_first(dynsel_policy *policy, const dynsel_task *task,
                                      dynsel_selection *selection)
{
    (void)policy;
    (void)task;
    selection->index = 0;
    return DYNSEL_OK;
}

static void a_custom_policy_that_insists_on_a_lost_resource_gets_the_reason(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "stubborn", .try_select = always_the_first};
    dynsel_policy stubborn = {0};
    const dynsel_options options = {.resources = resources, .count = 3};
    assert_status(DYNSEL_OK, dynsel_policy_init(&stubborn, &ops, &options));
    atomic_store(&manual.queues[0].refuses, true);
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit(&stubborn, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_int_equal(dynsel_last_error()->code, -6);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&stubborn));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_resource_that_refuses_is_left_for_another),
        TEST(when_all_refuse_the_first_reason_is_told),
        TEST(fixed_resource_never_evades),
        TEST(failures_in_a_row_take_a_resource_out_of_service),
        TEST(a_success_in_between_starts_the_count_anew),
        TEST(the_applications_own_failures_do_not_count),
        TEST(a_failed_event_counts_as_a_failure_of_the_device),
        TEST(an_index_past_the_table_is_refused),
        TEST(try_submit_says_again_where_the_backend_is_full),
        TEST(submit_waits_for_a_resource_and_try_submit_does_not),
        TEST(a_custom_policy_that_insists_on_a_lost_resource_gets_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
