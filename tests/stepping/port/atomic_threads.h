/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in front of src/port/atomic_threads.h for library sources that a test steps through:
 * before each operation another thread may run. Everything between two operations happens at once.
 */
#ifndef DYNSEL_PORT_ATOMIC_THREADS_H
#define DYNSEL_PORT_ATOMIC_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/word.h>

#include "stepping/step.h"

/* A small table, so that threads meet in it. */
#undef CONFIG_DYNSEL_MAX_IN_FLIGHT
#define CONFIG_DYNSEL_MAX_IN_FLIGHT STEP_SLOTS

static inline uint32_t dynsel_word_load_relaxed(const dynsel_word *word)
{
    step_before_word(word, STEP_READS);
    return word->value;
}

static inline uint32_t dynsel_word_load_acquire(const dynsel_word *word)
{
    return dynsel_word_load_relaxed(word);
}

static inline void dynsel_word_store_relaxed(dynsel_word *word, uint32_t value)
{
    step_before_word(word, STEP_WRITES);
    word->value = value;
}

static inline void dynsel_word_store_release(dynsel_word *word, uint32_t value)
{
    dynsel_word_store_relaxed(word, value);
}

static inline uint32_t dynsel_word_exchange(dynsel_word *word, uint32_t value)
{
    step_before_word(word, STEP_WRITES);
    const uint32_t before = word->value;
    word->value = value;
    return before;
}

static inline uint32_t dynsel_word_add_relaxed(dynsel_word *word, uint32_t value)
{
    step_before_word(word, STEP_WRITES);
    const uint32_t before = word->value;
    word->value = before + value;
    return before;
}

static inline uint32_t dynsel_word_add_synchronized(dynsel_word *word, uint32_t value)
{
    return dynsel_word_add_relaxed(word, value);
}

static inline bool dynsel_word_swap(dynsel_word *word, uint32_t *expected, uint32_t desired)
{
    step_before_word(word, STEP_WRITES);
    if (word->value != *expected) {
        *expected = word->value;
        return false;
    }
    word->value = desired;
    return true;
}

#endif
