/* SPDX-License-Identifier: Apache-2.0 */
/* A mix of kernels of all sizes: policies compared with an oracle. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "contest.h"
#include "csv.h"
#include "kernels.h"
#include "log.h"

static const char *const ABOUT =
    "A mix of kernels in random order, 256 to 16 Mi elements with 1 to 4096 operations each, from "
    "the\nhost's memory to the host's memory. Every resource is measured alone first: the best for "
    "each kind\nof work is the oracle. Then each single resource and each policy does the whole "
    "mix. Every result is\nchecked against plain C.";

enum { SIZES = 5, FIRST_SIZE = 8, SIZE_STEP = 4, OPERATIONS = 4 };

static const double CLAIM = 0.95;
static const double PEER = 0.875; /* the best published share of an optimum */
static const double MOST_REGRET = 0.05;

static struct {
    uint64_t runs;
    uint64_t seconds;
    uint64_t most_work;
    uint64_t most_size;
} own = {.runs = 40, .seconds = 60, .most_work = 24, .most_size = 24};

static const argument own_options[] = {
    {"--runs", "N", "runs of each kind of work", &own.runs, 1, 1000000, NULL},
    {"--seconds", "N", "longest time; stops the runs when it is over", &own.seconds, 1, 3600, NULL},
    {"--most-elements", "N", "largest size, as a power of two", &own.most_size, FIRST_SIZE, 24,
     NULL},
    {"--most-work", "N", "most elements times operations, as a power of two", &own.most_work,
     FIRST_SIZE, 36, NULL},
    {.name = NULL}};

static usecase_options options = {.seed = 1};
static resources all;
static mix_kind kinds[WORK_MOST_KINDS];
static alone_times alone;
static contest match;

static size_t make_kinds(void)
{
    uint32_t sizes[SIZES];
    size_t size_count = 0;
    size_t count = 0;
    for (uint32_t i = 0; i < SIZES && FIRST_SIZE + i * SIZE_STEP <= own.most_size; i++) {
        sizes[size_count++] = 1u << (FIRST_SIZE + i * SIZE_STEP);
    }
    work_open(sizes, size_count, options.seed);
    for (uint32_t size = 0; size < size_count; size++) {
        for (uint32_t k = 0; k < OPERATIONS; k++) {
            const uint32_t bits = FIRST_SIZE + size * SIZE_STEP + 4 * k;
            for (uint32_t kernel = 0; kernel < MIX_KERNELS && bits <= own.most_work; kernel++) {
                kinds[count++] = work_kind_of(kernel, size, 1u << (4 * k));
            }
        }
    }
    return count;
}

static void print_alone(size_t count)
{
    printf(
        "\nEach kind of work (kernel/elements/operations) on each resource alone, in us\n\n%-26s",
        "");
    for (size_t k = 0; k < all.count; k++) {
        printf(" %22.22s", all.names[k]);
    }
    printf("\n");
    for (size_t i = 0; i < count; i++) {
        printf("%-26s", kinds[i].name);
        for (size_t k = 0; k < all.count; k++) {
            printf(" %20.1f %c", alone.ns[i][k] / 1e3, alone.best[i] == k ? '*' : ' ');
        }
        printf("\n");
    }
}

static void write_value(const contender *who, const char *record, double value, const char *unit)
{
    csv_add(&(csv_figure){.record = record,
                          .policy = who->policy,
                          .resource = who->resource,
                          .x = match.runs,
                          .value = value,
                          .unit = unit});
}

static void print_contender(const contender *who, double single_ns)
{
    char name[64];
    const double share = contest_share(&match, who);
    const double table_ns = match.all[CONTEST_ORACLE].table_ns;
    const double choices = who->table_ns > 0 ? table_ns / who->table_ns : 0;
    const double regret = who->total_ns / single_ns - 1;
    (void)snprintf(name, sizeof name, "%s%s%.30s", who->policy, who->resource != NULL ? " " : "",
                   who->resource != NULL ? who->resource : "");
    const double hindsight = contest_hindsight_share(&match, who);
    printf("%-36s %9.3f %9.1f %% %9.1f %% %9.1f %% %+9.1f %%\n", name, who->total_ns / 1e9,
           share * 100, hindsight * 100, choices * 100, regret * 100);
    write_value(who, "hindsight_share", hindsight, "of the best in hindsight after warm-up");
    write_value(who, "total", who->total_ns, "ns");
    write_value(who, "share", share, "of the oracle after warm-up");
    write_value(who, "choice_share", choices, "of the oracle after warm-up");
    write_value(who, "regret", regret, "against the best single resource");
}

