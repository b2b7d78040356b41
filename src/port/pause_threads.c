/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "port/pause.h"

#include <sched.h>
#include <time.h>

#include "port/cancel.h"

enum { ROUNDS_GIVING_WAY = 16, NS_PER_ROUND = 10000, LONGEST_NS = 100000, MORE_YIELDS = 240 };
enum { IDLE_SPINS_NS = 20000, IDLE_YIELDS_NS = 1000000, IDLE_SHARE = 8, LONGEST_IDLE_NS = 200000 };

static void sleep_for(long ns)
{
    const int before = dynsel_cancel_defer();
    (void)nanosleep(&(struct timespec){.tv_nsec = ns}, NULL); /* a signal ends it early */
    dynsel_cancel_allow(before);
}

void dynsel_pause(uint32_t round)
{
    if (round < ROUNDS_GIVING_WAY) {
        (void)sched_yield();
        return;
    }
    const uint32_t steps = round - ROUNDS_GIVING_WAY + 1;
    sleep_for(steps < LONGEST_NS / NS_PER_ROUND ? (long)steps * NS_PER_ROUND : LONGEST_NS);
}

void dynsel_pause_for_copy(uint32_t round)
{
    dynsel_pause(round < MORE_YIELDS ? 0 : round - MORE_YIELDS);
}

void dynsel_pause_while_idle(uint64_t idle_ns)
{
    const uint64_t share = idle_ns / IDLE_SHARE;
    if (idle_ns < IDLE_SPINS_NS) {
        return; /* a yield takes 0.3 us, as long as a message between two processes */
    }
    if (idle_ns < IDLE_YIELDS_NS) {
        (void)sched_yield();
        return;
    }
    sleep_for(share < LONGEST_IDLE_NS ? (long)share : LONGEST_IDLE_NS);
}
