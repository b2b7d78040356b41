/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleeping until work is marked complete. Take a ticket, check the condition, then sleep with the
 * ticket: a wake in between is not missed.
 */
#ifndef DYNSEL_PORT_WAKE_H
#define DYNSEL_PORT_WAKE_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/config.h>

uint32_t dynsel_wake_ticket(void);

/* Before a sleep for what is often short: whether there was no wake since the ticket was taken, nor
 * while dynsel_yield_while() looked. Does not look if the sleep may take only `longest_ns`, less
 * than that takes. */
#if CONFIG_DYNSEL_CONTEXT_THREADS
bool dynsel_wake_is_late(uint32_t ticket, uint64_t longest_ns);
#else
static inline bool dynsel_wake_is_late(uint32_t ticket, uint64_t longest_ns)
{
    (void)ticket;
    (void)longest_ns;
    return true;
}
#endif

/* Returns at the first wake since the ticket was taken, after about `longest_ns`, or for no reason.
 */
void dynsel_wake_sleep(uint32_t ticket, uint64_t longest_ns);

/* Wakes all sleepers. From any thread, interrupt or signal handler. */
void dynsel_wake_all(void);

#endif
