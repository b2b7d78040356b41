/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of independent work with a given number of pieces in flight, with every policy. */
#include <inttypes.h>
#include <math.h> /* fabs() */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../measure.h"
#include "csv.h"
#include "kernels.h"
#include "log.h"
#include "memory.h"
#include "passes.h"
#include "random.h"
#include "schedule.h"

static const char *const ABOUT =
    "Independent pieces of work of several kernels and sizes in random order, from the host's "
    "memory to the\nhost's memory, a given number of them in flight: one thread submits a piece, "
    "and collects those that are\ncomplete. Each kind of work on each resource is compared with "
    "plain C first, and of each later result some\nelements.";

enum {
    MOST_SIZES = 7,
    MOST_OPERATIONS = 3,
    MOST_KINDS = KERNELS * MOST_SIZES * MOST_OPERATIONS,
    ROOM = CONFIG_DYNSEL_MAX_BUFFERS / (2 * MOST_SIZES),
    MOST_IN_FLIGHT = ROOM < 1    ? 1
                     : ROOM < 64 ? ROOM
                                 : 64,
    LEAST_SIZE = 8, /* as a power of two */
    SIZE_STEP = 2,
    LOOKED_AT = 4, /* elements of each result that are compared */
    WRONG = -1,    /* what these are set to before */
    SAMPLES = 3,
    FEW = 8,  /* pieces in a sample, at least */
    MORE = 8, /* times as many as in flight, at most */
    SAMPLE_NS = 10000000
};

static const double TOLERANCE = 1e-5;

static struct {
    uint64_t in_flight;
    uint64_t pieces;
    uint64_t most_size;
    uint64_t most_work;
    uint64_t passes;
    uint64_t is_tiny;
} own = {.in_flight = MOST_IN_FLIGHT < 8 ? MOST_IN_FLIGHT : 8,
         .pieces = 500,
         .most_size = 16,
         .most_work = 20,
         .passes = 20};

static const argument own_options[] = {
    {"--in-flight", "N", "pieces of work in flight", &own.in_flight, 1, MOST_IN_FLIGHT, NULL},
    {"--pieces", "N", "in one pass", &own.pieces, 1, 1000000, NULL},
    {"--most-elements", "N", "largest size, as a power of two", &own.most_size, LEAST_SIZE,
     LEAST_SIZE + SIZE_STEP *(MOST_SIZES - 1), NULL},
    {"--most-work", "N", "most elements times operations, as a power of two", &own.most_work,
     LEAST_SIZE, 32, NULL},
    {"--tiny", NULL, "only work of 1 to 4096 elements", &own.is_tiny, 0, 1, NULL},
    {"--passes", "N", "with each policy", &own.passes, 1, 10000, NULL},
    {.name = NULL}};

typedef struct kind {
    uint32_t kernel; /* in usecase_kernels */
    uint32_t size;   /* in `sizes` */
    uint32_t elements;
    uint32_t operations;
    void *expected;
    char name[40]; /* "scramble/4096/16" */
} kind;

typedef struct data {
    void *memory;
    dynsel_buffer handle;
} data;

/* The place of one piece in flight, with data of its own. */
typedef struct slot {
    data in[MOST_SIZES];
    data out[MOST_SIZES];
    const kind *what; /* NULL: nothing in flight */
    uint64_t number;  /* of the piece */
    dynsel_submission submission;
} slot;

static usecase_options options = {.seed = 1, .workers = 1};
static resources all;
static uint32_t sizes[MOST_SIZES];
static size_t size_count;
static kind kinds[MOST_KINDS];
static uint32_t kind_count;
static slot slots[MOST_IN_FLIGHT];
static uint32_t *order; /* kinds of the pieces */
static bool looks_at_all;
static uint64_t waited_ns;
static dynsel_fixed_resource_policy fixed[RESOURCES_MOST];
static schedule_machine machine;

static uint32_t *allocate(size_t elements)
{
    return memory_allocate(elements * sizeof(uint32_t));
}

