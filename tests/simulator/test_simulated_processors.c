/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish on a simulated machine where an OpenCL device and threads are the same processors
 * of the host, as PoCL and workers are: what one of them gets takes time from the others. It must
 * not be slower than the best of them alone, and be faster where the processors are not all busy.
 */
#include "graphs.h"

static void set_up(uint32_t processors, uint32_t threads)
{
    (void)memset(&graph, 0, sizeof graph);
    machine.count = 0;
    machine.processors = processors;
    add_device(PROCESSORS, &(dynsel_simulated_device){.name = "processors",
                                                      .aspects = DYNSEL_ASPECT_BIT(cpu),
                                                      .threads = processors,
                                                      .submit_ns = 3000,
                                                      .latency_ns = 20000});
    for (uint32_t i = 0; i < threads; i++) {
        add_device(THREAD, &(dynsel_simulated_device){.name = "thread",
                                                      .kind = DYNSEL_SIMULATED_THREAD,
                                                      .aspects = DYNSEL_ASPECT_BIT(host),
                                                      .threads = 1,
                                                      .submit_ns = 300,
                                                      .latency_ns = 5000});
    }
}

static void expect(const char *name, double first, double later)
{
    const shares of = compare(name);
    assert_true(of.first >= first);
    assert_true(of.later >= later);
}

/* Products of tiles in chains: all for a tile come one after the other. */
static void add_products(uint32_t tiles)
{
    for (uint32_t step = 0; step < tiles; step++) {
        for (uint32_t i = 0; i < tiles * tiles; i++) {
            add(0, i, tiles * tiles + i / tiles * tiles + step,
                2 * tiles * tiles + step * tiles + i % tiles);
        }
    }
}

/* One part, whose border takes less than a microsecond: what a hand-over takes decides. At 9 and
 * 14 us the thread's runs seem shorter than they are: borders wait meanwhile on the device. */
static void border_is_tried_where_its_part_is(void **state)
{
    static const struct {
        uint32_t device_us;
        uint32_t thread_us;
        double first;
        double later;
    } all[] = {{14, 9, 0.9, 0.97},  {14, 14, 0.9, 0.97}, {30, 20, 0.9, 0.97}, {9, 20, 0.9, 0.97},
               {9, 14, 0.66, 0.72}, {20, 60, 0.9, 0.97}, {60, 60, 0.9, 0.95}};
    (void)state;
    for (uint32_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "border, %u and %u", (unsigned)all[i].device_us,
                       (unsigned)all[i].thread_us);
        set_up(2, 1);
        graph.kinds[0] = (kind){16384, {0, all[i].device_us, all[i].thread_us}};
        graph.kinds[1] = (kind){128, {0, 0, 0}};
        add_parts_with_borders(1, 17);
        expect(name, all[i].first, all[i].later);
    }
}

static void product(const char *name, uint32_t processors_us, uint32_t thread_us, double first,
                    double later)
{
    set_up(2, 1);
    graph.kinds[0] = (kind){16384, {0, processors_us, thread_us}};
    add_products(4);
    expect(name, first, later);
}

/* At 900 and 450 the thread is slower by as much as it leaves idle. */
static void product_on_two_processors(void **state)
{
    (void)state;
    product("product, 1300 and 900", 1300, 900, 0.9, 1.05);
    product("product, 900 and 900", 900, 900, 1.1, 1.15);
    product("product, 450 and 900", 450, 900, 0.95, 0.99);
    product("product, 900 and 450", 900, 450, 0.86, 0.95);
}

/* Borders are shorter on the thread, but are needed on the device. */
static void stencil_on_two_processors(void **state)
{
    static const uint32_t threads_us[] = {140, 110, 80};
    (void)state;
    for (uint32_t i = 0; i < sizeof threads_us / sizeof threads_us[0]; i++) {
        set_up(2, 1);
        graph.kinds[0] = (kind){65536, {0, 70, threads_us[i]}};
        graph.kinds[1] = (kind){1024, {0, 8, 2}};
        add_parts_with_borders(8, 20);
        expect("stencil", 0.95, 0.98);
    }
}

