/* SPDX-License-Identifier: Apache-2.0 */
#ifndef USECASES_RANDOM_H
#define USECASES_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* splitmix64; state: any number, the seed. */
static inline uint64_t random_next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline void random_shuffle(uint32_t *order, size_t count, uint64_t *state)
{
    for (size_t i = count; i > 1; i--) {
        const size_t k = (size_t)(random_next(state) % i);
        const uint32_t other = order[k];
        order[k] = order[i - 1];
        order[i - 1] = other;
    }
}

#endif
