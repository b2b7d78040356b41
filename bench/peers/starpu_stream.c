/* SPDX-License-Identifier: Apache-2.0 */
/* The mix of bench/usecases/mix.c as a stream through StarPU: several pieces in flight. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../usecases/log.h"
#include "../usecases/mix_kernels.h"
#include "../usecases/random.h"
#include "starpu_peer.h"
#include "starpu_report.h"

enum {
    KERNELS = 3,
    SIZES = 5,
    FIRST_SIZE = 8,
    SIZE_STEP = 4,
    OPERATIONS = 4,
    MOST_KINDS = KERNELS * SIZES * OPERATIONS,
    MOST_SLOTS = 256,
    IN = 0,
    OUT = 1,
    BUFFERS = 2
};

static const double TOLERANCE = 1e-5;

static struct {
    uint64_t runs;
    uint64_t in_flight;
    uint64_t most_work;
    uint64_t most_size;
    uint64_t passes;
} own = {.runs = 4, .in_flight = 16, .most_work = 24, .most_size = 20, .passes = 10};

static const argument own_options[] = {
    {"--runs", "N", "runs of each kind of work in one pass", &own.runs, 1, 1000000, NULL},
    {"--in-flight", "N", "pieces in flight", &own.in_flight, 1, MOST_SLOTS, NULL},
    {"--most-elements", "N", "largest size, as a power of two", &own.most_size, FIRST_SIZE, 24,
     NULL},
    {"--most-work", "N", "most elements times operations, as a power of two", &own.most_work,
     FIRST_SIZE, 36, NULL},
    {"--passes", "N", "of the work", &own.passes, 1, 10000, NULL},
    {.name = NULL}};

typedef struct kind {
    uint32_t size; /* in the sizes */
    uint32_t elements;
    void *expected; /* by plain C */
    peer_call call;
} kind;

/* Data of each size for one piece in flight. */
typedef struct slot {
    void *memory[SIZES][BUFFERS];
    starpu_data_handle_t handles[SIZES][BUFFERS];
    const kind *in_flight; /* NULL: none */
} slot;

static kind kinds[MOST_KINDS];
static size_t kind_count;
static slot slots[MOST_SLOTS];
static uint32_t *inputs[SIZES];
static uint32_t sizes[SIZES];
static size_t size_count;
static uint32_t *order;
static size_t length;
static uint64_t shuffle_seed;

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

static void open_sizes(uint64_t seed)
{
    for (uint32_t i = 0; i < SIZES && FIRST_SIZE + i * SIZE_STEP <= own.most_size; i++) {
        const uint32_t elements = 1u << (FIRST_SIZE + i * SIZE_STEP);
        sizes[i] = elements;
        inputs[i] = peer_memory(elements * sizeof(uint32_t));
        for (uint32_t k = 0; k < elements; k++) {
            inputs[i][k] = (uint32_t)random_next(&seed);
        }
        size_count++;
    }
}

static void open_kind(uint32_t kernel, uint32_t size, uint32_t operations)
{
    kind *made = &kinds[kind_count++];
    const size_t elements = sizes[size];
    *made = (kind){.size = size,
                   .elements = sizes[size],
                   .expected = peer_memory(elements * sizeof(uint32_t)),
                   .call = {.kernel = &kernels[kernel],
                            .values = {{.u = sizes[size]}, {.u = operations}},
                            .global = {elements}}};
    void *const data[] = {inputs[size], made->expected};
    kernels[kernel].host(data, &made->call);
}

static void open_kinds(void)
{
    for (uint32_t size = 0; size < size_count; size++) {
        for (uint32_t k = 0; k < OPERATIONS; k++) {
            const uint32_t bits = FIRST_SIZE + size * SIZE_STEP + 4 * k;
            for (uint32_t kernel = 0; kernel < KERNELS && bits <= own.most_work; kernel++) {
                open_kind(kernel, size, 1u << (4 * k));
            }
        }
    }
}

