/* SPDX-License-Identifier: Apache-2.0 */
/* Threads submit tasks and command groups while another one changes the set of resources: each
 * piece of work runs once, and only on a resource that the policy has. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "random.h"
#include "test.h"

enum { THREADS = 3, WORKERS = 3, ROUNDS = CONFIG_DYNSEL_HAS_FULL_SPEED ? 1500 : 300 };

static union {
    dynsel_policy policy;
    dynsel_round_robin_policy round_robin;
    dynsel_dynamic_load_policy dynamic_load;
    dynsel_auto_tune_policy auto_tune;
    dynsel_earliest_finish_policy earliest_finish;
} any;

static dynsel_policy *const policy = &any.policy;
static dynsel_resource resources[WORKERS + 1]; /* the last is the host, in the caller */
static atomic_uint mistakes, left, changes;
static atomic_int attached[WORKERS], running[WORKERS];

#define expect(condition) expect_at((condition), #condition)

static void expect_at(bool condition, const char *text)
{
    if (!condition && atomic_fetch_add(&mistakes, 1) == 0) {
        print_error("not so: %s; the last error is %s\n", text,
                    dynsel_status_name(dynsel_last_error()->status));
    }
}

static unsigned number_of(const void *worker)
{
    unsigned i = 0;
    while (i < WORKERS && resources[i].handle != worker) {
        i++;
    }
    return i;
}

static dynsel_status count(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const unsigned worker = number_of(where->handle);
    (void)done;
    atomic_fetch_add((atomic_uint *)args, 1);
    if (worker < WORKERS) {
        atomic_fetch_sub(&running[worker], 1);
    }
    return DYNSEL_OK;
}

/* The workers of the library, with a look at who uses them. */
static dynsel_status attach(dynsel_backend *backend, void *own)
{
    const dynsel_status status = dynsel_threads_backend.ops->attach(backend, own);
    atomic_fetch_add(&attached[number_of(own)], status == DYNSEL_OK ? 1 : 0);
    return status;
}

static void detach(dynsel_backend *backend, void *own)
{
    expect(atomic_fetch_sub(&attached[number_of(own)], 1) > 0);
    if (atomic_load(&attached[number_of(own)]) == 0) {
        expect(atomic_load(&running[number_of(own)]) == 0);
    }
    dynsel_threads_backend.ops->detach(backend, own);
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    const unsigned worker = number_of(work->own);
    const bool is_task = work->function == count;
    expect(atomic_load(&attached[worker]) > 0);
    atomic_fetch_add(&running[worker], is_task ? 1 : 0);
    const dynsel_status status = dynsel_threads_backend.ops->start(backend, work);
    atomic_fetch_sub(&running[worker], is_task && status != DYNSEL_OK ? 1 : 0);
    return status;
}

static dynsel_backend_ops watched_ops;
static dynsel_backend watched = {.ops = &watched_ops};

static dynsel_status add_one(const dynsel_launch *launch)
{
    uint32_t *const number = dynsel_launch_data(launch, 0);
    *number += 1;
    return DYNSEL_OK;
}

static dynsel_status group_of_one(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel kernel = {.name = "add_one", .function = add_one};
    dynsel_accessor accessor = {.name = "number"};
    (void)dynsel_get_access(handler, *(const dynsel_buffer *)args, DYNSEL_ACCESS_READ_WRITE,
                            DYNSEL_MEMORY_GLOBAL, &accessor);
    (void)dynsel_set_arg_accessor(handler, 0, &accessor);
    return dynsel_single_task(handler, &kernel);
}

/* The set may change faster than a submit chooses: it is refused by each resource in turn. */
static bool is_to_be_repeated(dynsel_status status)
{
    return status == DYNSEL_E_OUT_OF_SERVICE || status == DYNSEL_E_FULL;
}

static dynsel_status submit_task(atomic_uint *runs, bool collected)
{
    dynsel_submission submission;
    const dynsel_status status =
        dynsel_submit(policy, &(dynsel_task){.function = count, .args = runs, .id = 1},
                      collected ? &submission : NULL);
    if (status == DYNSEL_OK && collected) {
        expect(dynsel_wait(&submission) == DYNSEL_OK);
    }
    return status;
}

