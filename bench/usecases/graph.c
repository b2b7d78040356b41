/* SPDX-License-Identifier: Apache-2.0 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "memory.h"

static void *allocate(size_t elements)
{
    return memory_allocate(elements * GRAPH_ELEMENT_BYTES);
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
    log_check(dynsel_buffer_init(&b->handle, b->data, GRAPH_ELEMENT_BYTES,
                                 DYNSEL_RANGE(elements)) == DYNSEL_OK,
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

void graph_submit(const graph *g, dynsel_policy *policy, size_t piece)
{
    const graph_piece *what = &g->pieces[piece];
    log_check(dynsel_submit_command_group(policy, group, &(call){g, what}, NULL) == DYNSEL_OK,
              g->kinds[what->kind].kernel->name);
}

void graph_renew(graph *g, uint32_t buffer)
{
    dynsel_host_accessor seen = {0};
    const graph_buffer *b = &g->buffers[buffer];
    log_check(dynsel_host_accessor_open(&seen, b->handle, DYNSEL_ACCESS_DISCARD_WRITE) == DYNSEL_OK,
              "initial data");
    (void)memcpy(seen.data, b->initial, b->elements * GRAPH_ELEMENT_BYTES);
    log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "initial data");
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
