/* SPDX-License-Identifier: Apache-2.0 */
#include "starpu_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../usecases/log.h"
#include "../usecases/memory.h"

enum { ELEMENT = 4 };

static peer_graph *current;

void peer_graph_open(peer_graph *g, size_t most_buffers, size_t most_pieces)
{
    g->most_buffers = most_buffers;
    g->most_pieces = most_pieces;
    g->buffers = calloc(most_buffers, sizeof *g->buffers);
    g->pieces = calloc(most_pieces, sizeof *g->pieces);
    log_check(g->buffers != NULL && g->pieces != NULL, "memory for the graph");
}

static void *zeroed(size_t elements)
{
    return memory_allocate(elements * ELEMENT);
}

uint32_t peer_graph_add_buffer(peer_graph *g, size_t elements)
{
    log_check(g->buffer_count < g->most_buffers, "room for the buffers of the graph");
    peer_buffer *b = &g->buffers[g->buffer_count];
    *b = (peer_buffer){.data = zeroed(elements), .initial = zeroed(elements), .elements = elements};
    b->handle = peer_register(b->data, elements, ELEMENT);
    return (uint32_t)g->buffer_count++;
}

void peer_graph_bring(peer_graph *g, uint32_t buffer)
{
    g->buffers[buffer].is_result = true;
}

void *peer_graph_expect(peer_graph *g, uint32_t buffer)
{
    peer_buffer *b = &g->buffers[buffer];
    b->is_result = true;
    b->expected = b->expected != NULL ? b->expected : zeroed(b->elements);
    return b->expected;
}

void peer_graph_add(peer_graph *g, const peer_piece *piece)
{
    log_check(g->piece_count < g->most_pieces, "room for the pieces of the graph");
    g->pieces[g->piece_count++] = *piece;
}

static void renew_all(void)
{
    for (size_t i = 0; i < current->buffer_count; i++) {
        const peer_buffer *b = &current->buffers[i];
        peer_acquire(b->handle, STARPU_W);
        (void)memcpy(b->data, b->initial, b->elements * ELEMENT);
        starpu_data_release(b->handle);
    }
}

static void submit(const peer_piece *piece)
{
    starpu_data_handle_t handles[PEER_MOST_BUFFERS];
    for (unsigned i = 0; i < piece->call->kernel->buffers; i++) {
        handles[i] = current->buffers[piece->buffers[i]].handle;
    }
    peer_submit(piece->call, handles, piece->priority);
}

static void run(void)
{
    for (size_t i = 0; i < current->piece_count; i++) {
        submit(&current->pieces[i]);
    }
    starpu_task_wait_for_all();
    for (size_t i = 0; i < current->buffer_count; i++) {
        if (current->buffers[i].is_result) {
            peer_touch(current->buffers[i].handle, STARPU_R);
        }
    }
}

static void compare(const peer_buffer *b, size_t number)
{
    const char *is = b->data;
    const char *should = b->expected;
    if (memcmp(is, should, b->elements * ELEMENT) == 0) {
        return;
    }
    for (size_t i = 0; i < b->elements; i++, is += ELEMENT, should += ELEMENT) {
        if (current->is_right != NULL ? !current->is_right(is, should)
                                      : memcmp(is, should, ELEMENT) != 0) {
            log_exit(STATUS_FAILED, "a wrong result: %s, buffer %zu of %zu elements, element %zu",
                     current->name, number, b->elements, i);
        }
    }
}

static void check(void)
{
    for (size_t i = 0; i < current->buffer_count; i++) {
        const peer_buffer *b = &current->buffers[i];
        if (b->is_result) {
            peer_touch(b->handle, STARPU_R);
        }
        if (b->expected != NULL) {
            compare(b, i);
        }
    }
    if (current->check != NULL) {
        current->check();
    }
}

void peer_graph_measure(peer_graph *g, uint64_t passes)
{
    current = g;
    printf("%s: %zu tasks over %zu buffers\n", g->name, g->piece_count, g->buffer_count);
    peer_measure(&(peer_work){.before = renew_all,
                              .run = run,
                              .after = check,
                              .name = g->name,
                              .unit = g->unit,
                              .units = g->units},
                 passes);
}

void peer_graph_close(peer_graph *g)
{
    for (size_t i = 0; i < g->buffer_count; i++) {
        starpu_data_unregister(g->buffers[i].handle);
        free(g->buffers[i].data);
        free(g->buffers[i].initial);
        free(g->buffers[i].expected);
    }
    free(g->buffers);
    free(g->pieces);
}
