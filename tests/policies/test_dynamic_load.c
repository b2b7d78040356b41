/* SPDX-License-Identifier: Apache-2.0 */
/* What dynamic_load chooses and counts, with the reports of submitted work and of work that a
 * program runs itself. */
#define _POSIX_C_SOURCE 200809L /* barriers */

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "fakes/manual_backend.h"
#include "random.h"
#include "room.h"
#include "support/put_in_service.h"
#include "test.h"

enum { RESOURCES = RESOURCES_UP_TO(3) };

static manual_backend manual;
static dynsel_dynamic_load_policy policy;

static int set_up(void **state)
{
    (void)state;
    manual_backend_reset(&manual, false);
    dynsel_resource resources[RESOURCES];
    for (unsigned i = 0; i < RESOURCES; i++) {
        resources[i] = manual_resource(&manual, i);
    }
    const dynsel_options options = {.resources = resources, .count = RESOURCES};
    return dynsel_dynamic_load_init(&policy, &options);
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < RESOURCES; i++) {
        assert_int_equal(policy.loads[i].value, 0);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    manual_assert_clean(&manual);
    return 0;
}

static dynsel_status fail_at_once(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_E_TASK;
}

static dynsel_selection choose(void)
{
    dynsel_selection selection;
    assert_status(DYNSEL_OK,
                  dynsel_select(&policy.policy, &DYNSEL_TASK(manual_enqueue, NULL), &selection));
    return selection;
}

static uint32_t queue_of(unsigned event)
{
    return (uint32_t)(manual.events[event].queue - manual.queues);
}

static void submit(unsigned expected_queue)
{
    assert_status(DYNSEL_OK,
                  dynsel_submit(&policy.policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    assert_int_equal(queue_of(atomic_load(&manual.event_count) - 1), expected_queue);
}

static dynsel_status wait_group(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(&policy.policy));
}

static void least_loaded_is_selected_and_ties_use_lowest_index(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_IN_FLIGHT > 2 * RESOURCES);
    for (unsigned i = 0; i < 2 * RESOURCES; i++) {
        submit(i % RESOURCES);
    }
    manual_complete(&manual, RESOURCES - 1); /* the last resource has one less now */
    submit(RESOURCES - 1);
    submit(0);
    assert_status(DYNSEL_OK, wait_group());
    submit(0);
    assert_status(DYNSEL_OK, wait_group());
}

