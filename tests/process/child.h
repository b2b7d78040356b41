/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes whose hang or crash fails the test. */
#ifndef DYNSEL_TESTS_PROCESS_CHILD_H
#define DYNSEL_TESTS_PROCESS_CHILD_H

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <dynsel/dynsel.h>

#include "test.h"

enum { CHILD_PATIENCE_S = 60 };

/* Threads of the parent that have started. A sanitizer allocates while one starts, and a child that
 * is forked then waits for that sanitizer's lock. */
static atomic_uint started_count;

static inline void thread_has_started(void)
{
    atomic_fetch_add(&started_count, 1);
}

static inline void wait_for_starts(unsigned count)
{
    while (atomic_load(&started_count) < count) {
        (void)sched_yield();
    }
    atomic_store(&started_count, 0);
}

/* In a child: cmocka's assertions would go on as the parent. */
#define child_expects(condition)                                                                   \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            child_fails(#condition, __FILE__, __LINE__);                                           \
        }                                                                                          \
    } while (0)

#define child_expects_status(expected, actual)                                                     \
    child_expects_this((expected), (actual), #actual, __FILE__, __LINE__)

static inline void child_fails(const char *what, const char *file, int line)
{
    char text[512];
    (void)dynsel_error_text(NULL, text, sizeof text);
    (void)fprintf(stderr, "%s:%d: in a child: %s; last error: %s\n", file, line, what, text);
    (void)fflush(stderr);
    _exit(EXIT_FAILURE);
}

static inline void child_expects_this(dynsel_status expected, dynsel_status actual,
                                      const char *call, const char *file, int line)
{
    if (expected != actual) {
        (void)fprintf(stderr, "expected %s, got %s\n", dynsel_status_name(expected),
                      dynsel_status_name(actual));
        child_fails(call, file, line);
    }
}

static inline void child_expects_text(const char *part)
{
    char text[512];
    (void)dynsel_error_text(NULL, text, sizeof text);
    child_expects(!CONFIG_DYNSEL_ERROR_TEXTS || text_contains(text, part));
}

/* Forks a child that calls `body`, which may end the process itself; returns its wait status. */
static inline int status_of_child(void (*body)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHILD_PATIENCE_S);
        (void)signal(SIGSEGV, SIG_DFL); /* cmocka's handlers would go on as the parent */
        (void)signal(SIGBUS, SIG_DFL);
        (void)signal(SIGFPE, SIG_DFL);
        (void)signal(SIGILL, SIG_DFL);
        body();
        _exit(EXIT_SUCCESS);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static inline void assert_child_succeeds(void (*body)(void))
{
    assert_int_equal(status_of_child(body), 0);
}

#endif
