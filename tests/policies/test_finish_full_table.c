/* SPDX-License-Identifier: Apache-2.0 */
/* earliest_finish with as many resources as a policy can have: the choice keeps sets of them. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "test.h"

enum {
    COUNT = CONFIG_DYNSEL_MAX_RESOURCES,
    RUN_NS = 100000,
    SHORT_RUN_NS = 10000,
    IDLE_NS = 1000000
};

static uint64_t now_ns = (uint64_t)1 << 40;

uint64_t dynsel_now_ns(void)
{
    return now_ns;
}

static dynsel_earliest_finish_policy policy;
static dynsel_resource resources[COUNT];

static dynsel_status nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static int set_up(void **state)
{
    const dynsel_options options = {.resources = resources, .count = COUNT};
    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        resources[i] = (dynsel_resource){&dynsel_inline_backend, &resources[i]};
    }
    memset(&policy.policy, 0, sizeof policy.policy);
    return dynsel_earliest_finish_init(&policy, &options) == DYNSEL_OK ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    return dynsel_policy_deinit(&policy.policy) == DYNSEL_OK ? 0 : 1;
}

static dynsel_selection begin(void)
{
    const dynsel_task task = DYNSEL_TASK(nothing, NULL);
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &task, &selection));
    assert_true(selection.index < COUNT);
    assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
    return selection;
}

static void end(dynsel_selection *selection, uint64_t run_ns)
{
    if (dynsel_selection_needs(selection, DYNSEL_TASK_TIME)) {
        assert_status(DYNSEL_OK, dynsel_report_value(selection, DYNSEL_TASK_TIME, run_ns));
    }
    assert_status(DYNSEL_OK, dynsel_report(selection, DYNSEL_TASK_COMPLETION));
}

/* Begins work until each resource has a piece of it, and checks that none has two. */
static void begin_on_each(dynsel_selection *selections)
{
    bool used[COUNT] = {false};
    for (uint32_t i = 0; i < COUNT; i++) {
        const dynsel_selection selection = begin();
        assert_false(used[selection.index]);
        used[selection.index] = true;
        selections[selection.index] = selection;
    }
}

static void each_resource_gets_untimed_work(void **state)
{
    dynsel_selection selections[COUNT];
    (void)state;
    begin_on_each(selections);
    for (uint32_t i = 0; i < COUNT; i++) {
        end(&selections[i], RUN_NS);
    }
}

static void fastest_resource_is_chosen_at_last_place(void **state)
{
    dynsel_selection selections[COUNT];
    (void)state;
    begin_on_each(selections);
    for (uint32_t i = 0; i < COUNT; i++) {
        end(&selections[i], i == COUNT - 1 ? SHORT_RUN_NS : RUN_NS);
    }
    for (uint32_t i = 0; i < 8; i++) {
        now_ns += IDLE_NS;
        dynsel_selection selection = begin();
        assert_int_equal(selection.index, COUNT - 1);
        end(&selection, SHORT_RUN_NS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_resource_gets_untimed_work, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fastest_resource_is_chosen_at_last_place, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
