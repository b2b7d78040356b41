/* SPDX-License-Identifier: Apache-2.0 */
#include "passes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#if CONFIG_DYNSEL_LEARNED_TABLES
#include "../../examples/common/learned_file.h"
#endif
#include "../../examples/common/trace_file.h"
#include "../measure.h"
#include "../policies.h"
#include "csv.h"
#include "log.h"

enum {
    MOST = RESOURCES_MOST + 8,
    FIRST = 20, /* passes whose share of the best single resource is given */
    WARM_UP = 4 /* passes before the later ones */
};

typedef struct entrant {
    const char *policy;
    const char *resource; /* of fixed; else NULL */
    dynsel_policy *acts;
    double ns[MEASURE_MAX_SAMPLES]; /* of the last passes */
    double total_ns;
    double first_ns; /* of the first passes */
    double later_ns; /* of those after the warm-up */
    uint32_t passes;
} entrant;

static dynsel_fixed_resource_policy fixed[RESOURCES_MOST];
static entrant all[MOST];
static size_t count;

const char *passes_only;
const char *passes_learned;

/* Whether one of the words of --only is a part of the name. */
static bool is_wanted(const char *name)
{
    const char *word = passes_only;
    while (word != NULL && *word != '\0') {
        const size_t length = strcspn(word, ",");
        for (const char *at = name; length != 0 && *at != '\0'; at++) {
            if (strncmp(at, word, length) == 0) {
                return true;
            }
        }
        word += length + (word[length] == ',' ? 1 : 0);
    }
    return passes_only == NULL;
}

#if CONFIG_DYNSEL_LEARNED_TABLES

static learned_file kept = {.descriptor = -1};

static dynsel_earliest_finish_policy *find_learner(void)
{
    _Static_assert(offsetof(dynsel_earliest_finish_policy, policy) == 0, "the policy is its begin");
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].policy, "earliest_finish") == 0) {
            return (dynsel_earliest_finish_policy *)(void *)all[i].acts;
        }
    }
    log_exit(STATUS_USAGE, "--learned %s: --only %s leaves out earliest_finish, which learns",
             passes_learned, passes_only);
}

static void begin_with_learned(void)
{
    dynsel_learned_report loaded;
    if (passes_learned == NULL) {
        return;
    }
    dynsel_earliest_finish_policy *const learner = find_learner();
    if (!learned_file_open(&kept, passes_learned)) {
        log_exit(STATUS_FAILED, "--learned %s: %s", passes_learned, kept.error);
    }
    if (!learned_file_load(&kept, learner, &loaded)) {
        log_note("--learned %s: %s", passes_learned, kept.error);
    }
    printf("earliest_finish begins with %u kinds of work on %u devices that an earlier run "
           "learned\n",
           loaded.kinds, loaded.devices);
}

static void keep_learned(void)
{
    if (passes_learned != NULL && !learned_file_save(&kept, find_learner(), NULL)) {
        log_exit(STATUS_FAILED, "--learned %s: %s", passes_learned, kept.error);
    }
    learned_file_close(&kept);
}

#else

static void begin_with_learned(void)
{
    if (passes_learned != NULL) {
        log_exit(STATUS_USAGE, "--learned: this build has no learned tables; configure it with "
                               "CONFIG_DYNSEL_LEARNED_TABLES=y");
    }
}

static void keep_learned(void)
{
}

#endif

static void open_all(const resources *r)
{
    const dynsel_options options = {.resources = r->table, .count = r->count};
    count = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (!is_wanted(r->names[i])) {
            continue;
        }
        log_check(dynsel_fixed_resource_init(&fixed[i], &options, i) == DYNSEL_OK, r->names[i]);
        all[count++] =
            (entrant){.policy = "fixed", .resource = r->names[i], .acts = &fixed[i].policy};
    }
    if (count == 0) {
        log_exit(STATUS_USAGE,
                 "--only %s: no resource has one of these words in its name, such as %s",
                 passes_only, r->names[0]);
    }
    for (const bench_policy *p = bench_policies; p->name != NULL; p++) {
        if (strcmp(p->name, "fixed_resource") != 0 && is_wanted(p->name)) {
            log_check(p->init(&options, 0) == DYNSEL_OK, p->name);
            all[count++] = (entrant){.policy = p->name, .acts = p->policy};
        }
    }
    begin_with_learned();
}

static void do_pass(const passes_work *work, entrant *who)
{
    char mark[40];
    (void)snprintf(mark, sizeof mark, "%s%s%.30s", who->policy, who->resource != NULL ? " " : "",
                   who->resource != NULL ? who->resource : "");
    if (work->before != NULL) {
        work->before(work->context);
    }
    trace_file_mark(mark, who->passes + 1);
    const uint64_t began = measure_now_ns();
    work->run(who->acts, work->context);
    const double ns = (double)(measure_now_ns() - began);
    trace_file_mark("checks", who->passes + 1);
    who->total_ns += ns;
    who->first_ns += who->passes < FIRST ? ns : 0;
    who->later_ns += who->passes >= WARM_UP ? ns : 0;
    who->ns[who->passes++ % MEASURE_MAX_SAMPLES] = ns;
    if (work->after != NULL) {
        work->after(mark, work->context);
    }
}

static void do_all(const passes_work *work, uint32_t passes)
{
    for (uint32_t i = 0; i < passes * count; i++) {
        do_pass(work, &all[(i + i / count) % count]);
    }
}