static dynsel_status group(dynsel_handler *handler, void *args)
{
    const slot *s = args;
    const kind *what = s->what;
    const dynsel_kernel *kernel = &usecase_kernels[what->kernel].kernel;
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

static void begin(slot *s, dynsel_policy *policy, const kind *what, uint64_t number)
{
    renew(&s->in[what->size]);
    s->what = what;
    s->number = number;
    log_check(dynsel_submit_command_group(policy, group, s, &s->submission) == DYNSEL_OK,
              what->name);
}

static bool is_right(const kind *what, size_t i, const void *results)
{
    if (!usecase_kernels[what->kernel].is_float) {
        return ((const uint32_t *)results)[i] == ((const uint32_t *)what->expected)[i];
    }
    const double is = ((const float *)results)[i];
    const double should = ((const float *)what->expected)[i];
    return fabs(is - should) <= TOLERANCE * fabs(should);
}

/* Compares an element, and overwrites it, so that a kernel that does nothing is found out. */
static void look_at(const slot *s, size_t i, void *results)
{
    if (!is_right(s->what, i, results)) {
        log_exit(
            STATUS_FAILED,
            "a wrong result: %s, %" PRIu32 " elements, on %s, %" PRIu64 " in flight, element %zu",
            s->what->name, s->what->elements, all.names[s->submission.index], own.in_flight, i);
    }
    ((int32_t *)results)[i] = WRONG;
}

static void collect(slot *s)
{
    const kind *what = s->what;
    const uint32_t resource = s->submission.index;
    dynsel_host_accessor seen = {0};
    const uint64_t began = measure_now_ns();
    log_check(dynsel_wait(&s->submission) == DYNSEL_OK, what->name);
    waited_ns += measure_now_ns() - began;
    s->submission.index = resource;
    log_check(dynsel_host_accessor_open(&seen, s->out[what->size].handle,
                                        DYNSEL_ACCESS_READ_WRITE) == DYNSEL_OK,
              what->name);
    uint64_t seed = s->number;
    const size_t looks = looks_at_all ? what->elements : LOOKED_AT;
    const size_t first = looks_at_all ? 0 : (size_t)(random_next(&seed) % what->elements);
    const size_t step = looks_at_all ? 1 : what->elements / LOOKED_AT;
    for (size_t i = 0; i < looks && (i == 0 || step > 0); i++) {
        look_at(s, (first + i * step) % what->elements, seen.data);
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
        begin(s, policy, &kinds[of[i]], i);
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
    flow(policy, order, own.pieces);
}

static void open_data(data *d, uint32_t elements)
{
    d->memory = allocate(elements);
    log_check(dynsel_buffer_init(&d->handle, d->memory, sizeof(uint32_t),
                                 DYNSEL_RANGE((size_t)elements)) == DYNSEL_OK,
              "dynsel_buffer_init");
}

/* The same input of each size in all slots, so that a kind has one result. */
static void open_slots(const uint32_t *input)
{
    for (size_t i = 0; i < own.in_flight; i++) {
        for (size_t k = 0; k < size_count; k++) {
            dynsel_host_accessor seen = {0};
            data *in = &slots[i].in[k];
            open_data(in, sizes[k]);
            open_data(&slots[i].out[k], sizes[k]);
            log_check(dynsel_host_accessor_open(&seen, in->handle, DYNSEL_ACCESS_DISCARD_WRITE) ==
                          DYNSEL_OK,
                      "input");
            (void)memcpy(seen.data, input, seen.bytes);
            log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "input");
        }
    }
}

static void add_kind(uint32_t kernel, uint32_t size, uint32_t operations, const uint32_t *input)
{
    kind *what = &kinds[kind_count++];
    *what = (kind){.kernel = kernel,
                   .size = size,
                   .elements = sizes[size],
                   .operations = operations,
                   .expected = allocate(sizes[size])};
    usecase_kernels[kernel].reference(input, what->expected, what->elements, operations);
    (void)snprintf(what->name, sizeof what->name, "%s/%" PRIu32 "/%" PRIu32,
                   usecase_kernels[kernel].kernel.name, what->elements, operations);
}

static void open_kinds(const uint32_t *input)
{
    const uint32_t counts = own.is_tiny != 0 ? MOST_OPERATIONS - 1 : MOST_OPERATIONS;
    const uint64_t most = own.is_tiny != 0 ? UINT64_MAX : UINT64_C(1) << own.most_work;
    for (uint32_t size = 0; size < size_count; size++) {
        for (uint32_t i = 0; i < counts; i++) {
            const uint32_t operations = 1u << (4 * i);
            for (uint32_t kernel = 0;
                 kernel < KERNELS && (uint64_t)sizes[size] * operations <= most; kernel++) {
                add_kind(kernel, size, operations, input);
            }
        }
    }
}

static void open_all(void)
{
    uint64_t seed = options.seed;
    const uint64_t least = own.is_tiny != 0 ? 0 : LEAST_SIZE;
    const uint64_t most = own.is_tiny != 0 ? 12 : own.most_size;
    for (uint64_t bits = least; bits <= most && size_count < MOST_SIZES; bits += SIZE_STEP) {
        sizes[size_count++] = 1u << bits;
    }
    uint32_t *input = allocate(sizes[size_count - 1]);
    for (uint32_t i = 0; i < sizes[size_count - 1]; i++) {
        input[i] = (uint32_t)random_next(&seed);
    }
    open_slots(input);
    open_kinds(input);
    free(input);
    order = allocate(own.pieces);
    for (uint32_t i = 0; i < own.pieces; i++) {
        order[i] = i % kind_count;
    }
    random_shuffle(order, own.pieces, &seed);
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
                                 .kind_count = kind_count,
                                 .submit_ns = 1e18};
    for (uint32_t k = 0; k < all.count; k++) {
        log_check(dynsel_fixed_resource_init(&fixed[k], &of_fixed, k) == DYNSEL_OK,
                  "dynsel_fixed_resource_init");
        for (uint32_t i = 0; i < kind_count; i++) {
            machine.ns[i][k] = alone_ns(i, k);
            csv_add(&(csv_figure){.record = "alone",
                                  .policy = "fixed",
                                  .resource = all.names[k],
                                  .task = kinds[i].name,
                                  .x = kinds[i].elements,
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
    for (size_t i = 0; i < kind_count; i++) {
        printf("\n%-26s", kinds[i].name);
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
    schedule_plan plan;
    log_check(schedule_open(&s, own.pieces, own.in_flight) == SCHEDULE_OK, "the oracle");
    for (uint32_t i = 0; i < own.pieces; i++) {
        const schedule_use follows = {
            .buffer = (uint32_t)(i % own.in_flight), .reads = true, .writes = true};
        const schedule_piece piece = {.kind = order[i], .use_count = 1, .uses = {follows}};
        log_check(schedule_add(&s, &piece) == SCHEDULE_OK, "the oracle's pieces");
    }
    log_check(schedule_make(&s, &machine, &plan) == SCHEDULE_OK, "the oracle's schedule");
    schedule_close(&s);
    return plan.makespan_ns;
}

static void close_all(void)
{
    for (size_t i = 0; i < own.in_flight; i++) {
        for (size_t k = 0; k < size_count; k++) {
            log_check(dynsel_buffer_deinit(&slots[i].in[k].handle) == DYNSEL_OK, "deinit");
            log_check(dynsel_buffer_deinit(&slots[i].out[k].handle) == DYNSEL_OK, "deinit");
            free(slots[i].in[k].memory);
            free(slots[i].out[k].memory);
        }
    }
    for (size_t i = 0; i < kind_count; i++) {
        free(kinds[i].expected);
    }
    free(order);
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    resources_find(&all, &options, options.workers == 0, 2);
    csv_open(&options, argc, argv);
    open_all();
    printf("%" PRIu64 " pieces of %" PRIu32 " kinds of work, %" PRIu64 " in flight\n", own.pieces,
           kind_count, own.in_flight);
    measure_alone();
    print_alone();
    passes_measure(&(passes_work){.run = run,
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
