/* SPDX-License-Identifier: Apache-2.0 */
/* A tiled Cholesky factorization, A = L * transposed L: its kernels, for the host and as OpenCL C,
 * and its result. Other runtimes get the same ones. n: the rows of a tile, and its columns. */
#ifndef USECASES_CHOLESKY_KERNELS_H
#define USECASES_CHOLESKY_KERNELS_H

#include <math.h> /* fabs() */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"

typedef enum cholesky_kind {
    CHOLESKY_POTRF, /* a; in one work-group */
    CHOLESKY_TRSM,  /* x, l; a work-item for each row */
    CHOLESKY_SYRK,  /* a, x; a work-item for each element, as in GEMM */
    CHOLESKY_GEMM,  /* a, x, y */
    CHOLESKY_KINDS
} cholesky_kind;

enum { CHOLESKY_MOST_LANES = 64 /* work-items of potrf */ };

#define CHOLESKY_POTRF_SOURCE                                                                      \
    "kernel void potrf(global float *a, unsigned n)"                                               \
    "{"                                                                                            \
    "    unsigned lane = get_local_id(0);"                                                         \
    "    unsigned lanes = get_local_size(0);"                                                      \
    "    for (unsigned k = 0; k < n; k++) {"                                                       \
    "        if (lane == 0) {"                                                                     \
    "            a[k * n + k] = sqrt(a[k * n + k]);"                                               \
    "        }"                                                                                    \
    "        barrier(CLK_GLOBAL_MEM_FENCE);"                                                       \
    "        for (unsigned i = k + 1 + lane; i < n; i += lanes) {"                                 \
    "            a[i * n + k] /= a[k * n + k];"                                                    \
    "        }"                                                                                    \
    "        barrier(CLK_GLOBAL_MEM_FENCE);"                                                       \
    "        for (unsigned i = k + 1 + lane; i < n; i += lanes) {"                                 \
    "            for (unsigned j = k + 1; j <= i; j++) {"                                          \
    "                a[i * n + j] -= a[i * n + k] * a[j * n + k];"                                 \
    "            }"                                                                                \
    "        }"                                                                                    \
    "        barrier(CLK_GLOBAL_MEM_FENCE);"                                                       \
    "    }"                                                                                        \
    "}"

#define CHOLESKY_TRSM_SOURCE                                                                       \
    "kernel void trsm(global float *x, global const float *l, unsigned n)"                         \
    "{"                                                                                            \
    "    size_t i = get_global_id(0);"                                                             \
    "    for (unsigned j = 0; j < n; j++) {"                                                       \
    "        float rest = x[i * n + j];"                                                           \
    "        for (unsigned k = 0; k < j; k++) {"                                                   \
    "            rest -= x[i * n + k] * l[j * n + k];"                                             \
    "        }"                                                                                    \
    "        x[i * n + j] = rest / l[j * n + j];"                                                  \
    "    }"                                                                                        \
    "}"

#define CHOLESKY_SYRK_SOURCE                                                                       \
    "kernel void syrk(global float *a, global const float *x, unsigned n)"                         \
    "{"                                                                                            \
    "    size_t i = get_global_id(1);"                                                             \
    "    size_t j = get_global_id(0);"                                                             \
    "    if (j <= i) {"                                                                            \
    "        float sum = 0;"                                                                       \
    "        for (unsigned k = 0; k < n; k++) {"                                                   \
    "            sum += x[i * n + k] * x[j * n + k];"                                              \
    "        }"                                                                                    \
    "        a[i * n + j] -= sum;"                                                                 \
    "    }"                                                                                        \
    "}"

#define CHOLESKY_GEMM_SOURCE                                                                       \
    "kernel void gemm(global float *a, global const float *x, global const float *y,"              \
    "                 unsigned n)"                                                                 \
    "{"                                                                                            \
    "    size_t i = get_global_id(1);"                                                             \
    "    size_t j = get_global_id(0);"                                                             \
    "    float sum = 0;"                                                                           \
    "    for (unsigned k = 0; k < n; k++) {"                                                       \
    "        sum += x[i * n + k] * y[j * n + k];"                                                  \
    "    }"                                                                                        \
    "    a[i * n + j] -= sum;"                                                                     \
    "}"

