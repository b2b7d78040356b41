/* SPDX-License-Identifier: Apache-2.0 */
/* bench/usecases/stream.c through StarPU. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../usecases/log.h"
#include "../usecases/memory.h"
#include "../usecases/mix_kernels.h"
#include "../usecases/random.h"
#include "starpu_peer.h"
#include "starpu_report.h"

enum {
    KERNELS = 3,
    MOST_SIZES = 7,
    MOST_OPERATIONS = 3,
    MOST_KINDS = KERNELS * MOST_SIZES * MOST_OPERATIONS,
    MOST_IN_FLIGHT = 64,
    LEAST_SIZE = 8, /* as a power of two */
    SIZE_STEP = 2,
    TINY_SIZE = 12,
    LOOKED_AT = 4, /* elements of each result that are compared */
    WRONG = -1,    /* what these are set to before */
    IN = 0,
    OUT = 1,
    BUFFERS = 2
};

static const double TOLERANCE = 1e-5;

static struct {
    uint64_t in_flight;
    uint64_t pieces;
    uint64_t most_size;
    uint64_t most_work;
    uint64_t passes;
    uint64_t is_tiny;
} own = {.in_flight = 8, .pieces = 500, .most_size = 16, .most_work = 20, .passes = 20};

static const argument own_options[] = {
    {"--in-flight", "N", "pieces of work in flight", &own.in_flight, 1, MOST_IN_FLIGHT, NULL},
    {"--pieces", "N", "in one pass", &own.pieces, 1, 1000000, NULL},
    {"--most-elements", "N", "largest size, as a power of two", &own.most_size, LEAST_SIZE,
     LEAST_SIZE + SIZE_STEP *(MOST_SIZES - 1), NULL},
    {"--most-work", "N", "most elements times operations, as a power of two", &own.most_work,
     LEAST_SIZE, 32, NULL},
    {"--tiny", NULL, "only work of 1 to 4096 elements", &own.is_tiny, 0, 1, NULL},
    {"--passes", "N", "of the work", &own.passes, 1, 10000, NULL},
    {.name = NULL}};

typedef struct kind {
    uint32_t size; /* in `sizes` */
    uint32_t elements;
    void *expected; /* by plain C */
    bool is_float;
    peer_call call;
} kind;

/* The place of one piece in flight, with data of its own. */
typedef struct slot {
    void *memory[MOST_SIZES][BUFFERS];
    starpu_data_handle_t handles[MOST_SIZES][BUFFERS];
    const kind *what; /* NULL: nothing in flight */
    uint64_t number;  /* of the piece */
    atomic_bool done;
} slot;

static uint32_t sizes[MOST_SIZES];
static size_t size_count;
static kind kinds[MOST_KINDS];
static uint32_t kind_count;
static slot slots[MOST_IN_FLIGHT];
static uint32_t *order; /* kinds of the pieces */
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

static peer_kernel kernels[KERNELS] = {KERNEL("polynomial", MIX_POLYNOMIAL, polynomial_on_host),
                                       KERNEL("scramble", MIX_SCRAMBLE, scramble_on_host),
                                       KERNEL("gather", MIX_GATHER, gather_on_host)};

static void begin(slot *s, kind *what, uint64_t number)
{
    peer_touch(s->handles[what->size][IN], STARPU_RW); /* as if the program had new input */
    s->what = what;
    s->number = number;
    peer_submit_told(&what->call, s->handles[what->size], &s->done);
}

static bool is_right(const kind *what, size_t i, const void *results)
{
    if (!what->is_float) {
        return ((const uint32_t *)results)[i] == ((const uint32_t *)what->expected)[i];
    }
    const double is = ((const float *)results)[i];
    const double should = ((const float *)what->expected)[i];
    return fabs(is - should) <= TOLERANCE * fabs(should);
}

/* Compares an element, and overwrites it, so that a kernel that does nothing is found out. */
static void look_at(const kind *what, size_t i, void *results)
{
    if (!is_right(what, i, results)) {
        log_exit(STATUS_FAILED,
                 "a wrong result: %s, %" PRIu32 " elements, %" PRIu32 " operations, element %zu",
                 what->call.kernel->name, what->elements, what->call.values[1].u, i);
    }
    ((int32_t *)results)[i] = WRONG;
}

