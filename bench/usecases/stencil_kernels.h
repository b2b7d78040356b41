/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a stencil over a grid in parts, for the host and as OpenCL C, and what they have
 * to compute. Other runtimes get the same ones. */
#ifndef USECASES_STENCIL_KERNELS_H
#define USECASES_STENCIL_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "random.h"

/* A work-item for each element: columns, rows. */
#define STENCIL_SOURCE                                                                             \
    "kernel void stencil(global unsigned *to, global const unsigned *from,"                        \
    "                    global const unsigned *above, global const unsigned *below,"              \
    "                    unsigned rows, unsigned columns)"                                         \
    "{"                                                                                            \
    "    size_t i = get_global_id(1);"                                                             \
    "    size_t j = get_global_id(0);"                                                             \
    "    global const unsigned *row = from + i * columns;"                                         \
    "    unsigned up = i > 0 ? row[j - columns] : above[j];"                                       \
    "    unsigned down = i + 1 < rows ? row[j + columns] : below[j];"                              \
    "    unsigned left = row[j > 0 ? j - 1 : columns - 1];"                                        \
    "    unsigned right = row[j + 1 < columns ? j + 1 : 0];"                                       \
    "    to[i * columns + j] = row[j] + 3 * up + 5 * down + 7 * left + 11 * right;"                \
    "}"

/* A work-item for each column. */
#define STENCIL_BORDERS_SOURCE                                                                     \
    "kernel void borders(global unsigned *first, global unsigned *last,"                           \
    "                    global const unsigned *from, unsigned rows, unsigned columns)"            \
    "{"                                                                                            \
    "    size_t j = get_global_id(0);"                                                             \
    "    first[j] = from[j];"                                                                      \
    "    last[j] = from[(rows - 1) * columns + j];"                                                \
    "}"

/* Different factors, so that no neighbour can stand for another one; sums wrap. */
static inline void stencil_row(uint32_t *to, const uint32_t *row, const uint32_t *above,
                               const uint32_t *below, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        const uint32_t left = row[j > 0 ? j - 1 : columns - 1];
        const uint32_t right = row[j + 1 < columns ? j + 1 : 0];
        to[j] = row[j] + 3 * above[j] + 5 * below[j] + 7 * left + 11 * right;
    }
}

/* above, below: the neighbours' border rows. */
static inline void stencil_step(uint32_t *to, const uint32_t *from, const uint32_t *above,
                                const uint32_t *below, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; i++) {
        const uint32_t *row = &from[i * columns];
        stencil_row(&to[i * columns], row, i > 0 ? row - columns : above,
                    i + 1 < rows ? row + columns : below, columns);
    }
}

/* Copies the first and the last row. */
static inline void stencil_borders(uint32_t *first, uint32_t *last, const uint32_t *from,
                                   size_t rows, size_t columns)
{
    (void)memcpy(first, from, columns * sizeof *from);
    (void)memcpy(last, from + (rows - 1) * columns, columns * sizeof *from);
}

/* The initial contents of a part. */
static inline void stencil_fill(uint32_t *part, size_t rows, size_t columns, uint64_t *seed)
{
    for (size_t i = 0; i < rows * columns; i++) {
        part[i] = (uint32_t)random_next(seed);
    }
}

/* All iterations over the whole grid in one piece, of which the first row follows the last. */
static inline void stencil_iterate(uint32_t *grid, size_t rows, size_t columns, uint64_t iterations)
{
    const size_t bytes = rows * columns * sizeof *grid;
    uint32_t *old = memory_allocate(bytes);
    for (uint64_t i = 0; i < iterations; i++) {
        (void)memcpy(old, grid, bytes);
        stencil_step(grid, old, old + (rows - 1) * columns, old, rows, columns);
    }
    free(old);
}

#endif
