/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All policies do the same work in the same order, one piece at a time, each piece by each of them
 * before the next, so that whatever else the machine does hits all alike:
 *
 *     oracle      each kind on the resource that was the best for it alone
 *     fixed       one resource, each of them once
 *     round_robin, dynamic_load, auto_tune
 *     auto_tune_whole_time   is told how long the whole run took (see work.h)
 */
#ifndef USECASES_CONTEST_H
#define USECASES_CONTEST_H

#include "alone.h"

enum { CONTEST_MOST = RESOURCES_MOST + 6, CONTEST_ORACLE = 0 };

typedef enum contest_way {
    CONTEST_BY_TABLE,
    CONTEST_FIXED,
    CONTEST_SUBMIT,
    CONTEST_TELL
} contest_way;

typedef struct contender {
    const char *policy;
    const char *resource; /* of fixed; else NULL */
    contest_way way;
    dynsel_policy *acts;
    uint32_t index; /* of fixed */
    double total_ns;
    double warm_ns;  /* after the warm-up */
    double table_ns; /* likewise, where each choice costs what it took alone */
    double kind_ns[WORK_MOST_KINDS];
    double kind_warm_ns[WORK_MOST_KINDS];
    uint32_t kind_best[WORK_MOST_KINDS]; /* runs after the warm-up on the oracle's choice */
    uint32_t last_choice[WORK_MOST_KINDS];
} contender;

typedef struct contest {
    const resources *r;
    work_kind *kinds;
    size_t kind_count;
    const alone_times *alone;
    uint32_t warm_up;   /* runs of each kind that do not count for the shares */
    bool writes_course; /* what each has needed so far, into the CSV file */
    contender all[CONTEST_MOST];
    size_t count;
    uint32_t kind_runs[WORK_MOST_KINDS];
    uint32_t runs; /* of each contender */
} contest;

/* Initializes the policies. With the other members of contest filled in. */
void contest_open(contest *c);

/* So many runs of each kind in random order, or until the seconds are over. */
void contest_run(contest *c, uint32_t runs_of_each, uint64_t seed, double seconds);

/* The share of what this one needed that the oracle would have, after the warm-up. */
double contest_share(const contest *c, const contender *who);

/* The same for an oracle in hindsight: for each kind the single resource that was the best in this
 * very contest. It cannot be out of date. */
double contest_hindsight_share(const contest *c, const contender *who);

/* What the best single resource for a kind needed for all its runs. */
double contest_best_single_ns(const contest *c, size_t kind);

void contest_close(contest *c);

#endif
