/* SPDX-License-Identifier: Apache-2.0 */
/* A tiled Cholesky factorization, A = L * transposed L, through StarPU. */
#include "starpu_cholesky.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../usecases/log.h"
#include "../usecases/memory.h"
#include "../usecases/random.h"
#include "starpu_graph.h"

/* The factor: a power of two on the diagonal, -1, 0 or 1 below it. A matrix of n rows with a
 * diagonal of at least 2 * sqrt(n) is well-conditioned. */
static const double TOLERANCE = 0.001;

enum { MOST_TILES = 32, MOST_LANES = 64, LEAST_TILE = 4, MOST_TILE = 512 };

static struct {
    uint64_t tiles;
    uint64_t tile;
    uint64_t passes;
} own = {.tiles = 10, .tile = 64, .passes = 20};

static const argument own_options[] = {
    {"--tiles", "N", "in each dimension", &own.tiles, 1, MOST_TILES, NULL},
    {"--tile", "N", "rows of a tile, and columns", &own.tile, LEAST_TILE, MOST_TILE, NULL},
    {"--passes", "N", "of the work", &own.passes, 1, 10000, NULL},
    {.name = NULL}};

static bool is_near(const void *is, const void *should)
{
    const double expected = *(const float *)should;
    const double larger = fabs(expected) > 1 ? fabs(expected) : 1;
    return fabs((double)*(const float *)is - expected) <= TOLERANCE * larger;
}

static peer_graph factorization = {.name = "cholesky", .unit = "GFLOP", .is_right = is_near};
static uint32_t buffers[MOST_TILES][MOST_TILES]; /* the lower triangle */
static peer_call calls[CHOLESKY_KINDS];

static float diagonal(size_t rows)
{
    double power = 2;
    while (power * power < 4 * (double)rows) {
        power *= 2;
    }
    return (float)power;
}

/* The factor of tile (row, column). */
static void make_factor(float *to, size_t row, size_t column, uint64_t *seed)
{
    const size_t n = own.tile;
    const float on_diagonal = diagonal(own.tiles * n);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            const float below = (float)(random_next(seed) % 3) - 1;
            const bool is_below = row > column || i > j;
            to[i * n + j] = is_below ? below : i == j ? on_diagonal : 0;
        }
    }
}

/* The whole factor by rows; its numbers are whole and small. */
static int16_t *whole_factor(void)
{
    const size_t n = own.tile;
    const size_t columns = own.tiles * n;
    int16_t *rows = memory_allocate(columns * columns * sizeof *rows);
    for (size_t i = 0; i < columns; i++) {
        for (size_t j = 0; j < columns; j++) {
            const bool is_there = j / n <= i / n;
            const float *tile =
                is_there ? factorization.buffers[buffers[i / n][j / n]].expected : NULL;
            rows[i * columns + j] = is_there ? (int16_t)tile[i % n * n + j % n] : 0;
        }
    }
    return rows;
}

#ifdef __clang__ /* which does so with -O2 */
#define VECTORIZED
#else
#define VECTORIZED __attribute__((optimize("O3")))
#endif

/* The product of two rows, the costliest part of the preparation. */
VECTORIZED static int32_t product(const int16_t *x, const int16_t *y, size_t count)
{
    int32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* What is above the diagonal is the same as below; the kernels leave it as it is. */
static void make_initial(const int16_t *rows, size_t row, size_t column)
{
    const size_t n = own.tile;
    const size_t columns = own.tiles * n;
    float *initial = factorization.buffers[buffers[row][column]].initial;
    float *expected = factorization.buffers[buffers[row][column]].expected;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            initial[i * n + j] =
                (float)product(rows + (row * n + i) * columns, rows + (column * n + j) * columns,
                               (column + 1) * n);
            if (row == column && j > i) {
                expected[i * n + j] = initial[i * n + j];
            }
        }
    }
}

static void open_matrix(uint64_t seed)
{
    for (size_t i = 0; i < own.tiles; i++) {
        for (size_t j = 0; j <= i; j++) {
            buffers[i][j] = peer_graph_add_buffer(&factorization, own.tile * own.tile);
            make_factor(peer_graph_expect(&factorization, buffers[i][j]), i, j, &seed);
        }
    }
    int16_t *rows = whole_factor();
    for (size_t i = 0; i < own.tiles; i++) {
        for (size_t j = 0; j <= i; j++) {
            make_initial(rows, i, j);
        }
    }
    free(rows);
}

/* Priorities as in StarPU's own example; dmda ignores them, dmdas does not. */
static void add(cholesky_kind kind, uint32_t written, uint32_t first, uint32_t second)
{
    peer_graph_add(&factorization, &(peer_piece){.call = &calls[kind],
                                                 .buffers = {written, first, second},
                                                 .priority = CHOLESKY_GEMM - (int)kind});
}

static void add_pieces(void)
{
    for (size_t k = 0; k < own.tiles; k++) {
        add(CHOLESKY_POTRF, buffers[k][k], 0, 0);
        for (size_t i = k + 1; i < own.tiles; i++) {
            add(CHOLESKY_TRSM, buffers[i][k], buffers[k][k], 0);
        }
        for (size_t i = k + 1; i < own.tiles; i++) {
            add(CHOLESKY_SYRK, buffers[i][i], buffers[i][k], 0);
            for (size_t j = k + 1; j < i; j++) {
                add(CHOLESKY_GEMM, buffers[i][j], buffers[i][k], buffers[j][k]);
            }
        }
    }
}

static void open_kinds(void)
{
    const size_t n = own.tile;
    const size_t lanes = n < MOST_LANES ? n : MOST_LANES;
    const size_t ranges[CHOLESKY_KINDS][PEER_DIMENSIONS] = {{lanes, 0}, {n, 0}, {n, n}, {n, n}};
    for (int i = 0; i < CHOLESKY_KINDS; i++) {
        peer_prepare(&cholesky_kernels[i]);
        calls[i] = (peer_call){.kernel = &cholesky_kernels[i],
                               .values = {{.u = (uint32_t)n}},
                               .global = {ranges[i][0], ranges[i][1]}};
    }
    calls[CHOLESKY_POTRF].local[0] = lanes;
}

static void run(const peer_options *options)
{
    const size_t tiles = own.tiles;
    const double rows = (double)(tiles * own.tile);
    factorization.units = rows * rows * rows / 3 / 1e9;
    open_kinds();
    peer_graph_open(&factorization, tiles * (tiles + 1) / 2, tiles * (tiles + 1) * (tiles + 2) / 6);
    open_matrix(options->seed);
    add_pieces();
    peer_graph_measure(&factorization, own.passes);
    peer_graph_close(&factorization);
    for (int i = 0; i < CHOLESKY_KINDS; i++) {
        peer_release(&cholesky_kernels[i]);
    }
}

const peer_command peer_cholesky = {
    .name = "cholesky",
    .about = "The Cholesky factorization of a symmetric matrix in tiles: potrf, trsm, syrk and "
             "gemm.\nThe matrix is the product of a factor of small whole numbers with itself. "
             "Every element of the result is\ncompared with that factor after each pass, with a "
             "tolerance of 0.001.",
    .own = own_options,
    .run = run};
