/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that is cancelled in a call of the library ends after the call: it loses no slot and
 * holds no lock. */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "room.h"
#include "support/count_run.h"
#include "test.h"

static atomic_bool is_in_task;
static atomic_bool may_go_on;

static void nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static dynsel_status block(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    atomic_store(&is_in_task, true);
    while (!atomic_load(&may_go_on)) {
        nap();
    }
    return DYNSEL_OK;
}

static dynsel_status cancel_itself(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)pthread_cancel(pthread_self());
    pthread_testcancel();
    return count_run(where, args, done);
}

static const dynsel_task blocking = DYNSEL_TASK(block, NULL);
static const dynsel_task counting = DYNSEL_TASK(count_run, NULL);
static const dynsel_task cancelling = DYNSEL_TASK(cancel_itself, NULL);

static dynsel_round_robin_policy worker;
static dynsel_submission submission;

static int set_up(void **state)
{
    (void)state;
    atomic_store(&is_in_task, false);
    atomic_store(&may_go_on, false);
    atomic_store(&runs, 0);
    submission = (dynsel_submission){.policy = NULL};
    assert_status(DYNSEL_OK, dynsel_threads_start(1));
    assert_status(
        DYNSEL_OK,
        dynsel_round_robin_init(&worker, &(dynsel_options){.backend = &dynsel_threads_backend}, 0));
    return 0;
}

/* No slot is lost, and no lock is held. */
static int tear_down(void **state)
{
    (void)state;
    assert_true(dynsel_invariants_hold(&worker.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&worker.policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    return 0;
}

/* A call that a thread makes while it is to be cancelled. */
typedef struct cancelled_call {
    dynsel_status (*function)(void);
    dynsel_status returned;
    atomic_bool begins;
    bool has_returned;
} cancelled_call;

static void *make_cancelled(void *argument)
{
    cancelled_call *const call = argument;
    (void)pthread_cancel(pthread_self()); /* acts at the first cancellation point */
    atomic_store(&call->begins, true);
    call->returned = call->function();
    call->has_returned = true;
    pthread_testcancel();
    return NULL;
}

/* The worker is let go on after the call has begun, so that it sleeps. */
static void assert_call_ends(dynsel_status (*function)(void))
{
    enum { ROUNDS = 20 };
    pthread_t thread;
    void *result = NULL;
    cancelled_call call = {.function = function};
    assert_int_equal(pthread_create(&thread, NULL, make_cancelled, &call), 0);
    while (!atomic_load(&call.begins)) {
        nap();
    }
    for (int i = 0; i < ROUNDS; i++) {
        nap();
    }
    atomic_store(&may_go_on, true);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_true(call.has_returned);
    assert_true(result == PTHREAD_CANCELED);
    assert_status(DYNSEL_OK, call.returned);
}

static void begin_to_block(void)
{
    assert_status(DYNSEL_OK, dynsel_submit(&worker.policy, &blocking, &submission));
    while (!atomic_load(&is_in_task)) {
        nap();
    }
}

static dynsel_status wait_for_work(void)
{
    return dynsel_wait(&submission);
}

static void cancelled_wait_returns_first(void **state)
{
    (void)state;
    begin_to_block();
    assert_call_ends(wait_for_work);
}

static dynsel_status wait_for_policy(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(&worker.policy));
}

static void cancelled_wait_for_policy_returns_first(void **state)
{
    (void)state;
    begin_to_block();
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_call_ends(wait_for_policy);
}

static dynsel_status submit_one(void)
{
    return dynsel_submit(&worker.policy, &counting, NULL);
}

/* Until the table of slots, or the queue of the worker, is full. */
static unsigned submit_until_full(void)
{
    unsigned accepted = 0;
    while (dynsel_try_submit(&worker.policy, &counting, NULL) == DYNSEL_OK) {
        accepted++;
    }
    return accepted;
}

static void cancelled_submit_that_waits_returns_first(void **state)
{
    (void)state;
    begin_to_block();
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    const unsigned accepted = submit_until_full();
    assert_call_ends(submit_one);
    assert_status(DYNSEL_OK, wait_for_policy());
    assert_int_equal(atomic_load(&runs), accepted + 1);
}

static dynsel_status start_and_stop(void)
{
    dynsel_status status = dynsel_policy_deinit(&worker.policy);
    status = status == DYNSEL_OK ? dynsel_threads_stop() : status;
    return status == DYNSEL_OK ? dynsel_threads_start(1) : status;
}

static void cancelled_stop_of_workers_returns_first(void **state)
{
    (void)state;
    assert_call_ends(start_and_stop);
    assert_status(
        DYNSEL_OK,
        dynsel_round_robin_init(&worker, &(dynsel_options){.backend = &dynsel_threads_backend}, 0));
}

#if CONFIG_DYNSEL_PROGRESS_THREAD
static dynsel_status stop_progress_thread(void)
{
    return dynsel_progress_thread_stop();
}
#endif

static void cancelled_stop_of_progress_thread_returns_first(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_PROGRESS_THREAD
    assert_status(DYNSEL_OK, dynsel_progress_thread_start());
    assert_call_ends(stop_progress_thread);
    assert_status(DYNSEL_OK, dynsel_progress_thread_start());
    assert_status(DYNSEL_OK, dynsel_progress_thread_stop());
#else
    skip();
#endif
}

static void worker_cannot_be_cancelled(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&worker.policy, &cancelling));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&worker.policy, &counting));
    assert_int_equal(atomic_load(&runs), 2);
}

