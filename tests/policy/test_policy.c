/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a policy, and every way of giving it resources. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "room.h"
#include "support/do_nothing.h"
#include "test.h"

static dynsel_status choose_index_99(dynsel_policy *policy, const dynsel_task *task,
                                     dynsel_selection *selection)
{
    (void)policy;
    (void)task;
    selection->index = 99;
    return DYNSEL_OK;
}

static const dynsel_policy_ops choosing_99 = {.name = "99", .try_select = choose_index_99};

enum { COUNT = RESOURCES_UP_TO(2), LAST = COUNT - 1 };

static const dynsel_resource two_hosts[] = {
    {&dynsel_inline_backend, (void *)"first"},
    {&dynsel_inline_backend, (void *)"second"},
};

static dynsel_options given(void)
{
    return (dynsel_options){.resources = two_hosts, .count = COUNT};
}

static void assert_is_zero(const dynsel_policy *policy)
{
    static const dynsel_policy zero;
    assert_memory_equal(policy, &zero, sizeof zero);
}

static void default_resource_of_inline_backend_is_host(void **state)
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

static void default_resources_without_options_begin_with_host(void **state)
{
    (void)state;
    dynsel_fixed_resource_policy policy = {0};
    const dynsel_status status = dynsel_fixed_resource_init(&policy, NULL, 0);
    if (status == DYNSEL_E_FULL) { /* more devices on this machine than room in this build */
        assert_error_says("CONFIG_DYNSEL_");
        skip();
    }
    assert_status(DYNSEL_OK, status);
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
    const dynsel_options options = {.resources = mine, .count = COUNT};
    dynsel_fixed_resource_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, LAST));
    memset(mine, 0, sizeof mine);
    size_t count = 0;
    const dynsel_resource *resources = dynsel_get_resources(&policy.policy, &count);
    assert_int_equal(count, COUNT);
    assert_ptr_equal(resources[LAST].handle, two_hosts[LAST].handle);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static dynsel_status start_nothing(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    (void)work;
    return DYNSEL_E_OUT_OF_SERVICE;
}

static dynsel_status look(dynsel_backend *backend, const dynsel_work *work)
{
    (void)backend;
    (void)work;
    return DYNSEL_OK;
}

static void give_back(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    work->done.native = NULL;
}

static void backend_with_missing_operations_is_refused(void **state)
{
    (void)state;
    static const dynsel_backend_ops incomplete[] = {
        {.name = "no start"},
        {.start = start_nothing},
        {.name = "no poll",
         .outlives_submit = true,
         .start = start_nothing,
         .wait = look,
         .release = give_back},
        {.name = "no wait",
         .outlives_submit = true,
         .start = start_nothing,
         .poll = look,
         .release = give_back},
        {.name = "no release",
         .outlives_submit = true,
         .start = start_nothing,
         .poll = look,
         .wait = look},
    };
    enum { INCOMPLETE = sizeof incomplete / sizeof incomplete[0] };
    dynsel_backend without_operations = {NULL};
    dynsel_backend backends[INCOMPLETE];
    dynsel_resource wrong[INCOMPLETE + 2] = {{NULL, NULL}, {&without_operations, NULL}};
    for (size_t i = 0; i < INCOMPLETE; i++) {
        backends[i].ops = &incomplete[i];
        wrong[2 + i] = (dynsel_resource){&backends[i], NULL};
    }
    for (size_t i = 0; i < INCOMPLETE + 2; i++) {
        dynsel_resource resources[2] = {two_hosts[0], two_hosts[1]};
        resources[LAST] = wrong[i];
        const dynsel_options options = {.resources = resources, .count = COUNT};
        dynsel_fixed_resource_policy policy = {0};
        assert_status(DYNSEL_E_INVALID, dynsel_fixed_resource_init(&policy, &options, 0));
        assert_error_number(LAST);
        assert_is_zero(&policy.policy);
    }
}

