/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look before a sleep. To wake a thread that sleeps takes up to 50 us, longer than short work,
 * and costs the one that wakes it a call of the system: two threads that look for less time would
 * send each other to sleep.
 */
#ifndef DYNSEL_PORT_YIELD_H
#define DYNSEL_PORT_YIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "port/atomic.h"

enum { DYNSEL_YIELDING_NS = 50000 };

/* Yields while a word has a value, until 50 us are over; one yield takes longer where others use
 * the processor. Returns whether it still has the value. Does nothing where threads may have fixed
 * priorities: one of a higher one would not give way to the thread that it waits for. */
bool dynsel_yield_while(const dynsel_word *word, uint32_t value);

#endif
