/* SPDX-License-Identifier: Apache-2.0 */
/* For programs with threads: the compiler's atomics, lock-free on every machine that is built for.
 */
#ifndef DYNSEL_PORT_ATOMIC_THREADS_H
#define DYNSEL_PORT_ATOMIC_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/word.h>

_Static_assert(
    __GCC_ATOMIC_INT_LOCK_FREE == 2 && sizeof(int) == sizeof(uint32_t),
    "this machine has no lock-free 32-bit atomics: choose CONFIG_DYNSEL_CONTEXT_INTERRUPTS for it");

static inline uint32_t dynsel_word_load_relaxed(const dynsel_word *word)
{
    return __atomic_load_n(&word->value, __ATOMIC_RELAXED);
}

static inline uint32_t dynsel_word_load_acquire(const dynsel_word *word)
{
    return __atomic_load_n(&word->value, __ATOMIC_ACQUIRE);
}

static inline void dynsel_word_store_relaxed(dynsel_word *word, uint32_t value)
{
    __atomic_store_n(&word->value, value, __ATOMIC_RELAXED);
}

static inline void dynsel_word_store_release(dynsel_word *word, uint32_t value)
{
    __atomic_store_n(&word->value, value, __ATOMIC_RELEASE);
}

static inline uint32_t dynsel_word_add_relaxed(dynsel_word *word, uint32_t value)
{
    return __atomic_fetch_add(&word->value, value, __ATOMIC_RELAXED);
}

/* In one order with all other synchronized additions, whichever words they are on. */
static inline uint32_t dynsel_word_add_synchronized(dynsel_word *word, uint32_t value)
{
    return __atomic_fetch_add(&word->value, value, __ATOMIC_SEQ_CST);
}

static inline uint32_t dynsel_word_exchange(dynsel_word *word, uint32_t value)
{
    return __atomic_exchange_n(&word->value, value, __ATOMIC_ACQ_REL);
}

/* On failure *expected is what was found instead. */
static inline bool dynsel_word_swap(dynsel_word *word, uint32_t *expected, uint32_t desired)
{
    return __atomic_compare_exchange_n(&word->value, expected, desired, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

#endif
