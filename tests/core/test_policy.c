/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a policy, and every way of giving it resources. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "test.h"

static dynsel_status nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static dynsel_status choose_index_99(dynsel_policy *policy, const dynsel_task *task,
                                     dynsel_selection *selection)
{
    (void)policy;
    (void)task;
    selection->index = 99;
    return DYNSEL_OK;
}

static const dynsel_policy_ops choosing_99 = {.name = "99", .try_select = choose_index_99};

static const dynsel_resource two_hosts[] = {
    {&dynsel_inline_backend, (void *)"first"},
    {&dynsel_inline_backend, (void *)"second"},
};

static dynsel_options given(size_t count)
{
    return (dynsel_options){.resources = two_hosts, .count = count};
}

static void assert_is_zero(const dynsel_policy *policy)
{
    static const dynsel_policy zero;
    assert_memory_equal(policy, &zero, sizeof zero);
}

static void default_resources_of_inline_are_the_host(void **state)
{
    (void)state;
    dynsel_fixed_resource_policy policy = {0};
    const dynsel_options options = {.backend = &dynsel_inline_backend};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    size_t count = 0;
    const dynsel_resource *resources = dynsel_get_resources(&policy.policy, &count);
    assert_int_equal(count, 1);
    assert_ptr_equal(resources[0].backend, &dynsel_inline_backend);
    assert_string_equal(dynsel_resource_name(&resources[0]), "host");
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_is_zero(&policy.policy);
}

