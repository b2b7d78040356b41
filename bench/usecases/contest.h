/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All policies run the same tasks in the same order, one at a time. Each task is run by each policy
 * before the next task, so that other load of the machine affects all of them:
 *
 *     oracle      each kind on its fastest resource
 *     fixed       one resource, each of them once
 *     round_robin, dynamic_load, auto_tune
 *     auto_tune_whole_time   gets the time of the whole run as a report (see work.h)
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
    double table_ns; /* the same, with the times of each choice measured alone */
    double kind_ns[WORK_MOST_KINDS];
    double kind_warm_ns[WORK_MOST_KINDS];
    uint32_t kind_best[WORK_MOST_KINDS]; /* runs after the warm-up on the oracle's choice */
    uint32_t last_choice[WORK_MOST_KINDS];
} contender;

typedef struct contest {
    const resources *r;
    mix_kind *kinds;
    size_t kind_count;
    const alone_times *alone;
    uint32_t warm_up;   /* runs of each kind that the shares do not count */
    bool writes_course; /* the time so far, into the CSV file */
    contender all[CONTEST_MOST];
    size_t count;
    uint32_t kind_runs[WORK_MOST_KINDS];
    uint32_t runs; /* of each contender */
} contest;

/* Initializes the policies; the other members of contest are set before. */
void contest_open(contest *c);

/* Runs each kind this many times in random order, at most for `seconds`. */
void contest_run(contest *c, uint32_t runs_of_each, uint64_t seed, double seconds);

/* The oracle's time divided by this one's, after the warm-up. */
double contest_share(const contest *c, const contender *who);

/* The same for an oracle in hindsight, which takes for each kind the fastest single resource of
 * this contest. */
double contest_hindsight_share(const contest *c, const contender *who);

/* The time of the fastest single resource of a kind for all its runs. */
double contest_best_single_ns(const contest *c, size_t kind);

void contest_close(contest *c);

#endif
