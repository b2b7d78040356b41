/* SPDX-License-Identifier: Apache-2.0 */
/* The product of two tiles, c += a * b, for the host and as OpenCL C. Other runtimes get the same
 * one. n: the rows of a tile, and its columns. */
#ifndef USECASES_MATMUL_KERNEL_H
#define USECASES_MATMUL_KERNEL_H

#include <stddef.h>

/* A work-item for each element. */
#define MATMUL_SOURCE                                                                              \
    "kernel void matmul(global float *c, global const float *a, global const float *b,"            \
    "                   unsigned n)"                                                               \
    "{"                                                                                            \
    "    size_t i = get_global_id(1);"                                                             \
    "    size_t j = get_global_id(0);"                                                             \
    "    float sum = c[i * n + j];"                                                                \
    "    for (unsigned k = 0; k < n; k++) {"                                                       \
    "        sum += a[i * n + k] * b[k * n + j];"                                                  \
    "    }"                                                                                        \
    "    c[i * n + j] = sum;"                                                                      \
    "}"

/* Not inlined, and aligned: its inner loop takes up to 1.7 times as long where it lies
 * unfavourably, and so would depend on the program that has it. */
__attribute__((noinline, aligned(64), unused)) static void matmul_add(float *c, const float *a,
                                                                      const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            const float factor = a[i * n + k];
            for (size_t j = 0; j < n; j++) {
                c[i * n + j] += factor * b[k * n + j];
            }
        }
    }
}

#endif
