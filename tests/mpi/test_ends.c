/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a program of ranks ends that cannot go on: within a bounded time, with a status, and with a
 * line that says why. This program starts itself as ranks.
 */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi/served.h"
#include "test.h"

enum { RANKS = 3, LOG_BYTES = 20000, WITHIN_S = 30 };

#define IDLE_NS UINT64_C(700000000)

static dynsel_status die(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    (void)raise(SIGKILL);
    return DYNSEL_OK;
}

static char log_text[LOG_BYTES];

/* Starts the ranks. Returns their status as a shell says it. */
static int run(const char *recovers, const char *what)
{
    char command[1000];
    const uint64_t begin_ns = dynsel_now_ns();
    (void)snprintf(command, sizeof command, "%s %d %s /proc/%ld/exe %s 2>&1", getenv("DYNSEL_MPI"),
                   RANKS, recovers, (long)getpid(), what);
    FILE *const output = popen(command, "r");
    assert_non_null(output);
    const size_t bytes = fread(log_text, 1, sizeof log_text - 1, output);
    log_text[bytes] = '\0';
    const int status = pclose(output);
    (void)printf("%s\n", log_text);
    assert_true(dynsel_now_ns() - begin_ns < (uint64_t)WITHIN_S * 1000000000u);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int lines_with(const char *part)
{
    int count = 0;
    for (const char *at = strstr(log_text, part); at != NULL; at = strstr(at + 1, part)) {
        count++;
    }
    return count;
}

/* Without recovery, the launcher ends the others, and names the signal. */
static void death_of_a_rank_ends_the_program(void **state)
{
    (void)state;
    assert_int_not_equal(run("", "kill"), 0);
    assert_true(strstr(log_text, "ignal 9") != NULL || strstr(log_text, "EXIT CODE: 9") != NULL);
}

#if CONFIG_DYNSEL_MPI_OPENMPI
/* The serving ranks end by themselves when they hear nothing. */
static void death_of_rank_0_ends_the_others(void **state)
{
    (void)state;
    assert_int_equal(run("recovers", "kill_0"), 128 + SIGKILL);
    assert_int_equal(lines_with("rank 0 was silent for the time that it may be"), RANKS - 1);
}
#endif

/* Of a rank. */
static int take_part(const char *what)
{
    static const dynsel_mpi_task tasks[] = {{.function = die, .name = "die"}};
    static dynsel_fixed_resource_policy policy;
    dynsel_mpi_options options = served_options();
    dynsel_resource resource;
    size_t count = 0;
    options.tasks = tasks;
    options.task_count = 1;
    options.idle_ns = IDLE_NS;
    if (dynsel_mpi_open(&options) != DYNSEL_OK) {
        return 1;
    }
    if (dynsel_mpi_rank() != 0) {
        const dynsel_status status = dynsel_mpi_serve();
        if (status != DYNSEL_OK) {
            served_say("dynsel_mpi_serve");
        }
        return status == DYNSEL_OK || status == DYNSEL_E_OUT_OF_SERVICE ? 0 : 1;
    }
    if (strcmp(what, "kill_0") == 0) {
        (void)raise(SIGKILL);
    }
    const dynsel_options one = {.resources = &resource, .count = 1};
    if (dynsel_mpi_resources(1, &resource, 1, &count) != DYNSEL_OK ||
        dynsel_fixed_resource_init(&policy, &one, 0) != DYNSEL_OK) {
        return 2;
    }
    return dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(die, NULL)) == DYNSEL_OK ? 3 : 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(death_of_a_rank_ends_the_program),
#if CONFIG_DYNSEL_MPI_OPENMPI
        cmocka_unit_test(death_of_rank_0_ends_the_others),
#endif
    };
    if (argc > 1) {
        return take_part(argv[1]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
