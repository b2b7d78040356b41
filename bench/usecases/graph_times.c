/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_times.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../examples/common/trace_file.h"
#include "../measure.h"
#include "csv.h"
#include "log.h"
#include "memory.h"

enum {
    BATCH_NS = 4000000, /* a batch takes about this */
    MOST_BATCH = 32,
    MOST_SAMPLES = 9,
    LEAST_SAMPLES = 3,
    ENOUGH_NS = 150000000, /* for one kind on one resource */
    SMALL_BYTES = 4096,
    LARGE_BYTES = 4 << 20
};

static dynsel_fixed_resource_policy fixed[RESOURCES_MOST];
static double submit_ns[RESOURCES_MOST]; /* least of one piece */

static dynsel_status touch_on_host(const dynsel_launch *launch)
{
    uint32_t *data = dynsel_launch_data(launch, 0);
    data[0]++;
    return DYNSEL_OK;
}

/* Makes the copy of one resource the only valid one. */
static const dynsel_kernel touch = {
    .name = "touch",
    .id = 100,
    .function = touch_on_host,
    .source = "kernel void touch(global unsigned *data) { data[0]++; }",
};

static void prepare(const graph *g)
{
    const dynsel_kernel *kernels[GRAPH_MOST_KINDS + 1] = {&touch};
    for (size_t i = 0; i < g->kind_count; i++) {
        kernels[i + 1] = g->kinds[i].kernel;
    }
    resources_prepare(g->r, fixed, kernels, g->kind_count + 1);
}

static void wait_for(uint32_t resource)
{
    log_check(dynsel_wait_group(dynsel_get_submission_group(&fixed[resource].policy)) == DYNSEL_OK,
              "a piece of work alone");
}

/* Pieces of one kind that do not depend on each other. */
typedef struct batch {
    size_t pieces[MOST_BATCH];
    size_t count;
} batch;

static bool conflicts(const graph_piece *one, const graph_piece *other)
{
    for (uint32_t i = 0; i < one->use_count; i++) {
        for (uint32_t k = 0; k < other->use_count; k++) {
            if (one->uses[i].buffer == other->uses[k].buffer &&
                (one->uses[i].mode != DYNSEL_ACCESS_READ ||
                 other->uses[k].mode != DYNSEL_ACCESS_READ)) {
                return true;
            }
        }
    }
    return false;
}

static batch batch_of(const graph *g, uint32_t kind)
{
    batch b = {.count = 0};
    for (size_t i = 0; i < g->piece_count && b.count < MOST_BATCH; i++) {
        bool fits = g->pieces[i].kind == kind;
        for (size_t k = 0; k < b.count && fits; k++) {
            fits = !conflicts(&g->pieces[i], &g->pieces[b.pieces[k]]);
        }
        if (fits) {
            b.pieces[b.count++] = i;
        }
    }
    return b;
}

static void renew_batch(graph *g, const batch *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const graph_piece *piece = &g->pieces[b->pieces[i]];
        for (uint32_t k = 0; k < piece->use_count; k++) {
            graph_renew(g, piece->uses[k].buffer);
        }
    }
}

/* One piece, of so many that are submitted together, as in a pass: a device waits for the program
 * only once. */
static double batch_ns(graph *g, const batch *b, uint32_t resource, size_t length)
{
    size_t next = 0;
    const uint64_t began = measure_now_ns();
    for (size_t i = 0; i < length; i++) {
        graph_submit(g, &fixed[resource].policy, b->pieces[next]);
        next = next + 1 < b->count ? next + 1 : 0;
    }
    const double submitting = (double)(measure_now_ns() - began) / (double)length;
    wait_for(resource);
    submit_ns[resource] = submitting < submit_ns[resource] ? submitting : submit_ns[resource];
    return (double)(measure_now_ns() - began) / (double)length;
}