/* One pass, by the median of the last ones. */
static double median_ns(const entrant *who)
{
    double ns[MEASURE_MAX_SAMPLES];
    const uint32_t known = who->passes < MEASURE_MAX_SAMPLES ? who->passes : MEASURE_MAX_SAMPLES;
    (void)memcpy(ns, who->ns, sizeof ns);
    return measure_median(ns, known);
}

static const entrant *best_single(void)
{
    const entrant *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (all[i].resource != NULL && (best == NULL || all[i].total_ns < best->total_ns)) {
            best = &all[i];
        }
    }
    return best;
}

static void write(const passes_work *work, const entrant *who, const char *record, double value,
                  const char *unit)
{
    csv_add(&(csv_figure){.record = record,
                          .policy = who->policy,
                          .resource = who->resource,
                          .task = work->name,
                          .x = who->passes,
                          .value = value,
                          .unit = unit});
}

/* Part of `whole`, as text and for the CSV file; an empty text where there is none. */
static const char *share_text(char *text, size_t bytes, double share)
{
    text[0] = '\0';
    if (share > 0) {
        (void)snprintf(text, bytes, "%.1f %%", share * 100);
    }
    return text;
}

static void tell_shares(const passes_work *work, const entrant *who, const entrant *best)
{
    char text[3][16];
    const double first = best->first_ns / who->first_ns;
    const double later = who->later_ns > 0 ? best->later_ns / who->later_ns : 0;
    const double oracle = work->oracle_ns / median_ns(who);
    printf(" %12s %12s %12s\n", share_text(text[0], sizeof text[0], first),
           share_text(text[1], sizeof text[1], later), share_text(text[2], sizeof text[2], oracle));
    write(work, who, "share_first", first, "of the best single resource");
    if (later > 0) {
        write(work, who, "share_later", later, "of the best single resource");
    }
    if (oracle > 0) {
        write(work, who, "share_oracle", oracle, "of the oracle");
    }
}

static void tell_one(const passes_work *work, const entrant *who, const entrant *best)
{
    char name[64];
    const double rate = work->units / (median_ns(who) / 1e9);
    (void)snprintf(name, sizeof name, "%s%s%.30s", who->policy, who->resource != NULL ? " " : "",
                   who->resource != NULL ? who->resource : "");
    printf("%-36s %9.3f %10.1f", name, who->total_ns / 1e9, rate);
    write(work, who, "rate", rate, work->unit);
    write(work, who, "total", who->total_ns, "ns");
    tell_shares(work, who, best);
}

static void tell_oracle(const passes_work *work, uint32_t passes)
{
    const double rate = work->units / (work->oracle_ns / 1e9);
    const entrant oracle = {.policy = "oracle", .passes = passes};
    printf("%-36s %9.3f %10.1f %12s %12s %10.1f %%\n", "oracle", passes * work->oracle_ns / 1e9,
           rate, "", "", 100.0);
    write(work, &oracle, "rate", rate, work->unit);
}

static void tell_pieces(const entrant *who, const resources *r)
{
    const char *separator = "";
    if (who->resource != NULL) {
        return;
    }
    printf("%s runs in a pass:", who->policy);
    for (size_t i = 0; i < r->count; i++) {
        dynsel_resource_statistics counts = {0};
        log_check(dynsel_get_statistics(who->acts, i, &counts) == DYNSEL_OK, "the statistics");
        const double pieces = (double)counts.submitted / who->passes;
        if (counts.submitted != 0) {
            printf("%s %.1f pieces on %.30s", separator, pieces, r->names[i]);
            separator = ",";
        }
        csv_add(&(csv_figure){.record = "pieces",
                              .policy = who->policy,
                              .task = r->names[i],
                              .x = who->passes,
                              .value = pieces,
                              .unit = "in a pass"});
    }
    printf("\n");
}

static void tell(const passes_work *work, const resources *r, uint32_t passes)
{
    char rate[24];
    const entrant *best = best_single();
    (void)snprintf(rate, sizeof rate, "%s/s", work->unit);
    printf("\n%s: %u passes, %.3f %s each. Shares of the best single resource over all passes, %s: "
           "in the\nfirst %d passes%s, and from pass %d on%s.\n\n%-36s %9s %10s %12s %12s %12s\n",
           work->name, passes, work->units, work->unit, best->resource, FIRST,
           passes < FIRST ? " (or fewer)" : "", WARM_UP + 1,
           work->oracle_ns > 0 ? "; of the oracle, by the median pass" : "", "", "seconds", rate,
           "first", "later", work->oracle_ns > 0 ? "oracle" : "");
    for (size_t i = 0; i < count; i++) {
        tell_one(work, &all[i], best);
    }
    if (work->oracle_ns > 0) {
        tell_oracle(work, passes);
    }
    printf("\n");
    for (size_t i = 0; i < count; i++) {
        tell_pieces(&all[i], r);
    }
}

void passes_measure(const passes_work *work, const resources *r, uint32_t passes)
{
    open_all(r);
    do_all(work, passes);
    tell(work, r, passes);
    keep_learned();
    for (size_t i = 0; i < count; i++) {
        log_check(dynsel_policy_deinit(all[i].acts) == DYNSEL_OK, "dynsel_policy_deinit");
    }
}
