/* SPDX-License-Identifier: Apache-2.0 */
/* The three kernels of a mix, for the host and as OpenCL C. Other runtimes get the same ones. */
#ifndef USECASES_MIX_KERNELS_H
#define USECASES_MIX_KERNELS_H

#include <stdint.h>

/* What the host and the devices compute: C, and OpenCL C. The first only computes, the second does
 * with integers, the third mostly reads memory. */
#define MIX_COMMON                                                                                 \
    static inline float polynomial_of(unsigned x, unsigned operations)                             \
    {                                                                                              \
        const float c = (float)(x & 1023u) + 1.0f;                                                 \
        float y = c;                                                                               \
        for (unsigned k = 0; k < operations; k++) {                                                \
            y = y * 0.75f + c;                                                                     \
        }                                                                                          \
        return y;                                                                                  \
    }                                                                                              \
                                                                                                   \
    static inline unsigned scramble_of(unsigned x, unsigned operations)                            \
    {                                                                                              \
        for (unsigned k = 0; k < operations; k++) {                                                \
            x = (x ^ (x >> 15)) * 0x2c1b3c6du + k;                                                 \
        }                                                                                          \
        return x;                                                                                  \
    }                                                                                              \
                                                                                                   \
    static inline unsigned gather_of(global const unsigned *in, unsigned i, unsigned elements,     \
                                     unsigned operations)                                          \
    {                                                                                              \
        unsigned sum = 0;                                                                          \
        for (unsigned k = 0; k < operations; k++) {                                                \
            sum += in[(i + k * 64u) & (elements - 1u)];                                            \
        }                                                                                          \
        return sum;                                                                                \
    }

#define MIX_TEXT(...)          MIX_TEXT_EXPANDED(__VA_ARGS__)
#define MIX_TEXT_EXPANDED(...) #__VA_ARGS__

/* The same for OpenCL C, one kernel each. */
#define MIX_SOURCE(name, type, call)                                                               \
    MIX_TEXT(MIX_COMMON)                                                                           \
    "kernel void " #name "(global const unsigned *in, global " #type                               \
    " *out, unsigned elements, unsigned operations)"                                               \
    "{ size_t i = get_global_id(0); out[i] = " #call "; }"
#define MIX_POLYNOMIAL MIX_SOURCE(polynomial, float, polynomial_of(in[i], operations))
#define MIX_SCRAMBLE   MIX_SOURCE(scramble, unsigned, scramble_of(in[i], operations))
#define MIX_GATHER     MIX_SOURCE(gather, unsigned, gather_of(in, i, elements, operations))

#define global /* the host has one kind of memory */
MIX_COMMON
#undef global

static inline void mix_polynomial(const uint32_t *in, void *out, uint32_t elements,
                                  uint32_t operations)
{
    float *results = out;
    for (uint32_t i = 0; i < elements; i++) {
        results[i] = polynomial_of(in[i], operations);
    }
}

static inline void mix_scramble(const uint32_t *in, void *out, uint32_t elements,
                                uint32_t operations)
{
    uint32_t *results = out;
    for (uint32_t i = 0; i < elements; i++) {
        results[i] = scramble_of(in[i], operations);
    }
}

static inline void mix_gather(const uint32_t *in, void *out, uint32_t elements, uint32_t operations)
{
    uint32_t *results = out;
    for (uint32_t i = 0; i < elements; i++) {
        results[i] = gather_of(in, i, elements, operations);
    }
}

#endif
