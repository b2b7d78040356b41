/* SPDX-License-Identifier: Apache-2.0 */
#include "matmul_graph.h"

#include "matmul_kernel.h"
#include "matmul_tiles.h"

static dynsel_status matmul_on_host(const dynsel_launch *launch)
{
    matmul_add(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
               dynsel_launch_data(launch, 2), DYNSEL_LAUNCH_VALUE(launch, 3, uint32_t));
    return DYNSEL_OK;
}

const dynsel_kernel matmul_graph_kernel = {
    .name = "matmul",
    .id = 1,
    .function = matmul_on_host,
    .source = MATMUL_SOURCE,
};

uint32_t matmul_graph_buffer(size_t tiles, size_t matrix, size_t row, size_t column)
{
    return (uint32_t)((matrix * tiles + row) * tiles + column);
}

static void open_matrices(graph *g, size_t tiles, size_t tile, uint64_t seed)
{
    const size_t in_one = tiles * tiles;
    for (size_t i = 0; i < MATMUL_MATRICES * in_one; i++) {
        const uint32_t buffer = graph_add_buffer(g, tile * tile);
        if (i < MATMUL_C * in_one) {
            matmul_tiles_fill(g->buffers[buffer].initial, tile * tile, &seed);
        }
    }
}

static void add_pieces(graph *g, size_t tiles)
{
    for (size_t k = 0; k < tiles; k++) {
        for (size_t i = 0; i < tiles; i++) {
            for (size_t j = 0; j < tiles; j++) {
                const uint32_t a = matmul_graph_buffer(tiles, MATMUL_A, i, k);
                const uint32_t b = matmul_graph_buffer(tiles, MATMUL_B, k, j);
                const uint32_t c = matmul_graph_buffer(tiles, MATMUL_C, i, j);
                graph_add(g, &(graph_piece){.kind = 0,
                                            .use_count = 3,
                                            .uses = {{c, DYNSEL_ACCESS_READ_WRITE},
                                                     {a, DYNSEL_ACCESS_READ},
                                                     {b, DYNSEL_ACCESS_READ}}});
            }
        }
    }
}

void matmul_graph_open(graph *g, size_t tiles, size_t tile, uint64_t seed)
{
    g->kinds[g->kind_count++] = (graph_kind){.kernel = &matmul_graph_kernel,
                                             .global = DYNSEL_RANGE_2D(tile, tile),
                                             .values = {(uint32_t)tile},
                                             .value_count = 1};
    g->units = matmul_tiles_gflop(tiles, tile);
    graph_open(g, tiles * tiles * tiles);
    open_matrices(g, tiles, tile, seed);
    add_pieces(g, tiles);
}
