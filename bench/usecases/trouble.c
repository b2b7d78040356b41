/* SPDX-License-Identifier: Apache-2.0 */
/* A device that becomes slow, one that fails from some moment on, one that disappears. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../measure.h"
#include "../policies.h"
#include "csv.h"
#include "log.h"
#include "random.h"
#include "resources.h"

static const char *const ABOUT =
    "Host workers as devices, one of which gets into trouble in the middle of the work: it becomes "
    "slow,\nit fails from then on, or it disappears. How long each policy goes on sending work "
    "there, and what\nbecomes of the work. What is reported as done is checked against plain C; "
    "what failed is submitted\nagain.";

enum {
    ELEMENTS = 256,
    ROOM = CONFIG_DYNSEL_MAX_IN_FLIGHT < 64 ? CONFIG_DYNSEL_MAX_IN_FLIGHT - 2 : 62,
    DEPTH = 4,      /* pieces of work for each worker */
    NAP_NS = 20000, /* where no piece has come back */
    INPUTS = 16,
    QUIET = 64,       /* pieces of work in a row elsewhere: the policy has moved away */
    MOST_TRIES = 1000 /* of one piece */
};

typedef enum trouble_kind { SLOW, FAILING, GONE, TROUBLES } trouble_kind;

static const char *const trouble_names[TROUBLES] = {"slow", "failing", "gone"};

static struct {
    uint64_t pieces;
    uint64_t task_us;
    uint64_t times_slower;
    uint64_t others_slower;
} own = {.pieces = 2000, .task_us = 300, .times_slower = 10, .others_slower = 2};

static const argument own_options[] = {
    {"--pieces", "N", "of work; the trouble begins after a third of them", &own.pieces, 300,
     10000000, NULL},
    {"--task-us", "N", "how long one takes there, in us", &own.task_us, 20, 100000, NULL},
    {"--others-slower", "N", "how many times longer it takes on the other workers",
     &own.others_slower, 1, 1000, NULL},
    {"--times-slower", "N", "what slow is", &own.times_slower, 2, 1000, NULL},
    {.name = NULL}};

static usecase_options options = {.seed = 1, .workers = 2, .devices = "none"};
static resources all;
static uint32_t rounds_for_one; /* of plain C, that take task_us */
static uint32_t inputs[INPUTS]; /* taken in turn */
static uint32_t expected[INPUTS];

static atomic_int now;  /* a trouble, or TROUBLES */
static uint32_t victim; /* index of its resource */

/* What one piece of work gets and leaves. */
typedef struct piece {
    uint32_t number; /* of the piece; 0: none */
    uint32_t result;
    uint32_t tries;
    dynsel_submission submission;
    bool is_out;
} piece;

static uint32_t plain_c(uint32_t x, uint32_t rounds)
{
    for (uint32_t k = 0; k < rounds * ELEMENTS; k++) {
        x = (x ^ (x >> 15)) * 0x2c1b3c6du + k;
    }
    return x;
}

static dynsel_status compute(const dynsel_resource *where, void *args, dynsel_event *done)
{
    piece *p = args;
    const bool hit = where->handle == all.table[victim].handle;
    const int trouble = hit ? atomic_load(&now) : TROUBLES;
    (void)done;
    if (trouble == FAILING || trouble == GONE) {
        return dynsel_fail(&(dynsel_error){.status = DYNSEL_E_DEVICE,
                                           .function = "compute",
                                           .subject = all.names[victim],
                                           .detail = "the device is in trouble"});
    }
    const uint64_t others = own.others_slower;
    const uint64_t times = trouble == SLOW ? own.times_slower : hit ? 1 : others;
    uint32_t result = 0;
    for (uint64_t i = 0; i < times; i++) {
        result = plain_c(inputs[p->number % INPUTS], rounds_for_one);
    }
    /* it may have gone away meanwhile, with its results */
    if (hit && atomic_load(&now) == GONE) {
        return dynsel_fail(&(dynsel_error){.status = DYNSEL_E_DEVICE,
                                           .function = "compute",
                                           .subject = all.names[victim],
                                           .detail = "the device has disappeared"});
    }
    p->result = result;
    return DYNSEL_OK;
}

