/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish on graphs of dependent command groups, on a simulated machine with a GPU, all
 * processors as an OpenCL device, and a thread: how fast it is, compared with the best of them
 * alone.
 */
#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include <string.h>

#include "random.h"
#include "test.h"

enum {
    GPU,
    PROCESSORS,
    THREAD,
    DEVICES,
    KINDS = 4,
    BUFFERS = 15,
    ELEMENTS = 4096,
    MOST_PIECES = 128,
    MOST_USES = 3,
    FIRST = 20, /* passes at the start of which nothing is known */
    LEARNED = 4,
    PASSES = 60
};

/* Runs of a kind, in us. */
typedef struct kind {
    uint32_t items; /* work-items */
    uint32_t takes_us[DEVICES];
} kind;

/* The first buffer is written; all are read. */
typedef struct piece {
    uint32_t kind;
    uint32_t use_count;
    uint32_t uses[MOST_USES];
} piece;

static struct {
    kind kinds[KINDS];
    piece pieces[MOST_PIECES];
    uint32_t count;
} graph;

static dynsel_simulated_device devices[DEVICES];
static dynsel_resource resources[DEVICES];
static float data[BUFFERS][ELEMENTS];
static dynsel_buffer buffers[BUFFERS];

static dynsel_status run(uint32_t number)
{
    const uint32_t device = (uint32_t)(dynsel_simulated_running() - devices);
    dynsel_simulated_spend((uint64_t)graph.kinds[number].takes_us[device] * 1000);
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
        dynsel_get_access(handler, buffers[it->uses[i]],
                          i == 0 ? DYNSEL_ACCESS_READ_WRITE : DYNSEL_ACCESS_READ,
                          DYNSEL_MEMORY_GLOBAL, &accessor);
        dynsel_set_arg_accessor(handler, i, &accessor);
    }
    return dynsel_parallel_for(handler, &kernels[it->kind],
                               DYNSEL_RANGE(graph.kinds[it->kind].items), NULL, NULL);
}

static void access_all(dynsel_access_mode mode)
{
    for (uint32_t i = 0; i < BUFFERS; i++) {
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
    (void)memset(devices, 0, sizeof devices);
    devices[GPU] = (dynsel_simulated_device){.name = "gpu",
                                             .aspects = DYNSEL_ASPECT_BIT(gpu),
                                             .memory = 1,
                                             .submit_ns = 6000,
                                             .latency_ns = 12000,
                                             .transfer_ns = 8000,
                                             .mib_ns = 20000};
    devices[PROCESSORS] = (dynsel_simulated_device){.name = "processors",
                                                    .aspects = DYNSEL_ASPECT_BIT(cpu),
                                                    .memory = 2,
                                                    .submit_ns = 3000,
                                                    .latency_ns = 20000,
                                                    .transfer_ns = 1000};
    devices[THREAD] = (dynsel_simulated_device){.name = "thread",
                                                .kind = DYNSEL_SIMULATED_THREAD,
                                                .aspects = DYNSEL_ASPECT_BIT(host),
                                                .submit_ns = 300,
                                                .latency_ns = 5000};
    for (uint32_t i = 0; i < DEVICES; i++) {
        resources[i] = dynsel_simulated_resource(&devices[i]);
    }
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&buffers[i], data[i], sizeof data[i][0],
                                                    DYNSEL_RANGE(ELEMENTS)));
    }
}

typedef struct result {
    uint64_t first_ns; /* of the first passes */
    uint64_t later_ns; /* of those after it has learned */
} result;

static result play(dynsel_policy *policy)
{
    result taken = {.first_ns = 0};
    for (uint32_t i = 0; i < PASSES; i++) {
        const uint64_t ns = pass(policy);
        taken.first_ns += i < FIRST ? ns : 0;
        taken.later_ns += i >= LEARNED ? ns : 0;
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
    }
    return taken;
}

/* What share of the speed of the best single device it has; more than 1: it is faster. */
typedef struct shares {
    double first;
    double later;
} shares;

static shares compare(const char *name)
{
    static dynsel_fixed_resource_policy fixed;
    static dynsel_earliest_finish_policy finisher;
    result best = {UINT64_MAX, UINT64_MAX};
    for (uint32_t i = 0; i < DEVICES; i++) {
        begin();
        (void)memset(&fixed, 0, sizeof fixed);
        const dynsel_options one = {.resources = &resources[i], .count = 1};
        assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&fixed, &one, 0));
        const result alone = play(&fixed.policy);
        best = alone.later_ns < best.later_ns ? alone : best;
    }
    begin();
    (void)memset(&finisher.policy, 0, sizeof finisher.policy);
    const dynsel_options all = {.resources = resources, .count = DEVICES};
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &all));
    const result taken = play(&finisher.policy);
    const shares of = {(double)best.first_ns / (double)taken.first_ns,
                       (double)best.later_ns / (double)taken.later_ns};
    printf("%-14s first %d passes %.2f, from the 5th on %.2f; pieces on the GPU %llu, the "
           "processors %llu, the thread %llu\n",
           name, FIRST, of.first, of.later, (unsigned long long)devices[GPU].pieces,
           (unsigned long long)devices[PROCESSORS].pieces,
           (unsigned long long)devices[THREAD].pieces);
    return of;
}

static void add(uint32_t number, uint32_t written, uint32_t read, uint32_t read_too)
{
    assert_true(graph.count < MOST_PIECES);
    piece *it = &graph.pieces[graph.count++];
    *it = (piece){.kind = number, .use_count = 1, .uses = {written}};
    if (read != written) {
        it->uses[it->use_count++] = read;
    }
    if (read_too != written && read_too != read) {
        it->uses[it->use_count++] = read_too;
    }
}

