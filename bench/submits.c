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
    FIRST = 1,             /* resource */
    TRIED_NS = 2000,       /* a run of which the time is worth trial runs */
    TRIED_RUNS = 2000,
    KIND = 1
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

static dynsel_status work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const uint64_t began = dynsel_now_ns();
    (void)where;
    (void)args;
    (void)done;
    while (dynsel_now_ns() - began < TRIED_NS) {
    }
    return DYNSEL_OK;
}

static void submit_task(dynsel_policy *policy, const dynsel_task *task, uint32_t times)
{
    bool good = true;
    for (uint32_t i = 0; i < times; i++) {
        good = dynsel_submit(policy, task, NULL) == DYNSEL_OK && good;
    }
    report_check(good, "dynsel_submit");
}

static void submit(void *context, unsigned thread, uint32_t times)
{
    const dynsel_task task = {.function = do_nothing, .id = KIND};
    (void)thread;
    submit_task(context, &task, times);
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

/* A row of the table. */
typedef struct row {
    const bench_policy *subject;
    const char *name;
    unsigned resources;
    bool are_tried; /* the resources: the policy knows the times of all */
} row;

/* What budgets over a submit to a fixed resource compare with; another policy: there is none. */
static const bench_policy *const fixed = &bench_policies[0];

static bool has_fixed(const bench_policy *subject, unsigned threads)
{
    return subject->over_fixed_ns != 0 && fixed->floor == FLOOR_NOTHING_SHARED &&
           fixed->name != NULL && threads == 1;
}

static double limit_of(const row *it, double floor_ns, double fixed_ns)
{
    if (it->resources > MOST_WITH_BUDGET) {
        return 0;
    }
    if (it->subject->over_fixed_ns != 0) {
        return fixed_ns != 0 ? fixed_ns + it->subject->over_fixed_ns : 0;
    }
    return MOST_TIMES_FLOOR * floor_ns;
}

/* Floor and policy take turns, so that noise hits both. */
static void measure(const row *it, unsigned threads, unsigned repetitions, uint32_t times)
{
    samples floor_samples = {.count = 0};
    samples fixed_samples = {.count = 0};
    samples policy_samples = {.count = 0};
    for (unsigned i = 0; i < repetitions; i++) {
        take_sample(&floor_samples, (measure_loop){floor_run, NULL}, threads, times);
        if (has_fixed(it->subject, threads)) {
            take_sample(&fixed_samples, (measure_loop){submit, fixed->policy}, threads, times);
        }
        take_sample(&policy_samples, (measure_loop){submit, it->subject->policy}, threads, times);
    }
    if (floor_samples.count == 0 || policy_samples.count == 0) {
        report_nothing(it->name, it->resources, threads, "the threads never ran side by side");
        return;
    }
    const double floor_ns = measure_median(floor_samples.ns, floor_samples.count);
    const double fixed_ns =
        fixed_samples.count != 0 ? measure_median(fixed_samples.ns, fixed_samples.count) : 0;
    report_add(&(report_row){
        .table = "inline",
        .subject = it->name,
        .resources = it->resources,
        .threads = threads,
        .reference = floor_ns,
        .measured = measure_median(policy_samples.ns, policy_samples.count),
        .overlap = threads > 1 ? measure_median(policy_samples.overlaps, policy_samples.count) : -1,
        .limit = limit_of(it, floor_ns, fixed_ns),
    });
}

static void measure_row(const row *it, unsigned repetitions, uint32_t times)
{
    static dynsel_resource table[CONFIG_DYNSEL_MAX_RESOURCES];
    const dynsel_task task = {.function = do_nothing, .id = KIND};
    const dynsel_options options = {.resources = table, .count = it->resources};
    for (unsigned i = 0; i < it->resources; i++) {
        table[i] = (dynsel_resource){.backend = &dynsel_inline_backend, .handle = &table[i]};
    }
    report_check(it->subject->init(&options, FIRST) == DYNSEL_OK, it->name);
    if (has_fixed(it->subject, 1)) {
        report_check(fixed->init(&options, FIRST) == DYNSEL_OK, fixed->name);
    }
    floor_prepare(it->subject->floor, it->resources, &task);
    if (it->are_tried) {
        submit_task(it->subject->policy, &(dynsel_task){.function = work, .id = KIND}, TRIED_RUNS);
    }
    submit(it->subject->policy, 0, times / 2); /* so that policies that learn are settled */
    for (unsigned threads = 1; threads <= (CONFIG_DYNSEL_CONTEXT_THREADS ? 2 : 1); threads++) {
        measure(it, threads, repetitions, times);
    }
    report_check(dynsel_policy_deinit(it->subject->policy) == DYNSEL_OK, "dynsel_policy_deinit");
    if (has_fixed(it->subject, 1)) {
        report_check(dynsel_policy_deinit(fixed->policy) == DYNSEL_OK, "dynsel_policy_deinit");
    }
}

static void measure_policy(const bench_policy *subject, const char *name, bool are_tried,
                           unsigned repetitions, uint32_t times)
{
    for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i] <= CONFIG_DYNSEL_MAX_RESOURCES) {
            measure_row(&(row){subject, name, counts[i], are_tried}, repetitions, times);
        }
    }
}

void bench_submits(unsigned repetitions, uint32_t times)
{
    report_table(
        "One detached submit over the backend inline; the budget is twice the floor, up to 16 "
        "resources.\nFloor: three indirect calls, and atomic additions: fixed 0, round robin 1, "
        "dynamic load 2,\nauto-tune 0 with two looks at the clock in 16, earliest finish 3, a look "
        "at the clock and at each\nresource; its budget is 150 ns more than a submit to one fixed "
        "resource, in one thread.\n\"tried\": it knows the times of all resources, else of the "
        "only "
        "one that such short work is worth.\nWith 2 threads: time of each thread.",
        "floor ns");
    for (const bench_policy *subject = bench_policies; subject->name != NULL; subject++) {
        measure_policy(subject, subject->name, false, repetitions, times);
        if (subject->floor == FLOOR_QUEUES) {
            measure_policy(subject, "earliest_finish, tried", true, repetitions, times);
        }
    }
}
