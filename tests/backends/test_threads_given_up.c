/* SPDX-License-Identifier: Apache-2.0 */
/* A worker whose task function does not return is given up, and works again when it has. */
#include <dynsel/dynsel.h>

#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "room.h"
#include "support/count_run.h"
#include "test.h"

enum { BEHIND = 2 };

static dynsel_round_robin_policy policy;
static sem_t entered;
static sem_t door;

static int set_up(void **state)
{
    (void)state;
    atomic_store(&runs, 0);
    assert_int_equal(0, sem_init(&entered, 0, 0) | sem_init(&door, 0, 0));
    assert_status(DYNSEL_OK, dynsel_threads_start(2));
    policy = (dynsel_round_robin_policy){0};
    return dynsel_round_robin_init(&policy, &(dynsel_options){.backend = &dynsel_threads_backend},
                                   0);
}

/* All is as before, after the late return. */
static int tear_down(void **state)
{
    (void)state;
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    return 0;
}

static void hang(void)
{
    assert_int_equal(0, sem_post(&entered));
    while (sem_wait(&door) != 0) {
    }
}

static dynsel_status hang_and_fail(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    done->value = 7;
    hang();
    return DYNSEL_E_TASK;
}

static void await_entered(void)
{
    while (sem_wait(&entered) != 0) {
    }
}

static void submit_to(uint32_t index, dynsel_task_fn function, dynsel_submission *submission)
{
    dynsel_selection selection = {.policy = &policy.policy, .index = index};
    assert_status(DYNSEL_OK,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(function, NULL), submission));
}

/* Lets the function return, and waits until the library has its slot back. */
static void let_go(void)
{
    assert_int_equal(0, sem_post(&door));
    while (dynsel_get_in_flight_statistics().in_use != 0) {
        dynsel_progress();
    }
}

static void worker_that_hangs_costs_its_own_work_only(void **state)
{
    (void)state;
    dynsel_submission hanging;
    dynsel_submission behind[BEHIND];
    dynsel_submission other;
    submit_to(0, hang_and_fail, &hanging);
    await_entered();
    for (int i = 0; i < BEHIND; i++) {
        submit_to(0, count_run, &behind[i]);
    }
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&policy.policy, 0));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&hanging));
    for (int i = 0; i < BEHIND; i++) {
        assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&behind[i]));
        assert_error_says("had not begun");
    }
    submit_to(1, count_run, &other);
    assert_status(DYNSEL_OK, dynsel_wait(&other));
    assert_int_equal(1, atomic_load(&runs));
    assert_int_equal(1, dynsel_get_in_flight_statistics().in_use);
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy.policy));
    let_go();
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&policy.policy, 0));
    submit_to(0, count_run, &other);
    assert_status(DYNSEL_OK, dynsel_wait(&other));
    assert_int_equal(2, atomic_load(&runs));
}

/* What hangs may still write its memory, so only work that had not begun runs elsewhere. */
static void repeatable_work_that_had_not_begun_runs_elsewhere(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_REPEAT
    static const dynsel_repeat repeat;
    dynsel_submission hanging;
    dynsel_submission behind[BEHIND];
    for (int i = 0; i <= BEHIND; i++) {
        dynsel_selection selection = {.policy = &policy.policy, .index = 0};
        const dynsel_task task = {.function = i == 0 ? hang_and_fail : count_run,
                                  .repeat = &repeat};
        assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &task,
                                                         i == 0 ? &hanging : &behind[i - 1]));
        if (i == 0) {
            await_entered();
        }
    }
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&policy.policy, 0));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&hanging));
    for (int i = 0; i < BEHIND; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&behind[i]));
    }
    assert_int_equal(BEHIND, atomic_load(&runs));
    let_go();
#else
    skip();
#endif
}

/* With the clock of the system, and nobody who waits. */
static void progress_thread_gives_a_worker_up(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_PROGRESS_THREAD && CONFIG_DYNSEL_GIVE_UP_AFTER_MS <= 1000
    enum { LIMIT_NS = 1000000 };
    assert_status(DYNSEL_OK, dynsel_progress_thread_start());
    dynsel_submission hanging;
    assert_status(DYNSEL_OK,
                  dynsel_submit(&policy.policy,
                                &(dynsel_task){.function = hang_and_fail, .limit_ns = LIMIT_NS},
                                &hanging));
    while (dynsel_resource_in_service(&policy.policy, 0) == DYNSEL_OK) {
        (void)sched_yield();
    }
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&hanging));
    await_entered();
    let_go();
    assert_status(DYNSEL_OK, dynsel_progress_thread_stop());
#else
    skip();
#endif
}

/* The kernel fails after its group was given up. */

static dynsel_status hang_in_kernel(const dynsel_launch *launch)
{
    if (DYNSEL_LAUNCH_VALUE(launch, 0, uint32_t) != 0) {
        hang();
        return DYNSEL_E_TASK;
    }
    atomic_fetch_add(&runs, 1);
    return DYNSEL_OK;
}

static dynsel_status record(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel kernel = {.name = "hang", .function = hang_in_kernel};
    const dynsel_status status = dynsel_set_arg_value(handler, 0, args, sizeof(uint32_t));
    return status == DYNSEL_OK ? dynsel_single_task(handler, &kernel) : status;
}

typedef struct read_job {
    uint32_t hangs;
    dynsel_buffer buffers[2];
} read_job;

static dynsel_status record_reads(dynsel_handler *handler, void *args)
{
    read_job *const what = args;
    for (uint32_t i = 0; i < 2; i++) {
        dynsel_accessor accessor;
        const dynsel_status status = dynsel_get_access(
            handler, what->buffers[i], DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &accessor);
        if (status != DYNSEL_OK) {
            return status;
        }
    }
    return record(handler, &what->hangs);
}

/* It may use the buffers until it returns, and not any longer. */
static void buffers_are_told_until_the_worker_returns(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_REQUIREMENTS >= 2);
    uint32_t numbers[2] = {1, 2};
    read_job reads = {.hangs = 1};
    for (int i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&reads.buffers[i], &numbers[i],
                                                    sizeof numbers[i], DYNSEL_RANGE(1)));
    }
    dynsel_submission submission;
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, record_reads, &reads, &submission));
    await_entered();
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&policy.policy, submission.index));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submission));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&reads.buffers[0]));
    assert_error_says("may still use its memory");
    let_go();
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&reads.buffers[1]));
}

static void group_that_fails_after_it_was_given_up_harms_no_later_one(void **state)
{
    (void)state;
    uint32_t hangs = 1;
    dynsel_submission submission;
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, record, &hangs, &submission));
    await_entered();
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&policy.policy, submission.index));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submission));
    let_go();
    hangs = 0;
    for (uint32_t i = 0; i <= CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group_and_wait(&policy.policy, record, &hangs));
    }
    assert_int_equal(CONFIG_DYNSEL_MAX_IN_FLIGHT + 1, atomic_load(&runs));
}

int main(void)
{
#define GIVEN_UP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        GIVEN_UP_TEST(worker_that_hangs_costs_its_own_work_only),
        GIVEN_UP_TEST(repeatable_work_that_had_not_begun_runs_elsewhere),
        GIVEN_UP_TEST(progress_thread_gives_a_worker_up),
        GIVEN_UP_TEST(group_that_fails_after_it_was_given_up_harms_no_later_one),
        GIVEN_UP_TEST(buffers_are_told_until_the_worker_returns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
