/* SPDX-License-Identifier: Apache-2.0 */
/* What both programs share: the matrix in tiles, and the operations on them as plain C. The
 * lower triangle of the matrix is kept, one block of memory for each tile, row after row. */
#ifndef TILES_H
#define TILES_H

#include <stddef.h>

enum {
    TILES = 5,                            /* along a side of the matrix */
    SIDE = 96,                            /* elements along a side of a tile */
    ROWS = TILES * SIDE,                  /* of the matrix, as many columns */
    TILE_COUNT = TILES * (TILES + 1) / 2, /* of the lower triangle */
    TILE_ELEMENTS = SIDE * SIDE
};

/* The number of the tile in a row and column of tiles; column <= row. */
static inline size_t tile_at(size_t row, size_t column)
{
    return row * (row + 1) / 2 + column;
}

/* c -= a * transposed b, in OpenCL C: one work-item for each element of c. */
extern const char tiles_source[];

/* The same operation, and the three others of the factorization. */
void tile_multiply(float *c, const float *a, const float *b);
int tile_factorize(float *a); /* not 0: the matrix is not positive definite */
void tile_solve(float *b, const float *a);
void tile_update(float *c, const float *a);

/* A symmetric positive definite matrix, the same one each time. */
void tiles_make(float (*tiles)[TILE_ELEMENTS]);

/* Prints the logarithm of the determinant, and the largest error of L * transposed L. Returns
 * whether that is small. */
int tiles_check(float (*tiles)[TILE_ELEMENTS]);

#endif
