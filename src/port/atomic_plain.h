/* SPDX-License-Identifier: Apache-2.0 */
/* For programs with one context: plain loads and stores, which every core has. */
#ifndef DYNSEL_PORT_ATOMIC_PLAIN_H
#define DYNSEL_PORT_ATOMIC_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/word.h>

static inline uint32_t dynsel_word_load_relaxed(const dynsel_word *word)
{
    return word->value;
}

static inline uint32_t dynsel_word_load_acquire(const dynsel_word *word)
{
    return word->value;
}

static inline void dynsel_word_store_relaxed(dynsel_word *word, uint32_t value)
{
    word->value = value;
}

static inline void dynsel_word_store_release(dynsel_word *word, uint32_t value)
{
    word->value = value;
}

static inline uint32_t dynsel_word_add_relaxed(dynsel_word *word, uint32_t value)
{
    const uint32_t before = word->value;
    word->value = before + value;
    return before;
}

static inline uint32_t dynsel_word_add_synchronized(dynsel_word *word, uint32_t value)
{
    return dynsel_word_add_relaxed(word, value);
}

static inline uint32_t dynsel_word_exchange(dynsel_word *word, uint32_t value)
{
    const uint32_t before = word->value;
    word->value = value;
    return before;
}

/* On failure *expected is what was found instead. */
static inline bool dynsel_word_swap(dynsel_word *word, uint32_t *expected, uint32_t desired)
{
    const uint32_t found = word->value;
    if (found != *expected) {
        *expected = found;
        return false;
    }
    word->value = desired;
    return true;
}

#endif