static double alone_ns(graph *g, const batch *b, uint32_t resource)
{
    double samples[MOST_SAMPLES];
    double total = 0;
    unsigned count = 0;
    while (count < LEAST_SAMPLES || (count < MOST_SAMPLES && total < ENOUGH_NS)) {
        renew_batch(g, b);
        (void)batch_ns(g, b, resource, b->count); /* brings the data, and may compile */
        const double once = batch_ns(g, b, resource, 1);
        const double fitting = BATCH_NS / once;
        const size_t length = fitting < 1 ? 1 : fitting > MOST_BATCH ? MOST_BATCH : (size_t)fitting;
        samples[count] = batch_ns(g, b, resource, length);
        total += samples[count++] * (double)(length + b->count);
    }
    return measure_median(samples, count);
}

static void measure_kinds(graph *g, schedule_machine *m)
{
    printf("\nOne piece of each kind on each resource, with its data there, in us\n\n%-12s", "");
    for (size_t k = 0; k < g->r->count; k++) {
        printf(" %22.22s", g->r->names[k]);
        submit_ns[k] = 1e18;
    }
    printf("\n");
    for (uint32_t i = 0; i < g->kind_count; i++) {
        const char *name = g->kinds[i].kernel->name;
        const batch b = batch_of(g, i);
        if (b.count == 0) {
            continue; /* a small graph lacks some kinds */
        }
        printf("%-12s", name);
        for (uint32_t k = 0; k < g->r->count; k++) {
            m->ns[i][k] = alone_ns(g, &b, k);
            printf(" %22.1f", m->ns[i][k] / 1e3);
            csv_add(&(csv_figure){.record = "alone",
                                  .policy = "fixed",
                                  .resource = g->r->names[k],
                                  .task = name,
                                  .x = (double)dynsel_range_count(&g->kinds[i].global),
                                  .value = m->ns[i][k],
                                  .unit = "ns"});
        }
        printf("\n");
    }
}

static dynsel_status touch_group(dynsel_handler *handler, void *args)
{
    dynsel_accessor accessor;
    dynsel_get_access(handler, *(const dynsel_buffer *)args, DYNSEL_ACCESS_READ_WRITE,
                      DYNSEL_MEMORY_GLOBAL, &accessor);
    dynsel_set_arg_accessor(handler, 0, &accessor);
    return dynsel_parallel_for(handler, &touch, DYNSEL_RANGE((size_t)1), NULL, NULL);
}

static double touch_ns(uint32_t resource, dynsel_buffer buffer)
{
    const uint64_t began = measure_now_ns();
    log_check(dynsel_submit_command_group(&fixed[resource].policy, touch_group, &buffer, NULL) ==
                  DYNSEL_OK,
              "touch");
    wait_for(resource);
    return (double)(measure_now_ns() - began);
}

/* The time of one piece whose data are elsewhere, less that of one whose data are there. */
static double moving_ns(uint32_t from, uint32_t to, dynsel_buffer buffer)
{
    double samples[MOST_SAMPLES];
    for (unsigned i = 0; i <= MOST_SAMPLES; i++) {
        (void)touch_ns(from, buffer);
        const double moved = touch_ns(to, buffer);
        if (i > 0) { /* the first copy of a buffer's life is slower */
            samples[i - 1] = moved - touch_ns(to, buffer);
        }
    }
    const double median = measure_median(samples, MOST_SAMPLES);
    return median > 0 ? median : 0;
}

/* Whether a resource finds what another one has written. */
static bool shares(const graph *g, uint32_t one, uint32_t other, dynsel_buffer buffer)
{
    const dynsel_accessor accessor = {.buffer = buffer, .placeholder = true};
    const dynsel_requirement reads = {.accessor = &accessor};
    const dynsel_task task = {.requirements = &reads, .requirement_count = 1};
    (void)touch_ns(other, buffer);
    (void)touch_ns(one, buffer);
    return dynsel_bytes_to_move(&g->r->table[other], &task) == 0;
}