static void factorization_on_two_processors(void **state)
{
    (void)state;
    set_up(2, 1);
    graph.kinds[0] = (kind){64, {0, 51, 33}};
    graph.kinds[1] = (kind){64, {0, 82, 93}};
    graph.kinds[2] = (kind){4096, {0, 60, 53}};
    graph.kinds[3] = (kind){4096, {0, 80, 100}};
    add_factorization(10);
    expect("factorization", 1.08, 1.1);
}

/* A run on the device takes 100 us: at 1600 us on a thread both do as much in a time. */
static void chains_on_many_processors(uint32_t threads)
{
    static const struct {
        uint32_t thread_us;
        double first;
        double later;
    } cases[] = {{300, 1.1, 1.1},    {600, 1, 1},        {800, 0.92, 0.92}, {1000, 0.95, 0.98},
                 {1200, 0.95, 0.98}, {1600, 0.95, 0.98}, {6400, 0.9, 0.98}};
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[64];
        set_up(16, threads);
        graph.kinds[0] = (kind){16384, {0, 100, cases[i].thread_us}};
        add_products(4);
        (void)snprintf(name, sizeof name, "16 processors, %u thread(s), %u us", (unsigned)threads,
                       (unsigned)cases[i].thread_us);
        expect(name, cases[i].first, cases[i].later);
    }
}

static void one_thread_costs_one_of_many_processors(void **state)
{
    (void)state;
    chains_on_many_processors(1);
}

static void threads_are_as_many_as_processors(void **state)
{
    (void)state;
    chains_on_many_processors(15);
}

/*
 * Kinds that are faster on the one or on the other. What random graphs are held to lies below the
 * least of 340 seeds: 0.84 first and 0.87 later, means of 20 graphs 1.04 and 1.06; independent 0.90
 * and 0.97, 1.15 and 1.19.
 */
static void set_up_random_kinds(test_random *random)
{
    set_up(2, 1);
    for (uint32_t k = 0; k < KINDS; k++) {
        const uint32_t us = 8u << test_random_below(random, 6);
        graph.kinds[k] = (kind){4096, {0, us + 5, (us << test_random_below(random, 3)) / 2}};
    }
}

static void random_graphs_on_two_processors(void **state)
{
    enum { GRAPHS = 20, DATA = 15 };
    test_random random = {test_seed()};
    shares mean = {0, 0};
    (void)state;
    for (uint32_t g = 0; g < GRAPHS; g++) {
        set_up_random_kinds(&random);
        for (uint32_t i = 0; i < 80; i++) {
            add(test_random_below(&random, KINDS), test_random_below(&random, DATA),
                test_random_below(&random, DATA), test_random_below(&random, DATA));
        }
        const shares of = compare("random");
        assert_true(of.first >= 0.77);
        assert_true(of.later >= 0.8);
        mean.first += of.first / GRAPHS;
        mean.later += of.later / GRAPHS;
    }
    assert_true(mean.first >= 1);
    assert_true(mean.later >= 1.03);
}

/* Pieces that depend on nothing. */
static void independent_work_on_two_processors(void **state)
{
    enum { GRAPHS = 20, DATA = 60 };
    test_random random = {test_seed()};
    shares mean = {0, 0};
    (void)state;
    for (uint32_t g = 0; g < GRAPHS; g++) {
        set_up_random_kinds(&random);
        for (uint32_t i = 0; i < DATA; i++) {
            add(test_random_below(&random, KINDS), i, i, i);
        }
        const shares of = compare("independent");
        assert_true(of.first >= 0.85);
        assert_true(of.later >= 0.94);
        mean.first += of.first / GRAPHS;
        mean.later += of.later / GRAPHS;
    }
    assert_true(mean.first >= 1.12);
    assert_true(mean.later >= 1.16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(product_on_two_processors),
        cmocka_unit_test(stencil_on_two_processors),
        cmocka_unit_test(border_is_tried_where_its_part_is),
        cmocka_unit_test(factorization_on_two_processors),
        cmocka_unit_test(one_thread_costs_one_of_many_processors),
        cmocka_unit_test(threads_are_as_many_as_processors),
        cmocka_unit_test(random_graphs_on_two_processors),
        cmocka_unit_test(independent_work_on_two_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