static uint32_t tile(uint32_t row, uint32_t column)
{
    return row * (row + 1) / 2 + column;
}

/* One step of a factorization is slow on a GPU, because little of it can be done at once. */
static void factorization_uses_thread_for_what_is_slow_on_gpu(void **state)
{
    (void)state;
    (void)memset(&graph, 0, sizeof graph);
    graph.kinds[0] = (kind){64, {400, 120, 80}};
    graph.kinds[1] = (kind){64, {40, 60, 180}};
    graph.kinds[2] = (kind){4096, {8, 40, 180}};
    graph.kinds[3] = (kind){4096, {8, 50, 350}};
    for (uint32_t k = 0; k < 5; k++) {
        add(0, tile(k, k), tile(k, k), tile(k, k));
        for (uint32_t i = k + 1; i < 5; i++) {
            add(1, tile(i, k), tile(k, k), tile(k, k));
        }
        for (uint32_t i = k + 1; i < 5; i++) {
            add(2, tile(i, i), tile(i, k), tile(i, k));
            for (uint32_t j = k + 1; j < i; j++) {
                add(3, tile(i, j), tile(i, k), tile(j, k));
            }
        }
    }
    const shares of = compare("factorization");
    assert_true(of.first >= 1.5);
    assert_true(of.later >= 1.7);
}

/* Each part needs its neighbours' results of the step before. */
static void stencil_stays_on_gpu(void **state)
{
    (void)state;
    enum { PARTS = 7, STEPS = 8 };
    (void)memset(&graph, 0, sizeof graph);
    graph.kinds[0] = (kind){1 << 20, {60, 700, 9000}};
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t from = step % 2 * PARTS;
        const uint32_t to = PARTS - from;
        for (uint32_t i = 0; i < PARTS; i++) {
            add(0, to + i, from + (i + 1) % PARTS, from + (i + PARTS - 1) % PARTS);
        }
    }
    const shares of = compare("stencil");
    assert_true(of.first >= 0.9);
    assert_true(of.later >= 0.95);
}

/* Borders take less time on a thread, but what comes next is on the GPU. */
static void borders_stay_where_stencil_is(void **state)
{
    (void)state;
    enum { PARTS = 5, STEPS = 8, HALOS = 2 * PARTS };
    (void)memset(&graph, 0, sizeof graph);
    graph.kinds[0] = (kind){1 << 20, {14, 390, 2700}};
    graph.kinds[1] = (kind){4096, {5, 82, 3}};
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t from = step % 2 * PARTS;
        const uint32_t to = PARTS - from;
        for (uint32_t i = 0; i < PARTS; i++) {
            add(0, to + i, from + i, HALOS + (i + 1) % PARTS);
        }
        for (uint32_t i = 0; i < PARTS; i++) {
            add(1, HALOS + i, to + i, to + i);
        }
    }
    const shares of = compare("borders");
    assert_true(of.first >= 0.8);
    assert_true(of.later >= 0.95);
}

/* Parts that are updated again and again, without the host. */
static void updates_of_parts_stay_where_data_are(void **state)
{
    (void)state;
    (void)memset(&graph, 0, sizeof graph);
    graph.kinds[0] = (kind){1 << 20, {100, 300, 6000}};
    for (uint32_t i = 0; i < 96; i++) {
        add(0, i % 12, i % 12, i % 12);
    }
    const shares of = compare("updates");
    assert_true(of.first >= 0.95);
    assert_true(of.later >= 0.98);
}

/* The more work-items a kind has, the faster is a GPU, and the more processors it keeps busy. */
static void random_graphs_are_faster_than_best_device(void **state)
{
    (void)state;
    enum { GRAPHS = 20 };
    test_random random = {test_seed()};
    shares mean = {0, 0};
    for (uint32_t g = 0; g < GRAPHS; g++) {
        (void)memset(&graph, 0, sizeof graph);
        for (uint32_t k = 0; k < KINDS; k++) {
            const uint32_t us = 8u << test_random_below(&random, 6);
            graph.kinds[k].items = 64u << test_random_below(&random, 12);
            graph.kinds[k].takes_us[GPU] = us;
            const uint32_t thread_us = us * (graph.kinds[k].items / 512 + 1) / 8;
            graph.kinds[k].takes_us[THREAD] = (thread_us << test_random_below(&random, 5)) + 1;
            graph.kinds[k].takes_us[PROCESSORS] =
                graph.kinds[k].takes_us[THREAD] / (1u << test_random_below(&random, 5)) + 5;
        }
        for (uint32_t i = 0; i < 80; i++) {
            add(test_random_below(&random, KINDS), test_random_below(&random, BUFFERS),
                test_random_below(&random, BUFFERS), test_random_below(&random, BUFFERS));
        }
        const shares of = compare("random");
        assert_true(of.first >= 0.5);
        assert_true(of.later >= 0.7);
        mean.first += of.first / GRAPHS;
        mean.later += of.later / GRAPHS;
    }
    assert_true(mean.first >= 1);
    assert_true(mean.later >= 1.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factorization_uses_thread_for_what_is_slow_on_gpu),
        cmocka_unit_test(stencil_stays_on_gpu),
        cmocka_unit_test(borders_stay_where_stencil_is),
        cmocka_unit_test(updates_of_parts_stay_where_data_are),
        cmocka_unit_test(random_graphs_are_faster_than_best_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
