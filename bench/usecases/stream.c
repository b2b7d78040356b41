/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of independent work with a given number of pieces in flight, with every policy. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../examples/common/trace_file.h"
#include "../measure.h"
#include "csv.h"
#include "kernels.h"
#include "log.h"
#include "memory.h"
#include "oracle.h"
#include "passes.h"
#include "stream_work.h"

static const char *const ABOUT =
    "Independent pieces of work of several kernels and sizes in random order, from the host's "
    "memory to the\nhost's memory, a given number of them in flight: one thread submits a piece, "
    "and collects those that are\ncomplete. Each kind of work on each resource is compared with "
    "plain C first, and of each later result some\nelements.";

enum {
    ROOM = CONFIG_DYNSEL_MAX_BUFFERS / (2 * STREAM_MOST_SIZES),
    MOST_IN_FLIGHT = ROOM < 1    ? 1
                     : ROOM < 64 ? ROOM
                                 : 64,
    SAMPLES = 3,
    FEW = 8,  /* pieces in a sample, at least */
    MORE = 8, /* times as many as in flight, at most */
    SAMPLE_NS = 10000000
};

static stream_options own = {.in_flight = MOST_IN_FLIGHT < 8 ? MOST_IN_FLIGHT : 8,
                             .pieces = 500,
                             .most_size = 16,
                             .most_work = 20,
                             .passes = 20};

static const argument own_options[] = {
    {"--in-flight", "N", "pieces of work in flight", &own.in_flight, 1, MOST_IN_FLIGHT, NULL},
    {"--pieces", "N", "in one pass", &own.pieces, 1, 1000000, NULL},
    {"--most-elements", "N", "largest size, as a power of two", &own.most_size, STREAM_LEAST_SIZE,
     STREAM_LARGEST_SIZE, NULL},
    {"--most-work", "N", "most elements times operations, as a power of two", &own.most_work,
     STREAM_LEAST_SIZE, 32, NULL},
    {"--tiny", NULL, "only work of 1 to 4096 elements", &own.is_tiny, 0, 1, NULL},
    {"--passes", "N", "with each policy", &own.passes, 1, 10000, NULL},
    PASSES_OPTIONS,
    {.name = NULL}};

typedef struct data {
    void *memory;
    dynsel_buffer handle;
} data;

/* The place of one piece in flight, with data of its own. */
typedef struct slot {
    data in[STREAM_MOST_SIZES];
    data out[STREAM_MOST_SIZES];
    const mix_kind *what; /* NULL: nothing in flight */
    uint64_t number;      /* of the piece */
    dynsel_submission submission;
} slot;

static usecase_options options = {.seed = 1, .workers = 1};
static resources all;
static stream_work work;
static slot slots[MOST_IN_FLIGHT];
static bool looks_at_all;
static uint64_t waited_ns;
static dynsel_fixed_resource_policy fixed[RESOURCES_MOST];
static schedule_machine machine;

static dynsel_status group(dynsel_handler *handler, void *args)
{
    const slot *s = args;
    const mix_kind *what = s->what;
    const dynsel_kernel *kernel = &usecase_kernels[what->kernel];
    const uint32_t words[] = {what->elements, what->operations};
    dynsel_accessor in;
    dynsel_accessor out;
    dynsel_get_access(handler, s->in[what->size].handle, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL,
                      &in);
    dynsel_get_access(handler, s->out[what->size].handle, DYNSEL_ACCESS_DISCARD_WRITE,
                      DYNSEL_MEMORY_GLOBAL, &out);
    dynsel_set_arg_accessor(handler, 0, &in);
    dynsel_set_arg_accessor(handler, 1, &out);
    dynsel_set_arg_value(handler, 2, &what->elements, sizeof what->elements);
    dynsel_set_arg_value(handler, 3, &what->operations, sizeof what->operations);
    dynsel_set_key(handler, kernel->id, words, 2);
    dynsel_set_amount(handler, (uint64_t)what->elements * what->operations);
    return dynsel_parallel_for(handler, kernel, DYNSEL_RANGE((size_t)what->elements), NULL, NULL);
}

/* Makes copies on devices out of date, as if the program had new input. */
static void renew(const data *in)
{
    dynsel_host_accessor seen = {0};
    log_check(dynsel_host_accessor_open(&seen, in->handle, DYNSEL_ACCESS_WRITE) == DYNSEL_OK,
              "new input");
    log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "new input");
}

