/* SPDX-License-Identifier: Apache-2.0 */
/* A build without backends of one's own: every resource is of backend inline. */
#include <dynsel/dynsel.h>

#include "any_policy.h"
#include "room.h"

enum { COUNT = RESOURCES_UP_TO(3), LAST = COUNT - 1 };

static any_policy any;
static dynsel_backend other;
static int runs;

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    (void)done;
    assert_ptr_equal(where->backend, &dynsel_inline_backend);
    runs++;
    return DYNSEL_OK;
}

static void assert_refused(dynsel_status expected, const dynsel_options *options)
{
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        static const any_policy zero;
        any = zero;
        assert_status(expected, k->init(&any, options, 0));
        assert_memory_equal(&any.policy, &zero.policy, sizeof any.policy);
    }
}

static void other_backends_are_refused(void **state)
{
    (void)state;
    dynsel_resource resources[CONFIG_DYNSEL_MAX_RESOURCES + 1] = {{&dynsel_inline_backend, NULL}};
    for (size_t i = 0; i < COUNT; i++) {
        resources[i].backend = &other;
        assert_refused(DYNSEL_E_INVALID, &(dynsel_options){.resources = resources, .count = i + 1});
        resources[i].backend = NULL;
        assert_refused(DYNSEL_E_INVALID, &(dynsel_options){.resources = resources, .count = i + 1});
        resources[i].backend = &dynsel_inline_backend;
    }
    assert_refused(DYNSEL_E_NO_RESOURCE, &(dynsel_options){.backend = &other});
    assert_refused(DYNSEL_E_INVALID, &(dynsel_options){.resources = resources});
    assert_refused(DYNSEL_E_INVALID, &(dynsel_options){.count = 1});
    assert_refused(DYNSEL_E_FULL, &(dynsel_options){.resources = resources,
                                                    .count = CONFIG_DYNSEL_MAX_RESOURCES + 1});
}

static void *refuse_handle(void *handle)
{
    return *(bool *)handle ? handle : NULL;
}

static void *fail_on_handle(void *handle)
{
    if (!*(bool *)handle) {
        (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_DEVICE});
        return NULL;
    }
    return handle;
}

static void handle_refused_by_adapt_fails_init(void **state)
{
    (void)state;
    bool good[COUNT];
    dynsel_resource resources[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        good[i] = true;
        resources[i] = (dynsel_resource){&dynsel_inline_backend, &good[i]};
    }
    dynsel_options options = {.resources = resources, .count = COUNT};
    good[LAST] = false;
    options.adapt = refuse_handle;
    assert_refused(DYNSEL_E_INVALID, &options);
    options.adapt = fail_on_handle;
    assert_refused(DYNSEL_E_DEVICE, &options);
    good[LAST] = true;
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        any = (any_policy){.policy = {.count = 0}};
        assert_status(DYNSEL_OK, k->init(&any, &options, LAST));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&any.policy));
    }
}

static const dynsel_task_form others[] = {{&other, run}};
static const dynsel_task for_others = {.forms = others, .form_count = 1};

static void task_without_form_is_refused(void **state)
{
    (void)state;
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        any = (any_policy){.policy = {.count = 0}};
        dynsel_selection selection = {.index = 7};
        runs = 0;
        assert_status(DYNSEL_OK, k->init(&any, NULL, 0));
        assert_status(DYNSEL_E_UNSUPPORTED, dynsel_submit(&any.policy, &for_others, NULL));
        assert_status(DYNSEL_E_UNSUPPORTED, dynsel_submit_and_wait(&any.policy, &for_others));
        assert_status(DYNSEL_E_UNSUPPORTED, dynsel_select(&any.policy, &for_others, &selection));
        assert_int_equal(selection.index, 7);
        assert_status(DYNSEL_OK, dynsel_select(&any.policy, &DYNSEL_TASK(run, NULL), &selection));
        assert_status(DYNSEL_E_UNSUPPORTED, dynsel_submit_selection(&selection, &for_others, NULL));
        assert_int_equal(runs, 0);
        assert_status(DYNSEL_OK,
                      dynsel_submit_selection_and_wait(&selection, &DYNSEL_TASK(run, NULL)));
        assert_int_equal(runs, 1);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&any.policy));
    }
}

static void reported_selection_cannot_be_submitted(void **state)
{
    (void)state;
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        any = (any_policy){.policy = {.count = 0}};
        const dynsel_task task = {.function = run};
        dynsel_selection selection;
        runs = 0;
        assert_status(DYNSEL_OK, k->init(&any, NULL, 0));
        assert_status(DYNSEL_OK, dynsel_select(&any.policy, &task, &selection));
        assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
        assert_status(DYNSEL_E_INVALID, dynsel_submit_selection(&selection, &task, NULL));
        assert_status(DYNSEL_E_INVALID, dynsel_submit_selection_and_wait(&selection, &task));
        assert_int_equal(runs, 0);
        assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_COMPLETION));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&any.policy));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_backends_are_refused),
        cmocka_unit_test(handle_refused_by_adapt_fails_init),
        cmocka_unit_test(task_without_form_is_refused),
        cmocka_unit_test(reported_selection_cannot_be_submitted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
