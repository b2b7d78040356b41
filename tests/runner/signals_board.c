/* SPDX-License-Identifier: Apache-2.0 */
/* Signals out of the interrupts of the board's timer. */
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>

#include "board.h"

enum { SOON_US = 100 };

static void (*on_alarm)(int) = test_ignore_signal;
static void (*on_user)(int) = test_ignore_signal;
static volatile bool raised;

void test_ignore_signal(int number)
{
    (void)number;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    (void)before;
    *(number == SIGALRM ? &on_alarm : &on_user) = action->sa_handler;
    return 0;
}

static void interrupt_once(void)
{
    board_timer_stop();
    on_user(SIGUSR1);
    raised = false;
}

int raise(int number)
{
    (void)number;
    raised = true;
    board_timer_start(SOON_US, interrupt_once);
    while (raised) {
    }
    return 0;
}

static void interrupt(void)
{
    on_alarm(SIGALRM);
}

int setitimer(int which, const struct itimerval *timer, struct itimerval *before)
{
    (void)which;
    (void)before;
    if (timer->it_value.tv_usec == 0) {
        board_timer_stop();
    } else {
        board_timer_start((uint32_t)timer->it_value.tv_usec, interrupt);
    }
    return 0;
}
