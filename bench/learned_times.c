/* SPDX-License-Identifier: Apache-2.0 */
#include "learned_times.h"

#include <stdio.h>

#include <dynsel/dynsel.h>

#include "background_load.h"
#include "measure.h"
#include "phases.h"
#include "report.h"
#include "sampling_policy.h"
#include "timed_work.h"

enum {
    LENGTHS = 5,
    US = 1000,               /* in ns */
    STREAM_NS = 10000 * US,  /* about, and two timed submissions at least */
    ROW_NS = 45000 * US,     /* most for each repetition, so that the whole takes a known time */
    LEAST_ROUNDS = 5,        /* however long they take */
    VALUES_A_REPETITION = 4, /* of work one at a time */
    LEAST_NS_WITH_BUDGET = 20 * US,
    LEAST_PART_OF_VALUES = 4 /* a budget needs one in so many of those that were asked for */
};

static const unsigned lengths_us[LENGTHS] = {5, 20, 50, 200, 1000};

static const double MOST_ERROR = 0.05;
static const double MOST_COST = 0.02;

/* Of one row. All times in ns; 0: not known. */
typedef struct row_times {
    double profiled; /* by hand: from start to end in a queue with profiling */
    double
        whole; /* by hand: of a stream the wall clock, of one piece from its enqueue to its end */
    unsigned requests; /* of the policy */
    size_t values;     /* that it learned */
    double learned;
    double low; /* one in ten is lower */
    double high;
    double untimed; /* of each piece of a stream, from the first submit to the last end */
    double timed;
    double cost;   /* of one in N timed: a share of `untimed` */
    double spread; /* of the cost in the samples */
} row_times;

typedef struct row {
    background_load load;
    timed_kind kind;
    bool stream;
    unsigned length; /* an index of lengths_us */
} row;

static sampling_policy policy;
static timed_device device;
static cl_uint steps[LENGTHS];
static double learned[SAMPLING_MOST_VALUES];
static double profiled[SAMPLING_MOST_VALUES];
static double whole[SAMPLING_MOST_VALUES];

static void take_values(row_times *t, size_t profiles)
{
    t->profiled = profiles != 0 ? measure_quantile(profiled, profiles, 0.5) : 0;
    t->requests = sampling_requests(&policy);
    t->values = sampling_values(&policy, learned);
    if (t->values != 0) {
        t->learned = measure_quantile(learned, t->values, 0.5);
        t->low = measure_quantile(learned, t->values, 0.1);
        t->high = measure_quantile(learned, t->values, 0.9);
    }
}

/* Whether a row has had its rounds, or its time. */
static bool is_enough(unsigned rounds, unsigned most, uint64_t began_ns, unsigned repetitions)
{
    const unsigned least = most < LEAST_ROUNDS ? most : LEAST_ROUNDS;
    return rounds >= most ||
           (rounds >= least && measure_now_ns() - began_ns > (uint64_t)repetitions * ROW_NS);
}

/* Each timed piece, and beside it one by hand. */
static row_times measure_one_at_a_time(unsigned one_in, unsigned repetitions)
{
    row_times t = {0};
    const uint64_t began = measure_now_ns();
    const unsigned most = repetitions * VALUES_A_REPETITION;
    unsigned rounds = 0;
    size_t profiles = 0;
    sampling_set_interval(&policy, one_in);
    for (; !is_enough(rounds, most, began, repetitions); rounds++) {
        while (sampling_requests(&policy) == rounds) {
            timed_run_one(&device);
        }
        if (device.profiling != NULL && profiles < SAMPLING_MOST_VALUES) {
            timed_profile(&device, 1, &profiled[profiles], &whole[profiles]);
            profiles++;
        }
    }
    take_values(&t, profiles);
    t.whole = profiles != 0 ? measure_quantile(whole, profiles, 0.5) : 0;
    return t;
}

/* The parts of a round of streams. */
typedef struct stream_round {
    unsigned count; /* of the pieces of work */
    unsigned one_in;
    double timed;
    double untimed;
    double wall;
    size_t profiles;
} stream_round;

enum { PARTS = 4 };

