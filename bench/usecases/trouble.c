/* SPDX-License-Identifier: Apache-2.0 */
/* A device that becomes slow, fails, disappears, or hangs for a while, and comes back. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <dynsel/resource_states.h>

#include "../../examples/common/trace_file.h"
#include "../measure.h"
#include "../policies.h"
#include "csv.h"
#include "log.h"
#include "resources.h"
#include "trouble_device.h"
#include "trouble_pool.h"

static const char *const ABOUT =
    "Host workers as devices, one of which gets into trouble after a third of the work: it becomes "
    "slow,\nit fails, it disappears, or it hangs. After two thirds it works again, and the program "
    "reinstates it.\nHow long each policy goes on sending work there, and what becomes of the "
    "work. What is reported as\ndone is checked against plain C; what failed or was given up is "
    "submitted again. by_hand is a pool\nof threads with one queue, without the library.";

enum {
    ROOM = CONFIG_DYNSEL_MAX_IN_FLIGHT < 64 ? CONFIG_DYNSEL_MAX_IN_FLIGHT - 2 : 62,
    DEPTH = 4,         /* pieces of work for each worker */
    NAP_NS = 20000,    /* where no piece has come back */
    QUIET = 64,        /* pieces of work in a row elsewhere: the policy has moved away */
    MOST_TRIES = 5000, /* refused submits in a row, which end a play */
    JOBS = 64 * ROOM,  /* with those that a device that hangs may still write */
    LEAST_LIMIT_US = 5000
};

static const argument own_options[] = {
    {"--pieces", "N", "of work; the trouble begins after a third and ends after two thirds",
     &trouble.pieces, 300, 10000000, NULL},
    {"--task-us", "N", "how long one takes there, in us", &trouble.task_us, 20, 100000, NULL},
    {"--limit-us", "N", "time limit of one, in us; 0: 10 times --task-us, at least 5000",
     &trouble.limit_us, 0, 10000000, NULL},
    {"--others-slower", "N", "how many times longer it takes on the other workers",
     &trouble.others_slower, 1, 1000, NULL},
    {"--times-slower", "N", "what slow is", &trouble.times_slower, 2, 1000, NULL},
    {.name = NULL}};

static usecase_options options = {.seed = 1, .workers = 2, .devices = "none"};
static resources all;
static uint32_t victim; /* index of its resource */

/* What one piece of work gets and leaves. */
typedef struct piece {
    job *memory;
    uint32_t number; /* 0: none */
    uint32_t tries;
    uint64_t since_ns; /* the first try */
    dynsel_submission submission;
    bool is_out;
} piece;

static dynsel_status compute(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)done;
    if (device_run(where->handle == all.table[victim].handle, args)) {
        return DYNSEL_OK;
    }
    return dynsel_fail(&(dynsel_error){.status = DYNSEL_E_DEVICE,
                                       .function = "compute",
                                       .subject = all.names[victim],
                                       .detail = "the device is in trouble"});
}

/* The backend of the victim: the workers', but for a device that is gone, which takes no work. */
static dynsel_backend_ops fragile_ops;
static dynsel_backend fragile = {&fragile_ops};

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    if (device_get() == GONE) {
        return DYNSEL_E_OUT_OF_SERVICE;
    }
    return dynsel_threads_backend.ops->start(&dynsel_threads_backend, work);
}

static void make_fragile(void)
{
    victim = 0; /* among equals the first choice of all policies */
    fragile_ops = *dynsel_threads_backend.ops;
    fragile_ops.name = "fragile";
    fragile_ops.start = start;
    all.table[victim].backend = &fragile;
}

static void note_choice(outcome *o, uint32_t index)
{
    if (o->ended_ns != 0 && o->back_ns == 0 && index == victim) {
        o->back_ns = measure_now_ns();
    }
    if (device_get() == TROUBLES) {
        return;
    }
    if (index != victim) {
        o->moved = o->moved || ++o->elsewhere >= QUIET;
    } else if (o->moved) {
        o->later++;
    } else {
        o->elsewhere = 0;
        o->sent++;
        o->last_ns = measure_now_ns();
    }
}

typedef struct crowd {
    piece pieces[ROOM];
    job jobs[JOBS];
    uint32_t jobs_used;
    uint32_t count;
    uint32_t next; /* piece of work */
} crowd;

/* Memory that no work has had. */
static job *new_job(crowd *c)
{
    if (c->jobs_used == JOBS) {
        log_exit(STATUS_FAILED, "more than %d pieces of work were given up; a longer --limit-us",
                 JOBS);
    }
    return &c->jobs[c->jobs_used++];
}

