/* SPDX-License-Identifier: Apache-2.0 */
/* Tables are saved and loaded while other threads submit. For ThreadSanitizer too. */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier_t */

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "policies/learned_memory.h"
#include "policies/learned_table_parts.h"
#include "random.h"
#include "test.h"

enum { THREADS = 4, ROUNDS = 20000, KINDS = 5, SAVES = 100 };

static dynsel_earliest_finish_policy policy;
static pthread_barrier_t start_line;
static atomic_uint working;
static _Thread_local uint64_t own_now_ns = 1; /* each thread runs its work in a time of its own */

uint64_t dynsel_now_ns(void)
{
    return own_now_ns += 50;
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static const dynsel_backend_ops ops[2] = {
    {.name = "one",
     .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
     .start = start},
    {.name = "two",
     .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
     .start = start},
};
static dynsel_backend backends[2] = {{.ops = &ops[0]}, {.ops = &ops[1]}};

static dynsel_status work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)done;
    own_now_ns +=
        *(const uint32_t *)args * (uint64_t)(where->backend == &backends[0] ? 1000 : 3000);
    return DYNSEL_OK;
}

static void open_policy(void)
{
    const dynsel_resource resources[2] = {{&backends[0], NULL}, {&backends[1], NULL}};
    const dynsel_options options = {.resources = resources, .count = 2};
    (void)memset(&policy, 0, sizeof policy);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&policy, &options));
}

static void *submit_all_kinds(void *argument)
{
    test_random random = {*(const uint32_t *)argument};
    (void)pthread_barrier_wait(&start_line);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t kind = 1 + test_random_below(&random, KINDS);
        const dynsel_task task = {.function = work, .args = &kind, .id = kind};
        if (dynsel_submit_and_wait(&policy.policy, &task) != DYNSEL_OK) {
            break;
        }
    }
    (void)atomic_fetch_sub(&working, 1);
    return NULL;
}

static void save_while_others_submit(void)
{
    pthread_t threads[THREADS];
    uint32_t numbers[THREADS];
    uint32_t saves = 0;
    atomic_store(&working, THREADS);
    assert_int_equal(pthread_barrier_init(&start_line, NULL, THREADS + 1), 0);
    for (uint32_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, submit_all_kinds, &numbers[i]), 0);
    }
    (void)pthread_barrier_wait(&start_line);
    while (saves < SAVES || atomic_load(&working) != 0) {
        dynsel_learned_report report;
        assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, &store, &report));
        assert_true(report.kinds + report.left_out <= KINDS);
        assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, NULL));
        saves++;
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    (void)pthread_barrier_destroy(&start_line);
}

static void saves_beside_submits_are_whole(void **state)
{
    (void)state;
    dynsel_learned_report report;
    open_policy();
    save_while_others_submit();
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, &store, &report));
    assert_int_equal(report.kinds, KINDS);
    assert_int_equal(report.left_out, 0);
    open_policy();
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, &report));
    assert_int_equal(report.kinds, KINDS);
    assert_int_equal(report.remeasured, 0);
    for (uint32_t kind = 1; kind <= KINDS; kind++) {
        const dynsel_task task = {.function = work, .args = &kind, .id = kind};
        dynsel_selection selection = {.policy = NULL};
        assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &task, &selection));
        assert_int_equal(selection.reason, DYNSEL_REASON_EARLIEST_FINISH);
    }
}

/* Threads begin while the table is entered. */
static void load_beside_submits_does_no_harm(void **state)
{
    (void)state;
    open_policy();
    save_while_others_submit();
    for (uint32_t k = 0; k < CONFIG_DYNSEL_EARLIEST_FINISH_KINDS; k++) {
        assert_int_equal(policy.kinds[k].lock.value, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(saves_beside_submits_are_whole),
    cmocka_unit_test(load_beside_submits_does_no_harm),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
