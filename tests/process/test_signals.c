/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that come all the time: waits go on, and a handler may complete work. */
#define _GNU_SOURCE /* SIGEV_SIGNAL, sigaltstack() */

#include <dynsel/dynsel.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/time.h>

#include "room.h"
#include "test.h"

enum { INTERVAL_US = 100, WORKS = 2000, STACK_BYTES = 65536 };

static atomic_uint signals;
static atomic_uint runs;
static atomic_uint given; /* token + 1 of the work that the handler completes; 0: none */
static atomic_uint completed;
static atomic_uint in_worker; /* handlers that ran in a worker */
static atomic_bool backwards; /* the clock, as handlers saw it */
static _Thread_local bool is_worker;

/* What <dynsel/backend.h> permits in a handler, and nothing else. */
static void handle(int number)
{
    static uint64_t before;
    const uint64_t now = dynsel_now_ns();
    (void)number;
    if (now < before) {
        atomic_store(&backwards, true);
    }
    before = now;
    if (is_worker) {
        atomic_fetch_add(&in_worker, 1);
    }
    atomic_fetch_add(&signals, 1);
    const uint32_t token = atomic_exchange(&given, 0);
    if (token != 0 && dynsel_complete(token - 1, DYNSEL_OK, now) == DYNSEL_OK) {
        atomic_fetch_add(&completed, 1);
    }
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    atomic_store(&given, work->token + 1);
    return DYNSEL_OK;
}

static const dynsel_backend_ops ops = {.name = "ended by signals",
                                       .start = start,
                                       .outlives_submit = true,
                                       .marks_completion = true,
                                       .poll_synchronizes = true};
static dynsel_backend ended_by_signals = {&ops};

static dynsel_status count_run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    (void)done;
    is_worker = where->backend == &dynsel_threads_backend;
    atomic_fetch_add(&runs, 1);
    return DYNSEL_OK;
}

static void set_interval(long us)
{
    const struct itimerval interval = {{0, us}, {0, us}};
    assert_int_equal(setitimer(ITIMER_REAL, &interval, NULL), 0);
}

static int set_up(void **state)
{
    static char stack[STACK_BYTES];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK}; /* no SA_RESTART */
    (void)state;
    atomic_store(&signals, 0);
    atomic_store(&runs, 0);
    assert_int_equal(sigaltstack(&alternate, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    set_interval(INTERVAL_US);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    set_interval(0);
    assert_true(atomic_load(&signals) > 0);
    assert_false(atomic_load(&backwards));
    assert_int_equal(atomic_load(&in_worker), 0);
    return 0;
}

static dynsel_round_robin_policy policy;

static void run_all(const dynsel_options *options)
{
    const dynsel_task task = DYNSEL_TASK(count_run, NULL);
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, options, 0));
    for (unsigned i = 0; i < WORKS; i++) {
        assert_status(DYNSEL_OK, i % 2 == 0 ? dynsel_submit(&policy.policy, &task, NULL)
                                            : dynsel_submit_and_wait(&policy.policy, &task));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    assert_int_equal(atomic_load(&runs), WORKS);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void work_on_workers_survives_signals(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_threads_start(0));
    run_all(&(dynsel_options){.backend = &dynsel_threads_backend});
    while (atomic_load(&signals) == 0) { /* at least one */
    }
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}

/* The waiting thread sleeps until the handler, which runs in that thread, completes the work. */
static void handler_completes_work(void **state)
{
    (void)state;
    enum { FEW = 200 };
    const dynsel_resource resource = {.backend = &ended_by_signals};
    const dynsel_task task = DYNSEL_TASK(count_run, NULL);
    assert_status(
        DYNSEL_OK,
        dynsel_round_robin_init(&policy, &(dynsel_options){.resources = &resource, .count = 1}, 0));
    for (unsigned i = 0; i < FEW; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &task));
    }
    assert_int_equal(atomic_load(&completed), FEW);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(work_on_workers_survives_signals),
        TEST(handler_completes_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
