/* SPDX-License-Identifier: Apache-2.0 */
#include "port/atomic_interrupts.h"

uint32_t dynsel_marked_add(dynsel_word *word, uint32_t value)
{
    const uint32_t state = dynsel_critical_begin();
    const uint32_t before = dynsel_word_add_relaxed(word, value);
    dynsel_critical_end(state);
    return before;
}

bool dynsel_marked_swap(dynsel_word *word, uint32_t *expected, uint32_t desired)
{
    const uint32_t state = dynsel_critical_begin();
    const bool fits = dynsel_word_swap(word, expected, desired);
    dynsel_critical_end(state);
    return fits;
}
