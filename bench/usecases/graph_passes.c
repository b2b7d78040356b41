/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_passes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph_times.h"
#include "log.h"
#include "oracle.h"
#include "passes.h"

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
    if (memcmp(is, should, b->elements * GRAPH_ELEMENT_BYTES) == 0) {
        return;
    }
    for (size_t i = 0; i < b->elements;
         i++, is += GRAPH_ELEMENT_BYTES, should += GRAPH_ELEMENT_BYTES) {
        if (g->is_right != NULL ? !g->is_right(is, should)
                                : memcmp(is, should, GRAPH_ELEMENT_BYTES) != 0) {
            log_exit(STATUS_FAILED,
                     "a wrong result: %s, buffer %" PRIu32 " of %zu elements, by %s, element %zu",
                     g->name, number, b->elements, policy, i);
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
        s->buffers[i] =
            (schedule_buffer){.bytes = (double)(g->buffers[i].elements * GRAPH_ELEMENT_BYTES),
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
    graph_times_measure(g, &machine);
    log_check(schedule_open(&s, g->piece_count, g->buffer_count) == SCHEDULE_OK, "the oracle");
    record(g, &s);
    const schedule_plan plan = oracle_plan(&s, &machine, g->r);
    schedule_close(&s);
    print_plan(g, &plan);
    return plan.makespan_ns;
}

void graph_passes_measure(graph *g, uint32_t passes)
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
