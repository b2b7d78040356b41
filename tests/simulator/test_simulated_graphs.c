/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish on graphs of dependent command groups, on a simulated machine with a GPU, all
 * processors as an OpenCL device, and a thread, none of which slows down another: how fast it is,
 * compared with the best of them alone.
 */
#include "graphs.h"

static int set_up(void **state)
{
    (void)state;
    machine.count = 0;
    machine.processors = 0;
    add_device(GPU, &(dynsel_simulated_device){.name = "gpu",
                                               .aspects = DYNSEL_ASPECT_BIT(gpu),
                                               .memory = 1,
                                               .submit_ns = 6000,
                                               .latency_ns = 12000,
                                               .transfer_ns = 8000,
                                               .mib_ns = 20000});
    add_device(PROCESSORS, &(dynsel_simulated_device){.name = "processors",
                                                      .aspects = DYNSEL_ASPECT_BIT(cpu),
                                                      .memory = 2,
                                                      .submit_ns = 3000,
                                                      .latency_ns = 20000,
                                                      .transfer_ns = 1000});
    add_device(THREAD, &(dynsel_simulated_device){.name = "thread",
                                                  .kind = DYNSEL_SIMULATED_THREAD,
                                                  .aspects = DYNSEL_ASPECT_BIT(host),
                                                  .submit_ns = 300,
                                                  .latency_ns = 5000});
    return 0;
}

static const dynsel_backend_ops *ops_before; /* of devices; NULL: as they are */

static int tear_down(void **state)
{
    (void)state;
    if (ops_before != NULL) {
        dynsel_simulated_resource(&machine.devices[GPU]).backend->ops = ops_before;
        ops_before = NULL;
    }
    return 0;
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
    add_factorization(5);
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
    (void)memset(&graph, 0, sizeof graph);
    graph.kinds[0] = (kind){1 << 20, {14, 390, 2700}};
    graph.kinds[1] = (kind){4096, {5, 82, 3}};
    add_parts_with_borders(5, 8);
    const shares of = compare("borders");
    assert_true(of.first >= 0.8);
    assert_true(of.later >= 0.95);
}

/* A first start takes 2 ms on devices, as OpenCL says, until the end of the test. */
static void let_devices_compile(void)
{
    static dynsel_backend_ops compiling;
    dynsel_backend *const backend = dynsel_simulated_resource(&machine.devices[GPU]).backend;
    ops_before = backend->ops;
    compiling = *backend->ops;
    compiling.first_start_ns = 2000000;
    backend->ops = &compiling;
}

/* The processors would take the least for all of it, if what is guessed of them were true; but a
 * kernel is compiled there first, so that for a long time nothing is tried there. */
static void data_stay_where_runs_are_known(void **state)
{
    (void)state;
    (void)memset(&graph, 0, sizeof graph);
    let_devices_compile();
    machine.devices[GPU].submit_ns = 15000;
    machine.devices[GPU].latency_ns = 60000;
    graph.kinds[0] = (kind){65536, {7, 60, 157}};
    graph.kinds[1] = (kind){1024, {6, 8, 1}};
    add_parts_with_borders(3, 30);
    const shares of = compare("home");
    assert_true(of.first >= 0.9);
    assert_true(of.later >= 0.97);
}

/* Short steps: the GPU alone is as fast as one thread, and four threads share the data. */
static void threads_share_short_factorization(void **state)
{
    (void)state;
    let_devices_compile();
    machine.devices[GPU].submit_ns = 9000;
    machine.devices[GPU].latency_ns = 60000;
    for (uint32_t i = 0; i < 3; i++) {
        add_device(THREAD, &machine.devices[THREAD]);
    }
    (void)memset(&graph, 0, sizeof graph);
    graph.kinds[0] = (kind){32, {30, 20, 8}};
    graph.kinds[1] = (kind){32, {12, 20, 9}};
    graph.kinds[2] = (kind){1024, {6, 15, 6}};
    graph.kinds[3] = (kind){1024, {6, 15, 12}};
    add_factorization(13);
    const shares of = compare("short steps");
    assert_true(of.first >= 2.5);
    assert_true(of.later >= 2.6);
}

