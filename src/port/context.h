/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calling context. An interrupt may only complete work and read the clock, because other state
 * may be half changed. A refused call sets no last error: that belongs to the interrupted program.
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
