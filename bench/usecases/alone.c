/* SPDX-License-Identifier: Apache-2.0 */
#include "alone.h"

#include "../../examples/common/trace_file.h"
#include "../measure.h"
#include "csv.h"

enum { LEAST_RUNS = 3, MOST_RUNS = 15, ENOUGH_NS = 100000000 };

static const double SHARE = 0.05;

/* The samples of one kind on one resource. */
typedef struct samples {
    double ns[MOST_RUNS];
    double total;
    unsigned runs;
} samples;

static samples known[WORK_MOST_KINDS][RESOURCES_MOST];

static bool needs_more(const samples *s)
{
    return s->runs < LEAST_RUNS || (s->runs < MOST_RUNS && s->total < ENOUGH_NS);
}

static void sample(samples *s, const mix_kind *kind, uint32_t resource, const resources *r)
{
    const double ns = (double)work_place_on(resource, kind, r).ns;
    s->ns[s->runs++] = ns;
    s->total += ns;
}

/* In rounds over all kinds, so that a slow phase of the machine affects all of them. */
static void take_samples(const mix_kind *kinds, size_t count, const resources *r)
{
    for (unsigned round = 0; round <= MOST_RUNS; round++) {
        trace_file_mark("alone", round);
        for (size_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < r->count; k++) {
                if (round == 0) {
                    known[i][k] = (samples){.runs = 0};
                    (void)work_place_on(k, &kinds[i], r); /* which may compile */
                } else if (needs_more(&known[i][k])) {
                    sample(&known[i][k], &kinds[i], k, r);
                }
            }
        }
    }
}

void alone_measure(alone_times *times, const mix_kind *kinds, size_t count, const resources *r)
{
    take_samples(kinds, count, r);
    for (size_t i = 0; i < count; i++) {
        times->best[i] = 0;
        for (uint32_t k = 0; k < r->count; k++) {
            times->ns[i][k] = measure_median(known[i][k].ns, known[i][k].runs);
            times->best[i] = times->ns[i][k] < times->ns[i][times->best[i]] ? k : times->best[i];
            csv_add(&(csv_figure){.record = "alone",
                                  .policy = "fixed",
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
