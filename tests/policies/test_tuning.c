/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program sees of auto_tune: whose turn it is, what it learns from the times that are
 * reported, and what it does while they are not. The times are made up; only the test of the
 * resample interval looks at the clock.
 */
#define _POSIX_C_SOURCE 200809L /* threads, nanosleep */

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "room.h"
#include "support/do_nothing.h"
#include "test.h"

enum {
    COUNT = RESOURCES_UP_TO(3),
    INTERVAL_MS = 300,
    EXPLORES = CONFIG_DYNSEL_AUTO_TUNE_EXPLORE_PERCENT > 0
};

static dynsel_auto_tune_policy policy;
static dynsel_resource hosts[COUNT];
static uint64_t times[COUNT]; /* what a run takes, by resource */

static void init(uint64_t interval_ns)
{
    for (unsigned i = 0; i < COUNT; i++) {
        hosts[i] = (dynsel_resource){&dynsel_inline_backend, &hosts[i]};
    }
    const dynsel_options options = {.resources = hosts, .count = COUNT};
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&policy, &options, interval_ns));
}

static int set_up(void **state)
{
    (void)state;
    memset(&policy, 0, sizeof policy);
    init(DYNSEL_NEVER_RESAMPLE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return dynsel_policy_deinit(&policy.policy);
}

static void set_times(uint64_t first, uint64_t second, uint64_t others)
{
    for (unsigned i = 0; i < COUNT; i++) {
        times[i] = i == 0 ? first : i == 1 ? second : others;
    }
}

static dynsel_status nothing_else(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    done->value = where != NULL ? 1 : 0; /* so that no linker takes it for the one above */
    return DYNSEL_OK;
}

static const dynsel_task task = {.function = do_nothing};

static dynsel_selection choose(const dynsel_task *of)
{
    dynsel_selection selection = {0};
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, of, &selection));
    return selection;
}

static void tell(dynsel_selection *selection, dynsel_execution_info info)
{
    if (dynsel_selection_needs(selection, info)) {
        assert_status(DYNSEL_OK, dynsel_report(selection, info));
    }
}

static void tell_end(dynsel_selection *selection, uint64_t ns)
{
    if (dynsel_selection_needs(selection, DYNSEL_TASK_TIME)) {
        assert_status(DYNSEL_OK, dynsel_report_value(selection, DYNSEL_TASK_TIME, ns));
    }
    tell(selection, DYNSEL_TASK_COMPLETION);
}

static dynsel_selection run(const dynsel_task *of)
{
    dynsel_selection selection = choose(of);
    const dynsel_selection before = selection;
    tell(&selection, DYNSEL_TASK_SUBMISSION);
    tell_end(&selection, times[selection.index]);
    return before;
}

/* Runs that often; returns how many were on `index`. */
static unsigned runs_on(uint32_t index, const dynsel_task *of, unsigned count)
{
    unsigned there = 0;
    for (unsigned i = 0; i < count; i++) {
        there += run(of).index == index ? 1 : 0;
    }
    return there;
}

static void auto_tune_profiles_each_resource_twice_then_uses_best(void **state)
{
    (void)state;
    NEEDS(COUNT == 3);
    set_times(3000, 1000, 2000);
    for (unsigned i = 0; i < 2 * COUNT; i++) {
        const dynsel_selection selection = run(&task);
        assert_int_equal(selection.index, i % COUNT);
        assert_int_equal(selection.reason, DYNSEL_REASON_PROFILING);
        assert_true(dynsel_selection_needs(&selection, DYNSEL_TASK_TIME));
    }
    for (unsigned i = 0; i < 100; i++) {
        const dynsel_selection selection = run(&task);
        if (!EXPLORES || selection.reason != DYNSEL_REASON_EXPLORING) {
            assert_int_equal(selection.reason, DYNSEL_REASON_BEST_KNOWN);
            assert_int_equal(selection.index, 1);
        }
    }
}

static void times_are_distinguished_to_nanosecond(void **state)
{
    static const uint64_t pairs[][2] = {{900000, 9000}, {1990000, 1010000}, {4000000, 1}, {9, 7}};
    (void)state;
    NEEDS(!CONFIG_DYNSEL_AUTO_TUNE_SMALL && !CONFIG_DYNSEL_AUTO_TUNE_SHORT_TIMES);
    NEEDS(COUNT >= 2 && CONFIG_DYNSEL_MAX_TUNED_TASKS >= 4);
    for (uint32_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const dynsel_task kind = {.function = do_nothing, .id = i + 1};
        set_times(pairs[i][0], pairs[i][1], 2 * pairs[i][0]);
        (void)runs_on(1, &kind, 2 * COUNT);
        assert_in_range(runs_on(1, &kind, 100), 80, 100);
    }
}