/* Whole runs of a kind, what was tried on the way included, where there were enough of them. */
static void print_kinds(const contender *who)
{
    unsigned ripe = 0;
    unsigned over = 0;
    for (size_t i = 0; i < match.kind_count; i++) {
        const double wanted = alone_runs_until_repaid(&alone, i, all.count);
        const double regret = who->kind_ns[i] / contest_best_single_ns(&match, i) - 1;
        csv_add(&(csv_figure){.record = "kind_regret",
                              .policy = who->policy,
                              .task = kinds[i].name,
                              .x = match.kind_runs[i] / (wanted > 1 ? wanted : 1),
                              .value = regret,
                              .unit = "against the best single resource of the kind"});
        if (match.kind_runs[i] >= wanted) {
            ripe++;
            over += regret > MOST_REGRET ? 1 : 0;
        }
    }
    printf("%s: of %zu kinds %u had the runs that repay what is tried; %u of these took over 5 %% "
           "more than\non their best resource alone.\n",
           who->policy, match.kind_count, ripe, over);
}

static const contender *best_single(void)
{
    const contender *best = NULL;
    for (size_t i = 0; i < match.count; i++) {
        const contender *who = &match.all[i];
        if (who->way == CONTEST_FIXED && (best == NULL || who->total_ns < best->total_ns)) {
            best = who;
        }
    }
    return best;
}

static void print_result(void)
{
    const contender *single = best_single();
    printf(
        "\n%" PRIu32 " runs of each of %zu kinds of work, %" PRIu32 " in all; the first %" PRIu32
        " of each kind are warm-up.\nThe oracle's share: by time; against the best single resource "
        "of each kind in hindsight; and by what\nthe choices took alone. The budget is %.0f %%; "
        "the best published is %.1f %%. Regret: of the whole time,\nagainst the best single "
        "resource, %s.\n\n%-36s %9s %11s %11s %11s %11s\n",
        match.runs / (uint32_t)match.kind_count, match.kind_count, match.runs, match.warm_up,
        CLAIM * 100, PEER * 100, single->resource, "", "seconds", "by time", "hindsight",
        "by choice", "regret");
    for (size_t i = 0; i < match.count; i++) {
        print_contender(&match.all[i], single->total_ns);
    }
    printf("\n");
    for (size_t i = 0; i < match.count; i++) {
        if (strncmp(match.all[i].policy, "auto_tune", strlen("auto_tune")) == 0) {
            print_kinds(&match.all[i]);
        }
    }
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    resources_find(&all, &options, true, 2);
    csv_open(&options, argc, argv);
    const size_t count = make_kinds();
    if (count > CONFIG_DYNSEL_MAX_TUNED_TASKS) {
        log_note("auto_tune cannot learn all of %zu kinds of work with "
                 "CONFIG_DYNSEL_MAX_TUNED_TASKS=%d; scons CONF=usecases has room",
                 count, CONFIG_DYNSEL_MAX_TUNED_TASKS);
    }
    work_prepare(&all);
    alone_measure(&alone, kinds, count, &all);
    print_alone(count);
    match = (contest){.r = &all,
                      .kinds = kinds,
                      .kind_count = count,
                      .alone = &alone,
                      .warm_up = 3 * (uint32_t)all.count,
                      .writes_course = true};
    contest_open(&match);
    contest_run(&match, (uint32_t)own.runs, options.seed, (double)own.seconds);
    print_result();
    contest_close(&match);
    work_close(kinds, count);
    resources_close();
    csv_close();
    return 0;
}
