/* SPDX-License-Identifier: Apache-2.0 */
/* A tiled product of matrices, C += A * B, with every policy. */
#include "csv.h"
#include "graph_passes.h"
#include "matmul_graph.h"
#include "matmul_kernel.h"
#include "passes.h"

static const char *const ABOUT =
    "The product of two matrices in tiles, C += A * B: a command group for each product of two "
    "tiles.\nThose of one tile of C follow each other, all others are independent. The elements "
    "are small whole\nnumbers, so that every sum is exact; every element is compared with plain "
    "C after each pass.";

static struct {
    uint64_t tiles;
    uint64_t tile;
    uint64_t passes;
} own = {
    .tiles = MATMUL_GRAPH_MOST_TILES < 4 ? MATMUL_GRAPH_MOST_TILES : 4, .tile = 128, .passes = 20};

static const argument own_options[] = {
    {"--tiles", "N", "in each dimension", &own.tiles, 1, MATMUL_GRAPH_MOST_TILES, NULL},
    {"--tile", "N", "rows of a tile, and columns", &own.tile, 4, 2048, NULL},
    {"--passes", "N", "with each policy", &own.passes, 1, 10000, NULL},
    PASSES_OPTIONS,
    {.name = NULL}};

static usecase_options options = {.seed = 1, .workers = 1};
static resources all;
static graph product = {.name = "matmul", .unit = "GFLOP", .r = &all};

/* What the pieces have to compute. */
static void expect(void)
{
    for (size_t i = 0; i < product.piece_count; i++) {
        const graph_use *uses = product.pieces[i].uses;
        matmul_add(graph_expect(&product, uses[0].buffer), product.buffers[uses[1].buffer].initial,
                   product.buffers[uses[2].buffer].initial, own.tile);
    }
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    resources_find(&all, &options, options.workers == 0, 2);
    csv_open(&options, argc, argv);
    matmul_graph_open(&product, own.tiles, own.tile, options.seed);
    expect();
    graph_passes_measure(&product, (uint32_t)own.passes);
    graph_close(&product);
    resources_close();
    csv_close();
    return 0;
}