static void without_options_the_host_comes_first(void **state)
{
    (void)state;
    dynsel_fixed_resource_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, NULL, 0));
    size_t count = 0;
    const dynsel_resource *resources = dynsel_get_resources(&policy.policy, &count);
    assert_true(count >= 1);
    assert_ptr_equal(resources[0].backend, &dynsel_inline_backend);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void given_resources_are_copied(void **state)
{
    (void)state;
    dynsel_resource mine[2] = {two_hosts[0], two_hosts[1]};
    const dynsel_options options = {.resources = mine, .count = 2};
    dynsel_fixed_resource_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 1));
    memset(mine, 0, sizeof mine);
    size_t count = 0;
    const dynsel_resource *resources = dynsel_get_resources(&policy.policy, &count);
    assert_int_equal(count, 2);
    assert_string_equal((const char *)resources[1].handle, "second");
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void wrong_options_are_refused_and_leave_the_policy_zero(void **state)
{
    (void)state;
    dynsel_resource many[CONFIG_DYNSEL_MAX_RESOURCES + 1];
    for (size_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES + 1; i++) {
        many[i] = two_hosts[0];
    }
    static const dynsel_backend_ops no_start = {.name = "no start"};
    static const dynsel_backend_ops no_poll = {.name = "no poll", .outlives_submit = true};
    dynsel_backend bad[] = {{NULL}, {&no_start}, {&no_poll}};
    dynsel_resource wrong[][2] = {{two_hosts[0], {NULL, NULL}},
                                  {two_hosts[0], {&bad[0], NULL}},
                                  {two_hosts[0], {&bad[1], NULL}},
                                  {two_hosts[0], {&bad[2], NULL}}};
    const struct {
        dynsel_options options;
        dynsel_status status;
        const char *says;
    } cases[] = {
        {{.resources = two_hosts}, DYNSEL_E_INVALID, "count"},
        {{.count = 2}, DYNSEL_E_INVALID, "resources"},
        {{.resources = many, .count = CONFIG_DYNSEL_MAX_RESOURCES + 1},
         DYNSEL_E_FULL,
         "CONFIG_DYNSEL_MAX_RESOURCES"},
        {{.resources = wrong[0], .count = 2}, DYNSEL_E_INVALID, "resource 1"},
        {{.resources = wrong[1], .count = 2}, DYNSEL_E_INVALID, "resource 1"},
        {{.resources = wrong[2], .count = 2}, DYNSEL_E_INVALID, "resource 1"},
        {{.resources = wrong[3], .count = 2}, DYNSEL_E_INVALID, "resource 1"},
        {{.backend = &bad[1]}, DYNSEL_E_NO_RESOURCE, "no device"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dynsel_fixed_resource_policy policy = {0};
        assert_status(cases[i].status, dynsel_fixed_resource_init(&policy, &cases[i].options, 0));
        assert_error_says(cases[i].says);
        assert_is_zero(&policy.policy);
    }
    dynsel_options most = {.resources = many, .count = CONFIG_DYNSEL_MAX_RESOURCES};
    dynsel_fixed_resource_policy policy = {0};
    assert_status(DYNSEL_OK,
                  dynsel_fixed_resource_init(&policy, &most, CONFIG_DYNSEL_MAX_RESOURCES - 1));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void *refuse(void *handle)
{
    (void)handle;
    return NULL;
}

static void *refuse_with_details(void *handle)
{
    (void)handle;
    (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_BUSY, .function = "refuse_with_details"});
    return NULL;
}

static void an_adapter_that_refuses_fails_the_initialization(void **state)
{
    (void)state;
    dynsel_options options = given(2);
    dynsel_fixed_resource_policy policy = {0};
    options.adapt = refuse;
    assert_status(DYNSEL_E_INVALID, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_error_says("adapt");
    options.adapt = refuse_with_details;
    assert_status(DYNSEL_E_BUSY, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_is_zero(&policy.policy);
}

static void a_policy_must_be_zeroed_and_its_operations_there(void **state)
{
    (void)state;
    dynsel_policy policy = {0};
    assert_status(DYNSEL_E_INVALID, dynsel_policy_init(NULL, &choosing_99, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_policy_init(&policy, NULL, NULL));
    static const dynsel_policy_ops empty = {.name = "empty"};
    assert_status(DYNSEL_E_INVALID, dynsel_policy_init(&policy, &empty, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_fixed_resource_init(NULL, NULL, 0));
    memset(&policy, 0x5a, sizeof policy);
    assert_status(DYNSEL_E_INVALID, dynsel_policy_init(&policy, &choosing_99, NULL));
    assert_error_says("zero");
}

static void initializing_twice_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    const dynsel_options options = given(2);
    dynsel_fixed_resource_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 1));
    assert_status(DYNSEL_E_INVALID, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_error_says("deinit");
    dynsel_selection selection;
    assert_status(DYNSEL_OK,
                  dynsel_select(&policy.policy, &DYNSEL_TASK(nothing, NULL), &selection));
    assert_int_equal(selection.index, 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

/* Calls everything that takes a policy. */
static void assert_all_refuse(dynsel_policy *policy, dynsel_status expected)
{
    const dynsel_task task = DYNSEL_TASK(nothing, NULL);
    dynsel_selection selection = {0};
    dynsel_submission submission = {0};
    size_t count = 1;
    assert_status(expected, dynsel_select(policy, &task, &selection));
    assert_status(expected, dynsel_submit(policy, &task, &submission));
    assert_status(expected, dynsel_try_submit(policy, &task, &submission));
    assert_status(expected, dynsel_submit_and_wait(policy, &task));
    assert_status(expected, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_status(expected, dynsel_resource_in_service(policy, 0));
    assert_status(expected, dynsel_resource_reinstate(policy, 0));
    assert_null(dynsel_get_resources(policy, &count));
    assert_int_equal(count, 0);
    assert_int_equal(dynsel_last_error()->status, expected);
    assert_status(expected, dynsel_policy_deinit(policy));
    assert_null(selection.policy);
    assert_null(submission.policy);
}

static void a_policy_that_is_not_initialized_is_refused_everywhere(void **state)
{
    (void)state;
    dynsel_fixed_resource_policy deferred = {0};
    assert_all_refuse(&deferred.policy, DYNSEL_E_UNINITIALIZED);
    assert_all_refuse(NULL, DYNSEL_E_INVALID);
}

static void a_copied_policy_is_refused_everywhere(void **state)
{
    (void)state;
    const dynsel_options options = given(2);
    dynsel_fixed_resource_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    dynsel_fixed_resource_policy copy = policy;
    assert_all_refuse(&copy.policy, DYNSEL_E_INVALID);
    assert_status(DYNSEL_E_INVALID, dynsel_fixed_resource_init(&copy, &options, 0));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void a_wrong_index_from_a_custom_policy_is_refused(void **state)
{
    (void)state;
    const dynsel_options options = given(2);
    dynsel_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &choosing_99, &options));
    dynsel_selection selection;
    assert_status(DYNSEL_E_INVALID,
                  dynsel_select(&policy, &DYNSEL_TASK(nothing, NULL), &selection));
    assert_error_says("resource 99");
    assert_status(DYNSEL_E_INVALID, dynsel_submit(&policy, &DYNSEL_TASK(nothing, NULL), NULL));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

static void resources_need_a_place_for_their_count(void **state)
{
    (void)state;
    const dynsel_options options = given(2);
    dynsel_fixed_resource_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_null(dynsel_get_resources(&policy.policy, NULL));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void resources_have_names(void **state)
{
    (void)state;
    static const dynsel_backend_ops nameless = {.name = "nameless"};
    dynsel_backend backend = {&nameless};
    assert_string_equal(dynsel_resource_name(NULL), "none");
    assert_string_equal(dynsel_resource_name(&(dynsel_resource){NULL, NULL}), "none");
    assert_string_equal(dynsel_resource_name(&(dynsel_resource){&backend, NULL}), "nameless");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_resources_of_inline_are_the_host),
        cmocka_unit_test(without_options_the_host_comes_first),
        cmocka_unit_test(given_resources_are_copied),
        cmocka_unit_test(wrong_options_are_refused_and_leave_the_policy_zero),
        cmocka_unit_test(an_adapter_that_refuses_fails_the_initialization),
        cmocka_unit_test(a_policy_must_be_zeroed_and_its_operations_there),
        cmocka_unit_test(initializing_twice_is_refused_and_changes_nothing),
        cmocka_unit_test(a_policy_that_is_not_initialized_is_refused_everywhere),
        cmocka_unit_test(a_copied_policy_is_refused_everywhere),
        cmocka_unit_test(a_wrong_index_from_a_custom_policy_is_refused),
        cmocka_unit_test(resources_need_a_place_for_their_count),
        cmocka_unit_test(resources_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