static void asynchronous_backend_without_slot_table_is_refused(void **state)
{
    (void)state;
    static const dynsel_backend_ops ops = {.name = "outlives",
                                           .outlives_submit = true,
                                           .start = start_nothing,
                                           .poll = look,
                                           .wait = look,
                                           .release = give_back};
    dynsel_backend backend = {&ops};
    const dynsel_resource resource = {&backend, NULL};
    const dynsel_options options = {.resources = &resource, .count = 1};
    dynsel_fixed_resource_policy policy = {0};
    const dynsel_status status = dynsel_fixed_resource_init(&policy, &options, 0);
    if (CONFIG_DYNSEL_IN_FLIGHT) {
        assert_status(DYNSEL_OK, status);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    } else {
        assert_status(DYNSEL_E_UNSUPPORTED, status);
        assert_error_says("CONFIG_DYNSEL_IN_FLIGHT");
        assert_is_zero(&policy.policy);
    }
}

static void refusal_without_details_keeps_its_status(void **state)
{
    (void)state;
    static const dynsel_backend_ops ops = {.name = "lost", .start = start_nothing};
    dynsel_backend backend = {&ops};
    const dynsel_resource resource = {&backend, NULL};
    const dynsel_options options = {.resources = &resource, .count = 1};
    dynsel_fixed_resource_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_TASK}); /* of something else, before */
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit(&policy.policy, &DYNSEL_TASK(do_nothing, NULL), NULL));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

/* A backend that says that it offers so many resources, or fails. */
static size_t offered;
static dynsel_status offer_status;

static dynsel_status offer(dynsel_backend *backend, dynsel_resource *resources, size_t capacity,
                           size_t *count)
{
    for (size_t i = 0; i < offered && i < capacity; i++) {
        resources[i] = (dynsel_resource){.backend = backend};
    }
    *count = offered;
    return offer_status;
}