static void failed_and_refused_work_leaves_no_load(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(fail_at_once, NULL), NULL));
    assert_status(DYNSEL_E_TASK, wait_group());
    submit(0);
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_DEVICE, wait_group());
    put_in_service(&policy.policy, 0); /* one may be enough */
    atomic_store(&manual.queues[0].is_full, true);
    assert_status(DYNSEL_E_AGAIN,
                  dynsel_try_submit(&policy.policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    atomic_store(&manual.queues[0].is_full, false);
    atomic_store(&manual.queues[0].refuses, true);
    const dynsel_status status =
        dynsel_submit(&policy.policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL);
    assert_status(RESOURCES > 1 ? DYNSEL_OK : DYNSEL_E_OUT_OF_SERVICE, status);
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(policy.loads[0].value, 0);
}

static void selection_without_submit_adds_no_load(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        const dynsel_selection selection = choose();
        assert_int_equal(selection.index, 0);
        assert_int_equal(selection.reason,
                         RESOURCES > 1 ? DYNSEL_REASON_LEAST_LOADED : DYNSEL_REASON_ONLY_CANDIDATE);
    }
    dynsel_selection selection = choose();
    assert_status(DYNSEL_OK,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    assert_int_equal(policy.loads[0].value, 1);
    assert_status(DYNSEL_OK, wait_group());
}

static void reports_of_program_change_load(void **state)
{
    (void)state;
    dynsel_selection first = choose();
    assert_true(dynsel_selection_needs(&first, DYNSEL_TASK_SUBMISSION));
    assert_true(dynsel_selection_needs(&first, DYNSEL_TASK_COMPLETION));
    assert_false(dynsel_selection_needs(&first, DYNSEL_TASK_TIME));
    assert_status(DYNSEL_OK, dynsel_report(&first, DYNSEL_TASK_SUBMISSION));
    assert_int_equal(choose().index, RESOURCES > 1 ? 1 : 0);
    assert_status(DYNSEL_OK, dynsel_report_value(&first, DYNSEL_TASK_TIME, 5)); /* not wanted */
    assert_status(DYNSEL_OK, dynsel_report(&first, DYNSEL_TASK_COMPLETION));
    assert_int_equal(choose().index, 0);
}

static void reports_out_of_order_are_refused(void **state)
{
    (void)state;
    dynsel_selection s = choose();
    assert_status(DYNSEL_E_INVALID, dynsel_report(&s, DYNSEL_TASK_COMPLETION));
    assert_status(DYNSEL_E_INVALID, dynsel_report_value(&s, DYNSEL_TASK_TIME, 1));
    assert_status(DYNSEL_OK, dynsel_report(&s, DYNSEL_TASK_SUBMISSION));
    assert_status(DYNSEL_E_INVALID, dynsel_report(&s, DYNSEL_TASK_SUBMISSION));
    assert_status(DYNSEL_E_INVALID,
                  dynsel_submit_selection(&s, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_report(&s, DYNSEL_TASK_TIME));
    assert_status(DYNSEL_E_INVALID, dynsel_report(&s, DYNSEL_TASK_WITHDRAWN));
    assert_status(DYNSEL_E_INVALID, dynsel_report_value(&s, DYNSEL_TASK_SUBMISSION, 1));
    assert_status(DYNSEL_OK, dynsel_report(&s, DYNSEL_TASK_COMPLETION));
    assert_status(DYNSEL_E_INVALID, dynsel_report(&s, DYNSEL_TASK_COMPLETION));
    assert_status(DYNSEL_E_INVALID, dynsel_report_value(&s, DYNSEL_TASK_TIME, 1));
    assert_status(DYNSEL_E_INVALID, dynsel_report(NULL, DYNSEL_TASK_SUBMISSION));
    dynsel_selection consumed = choose();
    assert_status(DYNSEL_OK,
                  dynsel_submit_selection(&consumed, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    assert_status(DYNSEL_E_STALE, dynsel_report(&consumed, DYNSEL_TASK_SUBMISSION));
    assert_false(dynsel_selection_needs(&consumed, DYNSEL_TASK_SUBMISSION));
    assert_false(dynsel_selection_needs(NULL, DYNSEL_TASK_SUBMISSION));
    assert_status(DYNSEL_OK, wait_group());
}

static void backend_without_reports_is_refused_or_excluded(void **state)
{
    (void)state;
    static dynsel_backend_ops silent_ops;
    silent_ops = *manual.backend.ops;
    silent_ops.reports = 0;
    dynsel_backend silent = {&silent_ops};
    const dynsel_resource resource = {&silent, &manual.queues[0]};
    const dynsel_options given = {.resources = &resource, .count = 1};
    dynsel_dynamic_load_policy other = {0};
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_dynamic_load_init(&other, &given));
    assert_error_says("resource 0");
    const dynsel_options defaults = {.backend = &silent};
    assert_status(DYNSEL_E_NO_RESOURCE, dynsel_dynamic_load_init(&other, &defaults));
    assert_status(DYNSEL_E_INVALID, dynsel_dynamic_load_init(NULL, &given));
}

/* The seed's expository code: the first of the resources with the least load. */
static uint32_t seeds_choice(const unsigned *loads)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < RESOURCES; i++) {
        best = loads[i] < loads[best] ? i : best;
    }
    return best;
}

static void selections_agree_with_reference_over_random_programs(void **state)
{
    (void)state;
    test_random random = {test_seed()};
    unsigned loads[RESOURCES] = {0};
    dynsel_selection running[64];
    unsigned count = 0;
    for (int step = 0; step < 20000; step++) {
        if (count < 64 && test_random_below(&random, 2) == 0) {
            running[count] = choose();
            assert_int_equal(running[count].index, seeds_choice(loads));
            loads[running[count].index]++;
            assert_status(DYNSEL_OK, dynsel_report(&running[count++], DYNSEL_TASK_SUBMISSION));
        } else if (count > 0) {
            const unsigned done = test_random_below(&random, count);
            loads[running[done].index]--;
            assert_status(DYNSEL_OK, dynsel_report(&running[done], DYNSEL_TASK_COMPLETION));
            running[done] = running[--count];
        }
    }
    while (count > 0) {
        assert_status(DYNSEL_OK, dynsel_report(&running[--count], DYNSEL_TASK_COMPLETION));
    }
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
static pthread_barrier_t together;

static void *submit_one(void *unused)
{
    (void)unused;
    (void)pthread_barrier_wait(&together);
    const dynsel_status status =
        dynsel_submit(&policy.policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL);
    return status == DYNSEL_OK ? NULL : &policy;
}

/* The peer's two threads took the same device in about half of the rounds. */
static void threads_submitting_together_spread_over_resources(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_IN_FLIGHT >= RESOURCES);
    assert_int_equal(pthread_barrier_init(&together, NULL, RESOURCES), 0);
    for (int round = 0; round < 500; round++) {
        const unsigned before = atomic_load(&manual.event_count);
        pthread_t threads[RESOURCES];
        for (unsigned i = 0; i < RESOURCES; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, submit_one, NULL), 0);
        }
        for (unsigned i = 0; i < RESOURCES; i++) {
            void *failed = NULL;
            pthread_join(threads[i], &failed);
            assert_null(failed);
        }
        unsigned seen = 0;
        for (unsigned i = 0; i < RESOURCES; i++) {
            seen |= 1u << queue_of(before + i);
        }
        assert_int_equal(seen, (1u << RESOURCES) - 1);
        assert_status(DYNSEL_OK, wait_group());
    }
    (void)pthread_barrier_destroy(&together);
}

