/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses a futex, because a signal handler may wake too: it could interrupt the thread that holds a
 * condition variable's mutex.
 */
#define _GNU_SOURCE /* syscall() */

#include "port/wake.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <dynsel/backend.h>

#include "port/atomic.h"
#include "port/yield.h"

static dynsel_word wakes;
static dynsel_word sleepers;

enum { NS_PER_S = 1000000000, ALL_OF_THEM = 0x7fffffff };

_Static_assert(sizeof(time_t) == sizeof(long),
               "the kernel's timespec differs from the C library's");

uint32_t dynsel_wake_ticket(void)
{
    return dynsel_word_load_acquire(&wakes);
}

uint64_t dynsel_wake_look(uint32_t ticket, uint64_t longest_ns)
{
    if (longest_ns < DYNSEL_YIELDING_NS) {
        return longest_ns;
    }
    const uint64_t began_ns = dynsel_now_ns();
    if (!dynsel_yield_while(&wakes, ticket)) {
        return 0;
    }
    const uint64_t took_ns = dynsel_now_ns() - began_ns;
    return took_ns < longest_ns ? longest_ns - took_ns : 0;
}

/* The kernel compares the ticket once more before it puts the thread to sleep. A signal ends the
 * sleep early. syscall() is no cancellation point. */
void dynsel_wake_sleep(uint32_t ticket, uint64_t longest_ns)
{
    const struct timespec longest = {.tv_sec = (time_t)(longest_ns / NS_PER_S),
                                     .tv_nsec = (long)(longest_ns % NS_PER_S)};
    (void)dynsel_word_add_synchronized(&sleepers, 1);
    (void)syscall(SYS_futex, &wakes.value, FUTEX_WAIT_PRIVATE, ticket, &longest, NULL, 0);
    (void)dynsel_word_add_synchronized(&sleepers, (uint32_t)-1);
}

/*
 * The counter is raised before the sleepers are looked at, and a sleeper counts itself before the
 * kernel looks at the counter: one of the two sees the other.
 */
void dynsel_wake_all(void)
{
    (void)dynsel_word_add_synchronized(&wakes, 1);
    if (dynsel_word_add_synchronized(&sleepers, 0) != 0) {
        (void)syscall(SYS_futex, &wakes.value, FUTEX_WAKE_PRIVATE, ALL_OF_THEM, NULL, NULL, 0);
    }
}
