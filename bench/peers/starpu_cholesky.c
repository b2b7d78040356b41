/* SPDX-License-Identifier: Apache-2.0 */
/* A tiled Cholesky factorization, A = L * transposed L, through StarPU. */
#include <stdlib.h>

#include "../usecases/cholesky_kernels.h"
#include "../usecases/memory.h"
#include "starpu_graph.h"

enum { MOST_TILES = 32, LEAST_TILE = 4, MOST_TILE = 512 };

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

static void potrf_on_host(void *const data[], const peer_call *call)
{
    cholesky_potrf(data[0], call->values[0].u);
}

static void trsm_on_host(void *const data[], const peer_call *call)
{
    cholesky_trsm(data[0], data[1], call->values[0].u);
}

static void syrk_on_host(void *const data[], const peer_call *call)
{
    cholesky_syrk(data[0], data[1], call->values[0].u);
}

static void gemm_on_host(void *const data[], const peer_call *call)
{
    cholesky_gemm(data[0], data[1], data[2], call->values[0].u);
}

static peer_kernel kernels[CHOLESKY_KINDS] = {
    {.name = "potrf",
     .source = CHOLESKY_POTRF_SOURCE,
     .host = potrf_on_host,
     .buffers = 1,
     .values = 1,
     .modes = {STARPU_RW}},
    {.name = "trsm",
     .source = CHOLESKY_TRSM_SOURCE,
     .host = trsm_on_host,
     .buffers = 2,
     .values = 1,
     .modes = {STARPU_RW, STARPU_R}},
    {.name = "syrk",
     .source = CHOLESKY_SYRK_SOURCE,
     .host = syrk_on_host,
     .buffers = 2,
     .values = 1,
     .modes = {STARPU_RW, STARPU_R}},
    {.name = "gemm",
     .source = CHOLESKY_GEMM_SOURCE,
     .host = gemm_on_host,
     .buffers = 3,
     .values = 1,
     .modes = {STARPU_RW, STARPU_R, STARPU_R}},
};

static peer_graph factorization = {
    .name = "cholesky", .unit = "GFLOP", .is_right = cholesky_is_near};
static uint32_t buffers[MOST_TILES][MOST_TILES]; /* the lower triangle */
static peer_call calls[CHOLESKY_KINDS];

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
            cholesky_factor(peer_graph_expect(&factorization, buffers[i][j]), own.tile, own.tiles,
                            i, j, &seed);
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
    const size_t lanes = n < CHOLESKY_MOST_LANES ? n : CHOLESKY_MOST_LANES;
    const size_t ranges[CHOLESKY_KINDS][PEER_DIMENSIONS] = {{lanes, 0}, {n, 0}, {n, n}, {n, n}};
    for (int i = 0; i < CHOLESKY_KINDS; i++) {
        peer_prepare(&kernels[i]);
        calls[i] = (peer_call){.kernel = &kernels[i],
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
        peer_release(&kernels[i]);
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
