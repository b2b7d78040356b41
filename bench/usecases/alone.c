/* SPDX-License-Identifier: Apache-2.0 */
#include "alone.h"

#include "../measure.h"
#include "csv.h"

enum { LEAST_RUNS = 3, MOST_RUNS = 15, ENOUGH_NS = 100000000 };

static const double SHARE = 0.05;

static double measure(const work_kind *kind, uint32_t resource, const resources *r)
{
    double ns[MOST_RUNS];
    double total = 0;
    unsigned runs = 0;
    (void)work_place_on(resource, kind, r); /* which may compile */
    while (runs < LEAST_RUNS || (runs < MOST_RUNS && total < ENOUGH_NS)) {
        ns[runs] = (double)work_place_on(resource, kind, r).ns;
        total += ns[runs++];
    }
    return measure_median(ns, runs);
}

void alone_measure(alone_times *times, const work_kind *kinds, size_t count, const resources *r)
{
    for (size_t i = 0; i < count; i++) {
        times->best[i] = 0;
        for (uint32_t k = 0; k < r->count; k++) {
            times->ns[i][k] = measure(&kinds[i], k, r);
            times->best[i] = times->ns[i][k] < times->ns[i][times->best[i]] ? k : times->best[i];
            csv_add(&(csv_row){.record = "alone",
                               .resource = r->names[k],
                               .task = kinds[i].name,
                               .x = kinds[i].elements,
                               .value = times->ns[i][k],
                               .unit = "ns"});
        }
    }
}

double alone_runs_until_repaid(const alone_times *times, size_t kind, size_t resource_count)
{
    const double best = times->ns[kind][times->best[kind]];
    double more = 0;
    for (size_t i = 0; i < resource_count; i++) {
        more += times->ns[kind][i] - best;
    }
    return 2 * more / (SHARE * best);
}