/* Brings all data to the host, so that no policy pays for where the pass before left them. */
static void renew_all(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < own.in_flight; i++) {
        for (size_t k = 0; k < work.size_count; k++) {
            renew(&slots[i].in[k]);
            renew(&slots[i].out[k]);
        }
    }
}

static void begin(slot *s, dynsel_policy *policy, const mix_kind *what, uint64_t number)
{
    renew(&s->in[what->size]);
    s->what = what;
    s->number = number;
    log_check(dynsel_submit_command_group(policy, group, s, &s->submission) == DYNSEL_OK,
              what->name);
}

static void collect(slot *s)
{
    const mix_kind *what = s->what;
    const uint32_t resource = s->submission.index;
    dynsel_host_accessor seen = {0};
    const uint64_t began = measure_now_ns();
    log_check(dynsel_wait(&s->submission) == DYNSEL_OK, what->name);
    waited_ns += measure_now_ns() - began;
    log_check(dynsel_host_accessor_open(&seen, s->out[what->size].handle,
                                        DYNSEL_ACCESS_READ_WRITE) == DYNSEL_OK,
              what->name);
    const size_t wrong = stream_work_look(what, s->number, looks_at_all, seen.data);
    if (wrong < what->elements) {
        log_exit(STATUS_FAILED,
                 "a wrong result: %s, %" PRIu32 " elements, on %s, %" PRIu64
                 " in flight, element %zu",
                 what->name, what->elements, all.names[resource], own.in_flight, wrong);
    }
    log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, what->name);
    s->submission = (dynsel_submission){0};
    s->what = NULL;
}

/* Collects what is complete; if nothing is, waits for the oldest piece. */
static void collect_some(void)
{
    slot *oldest = &slots[0];
    bool found = false;
    for (size_t i = 0; i < own.in_flight; i++) {
        slot *s = &slots[i];
        oldest = s->number < oldest->number ? s : oldest;
        if (own.in_flight > 1 && dynsel_submission_poll(&s->submission) == DYNSEL_OK) {
            collect(s);
            found = true;
        }
    }
    if (!found) {
        collect(oldest);
    }
}

static slot *free_slot(void)
{
    for (size_t i = 0; i < own.in_flight; i++) {
        if (slots[i].what == NULL) {
            return &slots[i];
        }
    }
    return NULL;
}

static void flow(dynsel_policy *policy, const uint32_t *of, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        slot *s = free_slot();
        if (s == NULL) {
            collect_some();
            s = free_slot();
        }
        begin(s, policy, &work.kinds[of[i]], i);
    }
    for (size_t i = 0; i < own.in_flight; i++) {
        if (slots[i].what != NULL) {
            collect(&slots[i]);
        }
    }
}

static void run(dynsel_policy *policy, void *unused)
{
    (void)unused;
    flow(policy, work.order, own.pieces);
}

static void open_data(data *d, uint32_t elements)
{
    d->memory = memory_allocate(elements * sizeof(uint32_t));
    log_check(dynsel_buffer_init(&d->handle, d->memory, sizeof(uint32_t),
                                 DYNSEL_RANGE((size_t)elements)) == DYNSEL_OK,
              "dynsel_buffer_init");
}

/* The same input of each size in all slots, so that a kind has one result. */
static void open_slots(void)
{
    for (size_t i = 0; i < own.in_flight; i++) {
        for (size_t k = 0; k < work.size_count; k++) {
            dynsel_host_accessor seen = {0};
            data *in = &slots[i].in[k];
            open_data(in, work.sizes[k]);
            open_data(&slots[i].out[k], work.sizes[k]);
            log_check(dynsel_host_accessor_open(&seen, in->handle, DYNSEL_ACCESS_DISCARD_WRITE) ==
                          DYNSEL_OK,
                      "input");
            (void)memcpy(seen.data, work.input, seen.bytes);
            log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "input");
        }
    }
}

/* One piece of one kind, of a stream of only these with as many in flight; also the program's own
 * time for it, without waits, if that is the shortest so far. */
static double sample_ns(uint32_t number, uint32_t resource, uint64_t count)
{
    static uint32_t same[MORE * MOST_IN_FLIGHT];
    for (uint64_t i = 0; i < count; i++) {
        same[i] = number;
    }
    waited_ns = 0;
    const uint64_t began = measure_now_ns();
    flow(&fixed[resource].policy, same, count);
    const double ns = (double)(measure_now_ns() - began);
    const double busy = (ns - (double)waited_ns) / (double)count;
    machine.submit_ns = busy < machine.submit_ns ? busy : machine.submit_ns;
    return ns / (double)count;
}

