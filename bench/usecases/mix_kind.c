/* SPDX-License-Identifier: Apache-2.0 */
#include "mix_kind.h"

#include <inttypes.h>
#include <math.h> /* fabs() */
#include <stdio.h>

#include "memory.h"
#include "mix_kernels.h"

static const double TOLERANCE = 1e-5;

static const struct {
    const char *name;
    void (*compute)(const uint32_t *in, void *out, uint32_t elements, uint32_t operations);
    bool is_float;
} kernels[MIX_KERNELS] = {{.name = "polynomial", .compute = mix_polynomial, .is_float = true},
                          {.name = "scramble", .compute = mix_scramble},
                          {.name = "gather", .compute = mix_gather}};

mix_kind mix_kind_of(uint32_t kernel, uint32_t size, uint32_t elements, uint32_t operations,
                     const uint32_t *in)
{
    mix_kind kind = {.kernel = kernel,
                     .size = size,
                     .elements = elements,
                     .operations = operations,
                     .expected = memory_allocate(elements * sizeof(uint32_t))};
    kernels[kernel].compute(in, kind.expected, elements, operations);
    (void)snprintf(kind.name, sizeof kind.name, "%s/%" PRIu32 "/%" PRIu32, kernels[kernel].name,
                   elements, operations);
    return kind;
}

bool mix_is_right(const mix_kind *kind, const void *results, size_t i)
{
    if (!kernels[kind->kernel].is_float) {
        return ((const uint32_t *)results)[i] == ((const uint32_t *)kind->expected)[i];
    }
    const double is = ((const float *)results)[i];
    const double should = ((const float *)kind->expected)[i];
    return fabs(is - should) <= TOLERANCE * fabs(should);
}
