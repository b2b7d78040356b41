/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stddef.h>

#include "arguments.h"
#include "measure.h"

enum { MOST = 100000000 };

bench_options bench_options_parse(int argc, char **argv)
{
    uint64_t repetitions = 15, times = 50000, calls = 0, phases = 0, items = 0, one_in = 0, mib = 0;
    bench_options options = {0};
    const argument known[] = {
        {.name = "--csv",
         .value = "FILE",
         .help = "also write the tables as CSV",
         .text = &options.csv},
        {"--repetitions", "N", "samples of each loop; the median counts", &repetitions, 1,
         MEASURE_MAX_SAMPLES, NULL},
        {"--times", "N", "iterations of a loop in a sample", &times, 1, MOST, NULL},
        {.name = "--label",
         .value = "TEXT",
         .help = "name of the build, for the first lines",
         .text = &options.label},
        {"--calls", "N", "only count OpenCL calls of N batches; needs OPENCL_LAYERS", &calls, 1,
         MOST, NULL},
        {"--phases", "N", "only run OpenCL submits, N batches of each, for callgrind", &phases, 1,
         MOST, NULL},
        {"--work-groups", "N",
         "only compare the work-group sizes of kernels over N work-items with all others", &items,
         1 << 10, 1 << 28, NULL},
        {"--learned-times", "N",
         "only compare the times of work that a policy learns with those by hand; it requests one "
         "in N, usually 16",
         &one_in, 1, 1000, NULL},
        {"--transfers", "MIB",
         "only measure transfers of up to MIB MiB, and their overlap with kernels", &mib, 1, 256,
         NULL},
        {.name = NULL}};
    arguments_parse(
        argc, argv,
        &(arguments){
            .program = "dynsel-bench",
            .about =
                "Measures a submit: over the backend inline against its least cost, on OpenCL "
                "devices against\nthe same calls by hand. Missed budgets are marked and do not "
                "change the exit status.",
            .notes =
                "The environment variable DYNSEL_OPENCL selects the OpenCL devices, such as "
                "DYNSEL_OPENCL=gpu.\nFor a slow device, use fewer repetitions.\nExit status: 0 "
                "success; 1 failure; 2 wrong usage.\n",
            .own = known});
    options.repetitions = (unsigned)repetitions;
    options.times = (uint32_t)times;
    options.items = (uint32_t)items;
    options.one_in = (unsigned)one_in;
    options.mib = (unsigned)mib;
    options.mode = items != 0    ? BENCH_WORK_GROUPS
                   : one_in != 0 ? BENCH_LEARNED_TIMES
                   : mib != 0    ? BENCH_TRANSFERS
                   : calls != 0  ? BENCH_CALLS
                   : phases != 0 ? BENCH_PHASES
                                 : BENCH_TIMES;
    options.batches = (unsigned)(calls != 0 ? calls : phases);
    return options;
}
