/* SPDX-License-Identifier: Apache-2.0 */
/* A child of fork() and the parent's buffers, command groups and progress thread. */
#define _POSIX_C_SOURCE 200809L

#include "process/child.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "room.h"

static atomic_bool is_in_task;
static atomic_bool may_go_on;

static void wait_for(atomic_bool *what)
{
    while (!atomic_load(what)) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static dynsel_status add_one(const dynsel_launch *launch)
{
    *(int *)dynsel_launch_data(launch, 0) += 1;
    return DYNSEL_OK;
}

static dynsel_status add_one_late(const dynsel_launch *launch)
{
    atomic_store(&is_in_task, true);
    wait_for(&may_go_on);
    return add_one(launch);
}

typedef struct job {
    dynsel_accessor accessor;
    dynsel_kernel_fn function;
} job;

static dynsel_status record(dynsel_handler *handler, void *args)
{
    const job *wanted = args;
    dynsel_require(handler, &wanted->accessor);
    dynsel_set_arg_accessor(handler, 0, &wanted->accessor);
    return dynsel_host_task(handler, wanted->function);
}

static job job_on(dynsel_buffer buffer, dynsel_kernel_fn function)
{
    return (job){{.mode = DYNSEL_ACCESS_READ_WRITE, .buffer = buffer, .placeholder = true},
                 function};
}

static dynsel_round_robin_policy workers; /* these four are the parent's */
static dynsel_fixed_resource_policy in_caller;
static dynsel_buffer buffer;
static int number;

static const dynsel_options on_workers = {.backend = &dynsel_threads_backend};
static const dynsel_resource host = {.backend = &dynsel_inline_backend};
static const dynsel_options on_host = {.resources = &host, .count = 1};

/* One command group is in the worker, and others wait for it. */
static int set_up(void **state)
{
    (void)state;
    atomic_store(&is_in_task, false);
    atomic_store(&may_go_on, false);
    number = 0;
    assert_status(DYNSEL_OK, dynsel_threads_start(1));
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&workers, &on_workers, 0));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&in_caller, &on_host, 0));
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, &number, sizeof number, DYNSEL_RANGE(1)));
    job late = job_on(buffer, add_one_late);
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&workers.policy, record, &late, NULL));
    wait_for(&is_in_task);
#if CONFIG_DYNSEL_PROGRESS_THREAD
    assert_status(DYNSEL_OK, dynsel_progress_thread_start());
#endif
    if (CONFIG_DYNSEL_MAX_IN_FLIGHT >= 2) {
        job next = job_on(buffer, add_one);
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&in_caller.policy, record, &next, NULL));
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    atomic_store(&may_go_on, true);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&workers.policy)));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&in_caller.policy)));
#if CONFIG_DYNSEL_PROGRESS_THREAD
    assert_status(DYNSEL_OK, dynsel_progress_thread_stop());
#endif
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(number, CONFIG_DYNSEL_MAX_IN_FLIGHT >= 2 ? 2 : 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&workers.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&in_caller.policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    return 0;
}

static void use_buffer_of_parent(void)
{
    dynsel_host_accessor seen = {.data = NULL};
    dynsel_buffer ended = buffer;
    job wanted = job_on(buffer, add_one);
    child_expects_status(DYNSEL_E_CONTEXT,
                         dynsel_submit_command_group(&workers.policy, record, &wanted, NULL));
    child_expects_status(DYNSEL_E_CONTEXT,
                         dynsel_submit_command_group_and_wait(&workers.policy, record, &wanted));
    child_expects_status(DYNSEL_E_STALE,
                         dynsel_submit_command_group(&in_caller.policy, record, &wanted, NULL));
    child_expects_text("belongs to the parent");
    child_expects_status(DYNSEL_E_STALE,
                         dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ));
    child_expects_status(DYNSEL_E_STALE, dynsel_buffer_deinit(&ended));
    child_expects_status(DYNSEL_OK,
                         dynsel_wait_group(dynsel_get_submission_group(&in_caller.policy)));
    dynsel_progress();
}

static void buffer_of_parent_in_child_is_stale(void **state)
{
    (void)state;
    assert_child_succeeds(use_buffer_of_parent);
}

#if CONFIG_DYNSEL_PROGRESS_THREAD
static atomic_bool is_started;

static dynsel_status note_start(const dynsel_launch *launch)
{
    atomic_store(&is_started, true);
    return add_one(launch);
}

/* Nobody but the progress thread of this process can start the second group: the worker wakes it,
 * and this thread makes no call. */
