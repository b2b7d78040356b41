/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish where the host reads each result: the time of these copies counts where it
 * compares ways to share work.
 */
#include "graphs.h"

enum { PARTS = 48, TOGETHER = 0, ALL_PASSES = 200 };

static dynsel_earliest_finish_policy finisher;

/* Each piece writes a buffer of its own, which the host reads at the end of a pass. The runs of the
 * GPU are short, and its copies back so long that it is not worth while alone. */
static void set_up(void)
{
    machine.count = 0;
    machine.processors = 0;
    add_device(GPU, &(dynsel_simulated_device){.name = "gpu",
                                               .aspects = DYNSEL_ASPECT_BIT(gpu),
                                               .memory = 1,
                                               .submit_ns = 2000,
                                               .latency_ns = 5000,
                                               .transfer_ns = 20000,
                                               .mib_ns = 20000});
    add_device(THREAD, &(dynsel_simulated_device){.kind = DYNSEL_SIMULATED_THREAD,
                                                  .aspects = DYNSEL_ASPECT_BIT(host),
                                                  .submit_ns = 300,
                                                  .latency_ns = 1000});
    (void)memset(&graph, 0, sizeof graph);
    for (uint32_t i = 0; i < PARTS; i++) {
        add(0, i, i, i);
        graph.pieces[graph.count - 1].discards = true;
    }
    graph.kinds[0] = (kind){4096, {3, 3, 24}};
    begin();
    (void)memset(&finisher.policy, 0, sizeof finisher.policy);
    const dynsel_options all = {.resources = resources, .count = machine.count};
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &all));
}

static void tear_down(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    for (uint32_t i = 0; i < graph.buffers; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
    }
}

static void short_runs_with_long_copies_back_get_not_all_work(void **state)
{
    (void)state;
    set_up();
    uint32_t alone = 0;
    for (uint32_t i = 0; i < ALL_PASSES; i++) {
        (void)pass(&finisher.policy);
        alone += finisher.way.value == GPU + 1 ? 1 : 0;
    }
    const uint32_t rate = finisher.ways[GPU + 1].rate.value;
    printf("the GPU had all work in %u passes; rates %u and %u together\n", (unsigned)alone,
           (unsigned)rate, (unsigned)finisher.ways[TOGETHER].rate.value);
    assert_in_range(alone, 0, ALL_PASSES / 20);
    assert_in_range(rate, 0, finisher.ways[TOGETHER].rate.value);
    tear_down();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_runs_with_long_copies_back_get_not_all_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