static void first_time_of_resource_is_ignored(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && CONFIG_DYNSEL_MAX_TUNED_TASKS >= 2);
    for (uint32_t lucky = 0; lucky < 2; lucky++) {
        const dynsel_task kind = {.function = do_nothing, .id = 1 + lucky};
        /* lucky: the slow one seems fast at first; else the fast one seems slow, as it compiles */
        set_times(lucky != 0 ? 1 : 100000, lucky != 0 ? 10000 : 90000000, 500000);
        (void)runs_on(1, &kind, COUNT);
        set_times(100000, 10000, 500000);
        (void)runs_on(1, &kind, COUNT);
        assert_in_range(runs_on(1, &kind, 100), 80, 100);
    }
}

static void slowed_best_is_replaced(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && EXPLORES);
    set_times(10000, 50000, 70000);
    assert_in_range(runs_on(0, &task, 300), 240, 300);
    set_times(200000, 50000, 70000);
    (void)runs_on(1, &task, 100);
    assert_in_range(runs_on(1, &task, 1000), 900, 1000);
}

static void sleep_for_an_interval(void)
{
    const uint64_t begin = dynsel_now_ns();
    while (dynsel_now_ns() - begin < INTERVAL_MS * UINT64_C(1000000)) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

static void elapsed_interval_starts_new_profiling(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    init(INTERVAL_MS * UINT64_C(1000000));
    set_times(10000, 50000, 70000);
    (void)runs_on(0, &task, COUNT + 1);
    dynsel_selection late = choose(&task); /* of the second resource, and it counts */
    assert_int_equal(late.index, 1);
    tell(&late, DYNSEL_TASK_SUBMISSION);
    (void)runs_on(0, &task, COUNT > 2 ? 1 : 0);
    sleep_for_an_interval();
    set_times(20000, 90000, 70000);
    for (unsigned i = 0; i < 2 * COUNT; i++) {
        const dynsel_selection selection = run(&task);
        assert_int_equal(selection.index, i % COUNT);
        assert_int_equal(selection.reason, DYNSEL_REASON_PROFILING);
    }
    tell_end(&late, 1); /* of a round that is over: nobody listens */
    assert_in_range(runs_on(0, &task, 60), 50, 60);
}

static void never_resample_starts_no_new_profiling(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2);
    set_times(10000, 50000, 70000);
    (void)runs_on(0, &task, 2 * COUNT);
    sleep_for_an_interval();
    for (unsigned i = 0; i < 100; i++) {
        assert_int_not_equal(run(&task).reason, DYNSEL_REASON_PROFILING);
    }
}

/* More than twice round before the first time is known. */
static void burst_without_known_times_spreads_evenly(void **state)
{
    enum { EACH = 20 };
    dynsel_selection burst[EACH * COUNT];
    unsigned counts[COUNT] = {0};
    (void)state;
    NEEDS(COUNT >= 2);
    for (unsigned i = 0; i < EACH * COUNT; i++) {
        burst[i] = choose(&task);
        tell(&burst[i], DYNSEL_TASK_SUBMISSION);
        counts[burst[i].index]++;
    }
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(counts[i], EACH);
    }
    set_times(900, 10, 900);
    for (unsigned i = 0; i < EACH * COUNT; i++) {
        tell_end(&burst[i], times[burst[i].index]);
    }
    assert_in_range(runs_on(1, &task, 100), 80, 100);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(policy.loads[i].value, 0);
    }
}

static void assert_apart(const dynsel_task *one, const dynsel_task *another)
{
    set_times(10, 1000, 2000);
    (void)runs_on(0, one, 2 * COUNT);
    set_times(1000, 10, 2000);
    assert_int_equal(run(another).reason, DYNSEL_REASON_PROFILING);
    (void)runs_on(1, another, 2 * COUNT - 1);
    assert_in_range(runs_on(1, another, 100), 80, 100);
    set_times(10, 1000, 2000);
    assert_in_range(runs_on(0, one, 100), 80, 100);
}

