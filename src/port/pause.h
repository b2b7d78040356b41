/* SPDX-License-Identifier: Apache-2.0 */
/* Backoff while this context polls. */
#ifndef DYNSEL_PORT_PAUSE_H
#define DYNSEL_PORT_PAUSE_H

#include <stdint.h>

#include <dynsel/config.h>

/*
 * round: how often this wait has paused already; the first pauses yield, later ones sleep for up to
 * 100 us.
 */
#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_pause(uint32_t round);

/* The same where most waits are shorter than a sleep: yields 240 times more before it sleeps, about
 * 300 us with a look at an event each time. The shortest sleep takes 60 us on Linux, twice as long
 * as a copy of 1 MiB from a GPU to the host. */
void dynsel_pause_for_copy(uint32_t round);

/* For a loop that looks at several things: does nothing for 20 us, yields until nothing has
 * happened for 1 ms, then sleeps for an eighth of that time, up to 0.2 ms. So what comes is seen
 * late by an eighth of the time that it took to come, at most. idle_ns: how long nothing has
 * happened. */
void dynsel_pause_while_idle(uint64_t idle_ns);
#else
/* Nothing to yield to: the awaited event comes from outside of this processor, or from an
 * interrupt. */
static inline void dynsel_pause(uint32_t round)
{
    (void)round;
}

static inline void dynsel_pause_for_copy(uint32_t round)
{
    (void)round;
}
#endif

#endif
