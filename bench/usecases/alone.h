/* SPDX-License-Identifier: Apache-2.0 */
/* Measures each kind of work on each resource alone; the fastest resource is the oracle's choice.
 */
#ifndef USECASES_ALONE_H
#define USECASES_ALONE_H

#include "work.h"

typedef struct alone_times {
    double ns[WORK_MOST_KINDS][RESOURCES_MOST]; /* medians */
    uint32_t best[WORK_MOST_KINDS];             /* the oracle's choice */
    uint32_t best_single; /* the resource with the least time for one run of each */
} alone_times;

/* Measures all, and adds a row for each to the CSV file. */
void alone_measure(alone_times *times, const mix_kind *kinds, size_t count, const resources *r);

/* The number of runs after which the trial runs of auto_tune cost at most 5 %, as it promises. */
double alone_runs_until_repaid(const alone_times *times, size_t kind, size_t resource_count);

#endif
