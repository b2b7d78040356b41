/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_times.h"
#include "log.h"
#include "passes.h"

enum { PAGE = 4096, ELEMENT = 4 };

static void *allocate(size_t elements)
{
    const size_t bytes = (elements * ELEMENT + PAGE - 1) / PAGE * PAGE;
    void *memory = aligned_alloc(PAGE, bytes);
    if (memory == NULL) {
        log_exit(STATUS_FAILED, "the host has no memory for %zu KiB", bytes >> 10);
    }
    return memory != NULL ? memset(memory, 0, bytes) : NULL;
}

void graph_open(graph *g, size_t most_pieces)
{
    g->most_pieces = most_pieces;
    g->pieces = calloc(most_pieces, sizeof *g->pieces);
    if (g->pieces == NULL) {
        log_exit(STATUS_FAILED, "the host has no memory for %zu pieces of work", most_pieces);
    }
}

uint32_t graph_add_buffer(graph *g, size_t elements)
{
    if (g->buffer_count == GRAPH_MOST_BUFFERS) {
        log_exit(STATUS_USAGE,
                 "%s needs more buffers than CONFIG_DYNSEL_MAX_BUFFERS=%d; scons CONF=usecases has "
                 "room",
                 g->name, CONFIG_DYNSEL_MAX_BUFFERS);
    }
    graph_buffer *b = &g->buffers[g->buffer_count];
    *b = (graph_buffer){
        .data = allocate(elements), .initial = allocate(elements), .elements = elements};
    log_check(dynsel_buffer_init(&b->handle, b->data, ELEMENT, DYNSEL_RANGE(elements)) == DYNSEL_OK,
              "dynsel_buffer_init");
    return (uint32_t)g->buffer_count++;
}

void *graph_expect(graph *g, uint32_t buffer)
{
    graph_buffer *b = &g->buffers[buffer];
    b->expected = b->expected != NULL ? b->expected : allocate(b->elements);
    return b->expected;
}

void graph_add(graph *g, const graph_piece *piece)
{
    if (g->piece_count == g->most_pieces) {
        log_exit(STATUS_FAILED, "%s has more than %zu pieces of work", g->name, g->most_pieces);
    }
    g->pieces[g->piece_count++] = *piece;
}

/* The arguments of one group function. */
typedef struct call {
    const graph *g;
    const graph_piece *piece;
} call;

static dynsel_status group(dynsel_handler *handler, void *args)
{
    const call *c = args;
    const graph_kind *kind = &c->g->kinds[c->piece->kind];
    const dynsel_range *local = kind->local.dimensions != 0 ? &kind->local : NULL;
    uint32_t next = 0;
    for (uint32_t i = 0; i < c->piece->use_count; i++) {
        const graph_use *use = &c->piece->uses[i];
        dynsel_accessor accessor;
        dynsel_get_access(handler, c->g->buffers[use->buffer].handle, use->mode,
                          DYNSEL_MEMORY_GLOBAL, &accessor);
        dynsel_set_arg_accessor(handler, next++, &accessor);
    }
    for (uint32_t i = 0; i < kind->value_count; i++) {
        dynsel_set_arg_value(handler, next++, &kind->values[i], sizeof kind->values[i]);
    }
    return dynsel_parallel_for(handler, kind->kernel, kind->global, local, NULL);
}

void graph_submit(graph *g, dynsel_policy *policy, size_t piece)
{
    const graph_piece *what = &g->pieces[piece];
    const char *name = g->kinds[what->kind].kernel->name;
    dynsel_submission submission;
    log_check(dynsel_submit_command_group(policy, group, &(call){g, what}, &submission) ==
                  DYNSEL_OK,
              name);
    for (uint32_t i = 0; i < what->use_count; i++) {
        if (what->uses[i].mode != DYNSEL_ACCESS_READ) {
            g->buffers[what->uses[i].buffer].last_writer = submission.index;
        }
    }
    log_check(dynsel_submission_release(&submission) == DYNSEL_OK, name);
}

void graph_renew(graph *g, uint32_t buffer)
{
    dynsel_host_accessor seen = {0};
    const graph_buffer *b = &g->buffers[buffer];
    log_check(dynsel_host_accessor_open(&seen, b->handle, DYNSEL_ACCESS_DISCARD_WRITE) == DYNSEL_OK,
              "initial data");
    (void)memcpy(seen.data, b->initial, b->elements * ELEMENT);
    log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "initial data");
}

static void renew_all(void *context)
{
    graph *g = context;
    for (uint32_t i = 0; i < g->buffer_count; i++) {
        graph_renew(g, i);
    }
}

