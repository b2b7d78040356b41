/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a function inside an interrupt: on hosts of a signal's handler, on boards of the timer's.
 * Who includes this first defines _POSIX_C_SOURCE, for sigaction(). */
#ifndef INTERRUPTED_H
#define INTERRUPTED_H

#include "test.h"

#if CONFIG_DYNSEL_HAS_HOSTED
#include <signal.h>

static void (*interrupt_calls)(void);

static void on_signal(int number)
{
    (void)number;
    interrupt_calls();
}

/* The handler has run when this returns. */
static inline void interrupt(void (*with)(void))
{
    struct sigaction action = {.sa_handler = on_signal};
    (void)sigemptyset(&action.sa_mask);
    interrupt_calls = with;
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    assert_int_equal(raise(SIGUSR1), 0);
}
#else
#include "board.h"

static void (*interrupt_calls)(void);
static volatile bool has_run;

static void on_timer(void)
{
    if (!has_run) {
        interrupt_calls();
    }
    has_run = true;
}

static inline void interrupt(void (*with)(void))
{
    interrupt_calls = with;
    has_run = false;
    board_timer_start(100, on_timer);
    while (!has_run) {
    }
    board_timer_stop();
}
#endif

#endif
