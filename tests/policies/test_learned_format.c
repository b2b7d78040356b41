/* SPDX-License-Identifier: Apache-2.0 */
/* Learned tables: their bytes, what does not fit, ROM, other versions and wrong stores. */
#include "policies/learned_bench.h"

#include "policies/learned_golden.h"
#include "room.h"

static bench_device *const gpu_and_host[] = {&bench_gpu, &bench_host};

static int set_up(void **state)
{
    (void)state;
    (void)memset(&bench, 0, sizeof bench);
    bench.cut = SIZE_MAX;
    bench.align = 1;
    return 0;
}

static void save_learned(const dynsel_learned_store *store, uint32_t gpu_ns)
{
    bench_open_learned(gpu_ns);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, store, NULL));
}

static void kinds_that_do_not_fit_are_counted(void **state)
{
    (void)state;
    dynsel_learned_store store = bench_store_of(1, 1, false);
    dynsel_learned_report report;
    const uint32_t kinds =
        CONFIG_DYNSEL_EARLIEST_FINISH_KINDS < 8 ? CONFIG_DYNSEL_EARLIEST_FINISH_KINDS : 8;
    bench_open(gpu_and_host, 2);
    for (uint32_t i = 0; i < kinds; i++) {
        const dynsel_task task = bench_task(i + 1, 0);
        bench_learn(&task, 0, 2000 + i);
    }
    store.area_bytes = 40 + 2 * 240 + 3 * 41 + 40; /* three kinds, and one byte too few */
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, &store, &report));
    assert_int_equal(report.kinds, kinds < 3 ? kinds : 3);
    assert_int_equal(report.kinds + report.left_out, kinds);
    bench_open(gpu_and_host, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, NULL));
    const dynsel_task latest = bench_task(kinds, 0);
    assert_int_equal(bench_known(&latest, 0), 2000 + kinds - 1);
    store.area_bytes = 40 + 2 * 240 - 1;
    assert_status(DYNSEL_E_FULL, dynsel_earliest_finish_save(&policy, &store, &report));
    assert_error_says("520 bytes");
}

static void full_policy_keeps_its_kinds(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    dynsel_learned_report report;
    save_learned(&store, 2000);
    bench_open(gpu_and_host, 2);
    for (uint32_t i = 0; i < CONFIG_DYNSEL_EARLIEST_FINISH_KINDS; i++) {
        const dynsel_task task = bench_task(100 + i, 0);
        (void)dynsel_finish_find(&policy, &task);
    }
    uint32_t filled = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_EARLIEST_FINISH_KINDS; i++) {
        filled += policy.kinds[i].tag.value != 0 ? 1 : 0;
    }
    assert_int_equal(filled, CONFIG_DYNSEL_EARLIEST_FINISH_KINDS);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, &store, &report));
    assert_int_equal(report.kinds, 0);
    assert_int_equal(report.left_out, CONFIG_DYNSEL_MAX_KEY_WORDS >= 2 ? 3 : 1);
    for (uint32_t i = 0; i < CONFIG_DYNSEL_EARLIEST_FINISH_KINDS; i++) {
        assert_true(policy.kinds[i].kind.name[0].value >= 100);
    }
}

/* The bytes of the format, on every machine: the tool's tests read them too. */
static void format_stays_as_it_is(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_KEY_WORDS >= 2 && CONFIG_DYNSEL_ASPECTS);
    const dynsel_learned_store store = bench_store_of(1, 8, false);
    dynsel_learned_report report;
    bench_open_learned(2000);
#if CONFIG_DYNSEL_ASPECT_GPU
    dynsel_task task = bench_task(BENCH_KIND + 2, 1000000);
    task.aspects = DYNSEL_ASPECT_BIT(gpu);
    bench_learn(&task, 0, 123456789);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, &store, &report));
    assert_int_equal(report.bytes, sizeof learned_golden);
    assert_memory_equal(bench.bytes, learned_golden, sizeof learned_golden);
#else
    (void)store;
    (void)report;
#endif
}

static void table_in_rom_is_loaded(void **state)
{
    (void)state;
    dynsel_learned_report report;
    bench_open(gpu_and_host, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load_rom(&policy, learned_golden,
                                                             sizeof learned_golden, &report));
    const dynsel_task task = bench_task(BENCH_KIND, BENCH_AMOUNT);
    assert_int_equal(bench_known(&task, 0), 2000);
    assert_int_equal(report.bytes, sizeof learned_golden);
    assert_status(DYNSEL_E_INVALID, dynsel_earliest_finish_load_rom(
                                        &policy, learned_golden, sizeof learned_golden - 1, NULL));
    assert_error_says("cut short");
    assert_status(DYNSEL_E_INVALID, dynsel_earliest_finish_load_rom(&policy, NULL, 100, NULL));
    assert_status(DYNSEL_E_INVALID,
                  dynsel_earliest_finish_load_rom(&policy, learned_golden, 0, NULL));
}

static void other_version_is_unsupported(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    save_learned(&store, 2000);
    bench.bytes[8] = 3;
    bench_open(gpu_and_host, 2);
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_earliest_finish_load(&policy, &store, NULL));
    assert_error_says("version 3");
}

static void wrong_stores_are_refused(void **state)
{
    (void)state;
    const dynsel_learned_store good = bench_store_of(2, 1, false);
    dynsel_learned_store wrong[8];
    bench_open(gpu_and_host, 2);
    for (uint32_t i = 0; i < 8; i++) {
        wrong[i] = good;
    }
    wrong[0].read = NULL;
    wrong[1].areas = 0;
    wrong[2].areas = 3;
    wrong[3].align = 0;
    wrong[4].align = 3;
    wrong[5].align = 512;
    wrong[6].align = 32;
    wrong[6].area_bytes = 4000 + 1;
    wrong[7].area_bytes = SIZE_MAX;
    for (uint32_t i = 0; i < 8; i++) {
        assert_status(DYNSEL_E_INVALID, dynsel_earliest_finish_save(&policy, &wrong[i], NULL));
        assert_status(DYNSEL_E_INVALID, dynsel_earliest_finish_load(&policy, &wrong[i], NULL));
    }
    dynsel_learned_store only_read = good;
    only_read.write = NULL;
    assert_status(DYNSEL_E_INVALID, dynsel_earliest_finish_save(&policy, &only_read, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_earliest_finish_save(&policy, NULL, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_earliest_finish_save(NULL, &good, NULL));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_earliest_finish_save(&policy, &good, NULL));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_earliest_finish_load(&policy, &good, NULL));
}

static const struct CMUnitTest tests[] = {
    TEST_SET_UP(kinds_that_do_not_fit_are_counted),
    TEST_SET_UP(full_policy_keeps_its_kinds),
    TEST_SET_UP(format_stays_as_it_is),
    TEST_SET_UP(table_in_rom_is_loaded),
    TEST_SET_UP(other_version_is_unsupported),
    TEST_SET_UP(wrong_stores_are_refused),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