static void default_resources_beyond_table_are_refused(void **state)
{
    (void)state;
    static const dynsel_backend_ops ops = {
        .name = "offers", .get_default_resources = offer, .start = start_nothing};
    dynsel_backend backend = {&ops};
    const dynsel_options options = {.backend = &backend};
    dynsel_fixed_resource_policy policy = {0};
    size_t count = 0;
    offered = CONFIG_DYNSEL_MAX_RESOURCES;
    offer_status = DYNSEL_OK;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_non_null(dynsel_get_resources(&policy.policy, &count));
    assert_int_equal(count, CONFIG_DYNSEL_MAX_RESOURCES);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    offered++;
    assert_status(DYNSEL_E_FULL, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_error_says("CONFIG_DYNSEL_MAX_RESOURCES");
    assert_error_number(CONFIG_DYNSEL_MAX_RESOURCES + 1);
    offered = 1;
    offer_status = DYNSEL_E_DEVICE;
    assert_status(DYNSEL_E_DEVICE, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_is_zero(&policy.policy);
}

static void wrong_options_are_refused_and_leave_policy_zero(void **state)
{
    (void)state;
    dynsel_resource many[CONFIG_DYNSEL_MAX_RESOURCES + 1];
    for (size_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES + 1; i++) {
        many[i] = two_hosts[0];
    }
    static const dynsel_backend_ops no_defaults = {.name = "none", .start = start_nothing};
    dynsel_backend offers_nothing = {&no_defaults};
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
        {{.backend = &offers_nothing}, DYNSEL_E_NO_RESOURCE, "no device"},
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

static void adapt_callback_refusal_fails_init(void **state)
{
    (void)state;
    dynsel_options options = given();
    dynsel_fixed_resource_policy policy = {0};
    options.adapt = refuse;
    assert_status(DYNSEL_E_INVALID, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_error_says("adapt");
    options.adapt = refuse_with_details;
    assert_status(DYNSEL_E_BUSY, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_is_zero(&policy.policy);
}

static void init_of_nonzero_policy_or_empty_ops_is_refused(void **state)
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
    dynsel_policy used = {.count = 1};
    assert_status(DYNSEL_E_INVALID, dynsel_policy_init(&used, &choosing_99, NULL));
    assert_error_says("zero");
    dynsel_policy moved = {.self = &policy};
    assert_status(DYNSEL_E_INVALID, dynsel_policy_init(&moved, &choosing_99, NULL));
}

static void second_init_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    const dynsel_options options = given();
    dynsel_fixed_resource_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, LAST));
    assert_status(DYNSEL_E_INVALID, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_error_says("deinit");
    dynsel_selection selection;
    assert_status(DYNSEL_OK,
                  dynsel_select(&policy.policy, &DYNSEL_TASK(do_nothing, NULL), &selection));
    assert_int_equal(selection.index, LAST);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

/* Calls everything that takes a policy. */
static void assert_all_refuse(dynsel_policy *policy, dynsel_status expected)
{
    const dynsel_task task = DYNSEL_TASK(do_nothing, NULL);
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

static void uninitialized_policy_is_refused_by_all_calls(void **state)
{
    (void)state;
    dynsel_fixed_resource_policy deferred = {0};
    assert_all_refuse(&deferred.policy, DYNSEL_E_UNINITIALIZED);
    assert_all_refuse(NULL, DYNSEL_E_INVALID);
}

static void copied_policy_is_refused_by_all_calls(void **state)
{
    (void)state;
    const dynsel_options options = given();
    dynsel_fixed_resource_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    dynsel_fixed_resource_policy copy = policy;
    assert_all_refuse(&copy.policy, DYNSEL_E_INVALID);
    assert_null(dynsel_selection_unwrap(&(dynsel_selection){.policy = &copy.policy}));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
    assert_status(DYNSEL_E_INVALID, dynsel_fixed_resource_init(&copy, &options, 0));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void custom_policy_with_wrong_index_is_refused(void **state)
{
    (void)state;
    const dynsel_options options = given();
    dynsel_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &choosing_99, &options));
    dynsel_selection selection;
    assert_status(DYNSEL_E_INVALID,
                  dynsel_select(&policy, &DYNSEL_TASK(do_nothing, NULL), &selection));
    assert_error_says("resource 99");
    assert_status(DYNSEL_E_INVALID, dynsel_submit(&policy, &DYNSEL_TASK(do_nothing, NULL), NULL));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

static dynsel_status choose_the_end(dynsel_policy *policy, const dynsel_task *task,
                                    dynsel_selection *selection)
{
    (void)policy;
    (void)task;
    selection->index = COUNT;
    return DYNSEL_OK;
}

/* Leaves an index behind, as one does that looks for the first free resource. */
static dynsel_status find_nothing(dynsel_policy *policy, const dynsel_task *task,
                                  dynsel_selection *selection)
{
    selection->index = COUNT;
    return task->id == 0 ? DYNSEL_E_AGAIN : dynsel_policy_refuse(policy, task);
}

static void custom_policy_with_index_at_count_is_refused(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "the end", .try_select = choose_the_end};
    const dynsel_options options = given();
    dynsel_policy policy = {0};
    dynsel_selection selection = {0};
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &ops, &options));
    assert_status(DYNSEL_E_INVALID,
                  dynsel_select(&policy, &DYNSEL_TASK(do_nothing, NULL), &selection));
    assert_null(selection.policy);
    selection = (dynsel_selection){.policy = &policy, .index = COUNT};
    assert_null(dynsel_selection_unwrap(&selection));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

static void custom_policy_status_is_returned(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "nothing", .try_select = find_nothing};
    const dynsel_options options = given();
    dynsel_backend other = {dynsel_inline_backend.ops};
    const dynsel_task_form forms[] = {{&other, do_nothing}};
    const dynsel_task elsewhere = {.forms = forms, .form_count = 1, .id = 1};
    dynsel_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &ops, &options));
    assert_status(DYNSEL_E_AGAIN, dynsel_try_submit(&policy, &DYNSEL_TASK(do_nothing, NULL), NULL));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_submit(&policy, &elsewhere, NULL));
    assert_error_says("nothing");
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

