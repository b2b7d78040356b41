/* SPDX-License-Identifier: Apache-2.0 */
/* Repeatable work whose device fails: it runs once more, elsewhere, and its end is told once. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "room.h"
#include "submission/manual_fixture.h"
#include "test.h"

enum {
    COUNT = RESOURCES_UP_TO(3),
    SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT,
    MOST_REPEATABLE = SLOTS / 2,
    SOME = MOST_REPEATABLE > 0 ? MOST_REPEATABLE : 1,
    MANY = SOME < 32 ? SOME : 32
};

static dynsel_repeat_statistics before;
static const dynsel_repeat nothing_kept;

static int set_up(void **state)
{
    (void)state;
    before = dynsel_get_repeat_statistics();
    return manual_open(false, (dynsel_options){.count = COUNT});
}

static void assert_counts(uint32_t repeated, uint32_t failed, uint32_t nowhere)
{
    const dynsel_repeat_statistics now = dynsel_get_repeat_statistics();
    assert_int_equal(repeated, now.repeated - before.repeated);
    assert_int_equal(failed, now.failed - before.failed);
    assert_int_equal(nowhere, now.nowhere - before.nowhere);
}

static dynsel_status try_on(uint32_t index, dynsel_task task, dynsel_submission *submission)
{
    dynsel_selection selection = {.policy = policy, .index = index};
    return dynsel_try_submit_selection(&selection, &task, submission);
}

static dynsel_task repeatable(dynsel_task_fn function, void *args)
{
    return (dynsel_task){.function = function, .args = args, .repeat = &nothing_kept};
}

static void start_on(uint32_t index, dynsel_submission *submission)
{
    assert_status(DYNSEL_OK, try_on(index, repeatable(manual_enqueue, NULL), submission));
}

/* The events in the order of their starts. */
static unsigned newest_event(void)
{
    return atomic_load(&manual.event_count) - 1;
}

static void work_of_a_failed_device_runs_elsewhere(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 0);
    dynsel_submission work;
    start_on(0, &work);
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
    assert_int_equal(2, atomic_load(&manual.event_count));
    assert_ptr_not_equal(manual.events[0].queue, manual.events[1].queue);
    assert_true(dynsel_invariants_hold(policy));
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    size_t count = 0;
    assert_ptr_not_equal(dynsel_get_resources(policy, &count), dynsel_submission_resource(&work));
    assert_status(DYNSEL_E_STALE, dynsel_wait(&work));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_counts(1, 0, 0);
}

static void first_failure_counts_for_its_resource(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 0 && CONFIG_DYNSEL_MAX_FAILURES > 0);
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_FAILURES; i++) {
        dynsel_submission work;
        start_on(0, &work);
        manual_fail(&manual, newest_event());
        assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
        manual_complete(&manual, newest_event());
        assert_status(DYNSEL_OK, dynsel_wait(&work));
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(policy, 0));
    assert_counts(CONFIG_DYNSEL_MAX_FAILURES, 0, 0);
}

static void detached_work_is_repeated_before_the_wait_for_all_ends(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 1);
    start_on(0, NULL);
    start_on(0, NULL);
    manual_fail(&manual, 0);
    manual_fail(&manual, 1);
    atomic_store(&manual.wait_completes, true);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_counts(2, 0, 0);
}

static void second_failure_is_told_once(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 1);
    dynsel_submission work;
    start_on(0, &work);
    start_on(0, NULL);
    for (unsigned i = 0; i < 2; i++) {
        manual_fail(&manual, i);
    }
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
    assert_int_equal(4, atomic_load(&manual.event_count));
    manual_fail(&manual, 2);
    manual_fail(&manual, 3);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&work));
    assert_error_code(-5);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_int_equal(4, atomic_load(&manual.event_count));
    assert_counts(2, 2, 0);
}

static void work_fails_where_no_other_resource_may_run_it(void **state)
{
    (void)state;
    NEEDS(MOST_REPEATABLE > 0);
    for (uint32_t i = 1; i < COUNT; i++) {
        atomic_store(&manual.queues[i].refuses, true);
    }
    dynsel_submission work;
    start_on(0, &work);
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&work));
    assert_error_code(-5);
    assert_int_equal(1, atomic_load(&manual.event_count));
    assert_counts(0, 0, 1);
}

