/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which default resources each policy gets, with and without workers. Without OpenCL devices;
 * opencl/test_discovery.c has those.
 */
#include <dynsel/dynsel.h>

#include <string.h>

#include "any_policy.h"
#include "support/do_nothing.h"
#include "test.h"

enum { WORKERS = CONFIG_DYNSEL_THREADS_WORKERS < 2 ? 1 : 2 };

static any_policy any;

static const dynsel_task task = {.function = do_nothing};

static bool knows_no_times(const any_kind *kind)
{
#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
    if (kind->init == any_round_robin) {
        return true;
    }
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    if (kind->init == any_dynamic_load) {
        return true;
    }
#endif
    (void)kind;
    return false;
}

/* The host first, if it is there, then so many workers. */
static void assert_gets(const any_kind *kind, const dynsel_options *options, bool host,
                        size_t workers)
{
    size_t count = 0;
    memset(&any, 0, sizeof any);
    assert_status(DYNSEL_OK, kind->init(&any, options, 0));
    const dynsel_resource *resources = dynsel_get_resources(&any.policy, &count);
    assert_int_equal(count, workers + (host ? 1 : 0));
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(resources[i].backend,
                         host && i == 0 ? &dynsel_inline_backend : &dynsel_threads_backend);
    }
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&any.policy, &task));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&any.policy));
}

static void default_set_without_other_resources_is_host(void **state)
{
    (void)state;
    static const dynsel_options all = {.defaults = DYNSEL_HOST_AND_DEVICES};
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        assert_gets(k, NULL, true, 0);
        assert_gets(k, &all, true, 0);
    }
}

static void policies_without_times_exclude_host_by_default(void **state)
{
    (void)state;
    static const dynsel_options all = {.defaults = DYNSEL_HOST_AND_DEVICES};
    static const dynsel_options host = {.backend = &dynsel_inline_backend};
    static const dynsel_resource mine = {.backend = &dynsel_inline_backend};
    static const dynsel_options given = {.resources = &mine, .count = 1};
    assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        assert_gets(k, NULL, !knows_no_times(k), WORKERS);
        assert_gets(k, &all, true, WORKERS);
        assert_gets(k, &host, true, 0); /* whoever asks for it gets it */
        assert_gets(k, &given, true, 0);
    }
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}

static void default_set_of_workers_and_devices_starts_workers(void **state)
{
    (void)state;
    static const dynsel_options beside = {.defaults = DYNSEL_WORKERS_AND_DEVICES};
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        size_t count = 0;
        memset(&any, 0, sizeof any);
        assert_status(DYNSEL_OK, k->init(&any, &beside, 0));
        const dynsel_resource *resources = dynsel_get_resources(&any.policy, &count);
        assert_true(count >= 1);
        for (size_t i = 0; i < count; i++) {
            assert_ptr_equal(resources[i].backend, &dynsel_threads_backend);
        }
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&any.policy));
        assert_status(DYNSEL_OK, dynsel_threads_stop());
    }
}

static void default_set_contradicting_options_is_refused(void **state)
{
    (void)state;
    static const dynsel_resource mine = {.backend = &dynsel_inline_backend};
    static const dynsel_options wrong[] = {
        {.resources = &mine, .count = 1, .defaults = DYNSEL_HOST_AND_DEVICES},
        {.backend = &dynsel_inline_backend, .defaults = DYNSEL_WORKERS_AND_DEVICES},
        {.defaults = (dynsel_default_set)(DYNSEL_WORKERS_AND_DEVICES + 1)}};
    for (const any_kind *k = any_kinds; k->init != NULL; k++) {
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            memset(&any, 0, sizeof any);
            assert_status(DYNSEL_E_INVALID, k->init(&any, &wrong[i], 0));
            assert_error_says("options.defaults");
        }
    }
}

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
/* Work in the host would be over before the next choice, and the host would get all of it. */
static void dynamic_load_uses_running_workers_by_default(void **state)
{
    (void)state;
    dynsel_dynamic_load_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&policy, NULL));
    for (int i = 0; i < 8; i++) {
        dynsel_submission submission;
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
        assert_ptr_equal(dynsel_submission_resource(&submission)->backend, &dynsel_threads_backend);
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_set_without_other_resources_is_host),
        cmocka_unit_test(policies_without_times_exclude_host_by_default),
        cmocka_unit_test(default_set_of_workers_and_devices_starts_workers),
        cmocka_unit_test(default_set_contradicting_options_is_refused),
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
        cmocka_unit_test(dynamic_load_uses_running_workers_by_default),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
