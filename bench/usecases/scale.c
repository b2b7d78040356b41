/* SPDX-License-Identifier: Apache-2.0 */
/* Equal work over equal devices, and with one of them slowed down by foreign work. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "../../examples/common/trace_file.h"
#include "../measure.h"
#include "../policies.h"
#include "csv.h"
#include "log.h"
#include "ring.h"

static const char *const ABOUT =
    "Equal independent work over N equal devices, with enough tasks in flight to keep them busy: "
    "the\nthroughput of round_robin and dynamic_load against N; then the same while another policy "
    "of this\nprogram keeps the first device busy too. The equal devices are the --workers, else "
    "the\nOpenCL devices with the most frequent name. Every result is checked against plain C.";

enum { FOREIGN = 4 }; /* foreign tasks in flight */

static const double CLAIM = 0.95;

static struct {
    uint64_t seconds;
    uint64_t task_us;
    uint64_t rounds;
} own = {.seconds = 1, .task_us = 1000, .rounds = 3};

static const argument own_options[] = {
    {"--seconds", "N", "time of each measurement", &own.seconds, 1, 600, NULL},
    {"--task-us", "N", "time of one task on one device, in us", &own.task_us, 50, 100000, NULL},
    {"--rounds", "N", "repetitions of each measurement; the median counts", &own.rounds, 1,
     MEASURE_MAX_SAMPLES, NULL},
    {.name = NULL}};

static usecase_options options = {.seed = 1};
static resources all;
static ring ours;
static ring theirs;
static atomic_bool is_over;
static dynsel_fixed_resource_policy intruder;

/* Keeps only the equal devices. */
static void keep_equal(resources *r)
{
    const char *name = NULL;
    size_t most = 0;
    size_t kept = 0;
    if (options.workers != 0) {
        r->count = r->first_device;
        return;
    }
    for (size_t i = 0; i < r->count; i++) {
        size_t equal = 0;
        for (size_t k = 0; k < r->count; k++) {
            equal +=
                strcmp(dynsel_resource_name(&r->table[k]), dynsel_resource_name(&r->table[i])) == 0;
        }
        if (equal > most) {
            most = equal;
            name = dynsel_resource_name(&r->table[i]);
        }
    }
    for (size_t i = 0; i < r->count && name != NULL; i++) {
        if (strcmp(dynsel_resource_name(&r->table[i]), name) == 0) {
            r->table[kept] = r->table[i];
            (void)memmove(r->names[kept++], r->names[i], sizeof r->names[i]);
        }
    }
    r->count = kept;
    if (kept < 2) {
        log_exit(STATUS_USAGE,
                 "two equal devices are needed, and there is only %s; give --workers 2 or more",
                 r->names[0]);
    }
}

static void *intrude(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_over)) {
        ring_keep_busy(&theirs, &intruder.policy, &all, 0.05);
    }
    ring_finish(&theirs, &all);
    return NULL;
}

/* Tasks a second. */
static double throughput(dynsel_policy *policy, uint64_t *by_resource)
{
    for (size_t i = 0; i < all.count; i++) {
        ours.by_resource[i] = 0;
    }
    const uint64_t began = measure_now_ns();
    const uint64_t before = ours.done;
    ring_keep_busy(&ours, policy, &all, (double)own.seconds);
    ring_finish(&ours, &all);
    const double seconds = (double)(measure_now_ns() - began) / 1e9;
    for (size_t i = 0; i < all.count; i++) {
        by_resource[i] = ours.by_resource[i];
    }
    return (double)(ours.done - before) / seconds;
}

/* One measurement of a policy over so many of the devices. */
static double measure_once_over(const bench_policy *p, size_t devices, uint64_t *by_resource)
{
    const dynsel_options table = {.resources = all.table, .count = devices};
    log_check(p->init(&table, 0) == DYNSEL_OK, p->name);
    ring_limit(&ours, devices);
    trace_file_mark(p->name, (uint32_t)devices);
    const double rate = throughput(p->policy, by_resource);
    log_check(dynsel_policy_deinit(p->policy) == DYNSEL_OK, "dynsel_policy_deinit");
    return rate;
}

typedef struct outcome {
    double rate;    /* tasks a second */
    double speedup; /* against one device in the same round */
    uint64_t by_resource[RESOURCES_MOST];
} outcome;

