/* SPDX-License-Identifier: Apache-2.0 */
/* The command line and the report of a product of tiled matrices over the ranks of an MPI program.
 * Other runtimes get the same ones. */
#ifndef USECASES_RANKS_H
#define USECASES_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include "../arguments.h"

enum { RANKS_MOST_TILES = 16, RANKS_MOST_PASSES = 64 };

typedef struct ranks_options {
    uint64_t tiles;
    uint64_t tile;
    uint64_t passes;
    uint64_t workers;
    uint64_t seed;
    uint64_t device_by_rank; /* each rank uses one of its devices, the next rank the next one */
    const char *devices;     /* "none", or as the runtime names them */
} ranks_options;

/* Sets the options, whose values before are the defaults; most_workers: of one rank. --help and
 * errors end the program. */
void ranks_parse(int argc, char **argv, const arguments *program, ranks_options *options,
                 uint64_t most_workers);

/* A pass: the product with data from rank 0 and back there, and then once more with the data where
 * they are. */
typedef struct ranks_times {
    double there_and_back_ns[RANKS_MOST_PASSES];
    double stay_ns[RANKS_MOST_PASSES];
} ranks_times;

/* Prints both rates, by the median of all passes. */
void ranks_print_rates(const ranks_options *options, ranks_times *times);

#endif
