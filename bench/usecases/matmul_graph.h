/* SPDX-License-Identifier: Apache-2.0 */
/* The product of two tiled matrices, C += A * B, as a graph: a command group for each product of
 * two tiles. Those of one tile of C follow each other, all others are independent. */
#ifndef USECASES_MATMUL_GRAPH_H
#define USECASES_MATMUL_GRAPH_H

#include "graph.h"

enum {
    MATMUL_GRAPH_MOST_TILES = GRAPH_MOST_BUFFERS >= 3 * 16 * 16 ? 16
                              : GRAPH_MOST_BUFFERS >= 3 * 8 * 8 ? 8
                                                                : 2
};

extern const dynsel_kernel matmul_graph_kernel;

/* Opens the graph with its matrices and pieces. tiles: in each dimension. tile: its rows, and its
 * columns. A and B are small whole numbers, C is zero. */
void matmul_graph_open(graph *g, size_t tiles, size_t tile, uint64_t seed);

/* The number of a buffer; matrix: MATMUL_A, ... of matmul_tiles.h. */
uint32_t matmul_graph_buffer(size_t tiles, size_t matrix, size_t row, size_t column);

#endif
