/* SPDX-License-Identifier: Apache-2.0 */
/* For boards without an operating system: the signals are the interrupts of the board's timer. */
#ifndef DYNSEL_TESTS_POSIX_SIGNAL_H
#define DYNSEL_TESTS_POSIX_SIGNAL_H

#include <stddef.h>

enum { SIGUSR1 = 10, SIGALRM = 14, SA_RESTART = 0 };

typedef unsigned sigset_t;

struct sigaction {
    void (*sa_handler)(int);
    sigset_t sa_mask;
    int sa_flags;
};

void test_ignore_signal(int number);
#define SIG_DFL test_ignore_signal
#define SIG_IGN test_ignore_signal

static inline int sigemptyset(sigset_t *set)
{
    *set = 0;
    return 0;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before);

/* The interrupt comes in a moment, and the call returns then. */
int raise(int number);

#endif
