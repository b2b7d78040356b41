/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stddef.h>
#include <time.h>

#include "../bench/arguments.h"

soak_options soak_options_parse(int argc, char **argv)
{
    soak_options options = {.count = 10000000, .seed = (uint64_t)time(NULL)};
    uint64_t threads = 4;
    const argument known[] = {
        {"--count", "N", "number of submissions", &options.count, 0, 3000000000u, NULL},
        {"--threads", "N", "number of submitting threads", &threads, 1, SOAK_MOST_THREADS, NULL},
        {"--seed", "N", "seed of the random choices (default: the time); it is printed",
         &options.seed, 0, UINT64_MAX, NULL},
        {.name = NULL}};
    arguments_parse(
        argc, argv,
        &(arguments){
            .program = "dynsel-soak",
            .about = "Submits from several threads over every backend and policy, and checks all "
                     "counts.",
            .notes = "Exit status: 0 when all counts add up and memory did not grow, 1 if not, 2 "
                     "for wrong\narguments.\n",
            .own = known});
    options.threads = (unsigned)threads;
    return options;
}
