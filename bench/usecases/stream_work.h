/* SPDX-License-Identifier: Apache-2.0 */
/* The work of a stream: kinds of several kernels and sizes, a random order of pieces, and the
 * checks of their results. Other runtimes get the same. */
#ifndef USECASES_STREAM_WORK_H
#define USECASES_STREAM_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mix_kind.h"

enum {
    STREAM_MOST_SIZES = 7,
    STREAM_MOST_OPERATIONS = 3,
    STREAM_MOST_KINDS = MIX_KERNELS * STREAM_MOST_SIZES * STREAM_MOST_OPERATIONS,
    STREAM_SIZE_STEP = 2, /* of a power of two, as the next two */
    STREAM_LEAST_SIZE = 8,
    STREAM_LARGEST_SIZE = STREAM_LEAST_SIZE + STREAM_SIZE_STEP * (STREAM_MOST_SIZES - 1)
};

typedef struct stream_options {
    uint64_t in_flight;
    uint64_t pieces;    /* in one pass */
    uint64_t most_size; /* as a power of two; from STREAM_LEAST_SIZE to STREAM_LARGEST_SIZE */
    uint64_t most_work; /* elements times operations, as a power of two */
    uint64_t passes;
    uint64_t is_tiny; /* not 0: only work of 1 to 4096 elements, whatever the two say */
} stream_options;

typedef struct stream_work {
    uint32_t sizes[STREAM_MOST_SIZES]; /* ascending */
    size_t size_count;
    uint32_t *input; /* of the largest size; smaller ones have its first elements */
    mix_kind kinds[STREAM_MOST_KINDS];
    uint32_t kind_count;
    uint32_t *order; /* kinds of the pieces */
} stream_work;

void stream_work_open(stream_work *work, const stream_options *options, uint64_t seed);

/* Compares some elements of the results of a piece, or all of them, and overwrites these, so that a
 * kernel that does nothing is found out. Returns the first wrong one, or kind->elements. */
size_t stream_work_look(const mix_kind *kind, uint64_t piece, bool at_all, void *results);

void stream_work_close(stream_work *work);

#endif
