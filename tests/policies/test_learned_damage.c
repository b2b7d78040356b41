/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged and hostile tables change nothing, and a power failure leaves the old or the new one. */
#include "policies/learned_bench.h"

enum { RANDOM_TABLES = SLOW_HERE ? 5000 : 100000, RUNS_AFTER = 3 };

static bench_device *const gpu_and_host[] = {&bench_gpu, &bench_host};
static dynsel_earliest_finish_policy before;

static int set_up(void **state)
{
    (void)state;
    (void)memset(&bench, 0, sizeof bench);
    bench.cut = SIZE_MAX;
    bench.align = 1;
    return 0;
}

static uint32_t save_learned(const dynsel_learned_store *store, uint32_t gpu_ns)
{
    dynsel_learned_report report;
    bench_open_learned(gpu_ns);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_save(&policy, store, &report));
    return report.bytes;
}

static void open_and_remember(void)
{
    bench_open(gpu_and_host, 2);
    before = policy;
}

static void assert_refused_unchanged(const dynsel_learned_store *store)
{
    const dynsel_status status = dynsel_earliest_finish_load(&policy, store, NULL);
    assert_true(status == DYNSEL_E_INVALID || status == DYNSEL_E_UNSUPPORTED);
    assert_memory_equal(&policy, &before, sizeof policy);
}

static uint64_t loaded_ns(const dynsel_learned_store *store)
{
    const dynsel_task task = bench_task(BENCH_KIND, BENCH_AMOUNT);
    bench_open(gpu_and_host, 2);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_load(&policy, store, NULL));
    return bench_known(&task, 0);
}

static void each_damaged_byte_is_found(void **state)
{
    (void)state;
    for (uint32_t align = 1; align <= 32; align *= 32) {
        const dynsel_learned_store store = bench_store_of(1, align, false);
        const uint32_t bytes = save_learned(&store, 2000);
        open_and_remember();
        for (uint32_t i = 0; i < bytes; i++) {
            for (uint32_t bit = 0; bit < 8; bit++) {
                bench.bytes[i] ^= (unsigned char)(1u << bit);
                assert_refused_unchanged(&store);
                bench.bytes[i] ^= (unsigned char)(1u << bit);
            }
        }
        assert_int_equal(loaded_ns(&store), 2000);
    }
}

static void each_shorter_length_is_found(void **state)
{
    (void)state;
    dynsel_learned_store store = bench_store_of(1, 1, false);
    const uint32_t bytes = save_learned(&store, 2000);
    open_and_remember();
    for (store.area_bytes = 0; store.area_bytes < bytes; store.area_bytes++) {
        assert_refused_unchanged(&store);
    }
    assert_int_equal(loaded_ns(&store), 2000);
}

static void damaged_area_leaves_the_other_one(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(2, 1, false);
    (void)save_learned(&store, 2000);
    const uint32_t bytes = save_learned(&store, 3000);
    assert_int_equal(loaded_ns(&store), 3000);
    for (uint32_t i = 0; i < bytes; i++) {
        bench.bytes[BENCH_AREA_BYTES + i] ^= 0xff;
        assert_int_equal(loaded_ns(&store), 2000);
        bench.bytes[BENCH_AREA_BYTES + i] ^= 0xff;
    }
}

static void areas_take_turns(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(2, 1, false);
    for (uint32_t i = 0; i < 5; i++) {
        (void)save_learned(&store, 2000 + i);
        assert_int_equal(loaded_ns(&store), 2000 + i);
        assert_int_equal(bench.bytes[i % 2 * BENCH_AREA_BYTES + 16], i + 1); /* its generation */
    }
}

/* The generation after the largest is 0. */
static void generations_count_round(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(2, 1, false);
    (void)save_learned(&store, 2000);
    dynsel_learned_head head;
    (void)dynsel_learned_unpack_head(bench.bytes, &head);
    head.generation = UINT32_MAX;
    dynsel_learned_pack_head(&head, bench.bytes);
    (void)save_learned(&store, 3000);
    assert_int_equal(bench.bytes[BENCH_AREA_BYTES + 16], 0);
    assert_int_equal(loaded_ns(&store), 3000);
    (void)save_learned(&store, 4000);
    assert_int_equal(loaded_ns(&store), 4000);
}