static void use_progress_thread(void)
{
    static dynsel_round_robin_policy own;
    static int value;
    dynsel_buffer made = {0};
    (void)memset(&own, 0, sizeof own);
    atomic_store(&is_in_task, false);
    child_expects_status(DYNSEL_OK, dynsel_progress_thread_start());
    child_expects_status(DYNSEL_OK, dynsel_round_robin_init(&own, &on_workers, 0));
    child_expects_status(DYNSEL_OK,
                         dynsel_buffer_init(&made, &value, sizeof value, DYNSEL_RANGE(1)));
    job late = job_on(made, add_one_late);
    child_expects_status(DYNSEL_OK, dynsel_submit_command_group(&own.policy, record, &late, NULL));
    wait_for(&is_in_task);
    if (CONFIG_DYNSEL_MAX_IN_FLIGHT >= 2) {
        job next = job_on(made, note_start);
        child_expects_status(DYNSEL_OK,
                             dynsel_submit_command_group(&in_caller.policy, record, &next, NULL));
        atomic_store(&may_go_on, true);
        wait_for(&is_started);
    }
    atomic_store(&may_go_on, true);
    child_expects_status(DYNSEL_OK, dynsel_progress_thread_stop());
    child_expects_status(DYNSEL_OK, dynsel_buffer_deinit(&made));
    child_expects_status(DYNSEL_OK, dynsel_policy_deinit(&own.policy));
    child_expects_status(DYNSEL_OK, dynsel_threads_stop());
}
#endif

static void progress_thread_can_be_started_in_child(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_PROGRESS_THREAD
    assert_child_succeeds(use_progress_thread);
#else
    skip();
#endif
}

/* One after the other, on the policy and another. */
static void use_own_buffer(dynsel_policy *one, dynsel_policy *other)
{
    enum { GROUPS = 100 };
    static int own;
    own = 0;
    dynsel_buffer made = {0};
    dynsel_host_accessor seen = {.data = NULL};
    child_expects_status(DYNSEL_OK, dynsel_buffer_init(&made, &own, sizeof own, DYNSEL_RANGE(1)));
    child_expects(made.token != buffer.token);
    job wanted = job_on(made, add_one);
    for (int i = 0; i < GROUPS; i++) {
        child_expects_status(DYNSEL_OK, dynsel_submit_command_group(i % 2 == 0 ? one : other,
                                                                    record, &wanted, NULL));
    }
    child_expects_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(one)));
    child_expects_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(other)));
    child_expects_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, made, DYNSEL_ACCESS_READ));
    child_expects(*(const int *)seen.data == GROUPS);
    child_expects_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    child_expects_status(DYNSEL_OK, dynsel_buffer_deinit(&made));
    child_expects(own == GROUPS);
}

static void use_own_groups(void)
{
    static dynsel_round_robin_policy own;
    (void)memset(&own, 0, sizeof own);
    child_expects_status(DYNSEL_OK, dynsel_round_robin_init(&own, &on_workers, 0));
    use_own_buffer(&own.policy, &in_caller.policy);
    child_expects_status(DYNSEL_OK, dynsel_policy_deinit(&own.policy));
    child_expects_status(DYNSEL_OK, dynsel_policy_deinit(&in_caller.policy));
    child_expects_status(DYNSEL_OK, dynsel_threads_stop());
    child_expects(dynsel_invariants_hold(NULL));
}

static void own_buffer_and_groups_in_child_work(void **state)
{
    (void)state;
    assert_child_succeeds(use_own_groups);
}

static dynsel_status record_nothing_to_wait_for(dynsel_handler *handler, void *args)
{
    const dynsel_kernel_fn *function = args;
    return dynsel_host_task(handler, *function);
}

static dynsel_status do_nothing(const dynsel_launch *launch)
{
    (void)launch;
    return DYNSEL_OK;
}

/* More groups than the queue of the worker takes: the last ones wait for the resource. */
static void groups_that_wait_for_resource_stay_with_parent(void **state)
{
    (void)state;
    enum { GROUPS = CONFIG_DYNSEL_THREADS_QUEUE + 2 };
    NEEDS(CONFIG_DYNSEL_MAX_IN_FLIGHT >= GROUPS + 2); /* and the two of set_up() */
    dynsel_kernel_fn function = do_nothing;
    for (int i = 0; i < GROUPS; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_command_group(
                                     &workers.policy, record_nothing_to_wait_for, &function, NULL));
    }
    assert_child_succeeds(use_own_groups);
}

enum { FORKS = 50, THREADS = 2 };

static atomic_bool ends;
static atomic_uint mistakes;

static void expect_ok(dynsel_status status)
{
    if (status != DYNSEL_OK) {
        atomic_fetch_add(&mistakes, 1);
    }
}

/* Holds the lock of all buffers most of the time. */
static void *make_buffers_all_the_time(void *unused)
{
    int own = 0;
    (void)unused;
    thread_has_started();
    while (!atomic_load(&ends)) {
        dynsel_buffer made = {0};
        expect_ok(dynsel_buffer_init(&made, &own, sizeof own, DYNSEL_RANGE(1)));
        expect_ok(dynsel_buffer_deinit(&made));
    }
    return NULL;
}

static void child_of_parent_busy_with_buffers_does_not_hang(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_BUFFERS >= 1 + THREADS);
    pthread_t threads[THREADS];
    atomic_store(&ends, false);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, make_buffers_all_the_time, NULL), 0);
    }
    wait_for_starts(THREADS);
    for (int i = 0; i < FORKS; i++) {
        assert_child_succeeds(use_own_groups);
    }
    atomic_store(&ends, true);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&mistakes), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(buffer_of_parent_in_child_is_stale),
        TEST(progress_thread_can_be_started_in_child),
        TEST(own_buffer_and_groups_in_child_work),
        TEST(groups_that_wait_for_resource_stay_with_parent),
        TEST(child_of_parent_busy_with_buffers_does_not_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
