/* SPDX-License-Identifier: Apache-2.0 */
/* bench/usecases/nstream.c through StarPU. */
#include <stdlib.h>

#include "../usecases/log.h"
#include "../usecases/memory.h"
#include "../usecases/random.h"
#include "starpu_peer.h"
#include "starpu_report.h"

enum { MOST_PARTS = 16, SCALAR = 3, ARRAYS = 3 };

static struct {
    uint64_t elements;
    uint64_t parts;
    uint64_t iterations;
    uint64_t passes;
} own = {.elements = 20, .parts = 8, .iterations = 20, .passes = 5};

static const argument own_options[] = {
    {"--elements", "N", "of each part, as a power of two", &own.elements, 4, 26, NULL},
    {"--parts", "N", "of the arrays", &own.parts, 1, MOST_PARTS, NULL},
    {"--iterations", "N", "in one pass", &own.iterations, 1, 1000, NULL},
    {"--passes", "N", "of the work", &own.passes, 1, 10000, NULL},
    {.name = NULL}};

typedef struct part {
    float *data[ARRAYS]; /* a, b, c; small whole numbers, so that every sum is exact */
    starpu_data_handle_t handles[ARRAYS];
} part;

static part parts[MOST_PARTS];
static size_t elements;

static void triad_on_host(void *const data[], const peer_call *call)
{
    float *a = data[0];
    const float *b = data[1];
    const float *c = data[2];
    const float scalar = call->values[0].f;
    for (size_t i = 0; i < call->global[0]; i++) {
        a[i] += b[i] + scalar * c[i];
    }
}

static peer_kernel triad = {
    .name = "nstream",
    .source = "kernel void nstream(global float *a, global const float *b, global const float *c,"
              "float scalar) { size_t i = get_global_id(0); a[i] += b[i] + scalar * c[i]; }",
    .host = triad_on_host,
    .buffers = ARRAYS,
    .values = 1,
    .modes = {STARPU_RW, STARPU_R, STARPU_R},
};

static peer_call call = {.kernel = &triad, .values = {{.f = SCALAR}}};

static void open_part(part *p, uint64_t *seed)
{
    for (int k = 0; k < ARRAYS; k++) {
        p->data[k] = memory_allocate(elements * sizeof(float));
        for (size_t i = 0; i < elements; i++) {
            p->data[k][i] = (float)(random_next(seed) % 16);
        }
        p->handles[k] = peer_register(p->data[k], elements, sizeof(float));
    }
}

static void clear(void)
{
    for (size_t i = 0; i < own.parts; i++) {
        peer_acquire(parts[i].handles[0], STARPU_W);
        for (size_t k = 0; k < elements; k++) {
            parts[i].data[0][k] = 0;
        }
        starpu_data_release(parts[i].handles[0]);
    }
}

static void iterate(void)
{
    for (uint64_t k = 0; k < own.iterations; k++) {
        for (size_t i = 0; i < own.parts; i++) {
            peer_submit(&call, parts[i].handles, 0);
        }
    }
    starpu_task_wait_for_all();
    for (size_t i = 0; i < own.parts; i++) {
        peer_touch(parts[i].handles[0], STARPU_R);
    }
}

static void check(void)
{
    for (size_t i = 0; i < own.parts; i++) {
        const part *p = &parts[i];
        peer_acquire(p->handles[0], STARPU_R);
        for (size_t k = 0; k < elements; k++) {
            const float right = (float)own.iterations * (p->data[1][k] + SCALAR * p->data[2][k]);
            if (p->data[0][k] != right) {
                log_exit(STATUS_FAILED, "a wrong result: nstream, part %zu, element %zu", i, k);
            }
        }
        starpu_data_release(p->handles[0]);
    }
}

static void run(const peer_options *options)
{
    uint64_t seed = options->seed;
    elements = (size_t)1 << own.elements;
    call.global[0] = elements;
    peer_prepare(&triad);
    for (size_t i = 0; i < own.parts; i++) {
        open_part(&parts[i], &seed);
    }
    peer_measure(&(peer_work){.before = clear,
                              .run = iterate,
                              .after = check,
                              .name = "nstream",
                              .unit = "GB",
                              .units = (double)(own.iterations * own.parts * elements) * 4 *
                                       sizeof(float) / 1e9},
                 own.passes);
    for (size_t i = 0; i < own.parts; i++) {
        for (int k = 0; k < ARRAYS; k++) {
            starpu_data_unregister(parts[i].handles[k]);
            free(parts[i].data[k]);
        }
    }
    peer_release(&triad);
}

const peer_command peer_nstream = {
    .name = "nstream",
    .about = "The triad a += b + s * c over arrays in parts, again and again.\nThe data may stay "
             "where they are; at the end of each pass the results are brought to the host, and\n"
             "checked against plain C.",
    .own = own_options,
    .run = run};
