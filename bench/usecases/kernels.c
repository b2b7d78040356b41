/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels.h"

/* What the host and the devices compute: C, and OpenCL C. The first only computes, the second does
 * with integers, the third mostly reads memory. */
#define COMMON                                                                                     \
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

#define TEXT(...)          TEXT_EXPANDED(__VA_ARGS__)
#define TEXT_EXPANDED(...) #__VA_ARGS__
#define ARGUMENTS          "unsigned elements, unsigned operations)"

#define global /* the host has one kind of memory */
COMMON
#undef global

static void polynomial(const uint32_t *in, void *out, uint32_t elements, uint32_t operations)
{
    float *results = out;
    for (uint32_t i = 0; i < elements; i++) {
        results[i] = polynomial_of(in[i], operations);
    }
}

static void scramble(const uint32_t *in, void *out, uint32_t elements, uint32_t operations)
{
    uint32_t *results = out;
    for (uint32_t i = 0; i < elements; i++) {
        results[i] = scramble_of(in[i], operations);
    }
}

static void gather(const uint32_t *in, void *out, uint32_t elements, uint32_t operations)
{
    uint32_t *results = out;
    for (uint32_t i = 0; i < elements; i++) {
        results[i] = gather_of(in, i, elements, operations);
    }
}

typedef void (*plain)(const uint32_t *in, void *out, uint32_t elements, uint32_t operations);

static dynsel_status on_host(const dynsel_launch *launch, plain function)
{
    function(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
             DYNSEL_LAUNCH_VALUE(launch, 2, uint32_t), DYNSEL_LAUNCH_VALUE(launch, 3, uint32_t));
    return DYNSEL_OK;
}

static dynsel_status polynomial_on_host(const dynsel_launch *launch)
{
    return on_host(launch, polynomial);
}

static dynsel_status scramble_on_host(const dynsel_launch *launch)
{
    return on_host(launch, scramble);
}

static dynsel_status gather_on_host(const dynsel_launch *launch)
{
    return on_host(launch, gather);
}

const usecase_kernel usecase_kernels[KERNELS] = {
    {.kernel = {.name = "polynomial",
                .id = 1,
                .function = polynomial_on_host,
                .source =
                    TEXT(COMMON) "kernel void polynomial(global const unsigned *in,"
                                 "global float *out," ARGUMENTS "{ size_t i = get_global_id(0);"
                                 "out[i] = polynomial_of(in[i], operations); }"},
     .is_float = true,
     .reference = polynomial},
    {.kernel = {.name = "scramble",
                .id = 2,
                .function = scramble_on_host,
                .source =
                    TEXT(COMMON) "kernel void scramble(global const unsigned *in,"
                                 "global unsigned *out," ARGUMENTS "{ size_t i = get_global_id(0);"
                                 "out[i] = scramble_of(in[i], operations); }"},
     .reference = scramble},
    {.kernel = {.name = "gather",
                .id = 3,
                .function = gather_on_host,
                .source =
                    TEXT(COMMON) "kernel void gather(global const unsigned *in,"
                                 "global unsigned *out," ARGUMENTS "{ size_t i = get_global_id(0);"
                                 "out[i] = gather_of(in, i, elements, operations); }"},
     .reference = gather},
};
