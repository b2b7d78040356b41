/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish on a stencil over two equal GPUs, whose groups are about as short as a copy of
 * their neighbours' borders: it must not be slower than on one of them.
 */
#include "graphs.h"

enum { PARTS = 8, STEPS = 15 };

/* Each part computes its new rows from its old ones and its neighbour's borders, and copies its own
 * borders out. */
static void add_stencil(void)
{
    (void)memset(&graph, 0, sizeof graph);
    graph.large = 2 * PARTS;
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t from = step % 2 * PARTS;
        const uint32_t to = PARTS - from;
        const uint32_t old_borders = 2 * PARTS + from;
        const uint32_t new_borders = 2 * PARTS + to;
        for (uint32_t i = 0; i < PARTS; i++) {
            add(0, to + i, from + i, old_borders + (i + 1) % PARTS);
            graph.pieces[graph.count - 1].discards = true;
        }
        for (uint32_t i = 0; i < PARTS; i++) {
            add(1, new_borders + i, to + i, to + i);
            graph.pieces[graph.count - 1].discards = true;
        }
    }
}

static void set_up(uint32_t gpus, uint64_t submit_ns)
{
    machine.count = 0;
    machine.processors = 0;
    for (uint32_t i = 0; i < gpus; i++) {
        add_device(GPU, &(dynsel_simulated_device){.name = "gpu",
                                                   .aspects = DYNSEL_ASPECT_BIT(gpu),
                                                   .memory = i + 1,
                                                   .submit_ns = submit_ns,
                                                   .latency_ns = 12000,
                                                   .transfer_ns = 10000,
                                                   .mib_ns = 20000});
    }
}

/* What a run takes, that of a step and of borders, in us, and what must be reached. */
typedef struct length {
    uint32_t takes_us[2];
    double first;
    double later;
} length;

static void compare_lengths(const length *lengths, uint32_t count)
{
    static const uint32_t submits_ns[] = {4000, 12000};
    for (uint32_t i = 0; i < 2 * count; i++) {
        const length *it = &lengths[i / 2];
        char name[64];
        set_up(2, submits_ns[i % 2]);
        add_stencil();
        graph.kinds[0] = (kind){1 << 20, {it->takes_us[0]}};
        graph.kinds[1] = (kind){4096, {it->takes_us[1]}};
        (void)snprintf(name, sizeof name, "%u and %u us, submit %u ns", (unsigned)it->takes_us[0],
                       (unsigned)it->takes_us[1], (unsigned)submits_ns[i % 2]);
        const shares of = compare(name);
        assert_true(of.first >= it->first);
        assert_true(of.later >= it->later);
    }
}

static void short_groups_stay_on_one_gpu(void **state)
{
    static const length lengths[] = {
        {{5, 3}, 0.8, 0.95}, {{14, 5}, 0.9, 0.95}, {{30, 5}, 0.95, 0.98}};
    (void)state;
    compare_lengths(lengths, sizeof lengths / sizeof lengths[0]);
}

static void long_groups_share_gpus(void **state)
{
    static const length lengths[] = {{{60, 8}, 1.3, 1.3}, {{200, 20}, 1.5, 1.5}};
    (void)state;
    compare_lengths(lengths, sizeof lengths / sizeof lengths[0]);
}

/* Parts that are used again and again, whose runs are as short on a thread of the host as on the
 * GPU, which takes twice as long to submit to: that the thread's first run was too long, because it
 * slept, does not keep it from them. */
static void first_time_of_a_thread_is_doubted(void **state)
{
    static const uint32_t submits_ns[] = {12000, 14000};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        set_up(1, submits_ns[i]);
        add_device(THREAD, &(dynsel_simulated_device){.name = "worker",
                                                      .kind = DYNSEL_SIMULATED_THREAD,
                                                      .aspects = DYNSEL_ASPECT_BIT(host),
                                                      .submit_ns = 300,
                                                      .latency_ns = 5000});
        machine.first_us = 45;
        (void)memset(&graph, 0, sizeof graph);
        graph.kinds[0] = (kind){1024, {6, 0, 6}};
        for (uint32_t k = 0; k < STEPS * PARTS; k++) {
            const uint32_t part = k % PARTS * 3;
            add(0, part, part + 1, part + 2);
        }
        const shares of = compare("parts");
        machine.first_us = 0;
        assert_true(of.first >= 0.89);
        assert_true(of.later >= 0.96);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_groups_stay_on_one_gpu),
        cmocka_unit_test(long_groups_share_gpus),
        cmocka_unit_test(first_time_of_a_thread_is_doubted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
