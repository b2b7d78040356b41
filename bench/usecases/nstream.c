/* SPDX-License-Identifier: Apache-2.0 */
/* The STREAM-like triad nstream: a = a + b + s * c, in parts, over and over, with every policy. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "csv.h"
#include "log.h"
#include "memory.h"
#include "passes.h"
#include "random.h"

static const char *const ABOUT =
    "The triad a += b + s * c over arrays in parts, each part a piece of work of its own, again "
    "and "
    "again.\nThe data may stay where they are: a device that keeps its part moves nothing. At the "
    "end of each pass\nof several iterations the results are brought to the host, and checked "
    "against plain C.";

enum {
    MOST_PARTS = CONFIG_DYNSEL_MAX_BUFFERS / 3 < 16 ? CONFIG_DYNSEL_MAX_BUFFERS / 3 : 16,
    SCALAR = 3,
    ARRAYS = 3
};

static struct {
    uint64_t elements;
    uint64_t parts;
    uint64_t iterations;
    uint64_t passes;
} own = {.elements = 20, .parts = MOST_PARTS < 8 ? MOST_PARTS : 8, .iterations = 20, .passes = 5};

static const argument own_options[] = {
    {"--elements", "N", "of each part, as a power of two", &own.elements, 4, 26, NULL},
    {"--parts", "N", "of the arrays", &own.parts, 1, MOST_PARTS, NULL},
    {"--iterations", "N", "in one pass", &own.iterations, 1, 1000, NULL},
    {"--passes", "N", "with each policy", &own.passes, 1, 10000, NULL},
    PASSES_OPTIONS,
    {.name = NULL}};

typedef struct part {
    float *data[ARRAYS]; /* a, b, c; small whole numbers, so that every sum is exact */
    dynsel_accessor accessors[ARRAYS];
} part;

static usecase_options options = {.seed = 1, .workers = 1};
static resources all;
static part parts[MOST_PARTS];
static size_t elements;

static dynsel_status triad_on_host(const dynsel_launch *launch)
{
    float *a = dynsel_launch_data(launch, 0);
    const float *b = dynsel_launch_data(launch, 1);
    const float *c = dynsel_launch_data(launch, 2);
    const float scalar = DYNSEL_LAUNCH_VALUE(launch, 3, float);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        a[i] += b[i] + scalar * c[i];
    }
    return DYNSEL_OK;
}

static const dynsel_kernel triad = {
    .name = "nstream",
    .id = 1,
    .function = triad_on_host,
    .source = "kernel void nstream(global float *a, global const float *b, global const float *c,"
              "float scalar) { size_t i = get_global_id(0); a[i] += b[i] + scalar * c[i]; }",
};

static dynsel_status group(dynsel_handler *handler, void *args)
{
    const part *p = args;
    const float scalar = SCALAR;
    for (uint32_t i = 0; i < ARRAYS; i++) {
        dynsel_require(handler, &p->accessors[i]);
        dynsel_set_arg_accessor(handler, i, &p->accessors[i]);
    }
    dynsel_set_arg_value(handler, ARRAYS, &scalar, sizeof scalar);
    return dynsel_parallel_for(handler, &triad, DYNSEL_RANGE(elements), NULL, NULL);
}

static void open_part(part *p, uint64_t *seed)
{
    static const char *const names[ARRAYS] = {"a", "b", "c"};
    for (int k = 0; k < ARRAYS; k++) {
        dynsel_buffer buffer = {0};
        p->data[k] = memory_allocate(elements * sizeof(float));
        for (size_t i = 0; i < elements; i++) {
            p->data[k][i] = (float)(random_next(seed) % 16);
        }
        log_check(dynsel_buffer_init(&buffer, p->data[k], sizeof(float), DYNSEL_RANGE(elements)) ==
                      DYNSEL_OK,
                  "dynsel_buffer_init");
        p->accessors[k] = (dynsel_accessor){
            .name = names[k],
            .buffer = buffer,
            .mode = (uint8_t)(k == 0 ? DYNSEL_ACCESS_READ_WRITE : DYNSEL_ACCESS_READ),
            .placeholder = true};
    }
}

static void clear(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < own.parts; i++) {
        dynsel_host_accessor seen = {0};
        log_check(dynsel_host_accessor_open(&seen, parts[i].accessors[0].buffer,
                                            DYNSEL_ACCESS_DISCARD_WRITE) == DYNSEL_OK,
                  "a = 0");
        float *a = seen.data;
        for (size_t k = 0; k < elements; k++) {
            a[k] = 0;
        }
        log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "a = 0");
    }
}

static void iterate(dynsel_policy *policy, void *unused)
{
    (void)unused;
    for (uint64_t k = 0; k < own.iterations; k++) {
        for (size_t i = 0; i < own.parts; i++) {
            log_check(dynsel_submit_command_group(policy, group, &parts[i], NULL) == DYNSEL_OK,
                      "nstream");
        }
    }
    log_check(dynsel_wait_group(dynsel_get_submission_group(policy)) == DYNSEL_OK, "nstream");
    for (size_t i = 0; i < own.parts; i++) {
        dynsel_host_accessor seen = {0};
        log_check(dynsel_host_accessor_open(&seen, parts[i].accessors[0].buffer,
                                            DYNSEL_ACCESS_READ) == DYNSEL_OK,
                  "the results");
        log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "the results");
    }
}

static void check(const char *policy, void *unused)
{
    (void)unused;
    for (size_t i = 0; i < own.parts; i++) {
        const part *p = &parts[i];
        dynsel_host_accessor seen = {0};
        log_check(dynsel_host_accessor_open(&seen, p->accessors[0].buffer, DYNSEL_ACCESS_READ) ==
                      DYNSEL_OK,
                  "the results");
        const float *a = seen.data;
        for (size_t k = 0; k < elements; k++) {
            const float right = (float)own.iterations * (p->data[1][k] + SCALAR * p->data[2][k]);
            if (a[k] != right) {
                log_exit(STATUS_FAILED,
                         "a wrong result: nstream, %zu elements, by %s, part %zu, element %zu",
                         elements, policy, i, k);
            }
        }
        log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "the results");
    }
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    resources_find(&all, &options, options.workers == 0, 2);
    csv_open(&options, argc, argv);
    uint64_t seed = options.seed;
    elements = (size_t)1 << own.elements;
    for (size_t i = 0; i < own.parts; i++) {
        open_part(&parts[i], &seed);
    }
    passes_measure(&(passes_work){.before = clear,
                                  .run = iterate,
                                  .after = check,
                                  .name = "nstream",
                                  .unit = "GB",
                                  .units = (double)(own.iterations * own.parts * elements) * 4 *
                                           sizeof(float) / 1e9},
                   &all, (uint32_t)own.passes);
    for (size_t i = 0; i < own.parts; i++) {
        for (int k = 0; k < ARRAYS; k++) {
            log_check(dynsel_buffer_deinit(&parts[i].accessors[k].buffer) == DYNSEL_OK, "deinit");
            free(parts[i].data[k]);
        }
    }
    resources_close();
    csv_close();
    return 0;
}
