/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads and workers in one trace; more threads than rings; traces that begin and end
 * while threads submit. */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "support/do_nothing.h"
#include "support/traced.h"

enum {
    THREADS = CONFIG_DYNSEL_TRACE_THREADS + 4 < 24 ? CONFIG_DYNSEL_TRACE_THREADS + 4 : 24,
    EACH = 8,
    WORKERS = 2,
    TRACES = 200,
    NAP_NS = 100000,
    REST_NS = 1000000
};

static dynsel_round_robin_policy workers;
static dynsel_fixed_resource_policy host;
static atomic_bool is_over;
static atomic_uint mistakes;

static int set_up(void **state)
{
    dynsel_resource resources[WORKERS];
    const dynsel_resource inline_host = {.backend = &dynsel_inline_backend};
    size_t count = 0;
    (void)state;
    assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
    assert_status(DYNSEL_OK, dynsel_threads_resources(resources, WORKERS, &count));
    dynsel_options options = {.resources = resources, .count = count};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&workers, &options, 0));
    options = (dynsel_options){.resources = &inline_host, .count = 1};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&host, &options, 0));
    atomic_store(&is_over, false);
    atomic_store(&mistakes, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&workers.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&host.policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    return 0;
}

static void submit_both(void)
{
    dynsel_submission submission;
    const dynsel_task task = DYNSEL_TASK(do_nothing, NULL);
    if (dynsel_submit(&host.policy, &task, NULL) != DYNSEL_OK ||
        dynsel_submit(&workers.policy, &task, &submission) != DYNSEL_OK ||
        dynsel_wait(&submission) != DYNSEL_OK) {
        atomic_fetch_add(&mistakes, 1);
    }
}

static void *submit_some(void *unused)
{
    for (int i = 0; i < EACH; i++) {
        submit_both();
    }
    return unused;
}

static void *submit_until_over(void *unused)
{
    while (!atomic_load(&is_over)) {
        submit_both();
    }
    return unused;
}

static void run_threads(unsigned count, void *(*function)(void *), pthread_t *threads)
{
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, function, NULL), 0);
    }
}

static void join(unsigned count, const pthread_t *threads)
{
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

static void worker_records_its_runs_in_a_ring_of_its_own(void **state)
{
    (void)state;
    traced_begin();
    for (int i = 0; i < EACH; i++) {
        submit_both();
    }
    traced_end();
    for (uint32_t piece = 1; piece <= 2 * EACH; piece++) {
        const dynsel_trace_record *choice = traced_find(DYNSEL_TRACE_CHOICE, piece, 0);
        const dynsel_trace_record *ran = traced_find(DYNSEL_TRACE_RAN, piece, 0);
        assert_non_null(choice);
        assert_non_null(ran);
        assert_int_equal(traced_count(DYNSEL_TRACE_END, piece), 1);
        assert_int_equal(ran->policy, choice->policy);
        assert_int_equal(ran->resource, choice->resource);
        assert_true(traced_low(ran) <= ran->ticks);
        const bool on_worker = traced_find(DYNSEL_TRACE_START, piece, 0) != NULL;
        assert_int_equal(on_worker, piece % 2 == 0);
#if CONFIG_DYNSEL_TRACE_TO_RINGS && CONFIG_DYNSEL_TRACE_THREADS > 2 /* workers */
        const traced_ring *first = &traced.rings[1];
        const bool is_in_first = ran - traced.records >= first->first &&
                                 ran - traced.records < first->first + first->count;
        assert_int_equal(is_in_first, !on_worker);
#endif
    }
}

/* Each piece is complete, whichever ring its events went to. */
static void surplus_threads_share_the_last_ring(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    traced_begin();
    run_threads(THREADS, submit_some, threads);
    join(THREADS, threads);
    traced_end();
    assert_int_equal(atomic_load(&mistakes), 0);
    assert_int_equal(traced_count(DYNSEL_TRACE_CHOICE, 0), 2 * THREADS * EACH);
    for (uint32_t piece = 1; piece <= 2 * THREADS * EACH; piece++) {
        assert_int_equal(traced_count(DYNSEL_TRACE_CHOICE, piece), 1);
        assert_int_equal(traced_count(DYNSEL_TRACE_RAN, piece), 1);
        assert_int_equal(traced_count(DYNSEL_TRACE_END, piece), 1);
    }
#if CONFIG_DYNSEL_TRACE_TO_RINGS
    assert_int_equal(dynsel_trace_lost(), 0);
    for (uint32_t i = 1; i <= CONFIG_DYNSEL_TRACE_THREADS; i++) {
        assert_true(traced.rings[i].count > 0);
    }
    const uint32_t usual = traced.rings[1].count;
    assert_true(CONFIG_DYNSEL_TRACE_THREADS < 4 ||
                traced.rings[CONFIG_DYNSEL_TRACE_THREADS].count > usual);
#endif
}

#if CONFIG_DYNSEL_TRACE_TO_RINGS

/* Traces of two sizes, each in memory of its own, so that a late record has a place that nothing
 * reads. */
static void traces_begin_and_end_while_threads_submit(void **state)
{
    enum { BUSY = 3, LEAST = DYNSEL_TRACE_LEAST_RECORDS };
    static dynsel_trace_record memory[2][16 * LEAST];
    pthread_t threads[BUSY];
    (void)state;
    run_threads(BUSY, submit_until_over, threads);
    for (unsigned i = 0; i < TRACES; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_trace_start(memory[i % 2], i % 2 == 0 ? 16 * LEAST : LEAST));
        dynsel_trace_mark("here");
        (void)nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        assert_status(DYNSEL_OK, dynsel_trace_stop());
        (void)nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL); /* for late records */
    }
    atomic_store(&is_over, true);
    join(BUSY, threads);
    assert_int_equal(atomic_load(&mistakes), 0);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(worker_records_its_runs_in_a_ring_of_its_own),
        TEST(surplus_threads_share_the_last_ring),
#if CONFIG_DYNSEL_TRACE_TO_RINGS
        TEST(traces_begin_and_end_while_threads_submit),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