static void second_run_waits_for_a_resource_that_is_full(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 0);
    for (uint32_t i = 1; i < COUNT; i++) {
        atomic_store(&manual.queues[i].is_full, true);
    }
    dynsel_submission work;
    start_on(0, &work);
    manual_fail(&manual, 0);
    for (int i = 0; i < 3; i++) {
        assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
        assert_true(dynsel_invariants_hold(policy));
    }
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&work, 1000));
    assert_status(DYNSEL_E_BUSY, dynsel_cancel(&work));
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(policy));
    for (uint32_t i = 1; i < COUNT; i++) {
        atomic_store(&manual.queues[i].is_full, false);
    }
    dynsel_progress();
    assert_int_equal(2, atomic_load(&manual.event_count));
    assert_status(DYNSEL_E_BUSY, dynsel_cancel(&work));
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
}

static void released_work_ends_after_its_second_run(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 0);
    dynsel_submission work;
    start_on(0, &work);
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
    assert_status(DYNSEL_OK, dynsel_submission_release(&work));
    manual_fail(&manual, 1);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(dynsel_get_submission_group(policy)));
}

static dynsel_status fail_with(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    dynsel_status *const statuses = args; /* one a run */
    const dynsel_status status = statuses[0];
    statuses[0] = statuses[1];
    return status;
}

static void failed_start_is_repeated_too(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 0);
    dynsel_status once[] = {DYNSEL_E_DEVICE, DYNSEL_OK};
    dynsel_submission work;
    assert_status(DYNSEL_OK, try_on(0, repeatable(fail_with, once), &work));
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_counts(1, 0, 0);
    dynsel_status twice[] = {DYNSEL_E_DEVICE, DYNSEL_E_DEVICE};
    assert_status(DYNSEL_OK, try_on(0, repeatable(fail_with, twice), NULL));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_counts(2, 1, 0);
}

static void other_failures_are_final(void **state)
{
    (void)state;
    NEEDS(MOST_REPEATABLE > 0);
    dynsel_status own[] = {DYNSEL_E_USER, DYNSEL_OK};
    dynsel_submission work;
    assert_status(DYNSEL_OK, try_on(0, repeatable(fail_with, own), &work));
    assert_status(DYNSEL_E_USER, dynsel_wait(&work));
    assert_status(DYNSEL_OK, try_on(0, DYNSEL_TASK(manual_enqueue, NULL), &work));
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&work));
    assert_counts(0, 0, 0);
}

typedef struct sums {
    uint32_t total; /* overwritten */
    uint32_t addend;
    uint32_t runs;
} sums;

static dynsel_status add_and_enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    sums *const s = args;
    s->total += s->addend;
    s->runs++;
    return manual_enqueue(where, NULL, done);
}

static void overwritten_input_is_put_back(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 0);
    sums s = {.total = 40, .addend = 2};
    const dynsel_repeat repeat = {.overwritten = &s.total, .overwritten_bytes = sizeof(s.total)};
    dynsel_submission work;
    assert_status(DYNSEL_OK,
                  try_on(0,
                         (dynsel_task){.function = add_and_enqueue, .args = &s, .repeat = &repeat},
                         &work));
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_int_equal(42, s.total);
    assert_int_equal(2, s.runs);
}

static void work_with_forms_and_a_limit_is_repeated(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 0);
    const dynsel_task_form forms[] = {{.backend = &manual.backend, .function = manual_enqueue}};
    dynsel_submission work;
    assert_status(DYNSEL_OK, try_on(
                                 0,
                                 (dynsel_task) {
                                     .forms = forms, .form_count = 1,
#if CONFIG_DYNSEL_TIME_LIMITS
                                     .limit_ns = UINT64_C(1000000000000),
#endif
                                     .repeat = &nothing_kept
                                 },
                                 &work));
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_counts(1, 0, 0);
}

static void each_takes_two_slots_until_it_ends(void **state)
{
    (void)state;
    NEEDS(MOST_REPEATABLE > 1);
    dynsel_submission work[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        start_on(i % COUNT, &work[i]);
        assert_int_equal(2 * (i + 1), dynsel_get_in_flight_statistics().in_use);
    }
    assert_true(dynsel_invariants_hold(policy));
    if (2 * MANY == SLOTS) {
        assert_status(DYNSEL_E_FULL, try_on(0, repeatable(manual_enqueue, NULL), NULL));
    }
    for (unsigned i = 0; i < MANY; i++) {
        manual_complete(&manual, i);
        assert_status(DYNSEL_OK, dynsel_submission_poll(&work[i]));
    }
    assert_int_equal(MANY, dynsel_get_in_flight_statistics().in_use);
    for (unsigned i = 0; i < MANY; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&work[i]));
    }
}

