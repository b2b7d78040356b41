/* SPDX-License-Identifier: Apache-2.0 */
/* Learned tables: what is saved is known again, in any order, with other devices and drivers. */
#include "policies/learned_bench.h"

static bench_device bench_twin = {"Maker", "GPU 1", "1.0", false};
static bench_device bench_other = {"Other Maker", "Chip", "17", false};
static bench_device *const gpu_and_host[] = {&bench_gpu, &bench_host};

static int set_up(void **state)
{
    (void)state;
    (void)memset(&bench, 0, sizeof bench);
    bench.cut = SIZE_MAX;
    bench.align = 1;
    bench_gpu.driver = "1.0";
    bench_twin.driver = "1.0";
    return 0;
}

static void save_learned(const dynsel_learned_store *store, uint32_t gpu_ns)
{
    bench_open_learned(gpu_ns);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, store, NULL));
}

static void what_is_saved_is_known_again(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    dynsel_learned_report report;
    bench_open_learned(2000);
    for (uint32_t i = 0; i < DYNSEL_FINISH_SCALES; i++) {
        policy.speeds[0][i].slowness.value = (uint32_t)-77 - i;
        policy.speeds[0][i].spread.value = 3 + i;
        policy.speeds[0][i].measured.value = 1 + i;
    }
    policy.states[0].is.latency.value = 12;
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, &store, &report));
    const uint32_t kinds = report.kinds;
    assert_int_equal(report.generation, 1);
    assert_int_equal(report.devices, 2);
    assert_int_equal(kinds, CONFIG_DYNSEL_MAX_KEY_WORDS >= 2 ? 3 : 1);
    assert_true(report.bytes <= DYNSEL_LEARNED_MOST_BYTES);
    bench_open(gpu_and_host, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, &report));
    assert_int_equal(report.kinds, kinds);
    assert_int_equal(report.devices, 2);
    assert_int_equal(report.remeasured + report.left_out, 0);
    for (uint32_t i = 0; i < 3; i++) {
        const dynsel_task task = bench_task(BENCH_KIND, BENCH_AMOUNT << i);
        assert_int_equal(bench_known(&task, 0), 2000u << i);
        assert_int_equal(bench_known(&task, 1), 20000u << i);
    }
    const dynsel_task task = bench_task(BENCH_KIND, BENCH_AMOUNT);
    assert_int_equal(dynsel_finish_find(&policy, &task).own->credit.value, 0);
    for (uint32_t i = 0; i < DYNSEL_FINISH_SCALES; i++) {
        assert_int_equal(policy.speeds[0][i].slowness.value, (uint32_t)-77 - i);
        assert_int_equal(policy.speeds[0][i].spread.value, 3 + i);
        assert_int_equal(policy.speeds[0][i].measured.value, 1 + i);
    }
    assert_int_equal(policy.states[0].is.latency.value, 12);
}

static void loaded_times_need_no_trial_run(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    save_learned(&store, 2000000);
    bench_open(gpu_and_host, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, NULL));
    const dynsel_task task = bench_task(BENCH_KIND, BENCH_AMOUNT);
    for (uint32_t i = 0; i < 100; i++) {
        const dynsel_selection selection = bench_run(&task, 2000000);
        assert_int_equal(selection.index, 0);
        assert_int_equal(selection.reason, DYNSEL_REASON_EARLIEST_FINISH);
    }
}

static void order_of_resources_does_not_matter(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    save_learned(&store, 3000);
    bench_device *other_order[] = {&bench_other, &bench_host, &bench_gpu};
    dynsel_learned_report report;
    bench_open(other_order, 3);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, &report));
    assert_int_equal(report.devices, 2);
    const dynsel_task task = bench_task(BENCH_KIND, BENCH_AMOUNT);
    assert_int_equal(bench_known(&task, 0), 0);
    assert_int_equal(bench_known(&task, 1), 30000);
    assert_int_equal(bench_known(&task, 2), 3000);
}

