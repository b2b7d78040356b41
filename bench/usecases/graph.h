/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph of command groups whose dependencies come only from the buffers that they use: recorded
 * once, then run with each single resource and each policy in passes. At the begin of a pass all
 * data are in the host's memory, and at its end all results are there again. The results are
 * compared with the expected ones after each pass.
 */
#ifndef USECASES_GRAPH_H
#define USECASES_GRAPH_H

#include <dynsel/dynsel.h>

#include "resources.h"

enum {
    GRAPH_MOST_BUFFERS = CONFIG_DYNSEL_MAX_BUFFERS - 2, /* two are for graph_times.c */
    GRAPH_ELEMENT_BYTES = 4,
    GRAPH_MOST_KINDS = 4,
    GRAPH_MOST_USES = 4,
    GRAPH_MOST_VALUES = 3
};

typedef struct graph_buffer {
    void *data;     /* the library's, until graph_close() */
    void *initial;  /* the contents at the begin of each pass, which the program sets */
    void *expected; /* the contents at the end; NULL: not compared, and not brought to the host */
    size_t elements;
    dynsel_buffer handle;
} graph_buffer;

/* A kind of work. Arguments of its kernel: the buffers of a piece, then the values. */
typedef struct graph_kind {
    const dynsel_kernel *kernel; /* with an id */
    dynsel_range global;
    dynsel_range local; /* dimensions 0: chosen by the library */
    uint32_t values[GRAPH_MOST_VALUES];
    uint32_t value_count;
} graph_kind;

typedef struct graph_use {
    uint32_t buffer;
    dynsel_access_mode mode;
} graph_use;

typedef struct graph_piece {
    uint32_t kind;
    uint32_t use_count;
    graph_use uses[GRAPH_MOST_USES];
} graph_piece;

typedef struct graph {
    const char *name;
    const char *unit; /* of `units`: "GFLOP" */
    double units;     /* in one pass */
    const resources *r;
    bool (*is_right)(const void *is, const void *should); /* one element; NULL: equal bits */
    graph_kind kinds[GRAPH_MOST_KINDS];
    size_t kind_count;
    graph_buffer buffers[GRAPH_MOST_BUFFERS];
    size_t buffer_count;
    graph_piece *pieces;
    size_t piece_count;
    size_t most_pieces;
} graph;

/* Room for pieces. The other members but the counts are set before. */
void graph_open(graph *g, size_t most_pieces);

/* Returns its number; `initial` is all zero. Too many buffers end the program. */
uint32_t graph_add_buffer(graph *g, size_t elements);

/* Makes a buffer a result. Returns its expected contents, all zero, which the program sets. */
void *graph_expect(graph *g, uint32_t buffer);

void graph_add(graph *g, const graph_piece *piece);

/* Lets one piece follow the ones before. */
void graph_submit(const graph *g, dynsel_policy *policy, size_t piece);

/* Writes the initial contents of a buffer, from the host. */
void graph_renew(graph *g, uint32_t buffer);

void graph_close(graph *g);

#endif