/* The backend of the victim: the workers', but for a device that is gone, which takes no work. */
static dynsel_backend_ops fragile_ops;
static dynsel_backend fragile = {&fragile_ops};

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    if (atomic_load(&now) == GONE) {
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

typedef struct outcome {
    uint64_t first_ns;  /* when the trouble began */
    uint64_t last_ns;   /* when work was last sent there, before QUIET pieces that were not */
    uint32_t elsewhere; /* in a row */
    uint32_t sent;      /* there, since the trouble began, until it had moved away */
    uint32_t later;     /* there, after that: other tries */
    uint32_t failed;    /* pieces that were accepted, and whose failure was told */
    uint32_t wrongly_done;
    uint32_t refused; /* submits */
    double seconds;
    bool moved;
} outcome;

static void note_choice(outcome *o, uint32_t index)
{
    if (atomic_load(&now) == TROUBLES) {
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

/* False: nothing takes it. */
static bool submit(piece *p, dynsel_policy *policy, outcome *o)
{
    const dynsel_task task = {.function = compute, .args = p, .id = 1};
    p->tries++;
    p->result = ~expected[p->number % INPUTS];
    if (dynsel_submit(policy, &task, &p->submission) != DYNSEL_OK) {
        o->refused++;
        return false;
    }
    p->is_out = true;
    note_choice(o, p->submission.index);
    return true;
}

/* Looks whether a piece has come back; a failed one goes out again. */
static bool collect(piece *p, uint64_t wait_ns, outcome *o)
{
    const dynsel_status status = dynsel_wait_for(&p->submission, wait_ns);
    if (status == DYNSEL_E_TIMEOUT) {
        return false;
    }
    p->is_out = false;
    if (status != DYNSEL_OK) {
        o->failed++;
        return true;
    }
    if (p->result != expected[p->number % INPUTS]) {
        o->wrongly_done++;
    }
    p->tries = 0;
    return true;
}

typedef struct crowd {
    piece pieces[ROOM];
    uint32_t count;
    uint32_t next; /* piece of work */
    uint32_t done;
} crowd;

/* Whether it had anything to do. */
static bool step(crowd *c, piece *p, dynsel_policy *policy, outcome *o)
{
    if (p->is_out && !collect(p, 0, o)) {
        return false;
    }
    c->done += p->tries == 0 && p->number != 0 ? 1 : 0;
    if (p->tries == 0) {
        p->number = c->next < own.pieces ? ++c->next : 0;
    }
    if (p->number == 0 || p->tries > MOST_TRIES) {
        return false;
    }
    return submit(p, policy, o);
}

static void begin_trouble(trouble_kind kind, outcome *o)
{
    o->first_ns = measure_now_ns();
    o->last_ns = o->first_ns;
    atomic_store(&now, (int)kind);
}

static outcome play(const bench_policy *p, trouble_kind kind)
{
    static crowd c;
    outcome o = {0};
    const dynsel_options table = {.resources = all.table, .count = all.count};
    const size_t wanted = all.count * DEPTH;
    c = (crowd){.count = wanted < ROOM ? (uint32_t)wanted : ROOM};
    atomic_store(&now, TROUBLES);
    log_check(p->init(&table, 0) == DYNSEL_OK, p->name);
    const uint64_t began = measure_now_ns();
    while (c.done < own.pieces && o.refused < MOST_TRIES) {
        bool worked = false;
        for (uint32_t i = 0; i < c.count; i++) {
            worked = step(&c, &c.pieces[i], p->policy, &o) || worked;
            if (o.first_ns == 0 && c.done >= own.pieces / 3) {
                begin_trouble(kind, &o);
            }
        }
        if (!worked) {
            (void)nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        }
    }
    o.seconds = (double)(measure_now_ns() - began) / 1e9;
    const bool ended = dynsel_wait_group(dynsel_get_submission_group(p->policy)) == DYNSEL_OK;
    for (uint32_t i = 0; i < c.count; i++) {
        if (c.pieces[i].is_out) {
            (void)collect(&c.pieces[i], UINT64_MAX, &o);
        }
    }
    log_check(ended && dynsel_policy_deinit(p->policy) == DYNSEL_OK, "dynsel_policy_deinit");
    o.moved = o.moved && c.done >= own.pieces;
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

static void tell(const char *policy, trouble_kind kind, const outcome *o)
{
    const double ms = (double)(o->last_ns - o->first_ns) / 1e6;
    char away[32] = "never";
    if (o->moved) {
        (void)snprintf(away, sizeof away, "%.2f ms", ms);
    }
    printf("%-15s %-8s %12s %8" PRIu32 " %8" PRIu32 " %8" PRIu32 " %8" PRIu32 " %10.3f%s\n", policy,
           trouble_names[kind], away, o->sent, o->later, o->failed, o->wrongly_done, o->seconds,
           o->refused != 0 ? "  refused to the end" : "");
    (void)fflush(stdout);
    add(policy, kind, "moved_away", o->moved ? ms : -1, "ms");
    add(policy, kind, "sent_there", o->sent, "pieces of work");
    add(policy, kind, "tried_later", o->later, "pieces of work");
    add(policy, kind, "failed", o->failed, "pieces of work");
    add(policy, kind, "total", o->seconds, "s");
    if (o->wrongly_done != 0) {
        log_exit(STATUS_FAILED,
                 "a wrong result: %" PRIu32
                 " pieces of work, %d elements, with %s %s, were reported "
                 "as done by %s and are not",
                 o->wrongly_done, ELEMENTS, all.names[victim], trouble_names[kind], policy);
    }
}

static void calibrate(void)
{
    enum { TRIAL = 64 };
    double best = 0;
    for (int i = 0; i < 5; i++) {
        const uint64_t began = measure_now_ns();
        expected[0] += plain_c((uint32_t)options.seed, TRIAL); /* so that it is computed */
        const double ns = (double)(measure_now_ns() - began);
        best = i == 0 || ns < best ? ns : best;
    }
    rounds_for_one = (uint32_t)((double)own.task_us * 1e3 * TRIAL / best) + 1;
    uint64_t seed = options.seed;
    for (uint32_t i = 0; i < INPUTS; i++) {
        inputs[i] = (uint32_t)random_next(&seed);
        expected[i] = plain_c(inputs[i], rounds_for_one);
    }
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    resources_find(&all, &options, false, 2);
    csv_open(&options, argc, argv);
    make_fragile();
    calibrate();
    printf("\n%" PRIu64 " pieces of work of %" PRIu64
           " us over %zu workers; after a third, %s gets "
           "into trouble: slow (%" PRIu64 " times),\nfailing, or gone. Away: %d pieces in a row go "
           "elsewhere.\n\n%-15s %-8s %12s %8s %8s %8s %8s %10s\n",
           own.pieces, own.task_us, all.count, all.names[victim], own.times_slower, QUIET, "", "",
           "away after", "sent", "later", "failed", "untrue", "seconds");
    for (trouble_kind kind = SLOW; kind < TROUBLES; kind++) {
        for (const bench_policy *p = bench_policies; p->name != NULL; p++) {
            const outcome o = play(p, kind);
            tell(p->name, kind, &o);
        }
    }
    resources_close();
    csv_close();
    return 0;
}
