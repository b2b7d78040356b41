/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a worker's task on a processor that another thread wants, too. */
#define _GNU_SOURCE /* sched_setaffinity() */

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "test.h"

#define MS UINT64_C(1000000)

enum { COMPUTES_MS = 30, SLEEPS_MS = 10, SLACK_MS = 5 };

static dynsel_policy policy;
static atomic_bool is_over;
static uint64_t reported_ns;

static dynsel_status choose_first(dynsel_policy *base, const dynsel_task *task,
                                  dynsel_selection *selection)
{
    (void)base;
    (void)task;
    selection->index = 0;
    return DYNSEL_OK;
}

static void hear_time(dynsel_policy *base, const dynsel_selection *selection,
                      dynsel_execution_info info, uint64_t value)
{
    (void)base;
    (void)selection;
    (void)info;
    reported_ns = value;
}

static const dynsel_policy_ops timing = {
    .name = "timing", .needs = DYNSEL_TASK_TIME, .try_select = choose_first, .report = hear_time};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now = {.tv_sec = 0};
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

static void compute(uint64_t ns)
{
    const uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns < ns) {
    }
}

static void *want_processor(void *unused)
{
    while (!atomic_load(&is_over)) {
    }
    return unused;
}

typedef struct job {
    bool sleeps;
    uint64_t used_ns; /* of the processor */
    uint64_t took_ns; /* on the clock */
} job;

static dynsel_status work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    job *const it = args;
    const uint64_t used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
    (void)where;
    (void)done;
    compute(COMPUTES_MS * MS);
    if (it->sleeps) {
        (void)nanosleep(&(struct timespec){.tv_nsec = SLEEPS_MS * (long)MS}, NULL);
    }
    it->used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - used_ns;
    it->took_ns = clock_ns(CLOCK_MONOTONIC) - began_ns;
    return DYNSEL_OK;
}

/* The worker, this thread and one that computes have one processor in common. */
static void run_beside_another(job *it)
{
    cpu_set_t before;
    cpu_set_t one;
    pthread_t other;
    dynsel_resource worker;
    size_t count = 0;
    unsigned first = 0;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    while (!CPU_ISSET(first, &before)) {
        first++;
    }
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_status(DYNSEL_OK, dynsel_threads_start(1));
    assert_status(DYNSEL_OK, dynsel_threads_resources(&worker, 1, &count));
    policy = (dynsel_policy){0};
    assert_status(
        DYNSEL_OK,
        dynsel_policy_init(&policy, &timing, &(dynsel_options){.resources = &worker, .count = 1}));
    atomic_store(&is_over, false);
    assert_int_equal(pthread_create(&other, NULL, want_processor, NULL), 0);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy, &DYNSEL_TASK(work, it)));
    atomic_store(&is_over, true);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void time_excludes_what_others_took_of_processor(void **state)
{
    job it = {.sleeps = false};
    (void)state;
    run_beside_another(&it);
    print_message("%u us of the processor, %u us on the clock, %u us reported\n",
                  (unsigned)(it.used_ns / 1000), (unsigned)(it.took_ns / 1000),
                  (unsigned)(reported_ns / 1000));
    assert_true(reported_ns >= COMPUTES_MS * MS);
    assert_true(reported_ns < it.used_ns + SLACK_MS * MS);
}

static void time_includes_sleep_and_others(void **state)
{
    job it = {.sleeps = true};
    (void)state;
    run_beside_another(&it);
    assert_true(reported_ns >= it.took_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_excludes_what_others_took_of_processor),
        cmocka_unit_test(time_includes_sleep_and_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