static double alone_ns(uint32_t number, uint32_t resource)
{
    double samples[SAMPLES];
    looks_at_all = true;
    (void)sample_ns(number, resource, FEW); /* may compile */
    looks_at_all = false;
    const double fitting = SAMPLE_NS / sample_ns(number, resource, FEW);
    const uint64_t most = MORE * own.in_flight;
    const uint64_t wanted = fitting < (double)most ? (uint64_t)fitting : most;
    const uint64_t count = wanted > FEW ? wanted : FEW;
    for (int i = 0; i < SAMPLES; i++) {
        samples[i] = sample_ns(number, resource, count);
    }
    return measure_median(samples, SAMPLES);
}

static void measure_alone(void)
{
    const dynsel_options of_fixed = {.resources = all.table, .count = all.count};
    machine = (schedule_machine){.resource_count = all.count,
                                 .domain_count = 1,
                                 .kind_count = work.kind_count,
                                 .submit_ns = 1e18};
    for (uint32_t k = 0; k < all.count; k++) {
        log_check(dynsel_fixed_resource_init(&fixed[k], &of_fixed, k) == DYNSEL_OK,
                  "dynsel_fixed_resource_init");
        trace_file_mark("alone", k);
        for (uint32_t i = 0; i < work.kind_count; i++) {
            machine.ns[i][k] = alone_ns(i, k);
            csv_add(&(csv_figure){.record = "alone",
                                  .policy = "fixed",
                                  .resource = all.names[k],
                                  .task = work.kinds[i].name,
                                  .x = work.kinds[i].elements,
                                  .value = machine.ns[i][k],
                                  .unit = "ns"});
        }
        log_check(dynsel_policy_deinit(&fixed[k].policy) == DYNSEL_OK, "dynsel_policy_deinit");
    }
}

static void print_alone(void)
{
    printf("\nOne piece of each kind (kernel/elements/operations) in a stream of these alone, in "
           "us\n\n%-26s",
           "");
    for (size_t k = 0; k < all.count; k++) {
        printf(" %22.22s", all.names[k]);
    }
    for (size_t i = 0; i < work.kind_count; i++) {
        printf("\n%-26s", work.kinds[i].name);
        for (size_t k = 0; k < all.count; k++) {
            printf(" %22.1f", machine.ns[i][k] / 1e3);
        }
    }
    printf("\nThe program's own time for a piece is %.2f us or more.\n", machine.submit_ns / 1e3);
}

/* The schedule of the pieces, of which each follows the one that had its slot before. */
static double oracle_ns(void)
{
    schedule s;
    log_check(schedule_open(&s, own.pieces, own.in_flight) == SCHEDULE_OK, "the oracle");
    for (uint32_t i = 0; i < own.pieces; i++) {
        const schedule_use follows = {
            .buffer = (uint32_t)(i % own.in_flight), .reads = true, .writes = true};
        const schedule_piece piece = {.kind = work.order[i], .use_count = 1, .uses = {follows}};
        log_check(schedule_add(&s, &piece) == SCHEDULE_OK, "the oracle's pieces");
    }
    const schedule_plan plan = oracle_plan(&s, &machine, &all);
    schedule_close(&s);
    return plan.makespan_ns;
}

static void close_all(void)
{
    for (size_t i = 0; i < own.in_flight; i++) {
        for (size_t k = 0; k < work.size_count; k++) {
            log_check(dynsel_buffer_deinit(&slots[i].in[k].handle) == DYNSEL_OK, "deinit");
            log_check(dynsel_buffer_deinit(&slots[i].out[k].handle) == DYNSEL_OK, "deinit");
            free(slots[i].in[k].memory);
            free(slots[i].out[k].memory);
        }
    }
    stream_work_close(&work);
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    resources_find(&all, &options, options.workers == 0, 2);
    csv_open(&options, argc, argv);
    stream_work_open(&work, &own, options.seed);
    open_slots();
    printf("%" PRIu64 " pieces of %" PRIu32 " kinds of work, %" PRIu64 " in flight\n", own.pieces,
           work.kind_count, own.in_flight);
    measure_alone();
    print_alone();
    passes_measure(&(passes_work){.before = renew_all,
                                  .run = run,
                                  .name = "stream",
                                  .unit = "piece",
                                  .units = (double)own.pieces,
                                  .oracle_ns = oracle_ns()},
                   &all, (uint32_t)own.passes);
    close_all();
    resources_close();
    csv_close();
    return 0;
}
