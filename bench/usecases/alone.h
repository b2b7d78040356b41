/* SPDX-License-Identifier: Apache-2.0 */
/* Each kind of work on each resource alone: the best of each is the oracle. */
#ifndef USECASES_ALONE_H
#define USECASES_ALONE_H

#include "work.h"

typedef struct alone_times {
    double ns[WORK_MOST_KINDS][RESOURCES_MOST]; /* medians */
    uint32_t best[WORK_MOST_KINDS];             /* the oracle's choice */
    uint32_t best_single; /* the resource with the least for one run of each */
} alone_times;

/* Measures, and adds a row for each to the CSV file. */
void alone_measure(alone_times *times, const work_kind *kinds, size_t count, const resources *r);

/* In how many runs, as policy auto_tune promises, whatever it tries on the way costs no more than
 * 5 %. */
double alone_runs_until_repaid(const alone_times *times, size_t kind, size_t resource_count);

#endif
