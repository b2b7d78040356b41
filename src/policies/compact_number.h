/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of 64 bits in a word of 32, because words are what threads share: those below 2^24
 * exactly, others with 24 significant bits, rounded down. Compact numbers are in the order of the
 * numbers. Logarithms are in 256ths of a power of two, and straight between powers.
 */
#ifndef DYNSEL_POLICIES_COMPACT_NUMBER_H
#define DYNSEL_POLICIES_COMPACT_NUMBER_H

#include <stdint.h>

enum { DYNSEL_COMPACT_BITS = 23, DYNSEL_LOG2_BITS = 8, DYNSEL_LOG2_ONE = 1 << DYNSEL_LOG2_BITS };

/* One power of two, as a difference of large compact numbers. */
#define DYNSEL_COMPACT_DOUBLE ((uint32_t)1 << DYNSEL_COMPACT_BITS)

/* The place of the highest bit; number: not 0. */
static inline uint32_t dynsel_highest_bit(uint64_t number)
{
    return 63u - (uint32_t)__builtin_clzll(number);
}

static inline uint32_t dynsel_compact(uint64_t number)
{
    if (number < 2 * DYNSEL_COMPACT_DOUBLE) {
        return (uint32_t)number;
    }
    const uint32_t shift = dynsel_highest_bit(number) - DYNSEL_COMPACT_BITS;
    return (shift << DYNSEL_COMPACT_BITS) + (uint32_t)(number >> shift);
}

static inline uint64_t dynsel_expand(uint32_t compact)
{
    if (compact < 2 * DYNSEL_COMPACT_DOUBLE) {
        return compact;
    }
    const uint32_t shift = (compact >> DYNSEL_COMPACT_BITS) - 1;
    return (uint64_t)((compact & (DYNSEL_COMPACT_DOUBLE - 1)) | DYNSEL_COMPACT_DOUBLE) << shift;
}

/* number: 0 counts as 1. */
static inline int32_t dynsel_log2(uint64_t number)
{
    const uint64_t least = number != 0 ? number : 1;
    const uint32_t bit = dynsel_highest_bit(least);
    const uint32_t part = (uint32_t)(least << (63 - bit) >> (63 - DYNSEL_LOG2_BITS));
    return (int32_t)(bit << DYNSEL_LOG2_BITS | (part & (DYNSEL_LOG2_ONE - 1)));
}

/* number * 2^(log2 / 256), at most `most`, which is less than 2^54. */
static inline uint64_t dynsel_times_power(uint64_t number, int32_t log2, uint64_t most)
{
    const uint32_t part = (uint32_t)log2 & (DYNSEL_LOG2_ONE - 1);
    const int32_t shift = (log2 - (int32_t)part) / DYNSEL_LOG2_ONE;
    const uint64_t within = number < most ? number : most;
    const uint64_t grown = within + (within * part >> DYNSEL_LOG2_BITS);
    if (shift < 0) {
        return shift > -64 ? grown >> -shift : 0;
    }
    return shift < 64 && grown <= most >> shift ? grown << shift : most;
}

/* number * to / from, at most `most`, which is less than 2^47; number: at most `most`. From 0: the
 * number itself. */
static inline uint64_t dynsel_in_proportion(uint64_t number, uint64_t to, uint64_t from,
                                            uint64_t most)
{
    const uint64_t larger = to > from ? to : from;
    const uint32_t bit = larger != 0 ? dynsel_highest_bit(larger) : 0;
    const uint32_t shift = bit > 15 ? bit - 15 : 0;
    if (from >> shift == 0) {
        return from == 0 || to >> shift == 0 ? number : most;
    }
    const uint64_t result = number * (to >> shift) / (from >> shift);
    return result < most ? result : most;
}

#endif