static void tell(const bench_policy *p, size_t devices, const char *situation, const outcome *o)
{
    csv_figure figure = {.record = "throughput",
                         .policy = p->name,
                         .task = situation,
                         .x = (double)devices,
                         .value = o->rate,
                         .unit = "pieces of work a second"};
    csv_add(&figure);
    figure.record = "speedup";
    figure.value = o->speedup;
    figure.unit = "times one device";
    csv_add(&figure);
    const double share = o->speedup / (double)devices;
    printf("%-14s %-8s %3zu %12.1f %8.2f %8.1f %% %c", p->name, situation, devices, o->rate,
           o->speedup, share * 100, share < CLAIM && strcmp(situation, "quiet") == 0 ? '!' : ' ');
    for (size_t i = 0; i < devices && i < 8; i++) {
        printf(" %" PRIu64, o->by_resource[i]);
    }
    printf("\n");
    (void)fflush(stdout);
}

/* In rounds. one: the throughput of one device; 0: measure it before each round, because the speed
 * of machines changes. */
static double measure_policy(const bench_policy *p, size_t devices, const char *situation,
                             double one)
{
    double rates[MEASURE_MAX_SAMPLES] = {0};
    double speedups[MEASURE_MAX_SAMPLES] = {0};
    outcome o = {0};
    for (unsigned i = 0; i < own.rounds; i++) {
        const double base = one > 0 ? one : measure_once_over(p, 1, o.by_resource);
        rates[i] = devices > 1 ? measure_once_over(p, devices, o.by_resource) : base;
        speedups[i] = rates[i] / base;
    }
    o.rate = measure_median(rates, (unsigned)own.rounds);
    o.speedup = measure_median(speedups, (unsigned)own.rounds);
    tell(p, devices, situation, &o);
    return o.rate;
}

static bool spreads(const bench_policy *p)
{
    return strcmp(p->name, "round_robin") == 0 || strcmp(p->name, "dynamic_load") == 0;
}

/* Doubles the count, and ends with all of them. */
static size_t next_count(size_t devices)
{
    if (devices == all.count) {
        return all.count + 1;
    }
    return devices * 2 < all.count ? devices * 2 : all.count;
}

/* Returns the throughput of one device. */
static double measure_quiet(void)
{
    double one = 0;
    for (const bench_policy *p = bench_policies; p->name != NULL; p++) {
        for (size_t devices = 1; devices <= all.count && spreads(p);
             devices = next_count(devices)) {
            const double rate = measure_policy(p, devices, "quiet", 0);
            one = devices == 1 ? rate : one;
        }
    }
    return one;
}

static void measure_intruded(double one)
{
    pthread_t thread;
    double rates[2] = {0};
    size_t count = 0;
    const dynsel_options table = {.resources = all.table, .count = all.count};
    log_check(dynsel_fixed_resource_init(&intruder, &table, 0) == DYNSEL_OK, "fixed_resource");
    log_check(pthread_create(&thread, NULL, intrude, NULL) == 0, "a thread");
    for (const bench_policy *p = bench_policies; p->name != NULL; p++) {
        if (spreads(p)) {
            rates[count++] = measure_policy(p, all.count, "intruded", one);
        }
    }
    atomic_store(&is_over, true);
    (void)pthread_join(thread, NULL);
    log_check(dynsel_policy_deinit(&intruder.policy) == DYNSEL_OK, "dynsel_policy_deinit");
    printf("\nWith one of %zu devices slowed down, dynamic_load does %.2f times the work of "
           "round_robin.\n",
           all.count, rates[1] / rates[0]);
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    resources_find(&all, &options, false, 2);
    keep_equal(&all);
    csv_open(&options, argc, argv);
    const uint32_t operations = ring_calibrate(&all, (double)own.task_us * 1e3, options.seed);
    ring_open(&theirs, &all, FOREIGN, operations, options.seed);
    ring_open(&ours, &all, RING_MOST, operations, options.seed);
    printf("\nTasks of about %" PRIu64 " us on %zu times %s\n\n%-14s %-8s %3s %12s %8s %10s   "
           "on each; ! below %.0f %% of N\n",
           own.task_us, all.count, all.names[0], "", "", "N", "a second", "speedup", "of N",
           CLAIM * 100);
    measure_intruded(measure_quiet());
    ring_close(&ours, &all);
    ring_close(&theirs, &all);
    resources_close();
    csv_close();
    return 0;
}