static void power_fails_at_each_byte(uint32_t align, bool erases)
{
    static unsigned char old[sizeof bench.bytes];
    const dynsel_learned_store store = bench_store_of(2, align, erases);
    (void)memset(bench.bytes, 0xff, sizeof bench.bytes);
    (void)save_learned(&store, 1000);
    (void)save_learned(&store, 2000);
    (void)memcpy(old, bench.bytes, sizeof old);
    dynsel_status status = DYNSEL_E_DEVICE;
    uint32_t steps = 0;
    for (size_t cut = 0; status != DYNSEL_OK; cut++, steps++) {
        (void)memcpy(bench.bytes, old, sizeof old);
        bench_open_learned(3000);
        bench.cut = cut;
        status = dynsel_earliest_finish_save(&policy, &store, NULL);
        bench.cut = SIZE_MAX;
        assert_true(status == DYNSEL_OK || status == DYNSEL_E_DEVICE);
        const uint64_t ns = loaded_ns(&store);
        assert_true(ns == 3000 || (ns == 2000 && status != DYNSEL_OK));
    }
    assert_true(steps > 500);
    assert_int_equal(bench.misaligned, 0);
}

static void power_failure_leaves_old_or_new(void **state)
{
    (void)state;
    for (uint32_t align = 1; align <= 256; align *= 16) {
        power_fails_at_each_byte(align, false);
        power_fails_at_each_byte(align, true);
    }
}

/* Without an area that could be kept, what is left is no table. */
static void power_failure_in_only_area_is_noticed(void **state)
{
    (void)state;
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    const uint32_t bytes = save_learned(&store, 1000);
    for (size_t cut = 1; cut < bytes + 40; cut++) {
        (void)save_learned(&store, 1000);
        bench_open_learned(3000);
        bench.cut = cut;
        assert_status(DYNSEL_E_DEVICE, dynsel_earliest_finish_save(&policy, &store, NULL));
        bench.cut = SIZE_MAX;
        open_and_remember();
        assert_refused_unchanged(&store);
    }
}

/* The checksums of a table that was changed. */
static void seal(unsigned char *table, size_t most)
{
    static const unsigned char begin[9] = {
        'd', 'y', 'n', 's', 'e', 'l', 'L', 'T', DYNSEL_LEARNED_VERSION};
    dynsel_learned_head head;
    (void)memcpy(table, begin, sizeof begin);
    for (uint32_t round = 0; round < 2; round++) {
        const uint32_t crc = dynsel_crc32(0, table, 36);
        for (uint32_t i = 0; i < 4; i++) {
            table[36 + i] = (unsigned char)(crc >> 8 * i);
        }
        (void)dynsel_learned_unpack_head(table, &head);
        if (head.bytes < 40 || head.bytes > most) {
            return;
        }
        const uint32_t body = dynsel_crc32(0, table + 40, head.bytes - 40);
        for (uint32_t i = 0; i < 4; i++) {
            table[32 + i] = (unsigned char)(body >> 8 * i);
        }
    }
}

/* Any bytes of the records become any others, often extreme ones; sometimes the head's too. */
static void make_wild(unsigned char *table, uint32_t bytes, test_random *random)
{
    static const unsigned char extremes[] = {0, 1, 0x7f, 0x80, 0xff};
    const uint32_t begin = test_random_below(random, 8) == 0 ? 10 : 40;
    const uint32_t records = test_random_below(random, 2) == 0 ? 40 + 2 * 240 : begin;
    const uint32_t changes = 1 + test_random_below(random, 8);
    for (uint32_t i = 0; i < changes; i++) {
        const uint32_t at = records + test_random_below(random, bytes - records);
        const uint32_t width = 1 + test_random_below(random, 4);
        const unsigned char byte = test_random_below(random, 2) == 0
                                       ? extremes[test_random_below(random, sizeof extremes)]
                                       : (unsigned char)test_random_next(random);
        for (uint32_t k = at; k < at + width && k < bytes; k++) {
            table[k] = byte;
        }
    }
}

/* Any amounts; the policy's answers need not be good, but they are resources, and its times keep
 * within its limits. */
static void policy_works(test_random *random)
{
    for (uint32_t i = 0; i < RUNS_AFTER; i++) {
        dynsel_task task = bench_task(BENCH_KIND + test_random_below(random, 2), 0);
        task.amount = (uint64_t)test_random_next(random) << test_random_below(random, 33);
        (void)bench_run(&task, 1 + test_random_below(random, 100000));
    }
    for (uint32_t k = 0; k < CONFIG_DYNSEL_EARLIEST_FINISH_KINDS; k++) {
        for (uint32_t i = 0; i < policy.policy.count; i++) {
            const dynsel_finish_times *times = &policy.kinds[k].resources[i];
            assert_true(times->samples.value <= DYNSEL_FINISH_MOST_SAMPLES);
            for (uint32_t n = 0; n < CONFIG_DYNSEL_EARLIEST_FINISH_POINTS; n++) {
                assert_true(dynsel_expand(times->points[n].time.value) <= DYNSEL_FINISH_LONGEST_NS);
            }
        }
    }
}