/* The resource that the refusal is about need not be the first. */
static void unusable_resource_error_names_reason(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2);
    dynsel_backend other = {dynsel_inline_backend.ops};
    const dynsel_resource resources[] = {{&dynsel_inline_backend, NULL}, {&other, NULL}};
    const dynsel_options options = {.resources = resources, .count = 2};
    const dynsel_task_form forms[] = {{&other, do_nothing}};
    const dynsel_task task = {.forms = forms, .form_count = 1};
    dynsel_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &choosing_99, &options));
    assert_false(dynsel_policy_may_use(&policy, 0, &task));
    assert_true(dynsel_policy_may_use(&policy, 1, &task));
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_policy_refuse(&policy, &task));
    const dynsel_task_form none[] = {{NULL, NULL}};
    assert_status(DYNSEL_E_UNSUPPORTED,
                  dynsel_policy_refuse(&policy, &(dynsel_task){.forms = none, .form_count = 1}));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

static void ignore_report(dynsel_policy *policy, const dynsel_selection *selection,
                          dynsel_execution_info info, uint64_t value)
{
    (void)policy;
    (void)selection;
    (void)info;
    (void)value;
}

static void backend_that_cannot_report_gives_no_default_resources(void **state)
{
    (void)state;
    static const dynsel_policy_ops needy = {
        .name = "needy",
        .needs = DYNSEL_TASK_TIME,
        .try_select = find_nothing,
        .report = ignore_report,
    };
    dynsel_backend_ops silent_ops = *dynsel_inline_backend.ops;
    silent_ops.reports = 0;
    dynsel_backend silent = {&silent_ops};
    dynsel_backend empty = {NULL};
    dynsel_backend *const backends[] = {&silent, &empty};
    for (unsigned i = 0; i < 2; i++) {
        dynsel_policy policy = {0};
        const dynsel_options options = {.backend = backends[i]};
        assert_status(DYNSEL_E_NO_RESOURCE, dynsel_policy_init(&policy, &needy, &options));
        assert_error_says("the default set is empty");
    }
}

static void get_resources_without_count_is_refused(void **state)
{
    (void)state;
    const dynsel_options options = given();
    dynsel_fixed_resource_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_null(dynsel_get_resources(&policy.policy, NULL));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void resource_name_of_any_resource_is_text(void **state)
{
    (void)state;
    static const dynsel_backend_ops nameless = {.name = "nameless"};
    dynsel_backend backend = {&nameless};
    assert_string_equal(dynsel_resource_name(NULL), "none");
    assert_string_equal(dynsel_resource_name(&(dynsel_resource){NULL, NULL}), "none");
    assert_string_equal(dynsel_resource_name(&(dynsel_resource){&backend, NULL}), "nameless");
    backend.ops = NULL;
    assert_string_equal(dynsel_resource_name(&(dynsel_resource){&backend, NULL}), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_resource_of_inline_backend_is_host),
        cmocka_unit_test(default_resources_without_options_begin_with_host),
        cmocka_unit_test(given_resources_are_copied),
        cmocka_unit_test(wrong_options_are_refused_and_leave_policy_zero),
        cmocka_unit_test(adapt_callback_refusal_fails_init),
        cmocka_unit_test(init_of_nonzero_policy_or_empty_ops_is_refused),
        cmocka_unit_test(second_init_is_refused_and_changes_nothing),
        cmocka_unit_test(uninitialized_policy_is_refused_by_all_calls),
        cmocka_unit_test(copied_policy_is_refused_by_all_calls),
        cmocka_unit_test(custom_policy_with_wrong_index_is_refused),
        cmocka_unit_test(backend_with_missing_operations_is_refused),
        cmocka_unit_test(asynchronous_backend_without_slot_table_is_refused),
        cmocka_unit_test(refusal_without_details_keeps_its_status),
        cmocka_unit_test(default_resources_beyond_table_are_refused),
        cmocka_unit_test(custom_policy_with_index_at_count_is_refused),
        cmocka_unit_test(custom_policy_status_is_returned),
        cmocka_unit_test(unusable_resource_error_names_reason),
        cmocka_unit_test(get_resources_without_count_is_refused),
        cmocka_unit_test(backend_that_cannot_report_gives_no_default_resources),
        cmocka_unit_test(resource_name_of_any_resource_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
