/* SPDX-License-Identifier: Apache-2.0 */
/* A tiled product of matrices through StarPU. */
#include "../usecases/log.h"
#include "../usecases/matmul_kernel.h"
#include "../usecases/matmul_tiles.h"
#include "starpu_graph.h"

enum { MOST_TILES = 16 };

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
static uint32_t buffers[MATMUL_MATRICES][MOST_TILES][MOST_TILES];
static uint64_t check_seed;

static void matmul_on_host(void *const data[], const peer_call *call)
{
    matmul_add(data[0], data[1], data[2], call->values[0].u);
}

static peer_kernel matmul = {
    .name = "matmul",
    .source = MATMUL_SOURCE,
    .host = matmul_on_host,
    .buffers = MATMUL_MATRICES,
    .values = 1,
    .modes = {STARPU_RW, STARPU_R, STARPU_R},
};

static peer_call call = {.kernel = &matmul};

static void open_matrices(uint64_t seed)
{
    const size_t elements = own.tile * own.tile;
    for (int matrix = 0; matrix < MATMUL_MATRICES; matrix++) {
        for (size_t i = 0; i < own.tiles; i++) {
            for (size_t j = 0; j < own.tiles; j++) {
                const uint32_t buffer = peer_graph_add_buffer(&product, elements);
                buffers[matrix][i][j] = buffer;
                if (matrix != MATMUL_C) {
                    matmul_tiles_fill(product.buffers[buffer].initial, elements, &seed);
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
                const uint32_t c = buffers[MATMUL_C][i][j];
                peer_graph_add(&product, &(peer_piece){.call = &call,
                                                       .buffers = {c, buffers[MATMUL_A][i][k],
                                                                   buffers[MATMUL_B][k][j]}});
                peer_graph_bring(&product, c);
            }
        }
    }
}

static const float *tile_at(int matrix, size_t row, size_t column)
{
    const peer_buffer *b = &product.buffers[buffers[matrix][row][column]];
    return matrix == MATMUL_C ? b->data : b->initial;
}

static void check(void)
{
    const matmul_tiles tiles = {.tiles = own.tiles, .tile = own.tile, .tile_at = tile_at};
    const size_t row = matmul_tiles_wrong_row(&tiles, 1, &check_seed);
    if (row != own.tiles * own.tile) {
        log_exit(STATUS_FAILED, "a wrong result: matmul, row %zu of C", row);
    }
}

static void run(const peer_options *options)
{
    const size_t pieces = own.tiles * own.tiles * own.tiles;
    call.values[0].u = (uint32_t)own.tile;
    call.global[0] = own.tile;
    call.global[1] = own.tile;
    check_seed = options->seed;
    product.units = matmul_tiles_gflop(own.tiles, own.tile);
    peer_prepare(&matmul);
    peer_graph_open(&product, MATMUL_MATRICES * own.tiles * own.tiles, pieces);
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
