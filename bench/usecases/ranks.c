/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks.h"

#include <stdio.h>

#include "../measure.h"
#include "matmul_tiles.h"

_Static_assert((int)RANKS_MOST_PASSES <= (int)MEASURE_MAX_SAMPLES, "a median of all passes");

void ranks_parse(int argc, char **argv, const arguments *program, ranks_options *options,
                 uint64_t most_workers)
{
    const argument shared[] = {
        {"--tiles", "N", "in each dimension", &options->tiles, 1, RANKS_MOST_TILES, NULL},
        {"--tile", "N", "rows of a tile, and columns", &options->tile, 4, 4096, NULL},
        {"--passes", "N", "of two products", &options->passes, 1, RANKS_MOST_PASSES, NULL},
        {"--workers", "N", "host workers of each rank", &options->workers, 0, most_workers, NULL},
        {.name = "--devices",
         .value = "WHICH",
         .help = "OpenCL devices of each rank",
         .text = &options->devices},
        {.name = "--device-by-rank",
         .help = "of these, each rank uses one: the next rank the next one",
         .number = &options->device_by_rank},
        {.name = "--seed",
         .value = "N",
         .help = "seed of the data",
         .number = &options->seed,
         .most = UINT64_MAX},
        {.name = NULL}};
    arguments whole = *program;
    whole.shared = shared;
    arguments_parse(argc, argv, &whole);
}

static void print_rate(const char *what, double gflop, double *ns, unsigned count)
{
    const double first = ns[0];
    const double middle = measure_median(ns, count); /* which sorts them */
    (void)printf("  %-28s %9.2f GFLOP/s (%.2f ms; first %.2f, best %.2f)\n", what,
                 gflop / (middle / 1e9), middle / 1e6, first / 1e6, ns[0] / 1e6);
}

void ranks_print_rates(const ranks_options *options, ranks_times *times)
{
    const double gflop = matmul_tiles_gflop(options->tiles, options->tile);
    const unsigned count = (unsigned)options->passes;
    (void)printf("  %u passes, %.3f GFLOP each product\n", count, gflop);
    print_rate("from rank 0 and back", gflop, times->there_and_back_ns, count);
    print_rate("again, where the data are", gflop, times->stay_ns, count);
}
