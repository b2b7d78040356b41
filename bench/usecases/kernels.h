/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a mix: each maps every element of one array to one of another, with a given number
 * of operations. Arguments: in, out, elements (a power of two), operations. */
#ifndef USECASES_KERNELS_H
#define USECASES_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/kernel.h>

typedef struct usecase_kernel {
    dynsel_kernel kernel;
    bool is_float; /* results are floating point and may differ in the last digits */
    /* Computes all results in plain C, for comparison. */
    void (*reference)(const uint32_t *in, void *out, uint32_t elements, uint32_t operations);
} usecase_kernel;

enum { KERNELS = 3 };
extern const usecase_kernel usecase_kernels[KERNELS];

#endif
