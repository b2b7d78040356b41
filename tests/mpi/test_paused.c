/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 0 stands still while a rank owes it an answer, as on a machine that is suspended as a whole:
 * what it did not see is no silence of that rank. */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "mpi/served.h"
#include "test.h"

enum {
    SILENCE_MS = 2000,
    UNTIL_ASKED_MS = 750, /* asked after a quarter of the silence */
    STOPPED_MS = 3000,
    AFTERWARDS_MS = 200
};

static void sleep_ms(long ms)
{
    struct timespec rest = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    while (nanosleep(&rest, &rest) != 0) {
        /* a signal: the rest of it */
    }
}

/* Answers nothing until it returns: the thread that serves runs it. */
static dynsel_status stop_rank_0(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const int64_t *const process = args;
    (void)where;
    (void)done;
    sleep_ms(UNTIL_ASKED_MS);
    (void)kill((pid_t)*process, SIGSTOP);
    sleep_ms(STOPPED_MS);
    (void)kill((pid_t)*process, SIGCONT);
    sleep_ms(AFTERWARDS_MS);
    return DYNSEL_OK;
}

static void time_that_rank_0_stood_still_is_no_silence(void **state)
{
    static dynsel_fixed_resource_policy policy;
    dynsel_resource other;
    size_t count = 0;
    int64_t process = getpid();
    (void)state;
    assert_status(DYNSEL_OK, dynsel_mpi_resources(1, &other, 1, &count));
    const dynsel_options options = {.resources = &other, .count = 1};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    const uint64_t begin_ns = dynsel_now_ns();
    assert_status(DYNSEL_OK,
                  dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(stop_rank_0, &process)));
    assert_true(dynsel_now_ns() - begin_ns > STOPPED_MS * UINT64_C(1000000));
    assert_false(dynsel_mpi_rank_is_lost(1));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_mpi_close());
}

int main(void)
{
    static const dynsel_mpi_task tasks[] = {
        {.function = stop_rank_0, .name = "stop_rank_0", .bytes = sizeof(int64_t)}};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_that_rank_0_stood_still_is_no_silence)};
    dynsel_mpi_options options = served_options();
    options.tasks = tasks;
    options.task_count = 1;
    options.silence_ns = SILENCE_MS * UINT64_C(1000000);
    served_begin(options);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
