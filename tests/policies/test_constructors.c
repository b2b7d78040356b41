/* SPDX-License-Identifier: Apache-2.0 */
/* The constructors of the seed and what they refuse, for each policy in the build. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "any_policy.h"
#include "room.h"
#include "support/do_nothing.h"
#include "test.h"

enum { COUNT = RESOURCES_UP_TO(3), LAST = COUNT - 1 };

static any_policy any;

static const dynsel_resource hosts[] = {{&dynsel_inline_backend, (void *)"a"},
                                        {&dynsel_inline_backend, (void *)"b"},
                                        {&dynsel_inline_backend, (void *)"c"}};
static const dynsel_options given = {.resources = hosts, .count = COUNT};

static const dynsel_task task = {.function = do_nothing};

static dynsel_selection choose(void)
{
    dynsel_selection selection = {0};
    assert_status(DYNSEL_OK, dynsel_select(&any.policy, &task, &selection));
    return selection;
}

static void end(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&any.policy));
}

static void assert_uninitialized(void)
{
    dynsel_selection selection;
    size_t count = 1;
    assert_null(dynsel_get_resources(&any.policy, &count));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_UNINITIALIZED);
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_select(&any.policy, &task, &selection));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_submit(&any.policy, &task, NULL));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_try_submit(&any.policy, &task, NULL));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_submit_and_wait(&any.policy, &task));
}

static void zeroed_policy_is_uninitialized_until_init(void **state)
{
    (void)state;
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        memset(&any, 0, sizeof any);
        assert_uninitialized();
        assert_status(DYNSEL_OK, k->init(&any, &given, 0));
        assert_int_equal(choose().index, 0);
        assert_status(DYNSEL_OK, dynsel_submit_and_wait(&any.policy, &task));
        end();
        assert_uninitialized();
    }
}

static void init_without_resources_uses_default_ones(void **state)
{
    (void)state;
    static const dynsel_options none;
    const dynsel_options *const without[] = {NULL, &none};
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        for (int i = 0; i < 2; i++) {
            size_t count = 0;
            memset(&any, 0, sizeof any);
            assert_status(DYNSEL_OK, k->init(&any, without[i], 0));
            const dynsel_resource *resources = dynsel_get_resources(&any.policy, &count);
            assert_true(count >= 1);
            assert_ptr_equal(resources[0].backend, &dynsel_inline_backend);
            const dynsel_selection selection = choose();
            assert_ptr_equal(dynsel_selection_unwrap(&selection), &resources[selection.index]);
            end();
        }
    }
}

#if CONFIG_DYNSEL_CUSTOM_BACKENDS

static dynsel_status offer(dynsel_backend *backend, dynsel_resource *resources, size_t capacity,
                           size_t *count)
{
    for (size_t i = 0; i < COUNT && i < capacity; i++) {
        resources[i] = (dynsel_resource){.backend = backend};
    }
    *count = COUNT;
    return DYNSEL_OK;
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static void offset_applies_to_default_resources(void **state)
{
    (void)state;
    static const dynsel_backend_ops ops = {.name = "offers",
                                           .reports = DYNSEL_TASK_SUBMISSION |
                                                      DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
                                           .get_default_resources = offer,
                                           .start = start};
    dynsel_backend backend = {&ops};
    const dynsel_options options = {.backend = &backend};
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        size_t count = 0;
        memset(&any, 0, sizeof any);
        assert_status(DYNSEL_OK, k->init(&any, &options, LAST));
        assert_non_null(dynsel_get_resources(&any.policy, &count));
        assert_int_equal(count, COUNT);
        assert_int_equal(choose().index, k->has_offset ? LAST : 0);
        end();
    }
}

#endif

static void init_with_resources_uses_them(void **state)
{
    (void)state;
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        size_t count = 0;
        memset(&any, 0, sizeof any);
        assert_status(DYNSEL_OK, k->init(&any, &given, LAST));
        const dynsel_resource *resources = dynsel_get_resources(&any.policy, &count);
        assert_int_equal(count, COUNT);
        assert_memory_equal(resources, hosts, sizeof hosts[0] * COUNT);
        assert_int_equal(choose().index, k->has_offset ? LAST : 0);
        end();
    }
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    dynsel_resource many[CONFIG_DYNSEL_MAX_RESOURCES + 1];
    for (size_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES + 1; i++) {
        many[i] = hosts[0];
    }
    const dynsel_options too_many = {.resources = many, .count = CONFIG_DYNSEL_MAX_RESOURCES + 1};
    const dynsel_options no_count = {.resources = hosts};
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        memset(&any, 0, sizeof any);
        assert_status(DYNSEL_E_INVALID, k->init(NULL, &given, 0));
        assert_status(DYNSEL_E_FULL, k->init(&any, &too_many, 0));
        assert_status(DYNSEL_E_INVALID, k->init(&any, &no_count, 0));
        assert_status(k->has_offset ? DYNSEL_E_INVALID : DYNSEL_OK, k->init(&any, &given, COUNT));
        if (k->has_offset) {
            assert_uninitialized();
            assert_status(DYNSEL_OK, k->init(&any, &given, 0));
        }
        end();
    }
}

static void second_init_is_refused(void **state)
{
    (void)state;
    const dynsel_options fewer = {.resources = hosts, .count = 1};
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        size_t count = 0;
        memset(&any, 0, sizeof any);
        assert_status(DYNSEL_OK, k->init(&any, &given, LAST));
        assert_status(DYNSEL_E_INVALID, k->init(&any, &fewer, 0));
        assert_non_null(dynsel_get_resources(&any.policy, &count));
        assert_int_equal(count, COUNT);
        assert_int_equal(choose().index, k->has_offset ? LAST : 0);
        end();
    }
}

static void each_policy_needs_specified_reports(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2); /* auto_tune has nothing to learn from one */
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        memset(&any, 0, sizeof any);
        assert_status(DYNSEL_OK, k->init(&any, &given, 0));
        const dynsel_selection selection = choose();
        static const dynsel_execution_info infos[] = {DYNSEL_TASK_SUBMISSION,
                                                      DYNSEL_TASK_COMPLETION, DYNSEL_TASK_TIME};
        for (int i = 0; i < 3; i++) {
            const bool needed = dynsel_selection_needs(&selection, infos[i]);
            /* auto_tune may ask for more, so that a burst can be spread */
            assert_true(needed || (k->needs & infos[i]) == 0);
            assert_true(!needed || k->needs == DYNSEL_TASK_TIME || (k->needs & infos[i]) != 0);
        }
        end();
    }
}

/* What was learned or counted before the deinitialization is not there after the next init. */
static void reinitialized_policy_has_no_earlier_state(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2);
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        memset(&any, 0, sizeof any);
        assert_status(DYNSEL_OK, k->init(&any, &given, 0));
        for (int i = 0; i < 50; i++) {
            dynsel_selection selection = choose();
            if (dynsel_selection_needs(&selection, DYNSEL_TASK_SUBMISSION)) {
                assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
            }
        }
        end();
        assert_status(DYNSEL_OK, k->init(&any, &given, 0));
        const dynsel_selection selection = choose();
        assert_int_equal(selection.index, 0);
        assert_true(k->needs != DYNSEL_TASK_TIME || selection.reason == DYNSEL_REASON_PROFILING);
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_policy_is_uninitialized_until_init),
        cmocka_unit_test(init_without_resources_uses_default_ones),
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
        cmocka_unit_test(offset_applies_to_default_resources),
#endif
        cmocka_unit_test(init_with_resources_uses_them),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(second_init_is_refused),
        cmocka_unit_test(each_policy_needs_specified_reports),
        cmocka_unit_test(reinitialized_policy_has_no_earlier_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