static void repeatable_work_needs_a_second_slot(void **state)
{
    (void)state;
    NEEDS(SLOTS <= 64);
    dynsel_submission work[SLOTS];
    for (unsigned i = 1; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, try_on(0, DYNSEL_TASK(manual_enqueue, NULL), &work[i]));
    }
    uint32_t word = 0;
    const dynsel_repeat repeat = {.overwritten = &word, .overwritten_bytes = sizeof(word)};
    const dynsel_task keeps = {.function = manual_enqueue, .repeat = &repeat};
    for (unsigned i = 0; i <= CONFIG_DYNSEL_KEPT_COUNT; i++) {
        assert_status(DYNSEL_E_FULL, try_on(0, keeps, NULL));
        assert_error_says("second slot");
        assert_int_equal(SLOTS - 1, dynsel_get_in_flight_statistics().in_use);
    }
    for (unsigned i = 1; i < SLOTS; i++) {
        manual_complete(&manual, i - 1);
        assert_status(DYNSEL_OK, dynsel_submission_poll(&work[i]));
    }
    /* nobody else collects these, so waiting would not end */
    dynsel_selection selection = {.policy = policy, .index = 0};
    const dynsel_task task = repeatable(manual_enqueue, NULL);
    assert_status(DYNSEL_E_FULL, dynsel_submit_selection(&selection, &task, NULL));
    for (unsigned i = 1; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&work[i]));
    }
    if (MOST_REPEATABLE > 0) { /* what keeps inputs was given back */
        assert_status(DYNSEL_OK, try_on(0, keeps, &work[0]));
        manual_complete(&manual, newest_event());
        assert_status(DYNSEL_OK, dynsel_wait(&work[0]));
    }
}

static void inputs_are_kept_in_a_table_of_fixed_size(void **state)
{
    (void)state;
    NEEDS(MOST_REPEATABLE > CONFIG_DYNSEL_KEPT_COUNT);
    uint32_t word = 0;
    const dynsel_repeat repeat = {.overwritten = &word, .overwritten_bytes = sizeof(word)};
    const dynsel_task task = {.function = manual_enqueue, .repeat = &repeat};
    dynsel_submission work[CONFIG_DYNSEL_KEPT_COUNT];
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < CONFIG_DYNSEL_KEPT_COUNT; i++) {
            assert_status(DYNSEL_OK, try_on(0, task, &work[i]));
        }
        assert_status(DYNSEL_E_FULL, try_on(0, task, NULL));
        assert_status(DYNSEL_OK, try_on(0, repeatable(manual_enqueue, NULL), NULL));
        for (unsigned i = 0; i < CONFIG_DYNSEL_KEPT_COUNT; i++) {
            manual_complete(&manual, newest_event() - CONFIG_DYNSEL_KEPT_COUNT + i);
            assert_status(DYNSEL_OK, dynsel_wait(&work[i]));
        }
        manual_complete(&manual, newest_event());
        assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    }
}

static void what_cannot_be_kept_is_refused(void **state)
{
    (void)state;
    static unsigned char memory[CONFIG_DYNSEL_KEPT_BYTES];
    const dynsel_repeat too_large = {.overwritten = memory,
                                     .overwritten_bytes = CONFIG_DYNSEL_KEPT_BYTES + (size_t)1};
    assert_status(DYNSEL_E_INVALID,
                  try_on(0, (dynsel_task){.function = manual_enqueue, .repeat = &too_large}, NULL));
    assert_error_number(CONFIG_DYNSEL_KEPT_BYTES + 1);
    const dynsel_repeat nowhere = {.overwritten_bytes = 4};
    assert_status(DYNSEL_E_INVALID,
                  try_on(0, (dynsel_task){.function = manual_enqueue, .repeat = &nowhere}, NULL));
    assert_int_equal(0, atomic_load(&manual.event_count));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
}

static void refused_start_gives_both_slots_back(void **state)
{
    (void)state;
    NEEDS(MOST_REPEATABLE > 0);
    uint32_t word = 0;
    const dynsel_repeat repeat = {.overwritten = &word, .overwritten_bytes = sizeof(word)};
    const dynsel_task task = {.function = manual_enqueue, .repeat = &repeat};
    atomic_store(&manual.queues[0].is_full, true);
    for (int i = 0; i < 2 * CONFIG_DYNSEL_KEPT_COUNT; i++) {
        assert_status(DYNSEL_E_AGAIN, try_on(0, task, NULL));
        assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    }
    atomic_store(&manual.queues[0].is_full, false);
}

/* All that a device held, with no slot free beside them. */
static void full_table_of_a_lost_device_runs_elsewhere(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 1);
    dynsel_submission work[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        start_on(0, &work[i]);
    }
    for (unsigned i = 0; i < MANY; i++) {
        manual_fail(&manual, i);
    }
    dynsel_progress();
    assert_int_equal(2 * MANY, atomic_load(&manual.event_count));
    for (unsigned i = MANY; i > 0; i--) {
        manual_complete(&manual, MANY + i - 1);
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&work[i]));
    }
    assert_counts(MANY, 0, 0);
}

