/* SPDX-License-Identifier: Apache-2.0 */
/* The data of a product of tiled matrices, C += A * B, and its check. Other runtimes get the same
 * ones. */
#ifndef USECASES_MATMUL_TILES_H
#define USECASES_MATMUL_TILES_H

#include <stddef.h>
#include <stdint.h>

enum { MATMUL_A = 0, MATMUL_B = 1, MATMUL_C = 2, MATMUL_MATRICES = 3 };

/* Square matrices of square tiles. */
typedef struct matmul_tiles {
    size_t tiles; /* in each dimension */
    size_t tile;  /* its rows, and its columns */
    /* The tile (row, column) of a matrix; the elements of A and B are those at the begin. */
    const float *(*tile_at)(int matrix, size_t row, size_t column);
} matmul_tiles;

/* Small whole numbers, so that every sum is exact. */
void matmul_tiles_fill(float *to, size_t count, uint64_t *seed);

/* The operations of one product, in 10^9. */
double matmul_tiles_gflop(size_t tiles, size_t tile);

/* Whether C is `times` A * B: compares C * x with times * A * (B * x) for random whole numbers x,
 * which costs less than another product of the matrices. Returns the first wrong row of C; the
 * number of rows: all are right. */
size_t matmul_tiles_wrong_row(const matmul_tiles *t, unsigned times, uint64_t *seed);

#endif