static void task_kinds_differ_by_function_id_and_keys(void **state)
{
    static const uint32_t words[] = {1, 2};
    (void)state;
    NEEDS(COUNT >= 2 && CONFIG_DYNSEL_MAX_TUNED_TASKS >= 8);
    assert_apart(&(dynsel_task){.function = do_nothing}, &(dynsel_task){.function = nothing_else});
    assert_apart(&(dynsel_task){.function = do_nothing, .id = 1},
                 &(dynsel_task){.function = do_nothing, .id = 2});
    if (CONFIG_DYNSEL_MAX_KEY_WORDS >= 1) {
        assert_apart(
            &(dynsel_task){
                .function = do_nothing, .id = 3, .key_words = &words[0], .key_word_count = 1},
            &(dynsel_task){
                .function = do_nothing, .id = 3, .key_words = &words[1], .key_word_count = 1});
    }
}

/* Whatever functions and arguments they have, and from wherever they are submitted. */
static void tasks_of_one_id_are_one_kind(void **state)
{
    int args = 0;
    (void)state;
    NEEDS(COUNT >= 2);
    set_times(1000, 10, 2000);
    (void)runs_on(1, &(dynsel_task){.function = do_nothing, .id = 7}, 2 * COUNT);
    for (unsigned i = 0; i < 100; i++) {
        const dynsel_task other = {.function = nothing_else, .args = &args, .id = 7};
        assert_int_not_equal(run(&other).reason, DYNSEL_REASON_PROFILING);
    }
}

static void kinds_beyond_full_table_are_served_untracked(void **state)
{
    enum { MORE = 40 };
    (void)state;
    NEEDS(COUNT >= 2);
    set_times(1000, 10, 2000);
    dynsel_selection last = {0};
    for (uint32_t id = 1; id <= CONFIG_DYNSEL_MAX_TUNED_TASKS + MORE; id++) {
        last = run(&(dynsel_task){.function = do_nothing, .id = id});
    }
    assert_int_equal(last.reason, DYNSEL_REASON_UNTRACKED);
    assert_in_range(dynsel_auto_tune_untracked(&policy), MORE - MORE / 8, MORE);
    const dynsel_task known = {.function = do_nothing, .id = 1};
    (void)runs_on(1, &known, 2 * COUNT);
    assert_in_range(runs_on(1, &known, 100), 80, 100);
    assert_int_equal(dynsel_auto_tune_untracked(NULL), 0);
}

/* One kind more than there are places, when the work is submitted one at a time: it is not sent to
 * the first resource for ever. */
static void kind_beyond_full_table_is_learned(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && CONFIG_DYNSEL_MAX_TUNED_TASKS >= 3 && CONFIG_DYNSEL_MAX_TUNED_TASKS <= 32);
    set_times(1000000, 1000, 2000000);
    for (uint32_t id = 1; id <= CONFIG_DYNSEL_MAX_TUNED_TASKS; id++) {
        (void)runs_on(1, &(dynsel_task){.function = do_nothing, .id = id}, 2 * COUNT + 8);
    }
    const dynsel_task first = {.function = do_nothing, .id = 1};
    (void)runs_on(1, &first, 20); /* not the one that was used least lately */
    const dynsel_task late = {.function = do_nothing, .id = 1000};
    assert_in_range(runs_on(1, &late, 200), 180, 200);
    const dynsel_task given_up = {.function = do_nothing, .id = 2};
    assert_int_equal(run(&given_up).reason, DYNSEL_REASON_UNTRACKED);
    assert_int_not_equal(run(&first).reason, DYNSEL_REASON_UNTRACKED);
    assert_int_not_equal(run(&late).reason, DYNSEL_REASON_UNTRACKED);
}

#if !CONFIG_DYNSEL_AUTO_TUNE_SMALL
static void settle(void)
{
    for (unsigned i = 0; i < 10000; i++) {
        const dynsel_selection selection = choose(&task);
        dynsel_selection told = selection;
        tell(&told, DYNSEL_TASK_SUBMISSION);
        tell_end(&told, times[told.index]);
        if (!dynsel_selection_needs(&selection, DYNSEL_TASK_COMPLETION)) {
            return;
        }
    }
    fail();
}

