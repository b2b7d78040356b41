/* SPDX-License-Identifier: Apache-2.0 */
/* Failing resources where submissions have static slots: out of service, excluded, reinstated. */
#include <dynsel/dynsel.h>

#include "fakes/marked_backend.h"
#include "room.h"
#include "test.h"

enum { COUNT = RESOURCES_UP_TO(3), LAST = COUNT - 1, LIMIT = CONFIG_DYNSEL_MAX_FAILURES };

static marked_device devices[COUNT];
static dynsel_dynamic_load_policy load;
static dynsel_fixed_resource_policy fixed; /* to the last one */

static int set_up(void **state)
{
    (void)state;
    dynsel_resource resources[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        marked_reset(&devices[i]);
        resources[i] = marked_resource(&devices[i]);
    }
    const dynsel_options options = {.resources = resources, .count = COUNT};
    const dynsel_status status = dynsel_dynamic_load_init(&load, &options);
    return status != DYNSEL_OK ? status : dynsel_fixed_resource_init(&fixed, &options, LAST);
}

static int tear_down(void **state)
{
    (void)state;
    assert_true(dynsel_invariants_hold(&load.policy));
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(load.loads[i].word.value, 0);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&load.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&fixed.policy));
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
    return 0;
}

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    done->native = marked_event();
    return DYNSEL_OK;
}

static const dynsel_task task = {.function = enqueue};

static void end_on(dynsel_policy *policy, uint32_t index, dynsel_status status)
{
    dynsel_selection selection = {
        .policy = policy, .index = index, .wants = (uint8_t)policy->ops->needs};
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &task, &submission));
    marked_end(&devices[index], status, 0);
    assert_status(status, dynsel_wait(&submission));
}

static void fail_until_out(dynsel_policy *policy, uint32_t index)
{
    for (int i = 0; i < LIMIT; i++) {
        assert_status(DYNSEL_OK, dynsel_resource_in_service(policy, index));
        end_on(policy, index, DYNSEL_E_DEVICE);
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(policy, index));
}

static uint32_t started_by(dynsel_policy *policy)
{
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(policy, &task, &submission));
    const size_t index = (size_t)(dynsel_submission_resource(&submission) - policy->resources);
    marked_end(&devices[index], DYNSEL_OK, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    return (uint32_t)index;
}

static void consecutive_failures_take_resource_out_of_service(void **state)
{
    (void)state;
    fail_until_out(&load.policy, 0);
    if (COUNT > 1) {
        assert_int_not_equal(started_by(&load.policy), 0);
    }
    dynsel_selection selection = {.policy = &load.policy, .index = 0};
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_submit_selection(&selection, &task, NULL));
    assert_ptr_equal(selection.policy, &load.policy);
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&fixed.policy, 0));
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&load.policy, 0));
    assert_int_equal(started_by(&load.policy), 0);
}

static void success_between_failures_resets_count(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * LIMIT; i++) {
        end_on(&load.policy, 0, i % LIMIT == 0 ? DYNSEL_OK : DYNSEL_E_DEVICE);
        end_on(&fixed.policy, LAST, DYNSEL_E_TASK);
    }
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&load.policy, 0));
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&fixed.policy, LAST));
}

static void refusing_resource_is_replaced_by_another(void **state)
{
    (void)state;
    NEEDS(COUNT > 1);
    devices[0].refuses = DYNSEL_E_OUT_OF_SERVICE;
    assert_int_equal(started_by(&load.policy), 1);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&load.policy, 0));
    devices[0].refuses = DYNSEL_OK;
    assert_int_equal(started_by(&load.policy), 1);
}

static void submit_refused_by_all_fails_with_out_of_service(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        devices[i].refuses = DYNSEL_E_OUT_OF_SERVICE;
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_submit(&load.policy, &task, NULL));
    for (unsigned i = 0; i < COUNT; i++) {
        devices[i].refuses = DYNSEL_OK;
        assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&load.policy, i));
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_submit(&load.policy, &task, NULL));
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&load.policy, LAST));
    assert_int_equal(started_by(&load.policy), LAST);
}

static void fixed_resource_never_uses_another_resource(void **state)
{
    (void)state;
    dynsel_selection selection;
    devices[LAST].refuses = DYNSEL_E_OUT_OF_SERVICE;
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_submit(&fixed.policy, &task, NULL));
    devices[LAST].refuses = DYNSEL_OK;
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_submit(&fixed.policy, &task, NULL));
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_select(&fixed.policy, &task, &selection));
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&fixed.policy, LAST));
    assert_status(DYNSEL_OK, dynsel_select(&fixed.policy, &task, &selection));
    assert_int_equal(started_by(&fixed.policy), LAST);
}

static void late_success_does_not_reinstate_resource(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_IN_FLIGHT > 1);
    dynsel_submission late;
    assert_status(DYNSEL_OK, dynsel_submit(&fixed.policy, &task, &late));
    const uint32_t token = devices[LAST].queue[0]->token;
    devices[LAST].taken = 1; /* it ends behind the others */
    fail_until_out(&fixed.policy, LAST);
    assert_status(DYNSEL_OK, dynsel_complete(token, DYNSEL_OK, 0));
    assert_status(DYNSEL_OK, dynsel_wait(&late));
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&fixed.policy, LAST));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(consecutive_failures_take_resource_out_of_service),
                                       TEST(success_between_failures_resets_count),
                                       TEST(refusing_resource_is_replaced_by_another),
                                       TEST(submit_refused_by_all_fails_with_out_of_service),
                                       TEST(fixed_resource_never_uses_another_resource),
                                       TEST(late_success_does_not_reinstate_resource)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