static void measure_part(stream_round *r, unsigned part)
{
    const unsigned by_hand = r->count / 2;
    if (part == 0) {
        sampling_set_interval(&policy, r->one_in);
        r->timed = timed_run_stream(&device, r->count);
    } else if (part == 1) {
        r->wall = timed_run_by_hand(&device, by_hand);
    } else if (part == 2) {
        if (device.profiling != NULL && r->profiles + by_hand <= SAMPLING_MOST_VALUES) {
            timed_profile(&device, by_hand, &profiled[r->profiles], NULL);
            r->profiles += by_hand;
        }
    } else {
        sampling_set_interval(&policy, 0);
        r->untimed = timed_run_stream(&device, r->count);
    }
}

/* Half of the values are within about so much of the median. */
static double spread(double *values, unsigned count)
{
    return (measure_quantile(values, count, 0.75) - measure_quantile(values, count, 0.25)) / 2;
}

/* All parts in turn and back, so that noise and clocks are the same for each. */
static row_times measure_stream(unsigned one_in, unsigned repetitions, unsigned length_us)
{
    static double walls[MEASURE_MAX_SAMPLES];
    static double timed[MEASURE_MAX_SAMPLES];
    static double untimed[MEASURE_MAX_SAMPLES];
    static double ratios[MEASURE_MAX_SAMPLES];
    const uint64_t began = measure_now_ns();
    const unsigned least = 2 * one_in;
    const unsigned count = STREAM_NS / (length_us * US);
    row_times t = {0};
    stream_round r = {.count = count > least ? count : least, .one_in = one_in};
    unsigned rounds = 0, with_wall = 0;
    r.count = r.count < TIMED_MOST_IN_STREAM ? r.count : TIMED_MOST_IN_STREAM;
    for (; !is_enough(rounds, repetitions, began, repetitions); rounds++) {
        for (unsigned part = 0; part < PARTS; part++) {
            measure_part(&r, rounds % 2 == 0 ? part : PARTS - 1 - part);
        }
        timed[rounds] = r.timed;
        untimed[rounds] = r.untimed;
        ratios[rounds] = r.timed / r.untimed;
        if (r.wall > 0) {
            walls[with_wall++] = r.wall;
        }
    }
    take_values(&t, r.profiles);
    t.whole = 2 * with_wall > rounds ? measure_median(walls, with_wall) : 0;
    t.timed = measure_median(timed, rounds);
    t.untimed = measure_median(untimed, rounds);
    t.cost = measure_median(ratios, rounds) - 1;
    t.spread = spread(ratios, rounds);
    return t;
}

static void print_time(double ns)
{
    if (ns > 0) {
        printf(" %8.1f", ns / US);
    } else {
        printf(" %8s", "-");
    }
}

/* The error of the learned median, or nothing. Returns whether it is within the budget. */
static bool print_error(const row_times *t, double reference)
{
    if (t->values == 0 || reference <= 0) {
        printf(" %7s", "-");
        return false;
    }
    const double error = t->learned / reference - 1;
    printf(" %+6.1f%%", error * 100);
    return error <= MOST_ERROR && error >= -MOST_ERROR &&
           t->values * LEAST_PART_OF_VALUES >= t->requests;
}

static void write_csv(const row *r, const row_times *t, const char *name, bool has_budget)
{
    char subject[128];
    const double reference = t->profiled > 0 ? t->profiled : t->whole;
    (void)snprintf(subject, sizeof subject, "%.16s, %s, %s, %s, %u us", name,
                   background_load_name(r->load), timed_kind_name(r->kind),
                   r->stream ? "stream" : "single", lengths_us[r->length]);
    report_csv(&(report_row){.table = "learned-times",
                             .subject = subject,
                             .resources = 1,
                             .threads = 1,
                             .reference = reference,
                             .measured = t->learned,
                             .overlap = -1,
                             .limit = has_budget ? reference * (1 + MOST_ERROR) : 0});
    if (r->stream) {
        report_csv(&(report_row){.table = "cost-of-timing",
                                 .subject = subject,
                                 .resources = 1,
                                 .threads = 1,
                                 .reference = t->untimed,
                                 .measured = t->timed,
                                 .overlap = -1,
                                 .limit = t->untimed * (1 + MOST_COST)});
    }
}

