/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto_tune from several threads at once: every run is counted once, each kind of task has one
 * entry, and the best is found all the same. For ThreadSanitizer too.
 */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier_t */

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <stdatomic.h>

#include "policies/auto_tune_world.h"

#include "room.h"
#include "support/together.h"

enum { THREADS = 8, ROUNDS = 50000, KINDS = CONFIG_DYNSEL_MAX_TUNED_TASKS < 5 ? 1 : 5 };

static _Thread_local uint64_t own_now_ns = 1; /* each thread runs its work in a time of its own */

uint64_t dynsel_now_ns(void)
{
    return own_now_ns;
}

static atomic_uint runs[CONFIG_DYNSEL_MAX_RESOURCES];
static atomic_uint untracked;

/* What kind is fast where. */
static uint64_t time_of(uint32_t kind, uint32_t index)
{
    return index == kind % 3 ? 1000 : 1500 + 700 * index;
}

static dynsel_status work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const uint32_t index = (uint32_t)((const dynsel_resource *)where->handle - world_resources);
    (void)done;
    (void)atomic_fetch_add(&runs[index], 1);
    own_now_ns += time_of(*(const uint32_t *)args, index);
    return own_now_ns % 97 == 0 ? DYNSEL_E_TASK : DYNSEL_OK;
}

static dynsel_task task_of(uint32_t *kind)
{
    return (dynsel_task){.function = work, .args = kind, .id = 100 + *kind};
}

static void submit_all_kinds(uint32_t number)
{
    test_random random = {number};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t kind = test_random_below(&random, KINDS);
        const dynsel_task task = task_of(&kind);
        if (dynsel_submit(&tuner.policy, &task, NULL) != DYNSEL_OK) {
            return; /* the counts will tell */
        }
    }
}

static void assert_nothing_is_unfinished(void)
{
    for (uint32_t i = 0; i < tuner.policy.count; i++) {
        assert_int_equal(tuner.loads[i].value, 0);
        for (uint32_t k = 0; k < CONFIG_DYNSEL_MAX_TUNED_TASKS; k++) {
            assert_int_equal(tuner.tasks[k].resources[i].unfinished, 0);
        }
    }
}

static void assert_one_entry_each(void)
{
    uint32_t entries = 0;
    for (uint32_t k = 0; k < CONFIG_DYNSEL_MAX_TUNED_TASKS; k++) {
        for (uint32_t other = 0; other < k && tuner.tasks[k].tag.value != 0; other++) {
            assert_true(tuner.tasks[k].kind.name[0].value != tuner.tasks[other].kind.name[0].value);
        }
        entries += tuner.tasks[k].tag.value != 0 ? 1 : 0;
    }
    assert_int_equal(entries, KINDS);
}

static void take_failures(void)
{
    const dynsel_status status = dynsel_wait_group(dynsel_get_submission_group(&tuner.policy));
    assert_true(status == DYNSEL_OK || status == DYNSEL_E_TASK);
}

static void runs_of_threads_count_once_each(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 3);
    world_open(3, DYNSEL_NEVER_RESAMPLE);
    run_together(THREADS, submit_all_kinds);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 3; i++) {
        sum += atomic_load(&runs[i]);
    }
    assert_int_equal(sum, THREADS * ROUNDS);
    assert_nothing_is_unfinished();
    assert_one_entry_each();
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        const dynsel_task task = task_of(&kind);
        dynsel_selection selection = world_choose(&task);
        if (selection.reason == DYNSEL_REASON_EXPLORING) {
            world_tell(&selection, DYNSEL_TASK_SUBMISSION, 0);
            world_tell(&selection, DYNSEL_TASK_COMPLETION, 0);
            selection = world_choose(&task);
        }
        assert_int_equal(selection.reason, DYNSEL_REASON_BEST_KNOWN);
        assert_int_equal(selection.index, kind % 3);
    }
    take_failures();
    world_close();
}

/* Clocks that disagree begin new rounds all the time: nothing but the counts can be said. */
static void concurrent_resampling_loses_no_count(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 3);
    world_open(3, 50000);
    run_together(THREADS, submit_all_kinds);
    assert_nothing_is_unfinished();
    assert_one_entry_each();
    take_failures();
    world_close();
}

