/* SPDX-License-Identifier: Apache-2.0 */
/* Signals stand for interrupts; on boards tests/runner/signals_board.c raises them. A file that
 * includes this defines _XOPEN_SOURCE first. */
#ifndef DYNSEL_TESTS_SIGNALS_H
#define DYNSEL_TESTS_SIGNALS_H

#include <signal.h>
#include <sys/time.h>

#include "test.h"

static inline void use_signal(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(number, &action, NULL), 0);
}

/* Raises SIGALRM once in each period; 0 stops the timer. */
static inline void set_timer(int microseconds)
{
    const struct itimerval timer = {.it_interval = {.tv_usec = microseconds},
                                    .it_value = {.tv_usec = microseconds}};
    assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

#endif
