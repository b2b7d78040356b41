/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on a dynsel_word, with the memory order in the name: _relaxed for counting, _acquire
 * and _release for handing data over. 32 bits and no other width: wider or narrower ones need a
 * run-time library on small cores.
 */
#ifndef DYNSEL_PORT_ATOMIC_H
#define DYNSEL_PORT_ATOMIC_H

#include <dynsel/config.h>

#if CONFIG_DYNSEL_CONTEXT_THREADS
#include "port/atomic_threads.h"
#elif CONFIG_DYNSEL_CONTEXT_INTERRUPTS
#include "port/atomic_interrupts.h"
#else
#include "port/atomic_plain.h"
#endif

/* A plain number of a public structure, which one thread at a time changes while others read it. */
static inline uint32_t dynsel_number_load_acquire(const uint32_t *number)
{
#if CONFIG_DYNSEL_CONTEXT_THREADS
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
#else
    return *(const volatile uint32_t *)number;
#endif
}

static inline void dynsel_number_store_release(uint32_t *number, uint32_t value)
{
#if CONFIG_DYNSEL_CONTEXT_THREADS
    __atomic_store_n(number, value, __ATOMIC_RELEASE);
#else
    *(volatile uint32_t *)number = value;
#endif
}

/* Less, but never below 0: two threads may take back what one counted. Returns what is left. */
static inline uint32_t dynsel_word_subtract(dynsel_word *word, uint32_t less)
{
    uint32_t before = dynsel_word_load_relaxed(word);
    uint32_t left = before >= less ? before - less : 0;
#if CONFIG_DYNSEL_CONTEXT_THREADS
    while (!dynsel_word_swap(word, &before, left)) {
        left = before >= less ? before - less : 0;
    }
#else
    dynsel_word_store_relaxed(word, left);
#endif
    return left;
}

/* For words that dynsel_complete() changes, also from interrupts: a slot's word, and the count of
 * wakes. */
#if !CONFIG_DYNSEL_CONTEXT_INTERRUPTS
static inline uint32_t dynsel_marked_add(dynsel_word *word, uint32_t value)
{
    return dynsel_word_add_synchronized(word, value);
}

static inline bool dynsel_marked_swap(dynsel_word *word, uint32_t *expected, uint32_t desired)
{
    return dynsel_word_swap(word, expected, desired);
}
#endif

#endif
