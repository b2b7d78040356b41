/* SPDX-License-Identifier: Apache-2.0 */
/*
 * On a host the interrupts are signals, and a critical section blocks them all. For programs of one
 * thread: to try out a bare-metal program, and for the library's own tests. Weak, because a program
 * may have its own, and the library may be one object.
 */
#define _GNU_SOURCE /* ppoll() */

#include <dynsel/port.h>

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

static volatile sig_atomic_t depth;
static volatile sig_atomic_t sleeping; /* code that runs meanwhile is a handler */
static sigset_t outside; /* the signals that are blocked outside of the critical section */

/* The old mask is kept after signals are blocked, when no handler can interfere. */
__attribute__((weak)) uint32_t dynsel_port_enter_critical(void)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, &before);
    if (depth == 0) {
        outside = before;
    }
    return (uint32_t)depth++;
}

__attribute__((weak)) void dynsel_port_leave_critical(uint32_t before)
{
    depth = (sig_atomic_t)before;
    if (depth == 0) {
        const sigset_t mask =
            outside; /* a signal may come, and overwrite it, before the call ends */
        (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    }
}

static bool has_handler(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL &&
           action.sa_handler != SIG_IGN;
}

/* A blocked signal with a handler means that the handler runs. */
__attribute__((weak)) bool dynsel_port_in_interrupt(void)
{
    sigset_t blocked;
    (void)sigprocmask(SIG_BLOCK, NULL, &blocked);
    const sigset_t *const mask = depth != 0 ? &outside : &blocked;
    for (int number = 1; sleeping == 0 && number < NSIG; number++) {
        if (sigismember(mask, number) == 1 && has_handler(number)) {
            return true;
        }
    }
    return sleeping != 0;
}

/* Lets a signal in and returns; unlike on bare metal its handler has run then. */
__attribute__((weak)) void dynsel_port_wait_for_event(uint64_t longest_ns)
{
    enum { NS_PER_S = 1000000000 };
    const struct timespec longest = {.tv_sec = (time_t)(longest_ns / NS_PER_S),
                                     .tv_nsec = (long)(longest_ns % NS_PER_S)};
    sleeping = 1;
    (void)ppoll(NULL, 0, &longest, &outside);
    sleeping = 0;
}