static void devices_that_are_gone_are_ignored(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    save_learned(&store, 3000);
    bench_device *host[] = {&bench_host};
    dynsel_learned_report report;
    bench_open(host, 1);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, &report));
    assert_int_equal(report.devices, 1);
    const dynsel_task task = bench_task(BENCH_KIND, BENCH_AMOUNT);
    assert_int_equal(bench_known(&task, 0), 30000);
}

static void equal_devices_are_recognized_in_their_order(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    bench_device *twins[] = {&bench_gpu, &bench_twin};
    const dynsel_task task = bench_task(BENCH_KIND, 0);
    bench_open(twins, 2);
    bench_learn(&task, 0, 5000);
    bench_learn(&task, 1, 6000);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, &store, NULL));
    bench_open(twins, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, NULL));
    assert_int_equal(bench_known(&task, 0), 5000);
    assert_int_equal(bench_known(&task, 1), 6000);
}

/* The second one has another driver: of the table that was saved in the other order it gets its
 * own times all the same. */
static void equal_devices_get_times_of_their_driver(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    bench_device *twins[] = {&bench_gpu, &bench_twin};
    bench_device *exchanged[] = {&bench_twin, &bench_gpu};
    const dynsel_task task = bench_task(BENCH_KIND, 0);
    bench_twin.driver = "2.0";
    bench_open(twins, 2);
    bench_learn(&task, 0, 5000);
    bench_learn(&task, 1, 6000);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, &store, NULL));
    bench_open(exchanged, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, NULL));
    assert_int_equal(bench_known(&task, 0), 6000);
    assert_int_equal(bench_known(&task, 1), 5000);
}

/* The names differ only behind what a table keeps of them. */
static void cut_texts_are_told_apart(void **state)
{
    (void)state;
    static char old_driver[100];
    static char new_driver[100];
    (void)memset(old_driver, 'v', sizeof old_driver - 1);
    (void)memset(new_driver, 'v', sizeof new_driver - 1);
    new_driver[80] = '2';
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    dynsel_learned_report report;
    bench_gpu.driver = old_driver;
    save_learned(&store, 3000);
    bench_open(gpu_and_host, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, &report));
    assert_int_equal(report.remeasured, 0);
    bench_gpu.driver = new_driver;
    bench_open(gpu_and_host, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, &report));
    assert_int_equal(report.devices, 2);
    assert_int_equal(report.remeasured, 1);
}

static void times_of_another_driver_are_measured_again(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    const dynsel_task task = bench_task(BENCH_KIND, BENCH_AMOUNT);
    save_learned(&store, 2000000);
    bench_gpu.driver = "1.1";
    bench_open(gpu_and_host, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, NULL));
    assert_int_equal(bench_known(&task, 0), 0);
    assert_int_equal(bench_known(&task, 1), 20000000);
    assert_true((int32_t)dynsel_finish_find(&policy, &task).own->credit.value > 0);
    uint32_t trials = 0;
    uint32_t on_gpu = 0;
    for (uint32_t i = 0; i < 50; i++) {
        dynsel_selection selection = {.policy = NULL};
        assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &task, &selection));
        /* the new driver is three times as fast */
        const dynsel_selection run = bench_run(&task, selection.index == 0 ? 700000 : 20000000);
        trials += run.reason == DYNSEL_REASON_EXPLORING ? 1 : 0;
        on_gpu += run.index == 0 ? 1 : 0;
    }
    assert_true(trials >= 1);
    assert_true(on_gpu >= 45);
    assert_int_equal(bench_known(&task, 0), 700000);
}