static void hostile_tables_with_valid_checksums_do_no_harm(void **state)
{
    (void)state;
    static unsigned char good[BENCH_AREA_BYTES];
    const dynsel_learned_store store = bench_store_of(1, 1, false);
    test_random random = {test_seed()};
    const uint32_t bytes = save_learned(&store, 2000);
    uint32_t loaded = 0;
    (void)memcpy(good, bench.bytes, sizeof good);
    open_and_remember();
    const dynsel_earliest_finish_policy fresh = policy;
    for (uint32_t i = 0; i < RANDOM_TABLES; i++) {
        (void)memcpy(bench.bytes, good, sizeof good);
        make_wild(bench.bytes, bytes, &random);
        seal(bench.bytes, BENCH_AREA_BYTES);
        policy = fresh;
        const dynsel_status status = dynsel_earliest_finish_load(&policy, &store, NULL);
        if (status == DYNSEL_OK) {
            loaded++;
            policy_works(&random);
        } else {
            assert_true(status == DYNSEL_E_INVALID || status == DYNSEL_E_UNSUPPORTED);
            assert_memory_equal(&policy, &fresh, sizeof policy);
        }
    }
    print_message("%u of %u tables were loaded\n", (unsigned)loaded, (unsigned)RANDOM_TABLES);
    assert_true(loaded > RANDOM_TABLES / 20);
}

/* It tells the truth at first, and lies from one read on. */
typedef struct lying_store {
    test_random random;
    uint32_t reads;
    uint32_t truths;
} lying_store;

static dynsel_status read_lies(void *context, size_t offset, void *bytes, size_t count)
{
    lying_store *store = context;
    unsigned char *to = bytes;
    (void)memcpy(bytes, bench.bytes + offset, count);
    if (store->reads++ >= store->truths) {
        for (uint32_t i = 0; i < 3; i++) {
            to[test_random_below(&store->random, (uint32_t)count)] =
                (unsigned char)test_random_next(&store->random);
        }
        return test_random_below(&store->random, 50) == 0 ? DYNSEL_E_DEVICE : DYNSEL_OK;
    }
    return DYNSEL_OK;
}

static void stores_that_change_meanwhile_do_no_harm(void **state)
{
    (void)state;
    dynsel_learned_store store = bench_store_of(1, 1, false);
    const uint32_t bytes = save_learned(&store, 2000);
    const uint32_t reads = 1 + (bytes + 63 - 40) / 64; /* of the verification */
    lying_store liar = {.random = {test_seed()}};
    open_and_remember();
    const dynsel_earliest_finish_policy fresh = policy;
    store.context = &liar;
    store.read = read_lies;
    for (uint32_t i = 0; i < RANDOM_TABLES / 5; i++) {
        liar.reads = 0;
        liar.truths = reads + test_random_below(&liar.random, 3 * reads);
        policy = fresh;
        const dynsel_status status = dynsel_earliest_finish_load(&policy, &store, NULL);
        assert_true(status == DYNSEL_OK || status == DYNSEL_E_INVALID || status == DYNSEL_E_DEVICE);
        policy_works(&liar.random);
    }
}

static dynsel_status read_fails(void *context, size_t offset, void *bytes, size_t count)
{
    const uint32_t bad_area = *(const uint32_t *)context;
    (void)memcpy(bytes, bench.bytes + offset, count);
    return offset / BENCH_AREA_BYTES == bad_area ? DYNSEL_E_TIMEOUT : DYNSEL_OK;
}

static void unreadable_area_leaves_the_other_one(void **state)
{
    (void)state;
    dynsel_learned_store store = bench_store_of(2, 1, false);
    uint32_t bad_area = 1;
    (void)save_learned(&store, 2000);
    (void)save_learned(&store, 3000);
    store.context = &bad_area;
    store.read = read_fails;
    assert_int_equal(loaded_ns(&store), 2000);
    bad_area = 0;
    assert_int_equal(loaded_ns(&store), 3000);
    store.areas = 1;
    open_and_remember();
    assert_status(DYNSEL_E_TIMEOUT, dynsel_earliest_finish_load(&policy, &store, NULL));
    assert_memory_equal(&policy, &before, sizeof policy);
}

static const struct CMUnitTest tests[] = {
    TEST_SET_UP(each_damaged_byte_is_found),
    TEST_SET_UP(each_shorter_length_is_found),
    TEST_SET_UP(damaged_area_leaves_the_other_one),
    TEST_SET_UP(areas_take_turns),
    TEST_SET_UP(generations_count_round),
    TEST_SET_UP(power_failure_leaves_old_or_new),
    TEST_SET_UP(power_failure_in_only_area_is_noticed),
    TEST_SET_UP(hostile_tables_with_valid_checksums_do_no_harm),
    TEST_SET_UP(stores_that_change_meanwhile_do_no_harm),
    TEST_SET_UP(unreadable_area_leaves_the_other_one),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