static void *submit_many(void *argument)
{
    atomic_uint runs = 0;
    uint32_t number = 0;
    unsigned tasks = 0;
    unsigned groups = 0;
    dynsel_buffer buffer = {0};
    expect(dynsel_buffer_init(&buffer, &number, sizeof number, DYNSEL_RANGE(1)) == DYNSEL_OK);
    (void)argument;
    while (tasks + groups < ROUNDS) {
        const bool is_group = (tasks + groups) % 3 == 2;
        const dynsel_status status =
            is_group ? dynsel_submit_command_group(policy, group_of_one, &buffer, NULL)
                     : submit_task(&runs, tasks % 2 == 0);
        tasks += !is_group && status == DYNSEL_OK ? 1 : 0;
        groups += is_group && status == DYNSEL_OK ? 1 : 0;
        expect(status == DYNSEL_OK || is_to_be_repeated(status));
    }
    expect(dynsel_wait_group(dynsel_get_submission_group(policy)) == DYNSEL_OK);
    expect(dynsel_buffer_deinit(&buffer) == DYNSEL_OK);
    expect(number == groups);
    while (atomic_load(&runs) < tasks) { /* others may have been between two waits */
        expect(dynsel_wait_group(dynsel_get_submission_group(policy)) == DYNSEL_OK);
    }
    expect(atomic_load(&runs) == tasks);
    atomic_fetch_sub(&left, 1);
    return NULL;
}

static void change(test_random *random)
{
    const uint32_t which = test_random_below(random, WORKERS + 1);
    const uint64_t timeout_ns = test_random_below(random, 3) * UINT64_C(500000);
    dynsel_status status = DYNSEL_OK;
    switch (test_random_below(random, 8)) {
    case 0:
        status = dynsel_policy_set_resources(
            policy, &(dynsel_options){.resources = &resources[which], .count = 1}, timeout_ns);
        break;
    case 1:
        status = dynsel_policy_set_resources(
            policy, &(dynsel_options){.resources = resources, .count = WORKERS + 1}, timeout_ns);
        break;
    case 2:
    case 3:
    case 4:
        status = dynsel_policy_add_resource(policy, &resources[which], NULL);
        break;
    default:
        status = dynsel_policy_remove_resource(policy, which, timeout_ns);
        break;
    }
    atomic_fetch_add(&changes, status == DYNSEL_OK ? 1 : 0);
    expect(status == DYNSEL_OK || status == DYNSEL_E_TIMEOUT || status == DYNSEL_E_INVALID ||
           status == DYNSEL_E_STALE || status == DYNSEL_E_NO_RESOURCE);
}

static void submit_while_the_set_changes(test_random *random)
{
    pthread_t threads[THREADS];
    atomic_store(&left, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL, submit_many, NULL));
    }
    while (atomic_load(&left) > 0) {
        change(random);
        sched_yield();
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
    }
    assert_int_equal(0, atomic_load(&mistakes));
    assert_true(dynsel_invariants_hold(policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    for (unsigned i = 0; i < WORKERS; i++) {
        assert_int_equal(0, atomic_load(&attached[i]));
    }
    (void)memset(&any, 0, sizeof any);
}

static void work_runs_once_on_resources_that_are_there(void **state)
{
    (void)state;
    test_random random = {.state = test_seed()};
    size_t found = 0;
    watched_ops = *dynsel_threads_backend.ops;
    watched_ops.attach = attach;
    watched_ops.detach = detach;
    watched_ops.start = start;
    assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
    assert_status(DYNSEL_OK, dynsel_threads_resources(resources, WORKERS, &found));
    assert_int_equal(WORKERS, found);
    for (unsigned i = 0; i < WORKERS; i++) {
        resources[i].backend = &watched;
    }
    resources[WORKERS] = (dynsel_resource){.backend = &dynsel_inline_backend};
    const dynsel_options options = {
        .resources = resources, .count = WORKERS + 1, .may_change = true};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&any.round_robin, &options, 0));
    submit_while_the_set_changes(&random);
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&any.dynamic_load, &options));
    submit_while_the_set_changes(&random);
    assert_status(DYNSEL_OK,
                  dynsel_auto_tune_init(&any.auto_tune, &options, DYNSEL_NEVER_RESAMPLE));
    submit_while_the_set_changes(&random);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&any.earliest_finish, &options));
    submit_while_the_set_changes(&random);
    assert_true(atomic_load(&changes) > 0);
    print_message("%u changes\n", atomic_load(&changes));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_runs_once_on_resources_that_are_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
