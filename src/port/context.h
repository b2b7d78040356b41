/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which context this runs. An interrupt may complete work and look at the clock, and nothing
 * else: what it finds may be half changed. Who refuses it leaves no last error, which is that of
 * the program that was interrupted.
 */
#ifndef DYNSEL_PORT_CONTEXT_H
#define DYNSEL_PORT_CONTEXT_H

#include <stdbool.h>

#include <dynsel/port.h>

static inline bool dynsel_in_interrupt(void)
{
#if CONFIG_DYNSEL_CONTEXT_INTERRUPTS
    return dynsel_port_in_interrupt();
#else
    return false;
#endif
}

#endif
