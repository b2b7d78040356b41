/* SPDX-License-Identifier: Apache-2.0 */
/* Work that waits is started although the program makes no call of the library. */
#include "test.h"

#include <stdatomic.h>
#include <time.h>

#include <dynsel/dynsel.h>

enum { PATIENCE_S = 20 };

static atomic_bool may_write;
static atomic_int seen;
static int number;

static void nap(void)
{
    const struct timespec while_ = {.tv_nsec = 1000000};
    (void)nanosleep(&while_, NULL);
}

/* Not longer than a person would believe in it. */
static bool happens(bool (*what)(void))
{
    const time_t begin = time(NULL);
    while (!what() && time(NULL) - begin < PATIENCE_S) {
        nap();
    }
    return what();
}

static bool was_seen(void)
{
    return atomic_load(&seen) != 0;
}

static bool may(void)
{
    return atomic_load(&may_write);
}

static dynsel_status write_late(const dynsel_launch *launch)
{
    (void)happens(may);
    *(int *)dynsel_launch_data(launch, 0) = 42;
    return DYNSEL_OK;
}

static dynsel_status read_it(const dynsel_launch *launch)
{
    atomic_store(&seen, *(const int *)dynsel_launch_data(launch, 0));
    return DYNSEL_OK;
}

typedef struct job {
    dynsel_accessor accessor;
    dynsel_kernel_fn function;
} job;

static dynsel_status group(dynsel_handler *handler, void *args)
{
    const job *wanted = args;
    dynsel_require(handler, &wanted->accessor);
    dynsel_set_arg_accessor(handler, 0, &wanted->accessor);
    return dynsel_host_task(handler, wanted->function);
}

static dynsel_round_robin_policy workers;
static dynsel_buffer buffer;

static int set_up(void **state)
{
    (void)state;
    dynsel_resource two[2];
    size_t count = 0;
    atomic_store(&may_write, false);
    atomic_store(&seen, 0);
    number = 0;
    assert_status(DYNSEL_OK, dynsel_threads_start(2));
    assert_status(DYNSEL_OK, dynsel_threads_resources(two, 2, &count));
    assert_status(DYNSEL_OK, dynsel_round_robin_init(
                                 &workers, &(dynsel_options){.resources = two, .count = count}, 0));
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, &number, sizeof number, DYNSEL_RANGE(1)));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&workers.policy)));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&workers.policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    return 0;
}

/* The writer is on one worker, the reader is for the other and has to wait. */
static void submit_both(void)
{
    job writer = {{.mode = DYNSEL_ACCESS_DISCARD_WRITE, .buffer = buffer, .placeholder = true},
                  write_late};
    job reader = {{.mode = DYNSEL_ACCESS_READ, .buffer = buffer, .placeholder = true}, read_it};
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&workers.policy, group, &writer, NULL));
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&workers.policy, group, &reader, NULL));
}

static void progress_thread_starts_pending_work_without_call(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_progress_thread_start());
    assert_status(DYNSEL_OK, dynsel_progress_thread_start());
    submit_both();
    atomic_store(&may_write, true);
    assert_true(happens(was_seen));
    assert_int_equal(42, atomic_load(&seen));
    assert_status(DYNSEL_OK, dynsel_progress_thread_stop());
}

static void progress_thread_starts_work_pending_before_it(void **state)
{
    (void)state;
    submit_both();
    atomic_store(&may_write, true);
    assert_status(DYNSEL_OK, dynsel_progress_thread_start());
    assert_true(happens(was_seen));
    assert_status(DYNSEL_OK, dynsel_progress_thread_stop());
}

static void progress_thread_restarts_after_stop(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_progress_thread_stop());
    for (int i = 0; i < 20; i++) {
        assert_status(DYNSEL_OK, dynsel_progress_thread_start());
        assert_status(DYNSEL_OK, dynsel_progress_thread_stop());
    }
}

static void progress_thread_stops_with_pending_work(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_progress_thread_start());
    submit_both();
    assert_status(DYNSEL_OK, dynsel_progress_thread_stop());
    atomic_store(&may_write, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(progress_thread_starts_pending_work_without_call),
        TEST(progress_thread_starts_work_pending_before_it),
        TEST(progress_thread_restarts_after_stop),
        TEST(progress_thread_stops_with_pending_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
