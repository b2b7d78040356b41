/* SPDX-License-Identifier: Apache-2.0 */
/* Tiny work: the size from which on a device is faster, and whether auto_tune finds it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "contest.h"
#include "csv.h"
#include "kernels.h"
#include "log.h"

static const char *const ABOUT =
    "One kernel over 1 to 1 Mi elements, from the host's memory to the host's memory: where the "
    "host's\nfunction beats every device, where the crossing is, and whether policies find it. "
    "Every result is\nchecked against plain C.";

enum {
    STEP = 2, /* of the sizes, as a power of two */
    MOST_SIZES = CONFIG_DYNSEL_MAX_BUFFERS / 2 < WORK_MOST_SIZES - 1 ? CONFIG_DYNSEL_MAX_BUFFERS / 2
                                                                     : WORK_MOST_SIZES - 1
};

static const double NEARLY = 1.1; /* a smaller difference does not count */

static struct {
    uint64_t runs;
    uint64_t seconds;
    uint64_t operations;
    uint64_t kernel;
} own = {.runs = 2000, .seconds = 30, .operations = 16};

static const argument own_options[] = {
    {"--runs", "N", "runs of each size", &own.runs, 1, 1000000, NULL},
    {"--seconds", "N", "longest time; stops the runs when it is over", &own.seconds, 1, 3600, NULL},
    {"--operations", "N", "operations for each element", &own.operations, 1, 4096, NULL},
    {"--kernel", "N", "0: polynomial, 1: scramble, 2: gather", &own.kernel, 0, MIX_KERNELS - 1,
     NULL},
    {.name = NULL}};

static usecase_options options = {.seed = 1};
static resources all;
static mix_kind kinds[WORK_MOST_KINDS];
static alone_times alone;
static contest match;

static size_t make_kinds(void)
{
    uint32_t sizes[MOST_SIZES];
    for (uint32_t i = 0; i < MOST_SIZES; i++) {
        sizes[i] = 1u << (i * STEP);
    }
    work_open(sizes, MOST_SIZES, options.seed);
    for (uint32_t i = 0; i < MOST_SIZES; i++) {
        kinds[i] = work_kind_of((uint32_t)own.kernel, i, (uint32_t)own.operations);
    }
    return MOST_SIZES;
}

static double mean_ns(const contender *who, size_t kind)
{
    return who->kind_ns[kind] / match.kind_runs[kind];
}

static double share_of_best(const contender *who, size_t kind)
{
    const uint32_t runs = match.kind_runs[kind];
    return runs > match.warm_up ? (double)who->kind_best[kind] / (runs - match.warm_up) : 0;
}

static bool is_auto_tune(const contender *who)
{
    return strncmp(who->policy, "auto_tune", strlen("auto_tune")) == 0;
}

static void write_contender(const contender *who)
{
    for (size_t i = 0; i < match.kind_count; i++) {
        csv_figure figure = {.record = "mean",
                             .policy = who->policy,
                             .resource = who->resource,
                             .task = kinds[i].name,
                             .x = kinds[i].elements,
                             .value = mean_ns(who, i),
                             .unit = "ns"};
        csv_add(&figure);
        if (who->way != CONTEST_FIXED) {
            figure.record = "best_chosen";
            figure.value = share_of_best(who, i);
            figure.unit = "of the runs after warm-up";
            csv_add(&figure);
        }
    }
    csv_add(&(csv_figure){.record = "share",
                          .policy = who->policy,
                          .resource = who->resource,
                          .x = match.runs,
                          .value = contest_share(&match, who),
                          .unit = "of the oracle after warm-up"});
}

static void print_head(void)
{
    printf("\nMedians alone in us, the best with *; and how often each policy took it after the "
           "first %" PRIu32 " runs\nof at most %" PRIu64 "\n\n%10s",
           match.warm_up, own.runs, "elements");
    for (size_t k = 0; k < all.count; k++) {
        printf(" %17.16s", all.names[k]);
    }
    for (size_t k = 0; k < match.count; k++) {
        if (is_auto_tune(&match.all[k])) {
            printf(" %22s", match.all[k].policy);
        }
    }
    printf("\n");
}

static void print_kind(size_t i)
{
    printf("%10" PRIu32, kinds[i].elements);
    for (size_t k = 0; k < all.count; k++) {
        printf(" %15.2f %c", alone.ns[i][k] / 1e3, alone.best[i] == k ? '*' : ' ');
    }
    for (size_t k = 0; k < match.count; k++) {
        if (is_auto_tune(&match.all[k])) {
            printf(" %20.1f %%", share_of_best(&match.all[k], i) * 100);
        }
    }
    printf("\n");
}

/* From which size on the host is not the best any more. */
static void print_crossing(void)
{
    for (size_t i = 0; i < match.kind_count; i++) {
        if (alone.best[i] != 0) {
            printf("\nThe crossing: from %" PRIu32 " elements on %s is faster than the host.\n",
                   kinds[i].elements, all.names[alone.best[i]]);
            csv_add(&(csv_figure){.record = "crossing",
                                  .policy = "fixed",
                                  .resource = all.names[alone.best[i]],
                                  .x = kinds[i].elements,
                                  .value = alone.ns[i][alone.best[i]],
                                  .unit = "ns"});
            return;
        }
    }
    printf("\nThere is no crossing up to %" PRIu32 " elements: the host is always the fastest.\n",
           kinds[match.kind_count - 1].elements);
}

static void print_found(const contender *who)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < match.kind_count; i++) {
        const double chosen = alone.ns[i][who->last_choice[i]];
        wrong += chosen > NEARLY * alone.ns[i][alone.best[i]] ? 1 : 0;
    }
    printf(
        "%s: last at a resource over 10 %% slower than the best in %u of %zu sizes; share of the "
        "oracle %.1f %%\n",
        who->policy, wrong, match.kind_count, contest_share(&match, who) * 100);
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    resources_find(&all, &options, true, 2);
    csv_open(&options, argc, argv);
    const size_t count = make_kinds();
    work_prepare(&all);
    alone_measure(&alone, kinds, count, &all);
    match = (contest){.r = &all,
                      .kinds = kinds,
                      .kind_count = count,
                      .alone = &alone,
                      .warm_up = 3 * (uint32_t)all.count};
    contest_open(&match);
    contest_run(&match, (uint32_t)own.runs, options.seed, (double)own.seconds);
    print_head();
    for (size_t i = 0; i < count; i++) {
        print_kind(i);
    }
    print_crossing();
    for (size_t i = 0; i < match.count; i++) {
        write_contender(&match.all[i]);
        if (match.all[i].way == CONTEST_SUBMIT || match.all[i].way == CONTEST_TELL) {
            print_found(&match.all[i]);
        }
    }
    contest_close(&match);
    work_close(kinds, count);
    resources_close();
    csv_close();
    return 0;
}