/* One round of two threads that are kept spinning, so that their submits begin within nanoseconds:
 * with a choice apart from its claim some of the rounds put both pieces of work on one resource. */
enum { SPINNING_ROUNDS = SLOW_HERE ? 2000 : 20000 };

static atomic_uint rounds_begun;
static atomic_uint rounds_done;
static atomic_uint failures;

static void spin_until(atomic_uint *counter, unsigned value)
{
    for (unsigned spins = 1; atomic_load(counter) < value; spins++) {
        if (spins % 1000 == 0) {
            sched_yield(); /* there may be only one processor */
        }
    }
}

static void submit_in_round(void)
{
    const dynsel_status status =
        dynsel_submit(&policy.policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL);
    atomic_fetch_add(&failures, status == DYNSEL_OK ? 0 : 1);
}

static void *submit_in_each_round(void *unused)
{
    for (unsigned round = 1; round <= SPINNING_ROUNDS; round++) {
        spin_until(&rounds_begun, round);
        submit_in_round();
        atomic_fetch_add(&rounds_done, 1);
    }
    return unused;
}

static void threads_submitting_simultaneously_get_different_resources(void **state)
{
    (void)state;
    NEEDS(RESOURCES >= 2 && CONFIG_DYNSEL_MAX_IN_FLIGHT >= 2);
    pthread_t thread;
    unsigned met = 0;
    atomic_store(&rounds_begun, 0);
    atomic_store(&rounds_done, 0);
    atomic_store(&failures, 0);
    assert_int_equal(pthread_create(&thread, NULL, submit_in_each_round, NULL), 0);
    for (unsigned round = 1; round <= SPINNING_ROUNDS; round++) {
        const unsigned before = atomic_load(&manual.event_count);
        atomic_store(&rounds_begun, round);
        submit_in_round();
        spin_until(&rounds_done, round);
        met += queue_of(before) == queue_of(before + 1) ? 1 : 0;
        assert_status(DYNSEL_OK, wait_group());
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(atomic_load(&failures), 0);
    assert_int_equal(met, 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(least_loaded_is_selected_and_ties_use_lowest_index),
        TEST(failed_and_refused_work_leaves_no_load),
        TEST(selection_without_submit_adds_no_load),
        TEST(reports_of_program_change_load),
        TEST(reports_out_of_order_are_refused),
        TEST(backend_without_reports_is_refused_or_excluded),
        TEST(selections_agree_with_reference_over_random_programs),
#if CONFIG_DYNSEL_CONTEXT_THREADS
        TEST(threads_submitting_together_spread_over_resources),
        TEST(threads_submitting_simultaneously_get_different_resources),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