/* Newton's method, which needs no library; NAN stays, as of a device. */
static inline float cholesky_root(float of)
{
    double root = of > 1 ? of : 1;
    for (double before = 2 * root; root < before;) {
        before = root;
        root = (root + of / root) / 2;
    }
    return (float)root;
}

/* On the diagonal: a = the factor of a. */
static inline void cholesky_potrf(float *a, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        const float pivot = cholesky_root(a[k * n + k]);
        a[k * n + k] = pivot;
        for (size_t i = k + 1; i < n; i++) {
            a[i * n + k] /= pivot;
        }
        for (size_t i = k + 1; i < n; i++) {
            for (size_t j = k + 1; j <= i; j++) {
                a[i * n + j] -= a[i * n + k] * a[j * n + k];
            }
        }
    }
}

/* Below it: x = x / transposed l. */
static inline void cholesky_trsm(float *x, const float *l, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            float rest = x[i * n + j];
            for (size_t k = 0; k < j; k++) {
                rest -= x[i * n + k] * l[j * n + k];
            }
            x[i * n + j] = rest / l[j * n + j];
        }
    }
}

/* Subtracts the products of a row of n elements with so many rows from a row of a. Four at once:
 * with one sum alone the inner loop takes twice as long for milliseconds now and then, probably
 * where the processor does not learn when so short a loop ends. */
static inline void cholesky_subtract(float *a, const float *row, const float *rows, size_t count,
                                     size_t n)
{
    size_t j = 0;
    for (; j + 4 <= count; j += 4) {
        const float *const four = rows + j * n;
        float sums[4] = {0};
        for (size_t k = 0; k < n; k++) {
            sums[0] += row[k] * four[k];
            sums[1] += row[k] * four[n + k];
            sums[2] += row[k] * four[2 * n + k];
            sums[3] += row[k] * four[3 * n + k];
        }
        for (size_t i = 0; i < 4; i++) {
            a[j + i] -= sums[i];
        }
    }
    for (; j < count; j++) {
        float sum = 0;
        for (size_t k = 0; k < n; k++) {
            sum += row[k] * rows[j * n + k];
        }
        a[j] -= sum;
    }
}

/* a = a - x * transposed x, only the lower triangle. */
static inline void cholesky_syrk(float *a, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cholesky_subtract(a + i * n, x + i * n, x, i + 1, n);
    }
}

/* a = a - x * transposed y. */
static inline void cholesky_gemm(float *a, const float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cholesky_subtract(a + i * n, x + i * n, y, n, n);
    }
}

/* Whether an element of the result is right, but for the rounding of a device's division and square
 * root; a missing step changes an element by 0.003 or more. */
static inline bool cholesky_is_near(const void *is, const void *should)
{
    const double tolerance = 0.001;
    const double expected = *(const float *)should;
    const double larger = fabs(expected) > 1 ? fabs(expected) : 1;
    return fabs((double)*(const float *)is - expected) <= tolerance * larger;
}

/* On the diagonal of the factor of a matrix with so many rows: a power of two. With at least
 * 2 * sqrt(rows), and -1, 0 or 1 below it, the matrix is well-conditioned (about 9). */
static inline float cholesky_diagonal(size_t rows)
{
    double power = 2;
    while (power * power < 4 * (double)rows) {
        power *= 2;
    }
    return (float)power;
}

/* Tile (row, column) of the factor of a matrix of `tiles` tiles in each dimension. */
static inline void cholesky_factor(float *to, size_t n, size_t tiles, size_t row, size_t column,
                                   uint64_t *seed)
{
    const float on_diagonal = cholesky_diagonal(tiles * n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            const float below = (float)(random_next(seed) % 3) - 1;
            const bool is_below = row > column || i > j;
            to[i * n + j] = is_below ? below : i == j ? on_diagonal : 0;
        }
    }
}

#endif
