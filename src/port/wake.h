/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleeping until work is marked complete. Take a ticket, check the condition, then sleep with the
 * ticket: a wake in between is not missed.
 */
#ifndef DYNSEL_PORT_WAKE_H
#define DYNSEL_PORT_WAKE_H

#include <stdint.h>

#include <dynsel/config.h>

uint32_t dynsel_wake_ticket(void);

/* Looks for a wake since the ticket was taken, as long as dynsel_yield_while() does, unless the
 * sleep may take less than that. Returns how long the sleep may still take; 0: there was a wake, or
 * no time is left. */
#if CONFIG_DYNSEL_CONTEXT_THREADS
uint64_t dynsel_wake_look(uint32_t ticket, uint64_t longest_ns);
#else
static inline uint64_t dynsel_wake_look(uint32_t ticket, uint64_t longest_ns)
{
    (void)ticket;
    return longest_ns;
}
#endif

/* Returns at the first wake since the ticket was taken, after about `longest_ns`, or for no reason.
 */
void dynsel_wake_sleep(uint32_t ticket, uint64_t longest_ns);

/* Wakes all sleepers. From any thread, interrupt or signal handler. */
void dynsel_wake_all(void);

#endif
