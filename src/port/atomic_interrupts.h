/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For one processor whose interrupts call dynsel_complete(): loads and stores of 32 bits are atomic
 * on every core. A read-modify-write is a critical section only on words that this call changes.
 * Needs no atomic instructions.
 */
#ifndef DYNSEL_PORT_ATOMIC_INTERRUPTS_H
#define DYNSEL_PORT_ATOMIC_INTERRUPTS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/port.h>
#include <dynsel/word.h>

/* The compiler moves no access across; one processor sees its own accesses in order. */
#define DYNSEL_COMPILER_BARRIER() __asm__ volatile("" ::: "memory")

static inline uint32_t dynsel_word_load_relaxed(const dynsel_word *word)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): it takes the policy for its entry */
    return *(const volatile uint32_t *)&word->value;
}

static inline uint32_t dynsel_word_load_acquire(const dynsel_word *word)
{
    const uint32_t value = dynsel_word_load_relaxed(word);
    DYNSEL_COMPILER_BARRIER();
    return value;
}

static inline void dynsel_word_store_relaxed(dynsel_word *word, uint32_t value)
{
    *(volatile uint32_t *)&word->value = value;
}

static inline void dynsel_word_store_release(dynsel_word *word, uint32_t value)
{
    DYNSEL_COMPILER_BARRIER();
    dynsel_word_store_relaxed(word, value);
}

static inline uint32_t dynsel_critical_begin(void)
{
    const uint32_t state = dynsel_port_enter_critical();
    DYNSEL_COMPILER_BARRIER();
    return state;
}

static inline void dynsel_critical_end(uint32_t state)
{
    DYNSEL_COMPILER_BARRIER();
    dynsel_port_leave_critical(state);
}

static inline uint32_t dynsel_word_add_relaxed(dynsel_word *word, uint32_t value)
{
    const uint32_t before = dynsel_word_load_relaxed(word);
    dynsel_word_store_relaxed(word, before + value);
    return before;
}

static inline uint32_t dynsel_word_add_synchronized(dynsel_word *word, uint32_t value)
{
    return dynsel_word_add_relaxed(word, value);
}

static inline uint32_t dynsel_word_exchange(dynsel_word *word, uint32_t value)
{
    const uint32_t before = dynsel_word_load_relaxed(word);
    dynsel_word_store_relaxed(word, value);
    return before;
}

/* On failure *expected is what was found instead. */
static inline bool dynsel_word_swap(dynsel_word *word, uint32_t *expected, uint32_t desired)
{
    const uint32_t found = dynsel_word_load_relaxed(word);
    if (found != *expected) {
        *expected = found;
        return false;
    }
    dynsel_word_store_relaxed(word, desired);
    return true;
}

uint32_t dynsel_marked_add(dynsel_word *word, uint32_t value);
bool dynsel_marked_swap(dynsel_word *word, uint32_t *expected, uint32_t desired);

#endif
