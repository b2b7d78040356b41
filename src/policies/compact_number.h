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

/* One power of two, as a difference of large compact numbers; from twice this on. */
#define DYNSEL_COMPACT_DOUBLE ((uint32_t)1 << DYNSEL_COMPACT_BITS)

/* The place of the highest bit; number: not 0. */
static inline uint32_t dynsel_highest_bit(uint64_t number)
{
    return 63u - (uint32_t)__builtin_clzll(number);
}

static inline uint32_t dynsel_compact(uint64_t number)
{
    if (number >> (DYNSEL_COMPACT_BITS + 1) == 0) {
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

/* number * 2^(log2 / 256), at most `most`, which is less than 2^54. A larger number counts as
 * `most`. */
static inline uint64_t dynsel_times_power(uint64_t number, int32_t log2, uint64_t most)
{
    const uint32_t part = (uint32_t)log2 & (DYNSEL_LOG2_ONE - 1);
    const int32_t shift = (log2 - (int32_t)part) / DYNSEL_LOG2_ONE;
    const uint64_t within = number < most ? number : most;
    if (shift < 0) {
        const uint64_t grown = within + (within * part >> DYNSEL_LOG2_BITS);
        return shift > -64 ? grown >> -shift : 0;
    }
    if (within == 0 || shift >= 64 || within > most >> shift) {
        return within == 0 ? 0 : most;
    }
    const uint64_t shifted = within << shift; /* first, so that small numbers grow by `part`, too */
    const uint64_t grown = shifted + (shifted * part >> DYNSEL_LOG2_BITS);
    return grown < most ? grown : most;
}

/* By how much to shift a number down, so that it has no more than 16 bits; number: not 0. */
static inline uint32_t dynsel_beyond_16_bits(uint64_t number)
{
    const uint32_t bit = dynsel_highest_bit(number);
    return bit > 15 ? bit - 15 : 0;
}

/* number * to / from, at most `most`, which is less than 2^47; number: at most `most`. From 0: the
 * number itself. */
static inline uint64_t dynsel_in_proportion(uint64_t number, uint64_t to, uint64_t from,
                                            uint64_t most)
{
    if (number == 0 || from == 0 || to == 0) {
        return from == 0 ? number : 0;
    }
    const uint32_t to_shift = dynsel_beyond_16_bits(to);
    const uint32_t from_shift = dynsel_beyond_16_bits(from);
    const uint64_t product = number * (to >> to_shift);
    const uint32_t room = 63 - dynsel_highest_bit(product);
    const uint64_t quotient = (product << room) / (from >> from_shift); /* more than `most` */
    const uint32_t down = from_shift + room;
    if (down <= to_shift) {
        return most;
    }
    const uint64_t result = down - to_shift < 64 ? quotient >> (down - to_shift) : 0;
    return result < most ? result : most;
}

#endif
