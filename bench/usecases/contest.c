/* SPDX-License-Identifier: Apache-2.0 */
#include "contest.h"

#include <stdlib.h>
#include <string.h>

#include "../../examples/common/trace_file.h"
#include "../measure.h"
#include "../policies.h"
#include "csv.h"
#include "log.h"
#include "random.h"

static dynsel_auto_tune_policy whole_time;

static contender *add(contest *c, const char *policy, contest_way way)
{
    contender *who = &c->all[c->count++];
    *who = (contender){.policy = policy, .way = way};
    return who;
}

void contest_open(contest *c)
{
    const dynsel_options options = {.resources = c->r->table, .count = c->r->count};
    c->count = 0;
    (void)add(c, "oracle", CONTEST_BY_TABLE);
    for (uint32_t i = 0; i < c->r->count; i++) {
        contender *who = add(c, "fixed", CONTEST_FIXED);
        who->resource = c->r->names[i];
        who->index = i;
    }
    for (const bench_policy *p = bench_policies; p->name != NULL; p++) {
        if (strcmp(p->name, "fixed_resource") != 0) {
            log_check(p->init(&options, 0) == DYNSEL_OK, p->name);
            add(c, p->name, CONTEST_SUBMIT)->acts = p->policy;
        }
    }
    log_check(dynsel_auto_tune_init(&whole_time, &options, DYNSEL_NEVER_RESAMPLE) == DYNSEL_OK,
              "dynsel_auto_tune_init");
    add(c, "auto_tune_whole_time", CONTEST_TELL)->acts = &whole_time.policy;
}

static work_run run_one(const contest *c, const contender *who, uint32_t kind)
{
    const mix_kind *what = &c->kinds[kind];
    switch (who->way) {
    case CONTEST_BY_TABLE:
        return work_place_on(c->alone->best[kind], what, c->r);
    case CONTEST_FIXED:
        return work_place_on(who->index, what, c->r);
    case CONTEST_SUBMIT:
        return work_place(who->acts, what, c->r);
    case CONTEST_TELL:
    default:
        return work_place_and_tell(who->acts, what, c->r);
    }
}

static void note(const contest *c, contender *who, uint32_t kind, const work_run *run)
{
    who->total_ns += (double)run->ns;
    who->kind_ns[kind] += (double)run->ns;
    who->last_choice[kind] = run->resource;
    if (c->kind_runs[kind] > c->warm_up) {
        who->warm_ns += (double)run->ns;
        who->kind_warm_ns[kind] += (double)run->ns;
        who->table_ns += c->alone->ns[kind][run->resource];
        who->kind_best[kind] += run->resource == c->alone->best[kind] ? 1 : 0;
    }
}

/* At growing intervals. */
static void write_course(const contest *c, uint32_t *next)
{
    if (!c->writes_course || c->runs < *next) {
        return;
    }
    for (size_t i = 0; i < c->count; i++) {
        csv_add(&(csv_figure){.record = "course",
                              .policy = c->all[i].policy,
                              .resource = c->all[i].resource,
                              .x = c->runs,
                              .value = c->all[i].total_ns,
                              .unit = "ns"});
    }
    *next += *next / 8 + 1;
}

/* One task by each of them, in random order, because the order matters to caches. */
static void do_one(contest *c, uint32_t kind, uint64_t *seed)
{
    uint32_t turns[CONTEST_MOST];
    for (uint32_t i = 0; i < c->count; i++) {
        turns[i] = i;
    }
    random_shuffle(turns, c->count, seed);
    c->kind_runs[kind]++;
    for (size_t i = 0; i < c->count; i++) {
        contender *who = &c->all[turns[i]];
        trace_file_mark(who->policy, c->runs + 1);
        const work_run run = run_one(c, who, kind);
        note(c, who, kind, &run);
    }
    c->runs++;
}

static void do_order(contest *c, const uint32_t *order, size_t length, uint64_t seed,
                     double seconds)
{
    const uint64_t began = measure_now_ns();
    uint32_t next = 1;
    for (size_t i = 0; i < length; i++) {
        do_one(c, order[i], &seed);
        const bool is_over = (double)(measure_now_ns() - began) > seconds * 1e9;
        next = is_over || i + 1 == length ? 0 : next;
        write_course(c, &next);
        if (is_over) {
            return;
        }
    }
}

void contest_run(contest *c, uint32_t runs_of_each, uint64_t seed, double seconds)
{
    const size_t length = c->kind_count * runs_of_each;
    uint32_t *order = calloc(length, sizeof *order);
    if (order == NULL) {
        log_exit(STATUS_FAILED, "the host has no memory for the order of %zu runs", length);
    }
    for (size_t i = 0; i < length; i++) {
        order[i] = (uint32_t)(i % c->kind_count);
    }
    random_shuffle(order, length, &seed);
    do_order(c, order, length, seed, seconds);
    free(order);
}

double contest_share(const contest *c, const contender *who)
{
    return who->warm_ns > 0 ? c->all[CONTEST_ORACLE].warm_ns / who->warm_ns : 0;
}

static const contender *best_single(const contest *c, size_t kind, bool is_warm)
{
    const contender *best = NULL;
    double least = 0;
    for (size_t i = 0; i < c->count; i++) {
        const contender *who = &c->all[i];
        const double ns = is_warm ? who->kind_warm_ns[kind] : who->kind_ns[kind];
        if (who->way == CONTEST_FIXED && (best == NULL || ns < least)) {
            best = who;
            least = ns;
        }
    }
    return best;
}

double contest_best_single_ns(const contest *c, size_t kind)
{
    const contender *best = best_single(c, kind, false);
    return best != NULL ? best->kind_ns[kind] : 0;
}

double contest_hindsight_share(const contest *c, const contender *who)
{
    double sum = 0;
    for (size_t i = 0; i < c->kind_count; i++) {
        const contender *best = best_single(c, i, true);
        sum += best != NULL ? best->kind_warm_ns[i] : 0;
    }
    return who->warm_ns > 0 ? sum / who->warm_ns : 0;
}

void contest_close(contest *c)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->all[i].acts != NULL) {
            log_check(dynsel_policy_deinit(c->all[i].acts) == DYNSEL_OK, "dynsel_policy_deinit");
        }
    }
}