/* False: nothing takes it. */
static bool submit(piece *p, dynsel_policy *policy, outcome *o)
{
    const dynsel_task task = {
        .function = compute, .args = p->memory, .id = 1, .limit_ns = trouble.limit_us * 1000};
    p->since_ns = p->tries++ == 0 ? measure_now_ns() : p->since_ns;
    job_prepare(p->memory, p->number);
    if (dynsel_submit(policy, &task, &p->submission) != DYNSEL_OK) {
        o->refused++;
        return false;
    }
    o->refused = 0;
    p->is_out = true;
    note_choice(o, p->submission.index);
    return true;
}

/* Looks whether a piece has come back; a failed one goes out again. */
static bool collect(crowd *c, piece *p, uint64_t wait_ns, outcome *o)
{
    const dynsel_status status = dynsel_wait_for(&p->submission, wait_ns);
    if (status == DYNSEL_E_TIMEOUT) {
        return false;
    }
    p->is_out = false;
    if (status == DYNSEL_E_GIVEN_UP) {
        o->given_up++;
        p->memory = new_job(c); /* the device may still write the old one */
    }
    if (status != DYNSEL_OK) {
        o->failed++;
        return true;
    }
    outcome_count(o, p->memory, p->since_ns);
    p->tries = 0;
    return true;
}

/* Whether it had anything to do. */
static bool step(crowd *c, piece *p, dynsel_policy *policy, outcome *o)
{
    if (p->is_out && !collect(c, p, 0, o)) {
        return false;
    }
    if (p->tries == 0) {
        p->number = c->next < trouble.pieces ? ++c->next : 0;
    }
    if (p->number == 0) {
        return false;
    }
    return submit(p, policy, o);
}

/* The device works again: puts it back, also when failures from before were told after that. */
static void repair(const bench_policy *p, const outcome *o)
{
    dynsel_resource_state state = DYNSEL_RESOURCE_IN_SERVICE;
    if (o->ended_ns != 0 && dynsel_resource_get_state(p->policy, victim, &state) == DYNSEL_OK &&
        state == DYNSEL_RESOURCE_OUT_OF_SERVICE) {
        log_check(dynsel_resource_reinstate(p->policy, victim) == DYNSEL_OK, p->name);
    }
}

/* Ends the policy when a function that hung has returned. */
static void finish(const bench_policy *p, crowd *c, outcome *o)
{
    enum { MOST_NAPS = 500000 };
    device_set(TROUBLES);
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->pieces[i].is_out) {
            (void)collect(c, &c->pieces[i], UINT64_MAX, o);
        }
    }
    dynsel_status status = dynsel_policy_deinit(p->policy);
    for (uint32_t i = 0; i < MOST_NAPS && status == DYNSEL_E_BUSY; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        status = dynsel_policy_deinit(p->policy);
    }
    log_check(status == DYNSEL_OK, "dynsel_policy_deinit");
}

static outcome play(const bench_policy *p, trouble_kind kind)
{
    static crowd c;
    const dynsel_options table = {.resources = all.table, .count = all.count};
    const size_t wanted = all.count * DEPTH;
    c = (crowd){.count = wanted < ROOM ? (uint32_t)wanted : ROOM};
    for (uint32_t i = 0; i < c.count; i++) {
        c.pieces[i].memory = new_job(&c);
    }
    device_set(TROUBLES);
    log_check(p->init(&table, 0) == DYNSEL_OK, p->name);
    trace_file_mark(p->name, kind);
    outcome o = {.began_ns = measure_now_ns()};
    while (o.done < trouble.pieces && o.refused < MOST_TRIES &&
           o.failed < trouble.pieces + MOST_TRIES) {
        bool worked = false;
        for (uint32_t i = 0; i < c.count; i++) {
            worked = step(&c, &c.pieces[i], p->policy, &o) || worked;
            outcome_advance(&o, kind);
        }
        repair(p, &o);
        if (!worked) {
            (void)nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        }
    }
    o.seconds = (double)(measure_now_ns() - o.began_ns) / 1e9;
    o.moved = o.moved && o.done >= trouble.pieces;
    finish(p, &c, &o);
    return o;
}

static void add(const char *policy, trouble_kind kind, const char *record, double value,
                const char *unit)
{
    csv_add(&(csv_figure){.record = record,
                          .policy = policy,
                          .task = trouble_names[kind],
                          .x = (double)all.count,
                          .value = value,
                          .unit = unit});
}

/* Milliseconds from one moment to another; -1: that was not. */
static double ms_between(uint64_t from, uint64_t to)
{
    return to != 0 ? (double)(to - from) / 1e6 : -1;
}

