/* SPDX-License-Identifier: Apache-2.0 */
/* A kind of work: one of the three kernels of the mix with its amount of work and its results.
 * Other runtimes get the same ones. */
#ifndef USECASES_MIX_KIND_H
#define USECASES_MIX_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MIX_KERNELS = 3 /* polynomial, scramble, gather */ };

typedef struct mix_kind {
    uint32_t kernel;
    uint32_t size;       /* in the sizes of the program */
    uint32_t elements;   /* a power of two */
    uint32_t operations; /* for each element */
    void *expected;      /* by plain C; to be freed */
    char name[48];       /* "scramble/4096/16" */
} mix_kind;

/* Computes the expected results of this input. */
mix_kind mix_kind_of(uint32_t kernel, uint32_t size, uint32_t elements, uint32_t operations,
                     const uint32_t *in);

/* Whether element i is as expected; floating point may differ in the last digits. */
bool mix_is_right(const mix_kind *kind, const void *results, size_t i);

#endif
