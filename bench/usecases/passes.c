/* SPDX-License-Identifier: Apache-2.0 */
#include "passes.h"

#include <stdio.h>
#include <string.h>

#include "../measure.h"
#include "../policies.h"
#include "csv.h"
#include "log.h"

enum { MOST = RESOURCES_MOST + 4 };

typedef struct entrant {
    const char *policy;
    const char *resource; /* of fixed; else NULL */
    dynsel_policy *acts;
    double ns[MEASURE_MAX_SAMPLES]; /* of the last passes */
    double total_ns;
    uint32_t passes;
} entrant;

static dynsel_fixed_resource_policy fixed[RESOURCES_MOST];
static entrant all[MOST];
static size_t count;

static void open_all(const resources *r)
{
    const dynsel_options options = {.resources = r->table, .count = r->count};
    count = 0;
    for (size_t i = 0; i < r->count; i++) {
        log_check(dynsel_fixed_resource_init(&fixed[i], &options, i) == DYNSEL_OK, r->names[i]);
        all[count++] =
            (entrant){.policy = "fixed", .resource = r->names[i], .acts = &fixed[i].policy};
    }
    for (const bench_policy *p = bench_policies; p->name != NULL; p++) {
        if (strcmp(p->name, "fixed_resource") != 0) {
            log_check(p->init(&options, 0) == DYNSEL_OK, p->name);
            all[count++] = (entrant){.policy = p->name, .acts = p->policy};
        }
    }
}

static void do_pass(const passes_work *work, entrant *who)
{
    if (work->before != NULL) {
        work->before(work->context);
    }
    const uint64_t began = measure_now_ns();
    work->run(who->acts, work->context);
    const double ns = (double)(measure_now_ns() - began);
    who->ns[who->passes++ % MEASURE_MAX_SAMPLES] = ns;
    who->total_ns += ns;
    if (work->after != NULL) {
        work->after(who->policy, work->context);
    }
}

static void do_all(const passes_work *work, uint32_t passes)
{
    for (uint32_t i = 0; i < passes * count; i++) {
        const size_t who = work->one_by_one ? i / passes : (i + i / count) % count;
        do_pass(work, &all[who]);
    }
}

/* Units a second, by the median of the last passes. */
static double rate(const passes_work *work, const entrant *who)
{
    double ns[MEASURE_MAX_SAMPLES];
    const uint32_t known = who->passes < MEASURE_MAX_SAMPLES ? who->passes : MEASURE_MAX_SAMPLES;
    (void)memcpy(ns, who->ns, sizeof ns);
    return work->units / (measure_median(ns, known) / 1e9);
}

static void tell(const passes_work *work, uint32_t passes)
{
    double best = 0;
    for (size_t i = 0; i < count; i++) {
        const double one = rate(work, &all[i]);
        best = all[i].resource != NULL && one > best ? one : best;
    }
    printf("\n%s: %u passes, %.3f %s each\n\n%-40s %10s %14s %18s\n", work->name, passes,
           work->units, work->unit, "", "seconds", "", "of the best single");
    for (size_t i = 0; i < count; i++) {
        char name[64];
        const double one = rate(work, &all[i]);
        (void)snprintf(name, sizeof name, "%s%s%.30s", all[i].policy,
                       all[i].resource != NULL ? " " : "",
                       all[i].resource != NULL ? all[i].resource : "");
        printf("%-40s %10.3f %8.1f %s/s %10.1f %%\n", name, all[i].total_ns / 1e9, one, work->unit,
               one / best * 100);
        csv_figure figure = {.record = "rate",
                             .policy = all[i].policy,
                             .resource = all[i].resource,
                             .task = work->name,
                             .x = passes,
                             .value = one,
                             .unit = work->unit};
        csv_add(&figure);
        figure.record = "total";
        figure.value = all[i].total_ns;
        figure.unit = "ns";
        csv_add(&figure);
    }
}

void passes_measure(const passes_work *work, const resources *r, uint32_t passes)
{
    open_all(r);
    do_all(work, passes);
    tell(work, passes);
    for (size_t i = 0; i < count; i++) {
        log_check(dynsel_policy_deinit(all[i].acts) == DYNSEL_OK, "dynsel_policy_deinit");
    }
}