/* Also where the policy trusts a first time: on threads of the host. */
static void host_of_another_driver_is_measured_again(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    bench_device host_before = {"", "host", "a", true};
    bench_device host_now = {"", "host", "b", true};
    bench_device *before[] = {&bench_gpu, &host_before};
    bench_device *now[] = {&bench_gpu, &host_now};
    const dynsel_task task = bench_task(BENCH_KIND, BENCH_AMOUNT);
    bench_open(before, 2);
    bench_learn(&task, 0, 2000000);
    bench_learn(&task, 1, 1000000);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, &store, NULL));
    bench_open(now, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, NULL));
    const dynsel_selection first = bench_run(&task, 1000000);
    assert_true(first.index == 0 || first.reason == DYNSEL_REASON_EXPLORING);
    assert_true(first.index == 0 || (first.wants & DYNSEL_TASK_TIME) != 0);
}

/* The first time of a new driver replaces the estimates for all amounts. */
static void first_time_of_new_driver_replaces_all_estimates(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    save_learned(&store, 2000);
    bench_gpu.driver = "1.1";
    bench_open(gpu_and_host, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, NULL));
    const dynsel_task large = bench_task(BENCH_KIND, 4 * BENCH_AMOUNT);
    const dynsel_task small = bench_task(BENCH_KIND, BENCH_AMOUNT);
    bench_learn(&large, 0, 80000);
    assert_int_equal(bench_known(&large, 0), 80000);
    assert_true(bench_known(&small, 0) > 10000); /* it was 2000 */
}

static void own_times_stay(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    const dynsel_task task = bench_task(BENCH_KIND, BENCH_AMOUNT);
    save_learned(&store, 2000);
    bench_open(gpu_and_host, 2);
    bench_learn(&task, 0, 1234);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, NULL));
    assert_int_equal(bench_known(&task, 0), 1234);
    assert_int_equal(bench_known(&task, 1), 20000);
}

static void kinds_without_a_lasting_id_are_left_out(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    dynsel_learned_report report;
    dynsel_task task = bench_task(0, BENCH_AMOUNT);
    bench_open(gpu_and_host, 2);
    bench_learn(&task, 0, 2000);
#if CONFIG_DYNSEL_COMMAND_GROUPS
    task = bench_task(BENCH_KIND, BENCH_AMOUNT);
    task.id_of_address = true;
    bench_learn(&task, 0, 2000);
#endif
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, &store, &report));
    assert_int_equal(report.kinds + report.left_out, 0);
}

static void aspects_are_kept_by_name(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_ASPECT_GPU && CONFIG_DYNSEL_ASPECT_HOST && CONFIG_DYNSEL_ASPECT_FP64
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    dynsel_learned_report report;
    dynsel_task task = bench_task(BENCH_KIND, BENCH_AMOUNT);
    task.aspects = DYNSEL_ASPECT_BIT(gpu) | DYNSEL_ASPECT_BIT(fp64);
    bench_open(gpu_and_host, 2);
    bench_learn(&task, 0, 2000);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, &store, NULL));
    bench_open(gpu_and_host, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, &report));
    assert_int_equal(report.kinds, 1);
    assert_int_equal(bench_known(&task, 0), 2000);
    task.aspects = DYNSEL_ASPECT_BIT(gpu);
    assert_int_equal(bench_known(&task, 0), 0);
#endif
}

static const struct CMUnitTest tests[] = {
    TEST_SET_UP(what_is_saved_is_known_again),
    TEST_SET_UP(loaded_times_need_no_trial_run),
    TEST_SET_UP(order_of_resources_does_not_matter),
    TEST_SET_UP(devices_that_are_gone_are_ignored),
    TEST_SET_UP(equal_devices_are_recognized_in_their_order),
    TEST_SET_UP(equal_devices_get_times_of_their_driver),
    TEST_SET_UP(cut_texts_are_told_apart),
    TEST_SET_UP(times_of_another_driver_are_measured_again),
    TEST_SET_UP(host_of_another_driver_is_measured_again),
    TEST_SET_UP(first_time_of_new_driver_replaces_all_estimates),
    TEST_SET_UP(own_times_stay),
    TEST_SET_UP(kinds_without_a_lasting_id_are_left_out),
    TEST_SET_UP(aspects_are_kept_by_name),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