static void print_row(const row *r, const row_times *t)
{
    const bool has_budget = lengths_us[r->length] * US >= LEAST_NS_WITH_BUDGET &&
                            (t->profiled > 0 || (r->stream && t->whole > 0));
    printf("%-10s %-11s %-6s", background_load_name(r->load), timed_kind_name(r->kind),
           r->stream ? "stream" : "single");
    print_time(t->profiled);
    print_time(t->whole);
    printf(" %6u %6zu", t->requests, t->values);
    print_time(t->learned);
    print_time(t->low);
    print_time(t->high);
    const bool met_profiled = print_error(t, t->profiled);
    /* between the commands of one task function the device waits for the host in both */
    const bool met_whole = print_error(t, t->whole) && (r->stream || r->kind == TIMED_TASK_COPIES);
    const char *const budget = has_budget ? report_budget(met_profiled || met_whole) : "-";
    printf(r->stream ? "  %-6s" : "  %s", budget);
    if (r->stream) {
        print_time(t->untimed);
        print_time(t->timed);
        printf(" %+6.1f%% %5.1f%%  %s", t->cost * 100, t->spread * 100,
               report_budget(t->cost <= MOST_COST));
    }
    printf("\n");
    (void)fflush(stdout);
    write_csv(r, t, dynsel_resource_name(device.where), has_budget);
}

static void measure_row(const row *r, unsigned one_in, unsigned repetitions)
{
    timed_set(&device, r->kind, steps[r->length]);
    sampling_set_interval(&policy, 1);
    timed_run_one(&device); /* the kernel may be compiled now */
    sampling_clear(&policy);
    const row_times t = r->stream ? measure_stream(one_in, repetitions, lengths_us[r->length])
                                  : measure_one_at_a_time(one_in, repetitions);
    print_row(r, &t);
}

static void measure_load(background_load load, unsigned one_in, unsigned repetitions)
{
    const char *what = background_load_start(load, device.where);
    if (what == NULL) {
        printf("%-10s not measured: no such load here\n", background_load_name(load));
        return;
    }
    printf("%s: %s\n", background_load_name(load), what);
    for (unsigned kind = 0; kind < TIMED_KINDS; kind++) {
        for (unsigned i = 0; i < 2 * LENGTHS && timed_kind_exists((timed_kind)kind); i++) {
            const row r = {load, (timed_kind)kind, i >= LENGTHS, i % LENGTHS};
            measure_row(&r, one_in, repetitions);
        }
    }
    background_load_stop();
}

static void measure_device(const dynsel_resource *where, unsigned one_in, unsigned repetitions)
{
    sampling_clear(&policy);
    sampling_init(&policy, where);
    timed_open(&device, where, &policy);
    printf("\n%.60s: ", dynsel_resource_name(where));
    if (device.profiling == NULL) {
        printf("it has no profiling; only the wall clock of streams tells the time. ");
    }
    printf("Steps of the loop:");
    for (unsigned i = 0; i < LENGTHS; i++) {
        steps[i] = timed_calibrate(&device, (double)lengths_us[i] * US);
        printf(" %u", steps[i]);
    }
    printf("\n%-10s %-11s %-6s %8s %8s %6s %6s %8s %8s %8s %7s %7s  %-6s %8s %8s %7s %6s  budget\n",
           "load", "work", "", "profiled", "whole", "asked", "values", "learned", "10 %", "90 %",
           "error", "whole", "budget", "untimed", "timed", "cost", "+-");
    for (unsigned load = 0; load < LOADS; load++) {
        measure_load((background_load)load, one_in, repetitions);
    }
    timed_close(&device);
    sampling_deinit(&policy);
}

void bench_learned_times(unsigned one_in, unsigned repetitions)
{
    size_t count = 0;
    const dynsel_resource *const resources = bench_devices(BENCH_MOST_DEVICES, &count);
    printf("\nThe time of work as a policy learns it that requests the time of one in %u "
           "submissions, beside the\ntime by hand, in microseconds. Profiled: from start to end in "
           "a queue with profiling. Whole: one by one,\nfrom the enqueue to the end there; of a "
           "stream the wall clock of pieces without events (not where the\ndevice waited for the "
           "host). Values: what was reported of what was asked. Errors are of the median; the\n"
           "budget is %.0f %% from %d us on, beside profiled; in a stream, and of several "
           "commands, also beside whole. "
           "Untimed, timed: a piece of a\nstream through dynsel, with no time requested and with "
           "that of one in %u; the budget is %.0f %% more.\n",
           one_in, MOST_ERROR * 100, LEAST_NS_WITH_BUDGET / US, one_in, MOST_COST * 100);
    if (count == 0) {
        printf("\nOpenCL: no device\n");
    }
    for (size_t i = 0; i < count; i++) {
        measure_device(&resources[i], one_in, repetitions);
    }
}