/* Waits for the results in the host's memory, and looks at some. */
static void collect(slot *s)
{
    const kind *what = s->what;
    uint64_t seed = s->number;
    const size_t looks = looks_at_all ? what->elements : LOOKED_AT;
    const size_t first = looks_at_all ? 0 : (size_t)(random_next(&seed) % what->elements);
    const size_t step = looks_at_all ? 1 : what->elements / LOOKED_AT;
    peer_acquire(s->handles[what->size][OUT], STARPU_RW);
    for (size_t i = 0; i < looks && (i == 0 || step > 0); i++) {
        look_at(what, (first + i * step) % what->elements, s->memory[what->size][OUT]);
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
        begin(s, &kinds[order[i]], i);
    }
    for (size_t i = 0; i < own.in_flight; i++) {
        if (slots[i].what != NULL) {
            collect(&slots[i]);
        }
    }
}

/* The same input of each size in all slots, so that a kind has one result. */
static void open_slot(slot *s, const uint32_t *input)
{
    for (size_t k = 0; k < size_count; k++) {
        const size_t bytes = sizes[k] * sizeof(uint32_t);
        for (int i = 0; i < BUFFERS; i++) {
            s->memory[k][i] = memory_allocate(bytes);
            (void)memcpy(s->memory[k][i], input, bytes);
            s->handles[k][i] = peer_register(s->memory[k][i], sizes[k], sizeof(uint32_t));
        }
    }
}

static void add_kind(uint32_t kernel, uint32_t size, uint32_t operations, uint32_t *input)
{
    kind *what = &kinds[kind_count++];
    *what = (kind){.size = size,
                   .elements = sizes[size],
                   .expected = memory_allocate(sizes[size] * sizeof(uint32_t)),
                   .is_float = kernel == 0,
                   .call = {.kernel = &kernels[kernel],
                            .values = {{.u = sizes[size]}, {.u = operations}},
                            .global = {sizes[size]}}};
    kernels[kernel].host((void *const[]){input, what->expected}, &what->call);
}

static void open_kinds(uint32_t *input)
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

static void open_all(uint64_t seed)
{
    const uint64_t least = own.is_tiny != 0 ? 0 : LEAST_SIZE;
    const uint64_t most = own.is_tiny != 0 ? TINY_SIZE : own.most_size;
    for (uint64_t bits = least; bits <= most && size_count < MOST_SIZES; bits += SIZE_STEP) {
        sizes[size_count++] = 1u << bits;
    }
    uint32_t *input = memory_allocate(sizes[size_count - 1] * sizeof *input);
    for (uint32_t i = 0; i < sizes[size_count - 1]; i++) {
        input[i] = (uint32_t)random_next(&seed);
    }
    for (size_t i = 0; i < own.in_flight; i++) {
        open_slot(&slots[i], input);
    }
    open_kinds(input);
    free(input);
    order = memory_allocate(own.pieces * sizeof *order);
    for (uint32_t i = 0; i < own.pieces; i++) {
        order[i] = i % kind_count;
    }
    random_shuffle(order, own.pieces, &seed);
}

static void close_all(void)
{
    for (size_t i = 0; i < own.in_flight; i++) {
        for (size_t k = 0; k < size_count * BUFFERS; k++) {
            starpu_data_unregister(slots[i].handles[k / BUFFERS][k % BUFFERS]);
            free(slots[i].memory[k / BUFFERS][k % BUFFERS]);
        }
    }
    for (size_t i = 0; i < kind_count; i++) {
        free(kinds[i].expected);
    }
    free(order);
}

static void run(const peer_options *options)
{
    for (size_t i = 0; i < KERNELS; i++) {
        peer_prepare(&kernels[i]);
    }
    open_all(options->seed);
    printf("%" PRIu64 " pieces of %" PRIu32 " kinds of work, %" PRIu64 " in flight\n", own.pieces,
           kind_count, own.in_flight);
    peer_measure(
        &(peer_work){.run = stream, .name = "stream", .unit = "piece", .units = (double)own.pieces},
        own.passes);
    looks_at_all = true;
    stream();
    close_all();
    for (size_t i = 0; i < KERNELS; i++) {
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
