/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph of tasks whose dependencies come only from the data that they use: recorded once, then
 * submitted in passes. At the begin of a pass all data are in the host's memory, and at its end all
 * results are there again. The results are compared with the expected ones after each pass.
 */
#ifndef PEERS_STARPU_GRAPH_H
#define PEERS_STARPU_GRAPH_H

#include "starpu_peer.h"
#include "starpu_report.h"

/* Elements have 4 bytes. */
typedef struct peer_buffer {
    void *data;     /* StarPU's, until peer_graph_close() */
    void *initial;  /* the contents at the begin of each pass, which the work sets */
    void *expected; /* the contents at the end; NULL: not compared */
    bool is_result; /* brought to the host */
    size_t elements;
    starpu_data_handle_t handle;
} peer_buffer;

typedef struct peer_piece {
    peer_call *call; /* stays until peer_graph_close() */
    uint32_t buffers[PEER_MOST_BUFFERS];
    int priority;
} peer_piece;

typedef struct peer_graph {
    const char *name;
    const char *unit;                                     /* of `units`: "GFLOP" */
    double units;                                         /* in one pass */
    bool (*is_right)(const void *is, const void *should); /* one element; NULL: equal bits */
    void (*check)(void); /* more checks, with all results in the host's memory; or NULL */
    peer_buffer *buffers;
    size_t buffer_count;
    size_t most_buffers;
    peer_piece *pieces;
    size_t piece_count;
    size_t most_pieces;
} peer_graph;

/* Room for buffers and pieces. The other members but the counts are set before. */
void peer_graph_open(peer_graph *g, size_t most_buffers, size_t most_pieces);

/* Returns its number; `initial` is all zero. */
uint32_t peer_graph_add_buffer(peer_graph *g, size_t elements);

/* Makes a buffer a result. */
void peer_graph_bring(peer_graph *g, uint32_t buffer);

/* The same. Returns its expected contents, all zero, which the work sets. */
void *peer_graph_expect(peer_graph *g, uint32_t buffer);

/* Lets one piece follow the ones before. */
void peer_graph_add(peer_graph *g, const peer_piece *piece);

/* All passes: prints and writes the figures. */
void peer_graph_measure(peer_graph *g, uint64_t passes);

void peer_graph_close(peer_graph *g);

#endif
