/* SPDX-License-Identifier: Apache-2.0 */
/* exit() while work is on its way: the process ends with the program's status. */
#define _POSIX_C_SOURCE 200809L

#include "process/child.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "room.h"

enum { STATUS = 7, SOON_NS = 1000000 };

static atomic_bool is_in_task;

static void nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = SOON_NS}, NULL);
}

static dynsel_status block_for_ever(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    atomic_store(&is_in_task, true);
    while (atomic_load(&is_in_task)) {
        nap();
    }
    return DYNSEL_OK;
}

static dynsel_status do_little(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static const dynsel_task blocking = DYNSEL_TASK(block_for_ever, NULL);
static const dynsel_task short_one = DYNSEL_TASK(do_little, NULL);

static dynsel_round_robin_policy worker;

/* The parent uses nothing of the library, so its children begin as a program does. */
static void assert_child_exits(void (*body)(void))
{
    const int status = status_of_child(body);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), STATUS);
}

static void start_worker(void)
{
    child_expects_status(DYNSEL_OK, dynsel_threads_start(1));
    child_expects_status(
        DYNSEL_OK,
        dynsel_round_robin_init(&worker, &(dynsel_options){.backend = &dynsel_threads_backend}, 0));
}

static void exit_with_idle_workers(void)
{
    start_worker();
    exit(STATUS);
}

static void exit_with_idle_workers_ends_the_process(void **state)
{
    (void)state;
    assert_child_exits(exit_with_idle_workers);
}

static void block_worker(void)
{
    start_worker();
    child_expects_status(DYNSEL_OK, dynsel_submit(&worker.policy, &blocking, NULL));
    while (!atomic_load(&is_in_task)) {
        nap();
    }
}

static void exit_with_full_queue(void)
{
    block_worker();
    while (dynsel_try_submit(&worker.policy, &short_one, NULL) == DYNSEL_OK) {
    }
    exit(STATUS);
}

static void exit_with_full_queue_ends_the_process(void **state)
{
    (void)state;
    assert_child_exits(exit_with_full_queue);
}

/* Ends long after the process. */
static void *wait_for_policy(void *unused)
{
    const dynsel_status status = dynsel_wait_group(dynsel_get_submission_group(&worker.policy));
    (void)status;
    return unused;
}

static void exit_while_thread_waits(void)
{
    pthread_t thread;
    block_worker();
    child_expects(pthread_create(&thread, NULL, wait_for_policy, NULL) == 0);
    nap();
    exit(STATUS);
}

static void exit_while_thread_waits_ends_the_process(void **state)
{
    (void)state;
    assert_child_exits(exit_while_thread_waits);
}

/* Workers finish their work while the handlers of atexit() run. */
static void submit_in_handler(void)
{
    child_expects_status(DYNSEL_OK, dynsel_submit_and_wait(&worker.policy, &short_one));
    child_expects_status(DYNSEL_OK, dynsel_policy_deinit(&worker.policy));
    child_expects_status(DYNSEL_OK, dynsel_threads_stop());
}

static void exit_with_handler(void)
{
    start_worker();
    child_expects(atexit(submit_in_handler) == 0);
    exit(STATUS);
}

static void handler_of_exit_may_use_the_library(void **state)
{
    (void)state;
    assert_child_exits(exit_with_handler);
}

static dynsel_status exit_in_task(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    exit(STATUS);
    return DYNSEL_OK;
}

static void exit_on_worker(void)
{
    static const dynsel_task exiting = DYNSEL_TASK(exit_in_task, NULL);
    start_worker();
    const dynsel_status status = dynsel_submit_and_wait(&worker.policy, &exiting);
    child_expects_status(DYNSEL_OK, status); /* not reached */
}

static void exit_in_task_on_worker_ends_the_process(void **state)
{
    (void)state;
    assert_child_exits(exit_on_worker);
}

#if CONFIG_DYNSEL_PROGRESS_THREAD
static void exit_with_progress_thread(void)
{
    child_expects_status(DYNSEL_OK, dynsel_progress_thread_start());
    block_worker();
    exit(STATUS);
}
#endif

static void exit_with_progress_thread_ends_the_process(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_PROGRESS_THREAD
    assert_child_exits(exit_with_progress_thread);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_with_idle_workers_ends_the_process),
        cmocka_unit_test(exit_with_full_queue_ends_the_process),
        cmocka_unit_test(exit_while_thread_waits_ends_the_process),
        cmocka_unit_test(handler_of_exit_may_use_the_library),
        cmocka_unit_test(exit_in_task_on_worker_ends_the_process),
        cmocka_unit_test(exit_with_progress_thread_ends_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
