/* SPDX-License-Identifier: Apache-2.0 */
/* Letting others run while this context waits for something that it can only look at. */
#ifndef DYNSEL_PORT_PAUSE_H
#define DYNSEL_PORT_PAUSE_H

#include <stdint.h>

#include <dynsel/config.h>

/*
 * round: how often this wait has paused already; the first pauses only give way, later ones sleep
 * for up to 100 us.
 */
#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_pause(uint32_t round);
#else
/* There is nobody to give way to: what is waited for happens outside of this processor, or in an
 * interrupt, which comes anyway. */
static inline void dynsel_pause(uint32_t round)
{
    (void)round;
}
#endif

#endif