/* A domain for each memory; first_in[]: a resource of each. */
static void find_domains(const graph *g, schedule_machine *m, dynsel_buffer buffer,
                         uint32_t *first_in)
{
    m->domain_count = 0;
    for (uint32_t i = 0; i < g->r->count; i++) {
        uint32_t domain = 0;
        while (domain < m->domain_count && !shares(g, first_in[domain], i, buffer)) {
            domain++;
        }
        if (domain == SCHEDULE_MOST_DOMAINS) {
            log_exit(STATUS_USAGE, "there are more than %d memories; choose some --devices",
                     SCHEDULE_MOST_DOMAINS);
        }
        if (domain == m->domain_count) {
            first_in[m->domain_count++] = i;
        }
        m->domain_of[i] = domain;
    }
}

static void measure_link(const graph *g, uint32_t from, uint32_t to, const dynsel_buffer *buffers,
                         schedule_link *link)
{
    static const char *const tasks[] = {"copy from the host", "copy from a device"};
    const double small = moving_ns(from, to, buffers[0]);
    const double large = moving_ns(from, to, buffers[1]);
    const double more = large - small;
    *link = (schedule_link){.latency_ns = small,
                            .bytes_per_ns = more > 1 ? (LARGE_BYTES - SMALL_BYTES) / more : 1e6};
    printf("A copy from %.40s to %.40s: %.1f us and %.2f GB/s\n", g->r->names[from],
           g->r->names[to], link->latency_ns / 1e3, link->bytes_per_ns);
    if (from < g->r->first_device || to < g->r->first_device) {
        const uint32_t device = from < g->r->first_device ? to : from;
        csv_figure figure = {.record = from == device ? "copy_out" : "copy_in",
                             .policy = "fixed",
                             .resource = g->r->names[device],
                             .task = tasks[from == device ? 1 : 0],
                             .x = SMALL_BYTES,
                             .value = small,
                             .unit = "ns"};
        csv_add(&figure);
        figure.x = LARGE_BYTES;
        figure.value = large;
        csv_add(&figure);
    }
}

static void measure_links(const graph *g, schedule_machine *m)
{
    const size_t bytes[] = {SMALL_BYTES, LARGE_BYTES};
    void *memory[2];
    dynsel_buffer buffers[2] = {{0}};
    uint32_t first_in[SCHEDULE_MOST_DOMAINS];
    for (int i = 0; i < 2; i++) {
        memory[i] = memory_allocate(bytes[i]);
        log_check(dynsel_buffer_init(&buffers[i], memory[i], sizeof(uint32_t),
                                     DYNSEL_RANGE(bytes[i] / sizeof(uint32_t))) == DYNSEL_OK,
                  "dynsel_buffer_init");
    }
    find_domains(g, m, buffers[0], first_in);
    for (uint32_t i = 0; i < m->domain_count; i++) {
        for (uint32_t k = 0; k < m->domain_count; k++) {
            if (i != k) {
                measure_link(g, first_in[i], first_in[k], buffers, &m->links[i][k]);
            }
        }
    }
    for (int i = 0; i < 2; i++) {
        log_check(dynsel_buffer_deinit(&buffers[i]) == DYNSEL_OK, "deinit");
        free(memory[i]);
    }
}

void graph_times_measure(graph *g, schedule_machine *m)
{
    *m = (schedule_machine){.resource_count = g->r->count, .kind_count = g->kind_count};
    trace_file_mark("alone", 1);
    prepare(g);
    measure_kinds(g, m);
    measure_links(g, m);
    m->submit_ns = submit_ns[0];
    for (size_t i = 0; i < g->r->count; i++) {
        m->submit_ns = submit_ns[i] < m->submit_ns ? submit_ns[i] : m->submit_ns;
        log_check(dynsel_policy_deinit(&fixed[i].policy) == DYNSEL_OK, "dynsel_policy_deinit");
    }
    printf("The program submits a piece in %.2f us or more.\n", m->submit_ns / 1e3);
}
