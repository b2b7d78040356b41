/* SPDX-License-Identifier: Apache-2.0 */
/* A failed assertion stops the program, with or without a hook. */
#include "port/assert.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dynsel/policy.h>

#include "test.h"

enum { SURVIVED = 3 };

/* How a child ends that runs `work`. */
static int ends(void (*work)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &no_core);
        (void)signal(SIGILL, SIG_DFL); /* cmocka catches them */
        (void)signal(SIGTRAP, SIG_DFL);
        (void)signal(SIGSEGV, SIG_DFL);
        work();
        _exit(SURVIVED);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static bool is_trap(int status)
{
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGTRAP);
}

static void breaks_nothing(void)
{
    DYNSEL_ASSERT(true);
}

static void asks_beside_a_policy(void)
{
    static dynsel_policy none;
    (void)dynsel_policy_may_use(&none, 0, NULL);
}

static void true_assertion_continues(void **state)
{
    (void)state;
    const int status = ends(breaks_nothing);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == SURVIVED);
}

static void false_assertion_traps(void **state)
{
    (void)state;
    assert_true(is_trap(ends(asks_beside_a_policy)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(true_assertion_continues),
        cmocka_unit_test(false_assertion_traps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