/* On the GPU runs are shorter, but a submit takes longer than a run on the thread. */
static void short_work_goes_where_program_is_faster(void **state)
{
    (void)state;
    (void)memset(&graph, 0, sizeof graph);
    graph.kinds[0] = (kind){4096, {3, 68, 4}};
    graph.kinds[1] = (kind){256, {2, 45, 2}};
    add_parts_with_borders(5, 30);
    const shares of = compare("short");
    assert_true(of.first >= 0.85);
    assert_true(of.later >= 0.99);
}

/* A submit to the GPU takes twice as long as a run there, so the thread can take some parts. */
static void parts_of_short_updates_are_shared(void **state)
{
    (void)state;
    (void)memset(&graph, 0, sizeof graph);
    graph.kinds[0] = (kind){8192, {3, 110, 6}};
    for (uint32_t i = 0; i < 240; i++) {
        add(0, i % 12, i % 12, i % 12);
    }
    const shares of = compare("short parts");
    assert_true(of.later >= 1.2);
}

/* One part, which the thread updates faster than the GPU: its short runs there are mostly what any
 * run takes, and do not contain the copy in. */
static void thread_is_tried_for_short_updates(void **state)
{
    (void)state;
    (void)memset(&graph, 0, sizeof graph);
    graph.kinds[0] = (kind){4096, {6, 150, 4}};
    for (uint32_t i = 0; i < 20; i++) {
        add(0, 0, 1, 2);
    }
    const shares of = compare("short updates");
    assert_true(of.first >= 0.5);
    assert_true(of.later >= 0.9);
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

/* Of a program that waits for each piece, the first of three of which needs a copy. The GPU's times
 * are without it. */
static void single_pieces_tell_how_long_copies_take(void **state)
{
    (void)state;
    enum { ROUNDS = 400, PIECES = 3, ASSUMED_NS = 100000, TRUE_NS = 20000 }; /* for a MiB */
    static dynsel_earliest_finish_policy finisher;
    (void)memset(&graph, 0, sizeof graph);
    graph.kinds[0] = (kind){1 << 20, {100, 3000, 9000}};
    graph.large = 1;
    add(0, 0, 0, 0);
    begin();
    (void)memset(&finisher.policy, 0, sizeof finisher.policy);
    const dynsel_options all = {.resources = resources, .count = machine.count};
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &all));
    assert_int_equal(ASSUMED_NS, finisher.states[GPU].is.copy_rate.value);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        access_all(DYNSEL_ACCESS_DISCARD_WRITE);
        for (uint32_t k = 0; k < PIECES; k++) {
            dynsel_submission submission = {0};
            assert_status(DYNSEL_OK, dynsel_submit_command_group(&finisher.policy, record,
                                                                 &graph.pieces[0], &submission));
            assert_status(DYNSEL_OK, dynsel_wait(&submission));
        }
    }
    print_message("a MiB: %u ns\n", (unsigned)finisher.states[GPU].is.copy_rate.value);
    assert_in_range(finisher.states[GPU].is.copy_rate.value, TRUE_NS / 2, 2 * TRUE_NS);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[0]));
}

/* The more work-items a kind has, the faster is a GPU, and the more processors it keeps busy. */
static void random_graphs_are_faster_than_best_device(void **state)
{
    (void)state;
    enum { GRAPHS = 20, DATA = 15 };
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
            add(test_random_below(&random, KINDS), test_random_below(&random, DATA),
                test_random_below(&random, DATA), test_random_below(&random, DATA));
        }
        const shares of = compare("random");
        assert_true(of.first >= 0.35); /* the least of 2000 graphs: 0.45 */
        assert_true(of.later >= 0.6);  /* 0.67 */
        mean.first += of.first / GRAPHS;
        mean.later += of.later / GRAPHS;
    }
    assert_true(mean.first >= 1);
    assert_true(mean.later >= 1.1);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(factorization_uses_thread_for_what_is_slow_on_gpu),
        TEST(stencil_stays_on_gpu),
        TEST(borders_stay_where_stencil_is),
        TEST(data_stay_where_runs_are_known),
        TEST(threads_share_short_factorization),
        TEST(short_work_goes_where_program_is_faster),
        TEST(parts_of_short_updates_are_shared),
        TEST(thread_is_tried_for_short_updates),
        TEST(updates_of_parts_stay_where_data_are),
        TEST(single_pieces_tell_how_long_copies_take),
        TEST(random_graphs_are_faster_than_best_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