static void run(dynsel_policy *policy, void *context)
{
    graph *g = context;
    for (size_t i = 0; i < g->piece_count; i++) {
        graph_submit(g, policy, i);
    }
    log_check(dynsel_wait_group(dynsel_get_submission_group(policy)) == DYNSEL_OK, g->name);
    for (uint32_t i = 0; i < g->buffer_count; i++) {
        dynsel_host_accessor seen = {0};
        if (g->buffers[i].expected != NULL) {
            log_check(dynsel_host_accessor_open(&seen, g->buffers[i].handle, DYNSEL_ACCESS_READ) ==
                          DYNSEL_OK,
                      "the results");
            log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "the results");
        }
    }
}

static void compare(const graph *g, uint32_t number, const void *data, const char *policy)
{
    const graph_buffer *b = &g->buffers[number];
    const char *is = data;
    const char *should = b->expected;
    if (memcmp(is, should, b->elements * ELEMENT) == 0) {
        return;
    }
    for (size_t i = 0; i < b->elements; i++, is += ELEMENT, should += ELEMENT) {
        if (g->is_right != NULL ? !g->is_right(is, should) : memcmp(is, should, ELEMENT) != 0) {
            log_exit(STATUS_FAILED,
                     "a wrong result: %s, buffer %" PRIu32 " of %zu elements, last on %s by %s, "
                     "element %zu",
                     g->name, number, b->elements, g->r->names[b->last_writer], policy, i);
        }
    }
}

static void check(const char *policy, void *context)
{
    const graph *g = context;
    for (uint32_t i = 0; i < g->buffer_count; i++) {
        dynsel_host_accessor seen = {0};
        if (g->buffers[i].expected != NULL) {
            log_check(dynsel_host_accessor_open(&seen, g->buffers[i].handle, DYNSEL_ACCESS_READ) ==
                          DYNSEL_OK,
                      "the results");
            compare(g, i, seen.data, policy);
            log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "the results");
        }
    }
}

static bool reads(dynsel_access_mode mode)
{
    return mode != DYNSEL_ACCESS_DISCARD_WRITE && mode != DYNSEL_ACCESS_DISCARD_READ_WRITE;
}

static void record(const graph *g, schedule *s)
{
    for (size_t i = 0; i < g->buffer_count; i++) {
        s->buffers[i] = (schedule_buffer){.bytes = (double)(g->buffers[i].elements * ELEMENT),
                                          .is_result = g->buffers[i].expected != NULL};
    }
    for (size_t i = 0; i < g->piece_count; i++) {
        const graph_piece *from = &g->pieces[i];
        schedule_piece piece = {.kind = from->kind, .use_count = from->use_count};
        for (uint32_t k = 0; k < from->use_count; k++) {
            piece.uses[k] = (schedule_use){.buffer = from->uses[k].buffer,
                                           .reads = reads(from->uses[k].mode),
                                           .writes = from->uses[k].mode != DYNSEL_ACCESS_READ};
        }
        log_check(schedule_add(s, &piece) == SCHEDULE_OK, "the oracle's pieces");
    }
}

static void print_plan(const graph *g, const schedule_plan *plan)
{
    printf("The oracle copies %.1f MB, and runs", plan->copied_bytes / 1e6);
    for (size_t i = 0; i < g->r->count; i++) {
        printf("%s %" PRIu32 " pieces on %.30s", i == 0 ? "" : ",", plan->pieces_on[i],
               g->r->names[i]);
    }
    printf(".\n");
}

/* The schedule with the times that graph_times_measure() finds. */
static double oracle_ns(graph *g)
{
    static schedule_machine machine;
    schedule s;
    schedule_plan plan;
    graph_times_measure(g, &machine);
    log_check(schedule_open(&s, g->piece_count, g->buffer_count) == SCHEDULE_OK, "the oracle");
    record(g, &s);
    log_check(schedule_make(&s, &machine, &plan) == SCHEDULE_OK, "the oracle's schedule");
    schedule_close(&s);
    print_plan(g, &plan);
    return plan.makespan_ns;
}

void graph_measure(graph *g, uint32_t passes)
{
    printf("%s: %zu command groups over %zu buffers\n", g->name, g->piece_count, g->buffer_count);
    const double ns = oracle_ns(g);
    passes_measure(&(passes_work){.before = renew_all,
                                  .run = run,
                                  .after = check,
                                  .context = g,
                                  .name = g->name,
                                  .unit = g->unit,
                                  .units = g->units,
                                  .oracle_ns = ns},
                   g->r, passes);
}

void graph_close(graph *g)
{
    for (size_t i = 0; i < g->buffer_count; i++) {
        graph_buffer *b = &g->buffers[i];
        log_check(dynsel_buffer_deinit(&b->handle) == DYNSEL_OK, "deinit");
        free(b->data);
        free(b->initial);
        free(b->expected);
    }
    free(g->pieces);
}
