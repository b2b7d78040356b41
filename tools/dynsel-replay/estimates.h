/* SPDX-License-Identifier: Apache-2.0 */
/** How long work takes on each resource, from what was recorded. */
#ifndef ESTIMATES_H
#define ESTIMATES_H

#include <stdbool.h>
#include <stdint.h>

#include "program.h"

/** The median of what a kind took for an amount on a resource. */
typedef struct estimates_point {
    uint32_t kind;
    uint32_t resource;
    uint64_t amount;
    double run_ns;
} estimates_point;

/** What a resource adds to the run times. */
typedef struct estimates_device {
    uint64_t submit_ns;   /**< of the caller's time: the median */
    uint64_t begin_ns;    /**< until an idle device begins what it got: the median */
    uint64_t latency_ns;  /**< from an end until the program sees it */
    uint64_t transfer_ns; /**< of each transfer, and of each MiB */
    uint64_t mib_ns;
} estimates_device;

typedef struct estimates {
    size_t count;
    estimates_point *points; /**< by kind, resource, amount */
    /** What a run takes on the first, divided by what it takes on the second; 0: not known. */
    double ratios[RECORDING_MOST_RESOURCES][RECORDING_MOST_RESOURCES];
    estimates_device devices[RECORDING_MOST_RESOURCES];
} estimates;

/** Returns 0, or EXIT_WRONG after one line. */
int estimates_find(const program *of, estimates *it);

void estimates_free(estimates *it);

/** The run of a piece on a resource. guessed: out: the kind never ran there. */
double estimates_run_ns(const estimates *it, const program_piece *piece, uint32_t resource,
                        bool *guessed);

#endif