static void add_timeline(const char *policy, trouble_kind kind, const outcome *o)
{
    const timeline *t = &o->over_time;
    const uint64_t width = t->width_ns;
    for (uint32_t i = 0; width != 0 && i < TIMELINE_BINS; i++) {
        if ((double)(i * width) / 1e9 < o->seconds) {
            csv_add(&(csv_figure){.record = "throughput",
                                  .policy = policy,
                                  .task = trouble_names[kind],
                                  .x = ((double)(i * width) + (double)width / 2) / 1e6,
                                  .value = t->done[i] / ((double)width / 1e9),
                                  .unit = "pieces of work/s at ms"});
        }
    }
    add(policy, kind, "begins", ms_between(o->began_ns, o->first_ns), "ms");
    add(policy, kind, "ends", ms_between(o->began_ns, o->ended_ns), "ms");
}

static const char *text_of(double ms, char *text, size_t size)
{
    (void)snprintf(text, size, ms < 0 ? "never" : "%.2f ms", ms);
    return text;
}

static void tell(const char *policy, trouble_kind kind, const outcome *o)
{
    const double away = o->moved ? ms_between(o->first_ns, o->last_ns) : -1;
    const double back = ms_between(o->ended_ns, o->back_ns);
    char texts[2][32];
    printf("%-15s %-8s %12s %8" PRIu32 " %8" PRIu32 " %8" PRIu32 " %8" PRIu32 " %8" PRIu32
           " %12s %10.2f %10.3f",
           policy, trouble_names[kind], text_of(away, texts[0], sizeof texts[0]), o->sent, o->later,
           o->failed, o->given_up, o->wrongly_done, text_of(back, texts[1], sizeof texts[1]),
           (double)o->longest_ns / 1e6, o->seconds);
    if (o->done < trouble.pieces) {
        printf("  refused to the end, %" PRIu64 " not done", trouble.pieces - o->done);
    }
    (void)puts("");
    (void)fflush(stdout);
    add(policy, kind, "moved_away", away, "ms");
    add(policy, kind, "sent_there", o->sent, "pieces of work");
    add(policy, kind, "tried_later", o->later, "pieces of work");
    add(policy, kind, "failed", o->failed, "pieces of work");
    add(policy, kind, "given_up", o->given_up, "pieces of work");
    add(policy, kind, "back", back, "ms");
    add(policy, kind, "longest", (double)o->longest_ns / 1e6, "ms");
    add(policy, kind, "not_done", (double)trouble.pieces - o->done, "pieces of work");
    add(policy, kind, "total", o->seconds, "s");
    add_timeline(policy, kind, o);
    if (o->wrongly_done != 0) {
        log_exit(STATUS_FAILED,
                 "a wrong result: %" PRIu32
                 " pieces of work, with %s %s, were reported as done by %s and are not",
                 o->wrongly_done, all.names[victim], trouble_names[kind], policy);
    }
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    if (trouble.limit_us == 0) {
        const uint64_t limit = 10 * trouble.task_us;
        trouble.limit_us = limit > LEAST_LIMIT_US ? limit : LEAST_LIMIT_US;
    }
    resources_find(&all, &options, false, 2);
    csv_open(&options, argc, argv);
    make_fragile();
    device_calibrate(options.seed);
    printf("\n%" PRIu64 " pieces of work of %" PRIu64
           " us over %zu workers; from a third to two thirds, %s is in trouble: slow (%" PRIu64
           " times),\nfailing, gone, or hanging. Away: %d pieces in a row go elsewhere. Time limit "
           "%" PRIu64 " us, then %d ms.\n\n%-15s %-8s %12s %8s %8s %8s %8s %8s %12s %10s %10s\n",
           trouble.pieces, trouble.task_us, all.count, all.names[victim], trouble.times_slower,
           QUIET, trouble.limit_us, CONFIG_DYNSEL_GIVE_UP_AFTER_MS, "", "", "away after", "sent",
           "later", "failed", "given up", "untrue", "back after", "longest ms", "seconds");
    trace_file_name(&(dynsel_task){.function = compute, .id = 1}, "compute");
    for (trouble_kind kind = SLOW; kind < TROUBLES; kind++) {
        for (const bench_policy *p = bench_policies; p->name != NULL; p++) {
            const outcome o = play(p, kind);
            tell(p->name, kind, &o);
        }
        const outcome o = pool_play((uint32_t)all.count, kind);
        tell("by_hand", kind, &o);
    }
    resources_close();
    csv_close();
    return 0;
}
