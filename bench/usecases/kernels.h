/* SPDX-License-Identifier: Apache-2.0 */
/* What a mix is made of: kernels that turn each element of one array into one of another, with as
 * many operations as wanted. Arguments: in, out, elements (a power of two), operations. */
#ifndef USECASES_KERNELS_H
#define USECASES_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/kernel.h>

typedef struct usecase_kernel {
    dynsel_kernel kernel;
    bool is_float; /* the results are, and may differ in the last digits */
    /* Plain C, for what is right: writes all results. */
    void (*reference)(const uint32_t *in, void *out, uint32_t elements, uint32_t operations);
} usecase_kernel;

enum { KERNELS = 3 };
extern const usecase_kernel usecase_kernels[KERNELS];

#endif
