/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs of dependent command groups on simulated devices: how fast earliest_finish is, compared
 * with the best device alone.
 */
#ifndef DYNSEL_TESTS_SIMULATOR_GRAPHS_H
#define DYNSEL_TESTS_SIMULATOR_GRAPHS_H

#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include <string.h>

#include "random.h"
#include "test.h"

enum {
    GPU,
    PROCESSORS,
    THREAD,
    CLASSES, /* of devices */
    MOST_DEVICES = CONFIG_DYNSEL_MAX_RESOURCES,
    KINDS = 4,
    MOST_BUFFERS = CONFIG_DYNSEL_MAX_BUFFERS < 105 ? CONFIG_DYNSEL_MAX_BUFFERS : 105,
    ELEMENTS = 4096,
    LARGE = 1 << 20, /* elements of the first buffers of a graph that has large ones */
    MOST_PIECES = 1024,
    MOST_USES = 3,
    FIRST = 20, /* passes at the start of which nothing is known */
    LEARNED = 4,
    PASSES = 60
};

/* Runs of a kind, in us. */
typedef struct kind {
    uint32_t items; /* work-items */
    uint32_t takes_us[CLASSES];
} kind;

/* The first buffer is written; all are read, but not that one if it is discarded. */
typedef struct piece {
    bool discards;
    uint32_t kind;
    uint32_t use_count;
    uint32_t uses[MOST_USES];
} piece;

static struct {
    kind kinds[KINDS];
    piece pieces[MOST_PIECES];
    uint32_t count;
    uint32_t buffers;
    uint32_t large; /* of these */
} graph;

/* The devices, each with its class as context, on how many processors those of the host are, and
 * what the first run on a thread takes in addition, because that slept. */
static struct {
    dynsel_simulated_device devices[MOST_DEVICES];
    uint32_t count;
    uint32_t processors;
    uint32_t first_us;
} machine;

static dynsel_simulated_device devices[MOST_DEVICES]; /* of a run */
static bool threads_slept;                            /* none ran anything yet */
static dynsel_resource resources[MOST_DEVICES];
static float data[LARGE]; /* of all buffers: nothing is computed */
static dynsel_buffer buffers[MOST_BUFFERS];

static inline void add_device(uint32_t class, const dynsel_simulated_device *device)
{
    static uint32_t classes[CLASSES] = {GPU, PROCESSORS, THREAD};
    machine.devices[machine.count] = *device;
    machine.devices[machine.count].context = &classes[class];
    machine.count++;
}

static dynsel_status run(uint32_t number)
{
    const dynsel_simulated_device *const device = dynsel_simulated_running();
    const uint32_t class = *(const uint32_t *)device->context;
    const uint32_t more_us = class == THREAD && threads_slept ? machine.first_us : 0;
    threads_slept = threads_slept && class != THREAD;
    dynsel_simulated_spend((uint64_t)(graph.kinds[number].takes_us[class] + more_us) * 1000);
    return DYNSEL_OK;
}

static dynsel_status run_0(const dynsel_launch *launch)
{
    (void)launch;
    return run(0);
}

static dynsel_status run_1(const dynsel_launch *launch)
{
    (void)launch;
    return run(1);
}

static dynsel_status run_2(const dynsel_launch *launch)
{
    (void)launch;
    return run(2);
}

static dynsel_status run_3(const dynsel_launch *launch)
{
    (void)launch;
    return run(3);
}

static const dynsel_kernel kernels[KINDS] = {{.name = "k0", .id = 1, .function = run_0},
                                             {.name = "k1", .id = 2, .function = run_1},
                                             {.name = "k2", .id = 3, .function = run_2},
                                             {.name = "k3", .id = 4, .function = run_3}};

static dynsel_status record(dynsel_handler *handler, void *args)
{
    const piece *it = args;
    for (uint32_t i = 0; i < it->use_count; i++) {
        dynsel_accessor accessor;
        const dynsel_access_mode written =
            it->discards ? DYNSEL_ACCESS_DISCARD_WRITE : DYNSEL_ACCESS_READ_WRITE;
        dynsel_get_access(handler, buffers[it->uses[i]], i == 0 ? written : DYNSEL_ACCESS_READ,
                          DYNSEL_MEMORY_GLOBAL, &accessor);
        dynsel_set_arg_accessor(handler, i, &accessor);
    }
    return dynsel_parallel_for(handler, &kernels[it->kind],
                               DYNSEL_RANGE(graph.kinds[it->kind].items), NULL, NULL);
}

static void access_all(dynsel_access_mode mode)
{
    for (uint32_t i = 0; i < graph.buffers; i++) {
        dynsel_host_accessor accessor = {0};
        assert_status(DYNSEL_OK, dynsel_host_accessor_open(&accessor, buffers[i], mode));
        assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
    }
}

