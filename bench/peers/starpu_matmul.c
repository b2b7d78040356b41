/* SPDX-License-Identifier: Apache-2.0 */
/* A tiled product of matrices through StarPU. */
#include <stdlib.h>

#include "../usecases/log.h"
#include "../usecases/matmul_kernel.h"
#include "../usecases/memory.h"
#include "../usecases/random.h"
#include "starpu_graph.h"

enum { MOST_TILES = 16, MATRICES = 3, A = 0, B = 1, C = 2, MOST_VALUE = 7, MOST_WEIGHT = 1023 };

static struct {
    uint64_t tiles;
    uint64_t tile;
    uint64_t passes;
} own = {.tiles = 4, .tile = 128, .passes = 20};

static const argument own_options[] = {
    {"--tiles", "N", "in each dimension", &own.tiles, 1, MOST_TILES, NULL},
    {"--tile", "N", "rows of a tile, and columns", &own.tile, 4, 2048, NULL},
    {"--passes", "N", "of the work", &own.passes, 1, 10000, NULL},
    {.name = NULL}};

static void check(void);

static peer_graph product = {.name = "matmul", .unit = "GFLOP", .check = check};
static uint32_t buffers[MATRICES][MOST_TILES][MOST_TILES];
static uint64_t check_seed;

static void matmul_on_host(void *const data[], const peer_call *call)
{
    matmul_add(data[0], data[1], data[2], call->values[0].u);
}

static peer_kernel matmul = {
    .name = "matmul",
    .source = MATMUL_SOURCE,
    .host = matmul_on_host,
    .buffers = MATRICES,
    .values = 1,
    .modes = {STARPU_RW, STARPU_R, STARPU_R},
};

static peer_call call = {.kernel = &matmul};

static void open_matrices(uint64_t seed)
{
    const size_t elements = own.tile * own.tile;
    for (int matrix = 0; matrix < MATRICES; matrix++) {
        for (size_t i = 0; i < own.tiles; i++) {
            for (size_t j = 0; j < own.tiles; j++) {
                const uint32_t buffer = peer_graph_add_buffer(&product, elements);
                float *initial = product.buffers[buffer].initial;
                buffers[matrix][i][j] = buffer;
                for (size_t k = 0; k < elements && matrix != C; k++) {
                    initial[k] = (float)(random_next(&seed) % (MOST_VALUE + 1));
                }
            }
        }
    }
}

static void add_pieces(void)
{
    for (size_t k = 0; k < own.tiles; k++) {
        for (size_t i = 0; i < own.tiles; i++) {
            for (size_t j = 0; j < own.tiles; j++) {
                const uint32_t c = buffers[C][i][j];
                peer_graph_add(&product,
                               &(peer_piece){.call = &call,
                                             .buffers = {c, buffers[A][i][k], buffers[B][k][j]}});
                peer_graph_bring(&product, c);
            }
        }
    }
}

/* to = matrix * from, in plain C; all numbers are whole, and so small that double is exact. */
static void multiply(int matrix, const double *from, double *to)
{
    const size_t n = own.tile;
    for (size_t row = 0; row < own.tiles * n; row++) {
        to[row] = 0;
        for (size_t column = 0; column < own.tiles; column++) {
            const peer_buffer *b = &product.buffers[buffers[matrix][row / n][column]];
            const float *tile = matrix == C ? b->data : b->initial;
            for (size_t k = 0; k < n; k++) {
                to[row] += tile[row % n * n + k] * from[column * n + k];
            }
        }
    }
}

/* Compares C * x with A * (B * x) for random whole numbers x, which costs less than another product
 * of the matrices. */
static void check(void)
{
    const size_t n = own.tiles * own.tile;
    double *x = memory_allocate(n * sizeof *x);
    double *b_x = memory_allocate(n * sizeof *b_x);
    double *a_b_x = memory_allocate(n * sizeof *a_b_x);
    double *c_x = memory_allocate(n * sizeof *c_x);
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)(random_next(&check_seed) % (MOST_WEIGHT + 1));
    }
    multiply(B, x, b_x);
    multiply(A, b_x, a_b_x);
    multiply(C, x, c_x);
    for (size_t i = 0; i < n; i++) {
        if (c_x[i] != a_b_x[i]) {
            log_exit(STATUS_FAILED, "a wrong result: matmul, row %zu of C", i);
        }
    }
    free(x);
    free(b_x);
    free(a_b_x);
    free(c_x);
}

static void run(const peer_options *options)
{
    const size_t pieces = own.tiles * own.tiles * own.tiles;
    call.values[0].u = (uint32_t)own.tile;
    call.global[0] = own.tile;
    call.global[1] = own.tile;
    check_seed = options->seed;
    product.units = 2.0 * (double)(pieces * own.tile * own.tile * own.tile) / 1e9;
    peer_prepare(&matmul);
    peer_graph_open(&product, MATRICES * own.tiles * own.tiles, pieces);
    open_matrices(options->seed);
    add_pieces();
    peer_graph_measure(&product, own.passes);
    peer_graph_close(&product);
    peer_release(&matmul);
}

const peer_command peer_matmul = {
    .name = "matmul",
    .about = "A product of matrices in tiles, C += A * B, a task for each product of two tiles.\n"
             "The elements are small whole numbers, so that every sum is exact. Each pass is "
             "checked with plain C:\nevery row of C, through its product with a random vector.",
    .own = own_options,
    .run = run};