static void open_slot(slot *s)
{
    for (size_t i = 0; i < size_count; i++) {
        const size_t bytes = sizes[i] * sizeof(uint32_t);
        for (int k = 0; k < BUFFERS; k++) {
            s->memory[i][k] = peer_memory(bytes);
            s->handles[i][k] = peer_register(s->memory[i][k], sizes[i], sizeof(uint32_t));
        }
        (void)memcpy(s->memory[i][IN], inputs[i], bytes);
        (void)memset(s->memory[i][OUT], 0, bytes);
    }
}

static void open_order(void)
{
    length = kind_count * own.runs;
    order = calloc(length, sizeof *order);
    log_check(order != NULL, "memory for the order of the pieces");
    for (size_t i = 0; i < length; i++) {
        order[i] = (uint32_t)(i % kind_count);
    }
}

static bool is_right(const kind *what, const void *results, uint32_t i)
{
    const double is = ((const float *)results)[i];
    const double should = ((const float *)what->expected)[i];
    if (what->call.kernel != &kernels[0]) {
        return ((const uint32_t *)results)[i] == ((const uint32_t *)what->expected)[i];
    }
    return fabs(is - should) <= TOLERANCE * fabs(should);
}

static void check_piece(const kind *what, const void *results)
{
    if (memcmp(results, what->expected, what->elements * sizeof(uint32_t)) == 0) {
        return;
    }
    for (uint32_t i = 0; i < what->elements; i++) {
        if (!is_right(what, results, i)) {
            log_exit(STATUS_FAILED,
                     "a wrong result: %s, %" PRIu32 " elements, %" PRIu32 " operations, element "
                     "%" PRIu32,
                     what->call.kernel->name, what->elements, what->call.values[1].u, i);
        }
    }
}

/* Waits until the results of the slot's piece are in the host's memory. */
static void finish(slot *s, bool checks)
{
    const kind *what = s->in_flight;
    if (what != NULL) {
        peer_acquire(s->handles[what->size][OUT], STARPU_R);
        if (checks) {
            check_piece(what, s->memory[what->size][OUT]);
        }
        starpu_data_release(s->handles[what->size][OUT]);
        s->in_flight = NULL;
    }
}

static void start(slot *s, kind *what)
{
    peer_touch(s->handles[what->size][IN], STARPU_RW); /* as if the program had new input */
    peer_submit(&what->call, s->handles[what->size], 0);
    s->in_flight = what;
}

static void stream(bool checks)
{
    for (size_t i = 0; i < length; i++) {
        slot *s = &slots[i % own.in_flight];
        finish(s, checks);
        start(s, &kinds[order[i]]);
    }
    for (size_t i = 0; i < own.in_flight; i++) {
        finish(&slots[(length + i) % own.in_flight], checks);
    }
}

static void shuffle(void)
{
    random_shuffle(order, length, &shuffle_seed);
}

static void stream_freely(void)
{
    stream(false);
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
    for (size_t i = 0; i < size_count; i++) {
        free(inputs[i]);
    }
    free(order);
}

static void run(const peer_options *options)
{
    shuffle_seed = options->seed;
    for (size_t i = 0; i < KERNELS; i++) {
        peer_prepare(&kernels[i]);
    }
    open_sizes(options->seed);
    open_kinds();
    for (size_t i = 0; i < own.in_flight; i++) {
        open_slot(&slots[i]);
    }
    open_order();
    printf("%zu kinds of work\n", kind_count);
    peer_measure(&(peer_work){.before = shuffle,
                              .run = stream_freely,
                              .name = "stream",
                              .unit = "piece",
                              .units = (double)length},
                 own.passes);
    stream(true);
    close_all();
    for (size_t i = 0; i < KERNELS; i++) {
        peer_release(&kernels[i]);
    }
}

const peer_command peer_stream = {
    .name = "stream",
    .about = "Independent pieces of a mix of three kernels in random order, several in flight.\n"
             "From the host's memory to the host's memory. After the timed passes, another one "
             "checks every\nresult against plain C.",
    .own = own_options,
    .run = run};
