/* SPDX-License-Identifier: Apache-2.0 */
#include "tiles.h"

#include <math.h>
#include <stdio.h>

const char tiles_source[] = "kernel void multiply(global float *c, global const float *a, global "
                            "const float *b, int side)\n"
                            "{\n"
                            "    const int column = get_global_id(0), row = get_global_id(1);\n"
                            "    float sum = 0;\n"
                            "    for (int k = 0; k < side; k++)\n"
                            "        sum += a[row * side + k] * b[column * side + k];\n"
                            "    c[row * side + column] -= sum;\n"
                            "}\n";

void tile_multiply(float *c, const float *a, const float *b)
{
    for (size_t i = 0; i < SIDE; i++) {
        for (size_t j = 0; j < SIDE; j++) {
            float sum = 0;
            for (size_t k = 0; k < SIDE; k++) {
                sum += a[i * SIDE + k] * b[j * SIDE + k];
            }
            c[i * SIDE + j] -= sum;
        }
    }
}

int tile_factorize(float *a)
{
    for (size_t j = 0; j < SIDE; j++) {
        float pivot = a[j * SIDE + j];
        for (size_t k = 0; k < j; k++) {
            pivot -= a[j * SIDE + k] * a[j * SIDE + k];
        }
        if (!(pivot > 0)) {
            return 1;
        }
        pivot = sqrtf(pivot);
        a[j * SIDE + j] = pivot;
        for (size_t i = j + 1; i < SIDE; i++) {
            float sum = a[i * SIDE + j];
            for (size_t k = 0; k < j; k++) {
                sum -= a[i * SIDE + k] * a[j * SIDE + k];
            }
            a[i * SIDE + j] = sum / pivot;
        }
    }
    return 0;
}

void tile_solve(float *b, const float *a)
{
    for (size_t i = 0; i < SIDE; i++) {
        for (size_t j = 0; j < SIDE; j++) {
            float sum = b[i * SIDE + j];
            for (size_t k = 0; k < j; k++) {
                sum -= b[i * SIDE + k] * a[j * SIDE + k];
            }
            b[i * SIDE + j] = sum / a[j * SIDE + j];
        }
    }
}

void tile_update(float *c, const float *a)
{
    tile_multiply(c, a, a);
}

/* An element of the matrix, of whatever row and column. */
static float element(size_t row, size_t column)
{
    const size_t distance = row > column ? row - column : column - row;
    return (row == column ? 4.0F : 0.0F) + 2.0F / (float)(1 + distance);
}

void tiles_make(float (*tiles)[TILE_ELEMENTS])
{
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t column = 0; column < (row / SIDE + 1) * SIDE; column++) {
            tiles[tile_at(row / SIDE, column / SIDE)][row % SIDE * SIDE + column % SIDE] =
                element(row, column);
        }
    }
}

/* An element of L. */
static double factor(float (*tiles)[TILE_ELEMENTS], size_t row, size_t column)
{
    return tiles[tile_at(row / SIDE, column / SIDE)][row % SIDE * SIDE + column % SIDE];
}

int tiles_check(float (*tiles)[TILE_ELEMENTS])
{
    double log_determinant = 0;
    double worst = 0;
    for (size_t row = 0; row < ROWS; row++) {
        log_determinant += 2 * log(factor(tiles, row, row));
        for (size_t column = 0; column <= row; column++) {
            double sum = 0;
            for (size_t k = 0; k <= column; k++) {
                sum += factor(tiles, row, k) * factor(tiles, column, k);
            }
            worst = fmax(worst, fabs(sum - element(row, column)));
        }
    }
    (void)printf("%d x %d in tiles of %d\n", ROWS, ROWS, SIDE);
    (void)printf("logarithm of the determinant  %.3f\n", log_determinant);
    (void)printf("largest error                 %s\n", worst < 1e-4 ? "below 0.0001" : "too large");
    return worst < 1e-4;
}