/* Returns what it takes, from data on the host to results there. */
static uint64_t pass(dynsel_policy *policy)
{
    access_all(DYNSEL_ACCESS_DISCARD_WRITE);
    const uint64_t begin_ns = dynsel_now_ns();
    for (uint32_t i = 0; i < graph.count; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(policy, record, &graph.pieces[i], NULL));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    access_all(DYNSEL_ACCESS_READ);
    return dynsel_now_ns() - begin_ns;
}

static void begin(void)
{
    dynsel_simulated_restart();
    dynsel_simulated_share(machine.processors);
    (void)memcpy(devices, machine.devices, sizeof devices);
    threads_slept = true;
    for (uint32_t i = 0; i < machine.count; i++) {
        resources[i] = dynsel_simulated_resource(&devices[i]);
    }
    for (uint32_t i = 0; i < graph.buffers; i++) {
        const size_t elements = i < graph.large ? (size_t)LARGE : (size_t)ELEMENTS;
        assert_status(DYNSEL_OK, dynsel_buffer_init(&buffers[i], data, sizeof data[0],
                                                    DYNSEL_RANGE(elements)));
    }
}

typedef struct result {
    uint64_t first_ns; /* of the first passes */
    uint64_t later_ns; /* of those after it has learned */
} result;

static inline result play(dynsel_policy *policy)
{
    result taken = {.first_ns = 0};
    for (uint32_t i = 0; i < PASSES; i++) {
        const uint64_t ns = pass(policy);
        taken.first_ns += i < FIRST ? ns : 0;
        taken.later_ns += i >= LEARNED ? ns : 0;
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    for (uint32_t i = 0; i < graph.buffers; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
    }
    return taken;
}

/* What share of the speed of the best single device it has; more than 1: it is faster. */
typedef struct shares {
    double first;
    double later;
} shares;

static inline shares compare(const char *name)
{
    static dynsel_fixed_resource_policy fixed;
    static dynsel_earliest_finish_policy finisher;
    result best = {UINT64_MAX, UINT64_MAX};
    for (uint32_t i = 0; i < machine.count; i++) {
        begin();
        (void)memset(&fixed, 0, sizeof fixed);
        const dynsel_options one = {.resources = &resources[i], .count = 1};
        assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&fixed, &one, 0));
        const result alone = play(&fixed.policy);
        best = alone.later_ns < best.later_ns ? alone : best;
    }
    begin();
    (void)memset(&finisher.policy, 0, sizeof finisher.policy);
    const dynsel_options all = {.resources = resources, .count = machine.count};
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &all));
    const result taken = play(&finisher.policy);
    const shares of = {(double)best.first_ns / (double)taken.first_ns,
                       (double)best.later_ns / (double)taken.later_ns};
    printf("%-14s first %d passes %.2f, from the 5th on %.2f; pieces", name, FIRST, of.first,
           of.later);
    for (uint32_t i = 0; i < machine.count; i++) {
        printf(" %llu", (unsigned long long)devices[i].pieces);
    }
    printf("\n");
    return of;
}

static inline void add(uint32_t number, uint32_t written, uint32_t read, uint32_t read_too)
{
    assert_true(graph.count < MOST_PIECES);
    const uint32_t last = written > read ? written : read;
    const uint32_t most = last > read_too ? last : read_too;
    assert_true(most < MOST_BUFFERS);
    graph.buffers = most < graph.buffers ? graph.buffers : most + 1;
    piece *it = &graph.pieces[graph.count++];
    *it = (piece){.kind = number, .use_count = 1, .uses = {written}};
    if (read != written) {
        it->uses[it->use_count++] = read;
    }
    if (read_too != written && read_too != read) {
        it->uses[it->use_count++] = read_too;
    }
}

/* Kind 0 computes a part from its old state and a neighbour's border, kind 1 a part's border. */
static inline void add_parts_with_borders(uint32_t parts, uint32_t steps)
{
    for (uint32_t step = 0; step < steps; step++) {
        const uint32_t from = step % 2 * parts;
        const uint32_t to = parts - from;
        for (uint32_t i = 0; i < parts; i++) {
            add(0, to + i, from + i, 2 * parts + (i + 1) % parts);
        }
        for (uint32_t i = 0; i < parts; i++) {
            add(1, 2 * parts + i, to + i, to + i);
        }
    }
}

static uint32_t tile(uint32_t row, uint32_t column)
{
    return row * (row + 1) / 2 + column;
}

/* Adds a Cholesky factorization of a lower triangle of tiles, kinds potrf, trsm, syrk and gemm. */
static inline void add_factorization(uint32_t tiles)
{
    for (uint32_t k = 0; k < tiles; k++) {
        add(0, tile(k, k), tile(k, k), tile(k, k));
        for (uint32_t i = k + 1; i < tiles; i++) {
            add(1, tile(i, k), tile(k, k), tile(k, k));
        }
        for (uint32_t i = k + 1; i < tiles; i++) {
            add(2, tile(i, i), tile(i, k), tile(i, k));
            for (uint32_t j = k + 1; j < i; j++) {
                add(3, tile(i, j), tile(i, k), tile(j, k));
            }
        }
    }
}

#endif
