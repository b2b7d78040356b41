/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish on the Cholesky factorization, on a simulated machine with a GPU and a thread for
 * each further processor, with times as measured on one: the solves take the GPU less time than a
 * thread, but what follows them takes it a hundredth of that.
 */
#include "graphs.h"

enum { TILES = 14 };

static void make_machine(uint32_t threads)
{
    machine.count = 0;
    machine.processors = threads + 1;
    add_device(GPU, &(dynsel_simulated_device){.name = "gpu",
                                               .aspects = DYNSEL_ASPECT_BIT(gpu),
                                               .memory = 1,
                                               .submit_ns = 6000,
                                               .latency_ns = 12000,
                                               .transfer_ns = 10000,
                                               .mib_ns = 20000});
    for (uint32_t i = 0; i < threads; i++) {
        add_device(THREAD, &(dynsel_simulated_device){.name = "thread",
                                                      .kind = DYNSEL_SIMULATED_THREAD,
                                                      .threads = 1,
                                                      .aspects = DYNSEL_ASPECT_BIT(host),
                                                      .submit_ns = 300,
                                                      .latency_ns = 5000});
    }
    (void)memset(&graph, 0, sizeof graph);
    graph.kinds[0] = (kind){64, {1000, 0, 310}};
    graph.kinds[1] = (kind){128, {437, 0, 950}};
    graph.kinds[2] = (kind){16384, {11, 0, 650}};
    graph.kinds[3] = (kind){16384, {11, 0, 1200}};
    add_factorization(TILES);
}

/* With all times known, in the order of submission: 3.4 with 15 threads, 3.1 with 8. */
static void threads_relieve_a_gpu_that_is_faster(void **state)
{
    (void)state;
    make_machine(15);
    const shares many = compare("15 threads");
    assert_true(many.first >= 2.2);
    assert_true(many.later >= 2.6);
    make_machine(8);
    const shares few = compare("8 threads");
    assert_true(few.first >= 2.2);
    assert_true(few.later >= 2.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_relieve_a_gpu_that_is_faster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