/* As if another thread held every lock there is. */
static void settled_selection_takes_no_lock_and_few_are_timed(void **state)
{
    unsigned timed = 0;
    (void)state;
    NEEDS(COUNT >= 2);
    set_times(1000, 10, 2000);
    settle();
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_TUNED_TASKS; i++) {
        policy.tasks[i].lock.value = 1;
    }
    (void)alarm(20); /* rather than wait for ever */
    for (unsigned i = 0; i < 160; i++) {
        const dynsel_selection selection = choose(&task);
        assert_int_equal(selection.index, 1);
        assert_int_equal(selection.reason, DYNSEL_REASON_BEST_KNOWN);
        timed += dynsel_selection_needs(&selection, DYNSEL_TASK_TIME) ? 1 : 0;
    }
    (void)alarm(0);
    assert_int_equal(timed, 160 / 16);
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_TUNED_TASKS; i++) {
        policy.tasks[i].lock.value = 0;
    }
}
#else
static void times_are_distinguished_in_steps(void **state)
{
    static const uint64_t pairs[][2] = {
        {900000, 9000}, {1990000, 1010000}, {4000000, 1}, {511, 255}};
    (void)state;
    NEEDS(COUNT >= 2 && CONFIG_DYNSEL_MAX_TUNED_TASKS >= 5);
    for (uint32_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const dynsel_task kind = {.function = do_nothing, .id = i + 1};
        set_times(pairs[i][0], pairs[i][1], 2 * pairs[i][0]);
        (void)runs_on(1, &kind, 2 * COUNT);
        assert_int_equal(runs_on(1, &kind, 100), 100);
    }
    const dynsel_task same = {.function = do_nothing, .id = 5};
    set_times(511, 256, 1000);
    (void)runs_on(1, &same, 2 * COUNT);
    assert_int_equal(runs_on(1, &same, 100), 0);
}

/* Means keep their meaning when counts and sums are halved: after more runs than 16 bits count,
 * and for the longest times. */
static void mean_stays_right_when_counters_are_halved(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && CONFIG_DYNSEL_MAX_TUNED_TASKS >= 2);
    const dynsel_task frequent = {.function = do_nothing, .id = 1};
    set_times(300000, 200000, 1000000);
    (void)runs_on(1, &frequent, 2 * COUNT);
    assert_int_equal(runs_on(1, &frequent, 70000), 70000);
    const dynsel_task slow = {.function = do_nothing, .id = 2};
    set_times(UINT64_MAX, (uint64_t)30 << 30, UINT64_MAX);
    (void)runs_on(1, &slow, 2 * COUNT);
    assert_int_equal(runs_on(1, &slow, 1000), 1000);
}
#endif

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* So many kinds that some are settled and some have no room in the table. */
enum { THREADS = 4, PER_THREAD = 20000, KINDS = 2 * CONFIG_DYNSEL_MAX_TUNED_TASKS };

static void *submit_many(void *unused)
{
    unsigned mistakes = 0;
    for (uint32_t i = 0; i < PER_THREAD; i++) {
        const dynsel_task kind = {.function = do_nothing, .id = 1 + i % KINDS};
        mistakes += dynsel_submit(&policy.policy, &kind, NULL) != DYNSEL_OK ? 1 : 0;
    }
    return mistakes == 0 ? NULL : unused;
}

static void threads_tune_concurrently(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, &policy), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(policy.loads[i].value, 0);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(auto_tune_profiles_each_resource_twice_then_uses_best),
        TEST(times_are_distinguished_to_nanosecond),
        TEST(first_time_of_resource_is_ignored),
        TEST(slowed_best_is_replaced),
        TEST(elapsed_interval_starts_new_profiling),
        TEST(never_resample_starts_no_new_profiling),
        TEST(burst_without_known_times_spreads_evenly),
        TEST(task_kinds_differ_by_function_id_and_keys),
        TEST(tasks_of_one_id_are_one_kind),
        TEST(kinds_beyond_full_table_are_served_untracked),
        TEST(kind_beyond_full_table_is_learned),
#if CONFIG_DYNSEL_AUTO_TUNE_SMALL
        TEST(times_are_distinguished_in_steps),
        TEST(mean_stays_right_when_counters_are_halved),
#else
        TEST(settled_selection_takes_no_lock_and_few_are_timed),
#endif
#if CONFIG_DYNSEL_CONTEXT_THREADS
        TEST(threads_tune_concurrently),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
