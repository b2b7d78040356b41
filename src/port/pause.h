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
#else
/* Nothing to yield to: the awaited event comes from outside of this processor, or from an
 * interrupt. */
static inline void dynsel_pause(uint32_t round)
{
    (void)round;
}
#endif

#endif
