/* SPDX-License-Identifier: Apache-2.0 */
#include "submits.h"

#include <stdbool.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "floor.h"
#include "measure.h"
#include "policies.h"
#include "report.h"

enum {
    MOST_WITH_BUDGET = 16, /* resources */
    ATTEMPTS = 4,          /* for one repetition in which the threads overlap */
    FIRST = 1              /* resource */
};

static const double LEAST_OVERLAP = 0.8;
static const double MOST_TIMES_FLOOR = 2;
static const unsigned counts[] = {2, 4, 8, 16, 64};

static dynsel_status do_nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static void submit(void *context, unsigned thread, uint32_t times)
{
    dynsel_policy *policy = context;
    const dynsel_task task = DYNSEL_TASK(do_nothing, NULL);
    bool good = true;
    (void)thread;
    for (uint32_t i = 0; i < times; i++) {
        good = dynsel_submit(policy, &task, NULL) == DYNSEL_OK && good;
    }
    report_check(good, "dynsel_submit");
}

/* Samples in which the threads ran side by side; the others show nothing, and are taken again as
 * long as that helps. */
typedef struct samples {
    double ns[MEASURE_MAX_SAMPLES];
    double overlaps[MEASURE_MAX_SAMPLES];
    unsigned count;
} samples;

static void take_sample(samples *into, measure_loop loop, unsigned threads, uint32_t times)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        const measure_sample taken = measure_once(loop, threads, times);
        if (taken.overlap >= LEAST_OVERLAP) {
            into->ns[into->count] = taken.ns;
            into->overlaps[into->count++] = taken.overlap;
            return;
        }
    }
}

/* Floor and policy take turns, so that noise hits both. */
static void measure(const bench_policy *subject, unsigned resources, unsigned threads,
                    unsigned repetitions, uint32_t times)
{
    samples floor_samples = {.count = 0};
    samples policy_samples = {.count = 0};
    for (unsigned i = 0; i < repetitions; i++) {
        take_sample(&floor_samples, (measure_loop){floor_run, NULL}, threads, times);
        take_sample(&policy_samples, (measure_loop){submit, subject->policy}, threads, times);
    }
    if (floor_samples.count == 0 || policy_samples.count == 0) {
        report_nothing(subject->name, resources, threads, "the threads never ran side by side");
        return;
    }
    const double floor_ns = measure_median(floor_samples.ns, floor_samples.count);
    report_add(&(report_row){
        .table = "inline",
        .subject = subject->name,
        .resources = resources,
        .threads = threads,
        .reference = floor_ns,
        .measured = measure_median(policy_samples.ns, policy_samples.count),
        .overlap = threads > 1 ? measure_median(policy_samples.overlaps, policy_samples.count) : -1,
        .limit = resources <= MOST_WITH_BUDGET ? MOST_TIMES_FLOOR * floor_ns : 0,
    });
}

static void measure_with(const bench_policy *subject, unsigned resources, unsigned repetitions,
                         uint32_t times)
{
    static dynsel_resource table[CONFIG_DYNSEL_MAX_RESOURCES];
    const dynsel_task task = DYNSEL_TASK(do_nothing, NULL);
    const dynsel_options options = {.resources = table, .count = resources};
    for (unsigned i = 0; i < resources; i++) {
        table[i] = (dynsel_resource){.backend = &dynsel_inline_backend, .handle = &table[i]};
    }
    report_check(subject->init(&options, FIRST) == DYNSEL_OK, subject->name);
    floor_prepare(subject->floor, resources, &task);
    submit(subject->policy, 0, times / 2); /* so that policies that learn are settled */
    for (unsigned threads = 1; threads <= (CONFIG_DYNSEL_CONTEXT_THREADS ? 2 : 1); threads++) {
        measure(subject, resources, threads, repetitions, times);
    }
    report_check(dynsel_policy_deinit(subject->policy) == DYNSEL_OK, "dynsel_policy_deinit");
}

void bench_submits(unsigned repetitions, uint32_t times)
{
    report_table("One detached submit over the backend inline; the budget is twice the floor, up "
                 "to 16 resources.\nFloor: three indirect calls, and atomic additions: fixed 0, "
                 "round robin 1, dynamic load 2,\nauto-tune 0 with two looks at the clock in 16. "
                 "With 2 threads: time of each thread.",
                 "floor ns");
    for (const bench_policy *subject = bench_policies; subject->name != NULL; subject++) {
        for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            if (counts[i] <= CONFIG_DYNSEL_MAX_RESOURCES) {
                measure_with(subject, counts[i], repetitions, times);
            }
        }
    }
}