static dynsel_fixed_resource_policy in_caller;

static dynsel_status submit_cancelling(void)
{
    return dynsel_submit(&in_caller.policy, &cancelling, NULL);
}

static void *run_in_caller(void *unused)
{
    (void)unused;
    return submit_cancelling() == DYNSEL_OK ? NULL : PTHREAD_CANCELED;
}

/* Where all work is done in the caller there is no slot to lose. */
static void task_cancelled_in_caller_loses_nothing(void **state)
{
    (void)state;
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    pthread_t thread;
    void *result = NULL;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(
                                 &in_caller, &(dynsel_options){.resources = &host, .count = 1}, 0));
    assert_int_equal(pthread_create(&thread, NULL, run_in_caller, NULL), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_true(result == PTHREAD_CANCELED);
    assert_int_equal(atomic_load(&runs), 0);
    assert_true(dynsel_invariants_hold(&in_caller.policy));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&in_caller.policy, &counting));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&in_caller.policy));
}

static dynsel_round_robin_policy mixed; /* a worker, and the caller */

static void *run_with_slot(void *unused)
{
    dynsel_selection selection = {.policy = &mixed.policy, .index = 1};
    (void)unused;
    return dynsel_submit_selection(&selection, &cancelling, NULL) == DYNSEL_OK ? NULL
                                                                               : PTHREAD_CANCELED;
}

/* A claimed slot without an owner is left; all else goes on. Not with the address sanitizer, which
 * takes the frames that the thread has left for live ones. */
static void task_cancelled_in_caller_loses_the_slot_of_its_policy(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_IN_FLIGHT >= 2 && CONFIG_DYNSEL_MAX_RESOURCES >= 2 &&
          !CONFIG_DYNSEL_SANITIZE);
    const uint32_t before = dynsel_get_in_flight_statistics().in_use;
    pthread_t thread;
    void *result = NULL;
    dynsel_resource resources[2] = {{.backend = NULL}, {.backend = &dynsel_inline_backend}};
    size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_threads_resources(resources, 1, &count));
    assert_status(DYNSEL_OK, dynsel_round_robin_init(
                                 &mixed, &(dynsel_options){.resources = resources, .count = 2}, 0));
    assert_int_equal(pthread_create(&thread, NULL, run_with_slot, NULL), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_true(result == PTHREAD_CANCELED);
    assert_int_equal(atomic_load(&runs), 0);
    for (int i = 0; i < 2 * CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_and_wait(&mixed.policy, &counting));
    }
    assert_int_equal(atomic_load(&runs), 2 * CONFIG_DYNSEL_MAX_IN_FLIGHT);
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, before + 1);
    assert_false(dynsel_invariants_hold(NULL));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&mixed.policy));
}

static int tear_down_without_a_slot(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&worker.policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(cancelled_wait_returns_first),
        TEST(cancelled_wait_for_policy_returns_first),
        TEST(cancelled_submit_that_waits_returns_first),
        TEST(cancelled_stop_of_workers_returns_first),
        TEST(cancelled_stop_of_progress_thread_returns_first),
        TEST(worker_cannot_be_cancelled),
        TEST(task_cancelled_in_caller_loses_nothing),
        /* last: it is lost for good */
        cmocka_unit_test_setup_teardown(task_cancelled_in_caller_loses_the_slot_of_its_policy,
                                        set_up, tear_down_without_a_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
