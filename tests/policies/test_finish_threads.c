/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish over the host and its workers, from several threads at once: each piece of work
 * runs once, nothing stays unfinished, and each kind has one entry. For ThreadSanitizer too.
 */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier_t */

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "random.h"
#include "support/together.h"
#include "test.h"

enum {
    THREADS = 4,
    WORKERS = CONFIG_DYNSEL_THREADS_WORKERS < 2 ? 1 : 2,
    ROUNDS = SLOW_HERE ? 1000 : 10000,
    KINDS = 5,
    ENTRIES = CONFIG_DYNSEL_EARLIEST_FINISH_KINDS
};

static dynsel_earliest_finish_policy finisher;
static atomic_uint runs;
static atomic_uint refused;

static int set_up(void **state)
{
    (void)state;
    memset(&finisher.policy, 0, sizeof finisher.policy);
    atomic_store(&runs, 0);
    atomic_store(&refused, 0);
    assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, NULL));
    assert_true(finisher.policy.count > WORKERS); /* the host is one of them */
    return 0;
}

static void assert_nothing_is_unfinished(void)
{
    for (unsigned i = 0; i < finisher.policy.count; i++) {
        assert_int_equal(finisher.states[i].is.unfinished.value, 0);
        for (unsigned k = 0; k < ENTRIES; k++) {
            assert_int_equal(finisher.kinds[k].resources[i].unfinished.value, 0);
        }
    }
}

static int tear_down(void **state)
{
    (void)state;
    const dynsel_status status = dynsel_wait_group(dynsel_get_submission_group(&finisher.policy));
    assert_true(status == DYNSEL_OK || status == DYNSEL_E_TASK);
    assert_nothing_is_unfinished();
    assert_int_equal(atomic_load(&refused), 0);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    return 0;
}

/* args: how long it takes, in turns of a loop. */
static dynsel_status work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    const uint32_t turns = (uint32_t)(uintptr_t)args;
    volatile uint32_t sum = 0;
    for (uint32_t i = 0; i < turns; i++) {
        sum = sum + i;
    }
    return atomic_fetch_add(&runs, 1) % 97 == 96 ? DYNSEL_E_TASK : DYNSEL_OK;
}

static void submit(uint32_t id, uint32_t turns)
{
    const dynsel_task task = {
        .function = work, .args = (void *)(uintptr_t)turns, .id = id, .amount = turns};
    if (dynsel_submit(&finisher.policy, &task, NULL) != DYNSEL_OK) {
        atomic_fetch_add(&refused, 1);
    }
}

static void submit_some_kinds(uint32_t number)
{
    test_random random = {number};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t kind = test_random_below(&random, KINDS);
        submit(1 + kind, kind * test_random_below(&random, 200));
    }
}

static void submit_many_kinds(uint32_t number)
{
    (void)number;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        submit(1 + i % (4 * ENTRIES), 10);
    }
}

#if CONFIG_DYNSEL_MAX_KEY_WORDS > 0
/* The kinds of one id. */
static void submit_many_keys(uint32_t number)
{
    (void)number;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const uint32_t key = i % (4 * ENTRIES);
        const dynsel_task task = {.function = work,
                                  .args = (void *)(uintptr_t)10,
                                  .id = 1,
                                  .key_words = &key,
                                  .key_word_count = 1};
        if (dynsel_submit(&finisher.policy, &task, NULL) != DYNSEL_OK) {
            atomic_fetch_add(&refused, 1);
        }
    }
}
#endif

static void run_in_threads(void (*body)(uint32_t number))
{
    run_together(THREADS, body);
    const dynsel_status status = dynsel_wait_group(dynsel_get_submission_group(&finisher.policy));
    assert_true(status == DYNSEL_OK || status == DYNSEL_E_TASK);
    assert_int_equal(atomic_load(&runs), THREADS * ROUNDS);
    assert_nothing_is_unfinished();
}

static uint32_t count_entries(void)
{
    uint32_t count = 0;
    for (unsigned k = 0; k < ENTRIES; k++) {
        const dynsel_finish_kind *kind = &finisher.kinds[k];
        for (unsigned other = 0; other < k && kind->tag.value != 0; other++) {
            assert_true(kind->kind.name[0].value != finisher.kinds[other].kind.name[0].value);
        }
        count += kind->tag.value != 0 ? 1 : 0;
        assert_int_equal(kind->lock.value, 0);
    }
    return count;
}

static void work_of_threads_is_counted_once(void **state)
{
    (void)state;
    run_in_threads(submit_some_kinds);
    assert_int_equal(count_entries(), KINDS < ENTRIES ? KINDS : ENTRIES);
    uint32_t samples = 0;
    for (unsigned k = 0; k < ENTRIES; k++) {
        for (unsigned i = 0; i < finisher.policy.count; i++) {
            samples += finisher.kinds[k].resources[i].samples.value;
        }
    }
    assert_true(samples >= 2 * KINDS);
}

static void table_filled_by_threads_has_each_kind_once(void **state)
{
    (void)state;
    run_in_threads(submit_many_kinds);
    assert_true(ENTRIES > 32 || count_entries() == ENTRIES);
    assert_true(ROUNDS < 8 * ENTRIES || dynsel_earliest_finish_untracked(&finisher) > 0);
    assert_int_equal(finisher.replacing.value, 0);
}

#if CONFIG_DYNSEL_MAX_KEY_WORDS > 0
static void kinds_of_one_id_take_turns_in_table(void **state)
{
    (void)state;
    run_in_threads(submit_many_keys);
    assert_int_equal(finisher.replacing.value, 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(work_of_threads_is_counted_once),
        TEST(table_filled_by_threads_has_each_kind_once),
#if CONFIG_DYNSEL_MAX_KEY_WORDS > 0
        TEST(kinds_of_one_id_take_turns_in_table),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