static void select_too_many_kinds(uint32_t number)
{
    (void)number;
    for (uint32_t id = 1; id <= 4 * CONFIG_DYNSEL_MAX_TUNED_TASKS; id++) {
        dynsel_selection selection;
        if (dynsel_select(&tuner.policy, &(dynsel_task){.function = work, .id = id}, &selection) !=
            DYNSEL_OK) {
            return; /* the counts will tell */
        }
        if (selection.reason == DYNSEL_REASON_UNTRACKED) {
            (void)atomic_fetch_add(&untracked, 1);
        }
        world_tell(&selection, DYNSEL_TASK_SUBMISSION, 0);
        world_tell(&selection, DYNSEL_TASK_TIME, 1000);
        world_tell(&selection, DYNSEL_TASK_COMPLETION, 0);
    }
}

static void concurrently_filled_table_holds_each_kind_once(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    for (int life = 0; life < 200; life++) {
        atomic_store(&untracked, 0);
        world_open(2, DYNSEL_NEVER_RESAMPLE);
        run_together(THREADS, select_too_many_kinds);
        assert_int_equal(dynsel_auto_tune_untracked(&tuner), atomic_load(&untracked));
        for (uint32_t k = 0; k < CONFIG_DYNSEL_MAX_TUNED_TASKS; k++) {
            for (uint32_t other = 0; other < k && tuner.tasks[k].tag.value != 0; other++) {
                assert_true(tuner.tasks[k].kind.name[0].value !=
                            tuner.tasks[other].kind.name[0].value);
            }
            assert_true(CONFIG_DYNSEL_MAX_TUNED_TASKS > 32 || tuner.tasks[k].tag.value != 0);
        }
        assert_nothing_is_unfinished();
        world_close();
    }
}

enum { TURNS = 3200 };

/* Runs of a settled kind that were to be timed. The devices' times never change, so it stays
 * settled but for a moment after each. */
static uint32_t count_timed(world *w, const dynsel_task *what, uint32_t times)
{
    uint32_t timed = 0;
    for (uint32_t i = 0; i < times; i++) {
        (void)world_run(w, what);
        timed += (w->last.wants & DYNSEL_AUTO_TUNE_NEEDS) == DYNSEL_TASK_TIME ? 1 : 0;
    }
    return timed;
}

static world *begin_settled(dynsel_task *kinds, uint32_t count)
{
    static world w;
    w = (world){.devices = {{.ns = 1000}, {.ns = 1000000}}, .count = 2};
    world_open(2, DYNSEL_NEVER_RESAMPLE);
    for (uint32_t k = 0; k < count; k++) {
        kinds[k] = (dynsel_task){.function = world_nothing, .id = 1 + k};
        (void)count_timed(&w, &kinds[k], 20);
    }
    return &w;
}

/* However regular the pattern is in which they come: nobody is always passed over. */
static void alternating_kinds_are_timed_equally_often(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && CONFIG_DYNSEL_MAX_TUNED_TASKS >= 16);
    static const uint32_t counts[] = {2, 3, 8, 16};
    dynsel_task kinds[16];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        uint32_t timed[16] = {0};
        world *w = begin_settled(kinds, counts[i]);
        for (uint32_t turn = 0; turn < TURNS * counts[i]; turn++) {
            timed[turn % counts[i]] += count_timed(w, &kinds[turn % counts[i]], 1);
        }
        for (uint32_t k = 0; k < counts[i]; k++) {
            assert_in_range(timed[k], TURNS / 16 / 2, TURNS / 16 * 2);
        }
        world_close();
    }
}

typedef struct helper {
    world *w;
    const dynsel_task *task;
    uint32_t timed_at_first;
    uint32_t timed;
} helper;

static void *run_beside(void *argument)
{
    helper *self = argument;
    self->timed_at_first = count_timed(self->w, self->task, 200);
    self->timed = count_timed(self->w, self->task, 1600);
    return NULL;
}

/* One thread at a time has its runs timed; when it comes no more, another one takes its place. */
static void timing_moves_to_thread_that_keeps_submitting(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    dynsel_task task;
    world *w = begin_settled(&task, 1);
    assert_in_range(count_timed(w, &task, 160), 8, 12);
    helper other = {.w = w, .task = &task};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_beside, &other), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(other.timed_at_first, 0);
    assert_in_range(other.timed, 1600 / 16 - 32, 1600 / 16);
    world_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_threads_count_once_each),
        cmocka_unit_test(concurrent_resampling_loses_no_count),
        cmocka_unit_test(concurrently_filled_table_holds_each_kind_once),
        cmocka_unit_test(alternating_kinds_are_timed_equally_often),
        cmocka_unit_test(timing_moves_to_thread_that_keeps_submitting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
