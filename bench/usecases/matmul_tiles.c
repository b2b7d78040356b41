/* SPDX-License-Identifier: Apache-2.0 */
#include "matmul_tiles.h"

#include <stdlib.h>

#include "memory.h"
#include "random.h"

enum { MOST_VALUE = 7, MOST_WEIGHT = 1023 };

void matmul_tiles_fill(float *to, size_t count, uint64_t *seed)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = (float)(random_next(seed) % (MOST_VALUE + 1));
    }
}

double matmul_tiles_gflop(size_t tiles, size_t tile)
{
    const double rows = (double)(tiles * tile);
    return 2.0 * rows * rows * rows / 1e9;
}

/* to = matrix * from, in plain C; all numbers are whole, and so small that double is exact. */
static void multiply(const matmul_tiles *t, int matrix, const double *from, double *to)
{
    const size_t n = t->tile;
    for (size_t row = 0; row < t->tiles * n; row++) {
        to[row] = 0;
        for (size_t column = 0; column < t->tiles; column++) {
            const float *elements = t->tile_at(matrix, row / n, column);
            for (size_t k = 0; k < n; k++) {
                to[row] += elements[row % n * n + k] * from[column * n + k];
            }
        }
    }
}

size_t matmul_tiles_wrong_row(const matmul_tiles *t, unsigned times, uint64_t *seed)
{
    const size_t n = t->tiles * t->tile;
    double *const x = memory_allocate(n * sizeof *x);
    double *const b_x = memory_allocate(n * sizeof *b_x);
    double *const a_b_x = memory_allocate(n * sizeof *a_b_x);
    double *const c_x = memory_allocate(n * sizeof *c_x);
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)(random_next(seed) % (MOST_WEIGHT + 1));
    }
    multiply(t, MATMUL_B, x, b_x);
    multiply(t, MATMUL_A, b_x, a_b_x);
    multiply(t, MATMUL_C, x, c_x);
    size_t row = 0;
    while (row < n && c_x[row] == times * a_b_x[row]) {
        row++;
    }
    free(x);
    free(b_x);
    free(a_b_x);
    free(c_x);
    return row;
}