static void value_of_the_second_run_is_the_result(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 0);
    dynsel_submission work;
    start_on(0, &work);
    dynsel_event event;
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&work, &event));
    assert_non_null(event.native);
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&work, &event));
    assert_null(event.native);
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_submission_poll(&work));
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&work, &event));
    assert_null(event.native);
    assert_status(DYNSEL_OK, dynsel_wait_and_unwrap(&work, &event));
    assert_null(event.native);
}

static unsigned last_of_all;
static unsigned nesting;
static unsigned deepest;

static dynsel_status submit_more(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    (void)done;
    last_of_all++;
    if (where->backend == &manual.backend) {
        return DYNSEL_E_DEVICE;
    }
    nesting++;
    deepest = deepest < nesting ? nesting : deepest;
    dynsel_progress(); /* a second run is not started in a task function */
    nesting--;
    return DYNSEL_OK;
}

static void second_run_in_the_caller_is_over_at_once(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 1);
    static dynsel_round_robin_policy with_host;
    const dynsel_resource resources[] = {manual_resource(&manual, 0),
                                         {.backend = &dynsel_inline_backend}};
    assert_status(DYNSEL_OK,
                  dynsel_round_robin_init(
                      &with_host, &(dynsel_options){.resources = resources, .count = 2}, 0));
    last_of_all = 0;
    deepest = 0;
    for (int i = 0; i < 2; i++) {
        dynsel_selection selection = {.policy = &with_host.policy, .index = 0};
        const dynsel_task task = repeatable(submit_more, NULL);
        assert_status(DYNSEL_OK, dynsel_try_submit_selection(&selection, &task, NULL));
    }
    assert_int_equal(2, last_of_all);
    dynsel_progress();
    assert_int_equal(4, last_of_all);
    assert_int_equal(1, deepest);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&with_host.policy)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&with_host.policy));
    assert_counts(2, 0, 0);
}

/* A policy that notes the kinds of work. */
static uint32_t kinds[2];
static unsigned choices;

static dynsel_status choose_the_first(dynsel_policy *asked, const dynsel_task *task,
                                      dynsel_selection *selection)
{
    kinds[choices++ % 2] = task->id;
    selection->index = 0;
    while (!dynsel_policy_may_use(asked, selection->index, task)) {
        selection->index++;
    }
    return DYNSEL_OK;
}

/* Else a policy that measures would take the times of one resource for those of all. */
static void second_run_is_another_kind_of_work(void **state)
{
    (void)state;
    NEEDS(COUNT > 1 && MOST_REPEATABLE > 0);
    static const dynsel_policy_ops ops = {.name = "kinds", .try_select = choose_the_first};
    static dynsel_policy noting;
    const dynsel_resource resources[] = {manual_resource(&manual, 0), manual_resource(&manual, 1)};
    assert_status(
        DYNSEL_OK,
        dynsel_policy_init(&noting, &ops, &(dynsel_options){.resources = resources, .count = 2}));
    choices = 0;
    dynsel_task task = repeatable(manual_enqueue, NULL);
    task.id = 5;
    dynsel_submission work;
    assert_status(DYNSEL_OK, dynsel_try_submit(&noting, &task, &work));
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
    assert_int_equal(2, choices);
    assert_int_equal(5, kinds[0]);
    assert_int_not_equal(5, kinds[1]);
    assert_int_not_equal(0, kinds[1]);
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&noting));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(work_of_a_failed_device_runs_elsewhere),
        TEST(first_failure_counts_for_its_resource),
        TEST(detached_work_is_repeated_before_the_wait_for_all_ends),
        TEST(second_failure_is_told_once),
        TEST(work_fails_where_no_other_resource_may_run_it),
        TEST(second_run_waits_for_a_resource_that_is_full),
        TEST(released_work_ends_after_its_second_run),
        TEST(failed_start_is_repeated_too),
        TEST(other_failures_are_final),
        TEST(overwritten_input_is_put_back),
        TEST(work_with_forms_and_a_limit_is_repeated),
        TEST(each_takes_two_slots_until_it_ends),
        TEST(repeatable_work_needs_a_second_slot),
        TEST(inputs_are_kept_in_a_table_of_fixed_size),
        TEST(what_cannot_be_kept_is_refused),
        TEST(refused_start_gives_both_slots_back),
        TEST(full_table_of_a_lost_device_runs_elsewhere),
        TEST(value_of_the_second_run_is_the_result),
        TEST(second_run_in_the_caller_is_over_at_once),
        TEST(second_run_is_another_kind_of_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
