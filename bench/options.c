/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stddef.h>

#include "arguments.h"
#include "measure.h"

enum { MOST = 100000000 };

bench_options bench_options_parse(int argc, char **argv)
{
    uint64_t repetitions = 15, times = 50000, calls = 0, phases = 0;
    bench_options options = {0};
    const argument known[] = {
        {.name = "--csv",
         .value = "FILE",
         .help = "write the rows of the tables as CSV, too",
         .text = &options.csv},
        {"--repetitions", "N", "samples of each loop; the median counts", &repetitions, 1,
         MEASURE_MAX_SAMPLES, NULL},
        {"--times", "N", "iterations of a loop in a sample", &times, 1, MOST, NULL},
        {.name = "--label",
         .value = "TEXT",
         .help = "name of the build, for the first lines",
         .text = &options.label},
        {"--calls", "N", "only count the OpenCL calls of N batches; needs OPENCL_LAYERS", &calls, 1,
         MOST, NULL},
        {"--phases", "N", "only run OpenCL submits, N batches of each, for callgrind", &phases, 1,
         MOST, NULL},
        {.name = NULL}};
    arguments_parse(
        argc, argv,
        &(arguments){
            .program = "dynsel-bench",
            .about = "What a submit costs: over the backend inline beside its floor, on OpenCL "
                     "devices beside the\nsame calls by hand. Asserts nothing: missed budgets are "
                     "marked, and the exit status is 0.",
            .notes = "Which OpenCL devices: DYNSEL_OPENCL, such as DYNSEL_OPENCL=gpu. On one that "
                     "is slow to answer\nin turn, take fewer repetitions.\n",
            .own = known});
    options.repetitions = (unsigned)repetitions;
    options.times = (uint32_t)times;
    options.mode = calls != 0 ? BENCH_CALLS : phases != 0 ? BENCH_PHASES : BENCH_TIMES;
    options.batches = (unsigned)(calls != 0 ? calls : phases);
    return options;
}
