/* SPDX-License-Identifier: Apache-2.0 */
/* bench/usecases/stream.c through StarPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../usecases/log.h"
#include "../usecases/memory.h"
#include "../usecases/mix_kernels.h"
#include "../usecases/stream_work.h"
#include "starpu_peer.h"
#include "starpu_report.h"

enum { MOST_IN_FLIGHT = 64, IN = 0, OUT = 1, BUFFERS = 2 };

static stream_options own = {
    .in_flight = 8, .pieces = 500, .most_size = 16, .most_work = 20, .passes = 20};

static const argument own_options[] = {
    {"--in-flight", "N", "pieces of work in flight", &own.in_flight, 1, MOST_IN_FLIGHT, NULL},
    {"--pieces", "N", "in one pass", &own.pieces, 1, 1000000, NULL},
    {"--most-elements", "N", "largest size, as a power of two", &own.most_size, STREAM_LEAST_SIZE,
     STREAM_LARGEST_SIZE, NULL},
    {"--most-work", "N", "most elements times operations, as a power of two", &own.most_work,
     STREAM_LEAST_SIZE, 32, NULL},
    {"--tiny", NULL, "only work of 1 to 4096 elements", &own.is_tiny, 0, 1, NULL},
    {"--passes", "N", "of the work", &own.passes, 1, 10000, NULL},
    {.name = NULL}};

/* The place of one piece in flight, with data of its own. */
typedef struct slot {
    void *memory[STREAM_MOST_SIZES][BUFFERS];
    starpu_data_handle_t handles[STREAM_MOST_SIZES][BUFFERS];
    const mix_kind *what; /* NULL: nothing in flight */
    uint64_t number;      /* of the piece */
    atomic_bool done;
} slot;

static stream_work work;
static peer_call calls[STREAM_MOST_KINDS]; /* one for each kind */
static slot slots[MOST_IN_FLIGHT];
static bool looks_at_all;

static void polynomial_on_host(void *const data[], const peer_call *call)
{
    mix_polynomial(data[IN], data[OUT], call->values[0].u, call->values[1].u);
}

static void scramble_on_host(void *const data[], const peer_call *call)
{
    mix_scramble(data[IN], data[OUT], call->values[0].u, call->values[1].u);
}

static void gather_on_host(void *const data[], const peer_call *call)
{
    mix_gather(data[IN], data[OUT], call->values[0].u, call->values[1].u);
}

#define KERNEL(title, text, function)                                                              \
    {                                                                                              \
        .name = title, .source = text, .host = function, .buffers = BUFFERS, .values = 2,          \
        .modes = {STARPU_R, STARPU_W},                                                             \
    }

static peer_kernel kernels[MIX_KERNELS] = {KERNEL("polynomial", MIX_POLYNOMIAL, polynomial_on_host),
                                           KERNEL("scramble", MIX_SCRAMBLE, scramble_on_host),
                                           KERNEL("gather", MIX_GATHER, gather_on_host)};

static void begin(slot *s, uint32_t kind, uint64_t number)
{
    s->what = &work.kinds[kind];
    s->number = number;
    starpu_data_handle_t *handles = s->handles[s->what->size];
    peer_touch(handles[IN], STARPU_RW); /* as if the program had new input */
    peer_submit_told(&calls[kind], handles, &s->done);
}

/* Waits for the results in the host's memory, and looks at some. */
static void collect(slot *s)
{
    const mix_kind *what = s->what;
    peer_acquire(s->handles[what->size][OUT], STARPU_RW);
    const size_t wrong =
        stream_work_look(what, s->number, looks_at_all, s->memory[what->size][OUT]);
    if (wrong < what->elements) {
        log_exit(STATUS_FAILED, "a wrong result: %s, %" PRIu32 " elements, element %zu", what->name,
                 what->elements, wrong);
    }
    starpu_data_release(s->handles[what->size][OUT]);
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
        if (own.in_flight > 1 && atomic_load(&s->done)) {
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

static void stream(void)
{
    for (uint64_t i = 0; i < own.pieces; i++) {
        slot *s = free_slot();
        if (s == NULL) {
            collect_some();
            s = free_slot();
        }
        begin(s, work.order[i], i);
    }
    for (size_t i = 0; i < own.in_flight; i++) {
        if (slots[i].what != NULL) {
            collect(&slots[i]);
        }
    }
}

/* The same input of each size in all slots, so that a kind has one result. */
static void open_slot(slot *s)
{
    for (size_t k = 0; k < work.size_count; k++) {
        const size_t bytes = work.sizes[k] * sizeof(uint32_t);
        for (int i = 0; i < BUFFERS; i++) {
            s->memory[k][i] = memory_allocate(bytes);
            (void)memcpy(s->memory[k][i], work.input, bytes);
            s->handles[k][i] = peer_register(s->memory[k][i], work.sizes[k], sizeof(uint32_t));
        }
    }
}

static void open_all(uint64_t seed)
{
    stream_work_open(&work, &own, seed);
    for (size_t i = 0; i < own.in_flight; i++) {
        open_slot(&slots[i]);
    }
    for (size_t i = 0; i < work.kind_count; i++) {
        const mix_kind *kind = &work.kinds[i];
        calls[i] = (peer_call){.kernel = &kernels[kind->kernel],
                               .values = {{.u = kind->elements}, {.u = kind->operations}},
                               .global = {kind->elements}};
    }
}

static void close_all(void)
{
    for (size_t i = 0; i < own.in_flight; i++) {
        for (size_t k = 0; k < work.size_count * BUFFERS; k++) {
            starpu_data_unregister(slots[i].handles[k / BUFFERS][k % BUFFERS]);
            free(slots[i].memory[k / BUFFERS][k % BUFFERS]);
        }
    }
    stream_work_close(&work);
}

static void run(const peer_options *options)
{
    for (size_t i = 0; i < MIX_KERNELS; i++) {
        peer_prepare(&kernels[i]);
    }
    open_all(options->seed);
    printf("%" PRIu64 " pieces of %" PRIu32 " kinds of work, %" PRIu64 " in flight\n", own.pieces,
           work.kind_count, own.in_flight);
    peer_measure(
        &(peer_work){.run = stream, .name = "stream", .unit = "piece", .units = (double)own.pieces},
        own.passes);
    looks_at_all = true;
    stream();
    close_all();
    for (size_t i = 0; i < MIX_KERNELS; i++) {
        peer_release(&kernels[i]);
    }
}

const peer_command peer_stream = {
    .name = "stream",
    .about = "Independent pieces of work of several kernels and sizes in random order, several in "
             "flight.\nFrom the host's memory to the host's memory: one thread submits a piece, "
             "and collects those that are\ncomplete. Some elements of each result are compared "
             "with plain C, and all of them in a pass after the\ntimed ones.",
    .own = own_options,
    .run = run};
