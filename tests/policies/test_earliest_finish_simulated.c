/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How near earliest_finish comes to the best single device, and what it gains over that, for
 * typical programs in virtual time.
 */
#define COPY_KINDS 64
#include "policies/finish_copy.h"
#include "policies/finish_mix.h"

#define COMPILE_NS UINT64_C(30000000)

static const char *const host_names[WORLD_CLASSES] = {
    [WORLD_THREAD] = "thread", [WORLD_CALLER] = "caller"};

static compare_result compare_on(uint32_t host, uint64_t compile_ns, const char *what,
                                 uint32_t passes, void (*pass)(void))
{
    char name[80];
    (void)snprintf(name, sizeof name, "%s, %s%s", what, host_names[host],
                   compile_ns != 0 ? ", compilations" : "");
    return compare(name, passes, pass);
}

static void image_pass(void)
{
    for (uint64_t i = 0; i < 22; i++) {
        (void)world_submit(0, 200000 + 150000 * (i * 7 % 22));
    }
}

static compare_result compare_images(uint32_t host, uint64_t compile_ns)
{
    machine(host, compile_ns, 64);
    w.times[0][0] = (world_time){100, 200000};
    w.times[0][1] = (world_time){10000, 15000};
    w.times[0][2] = (world_time){4000, 340};
    return compare_on(host, compile_ns, "22 images at once", 40, image_pass);
}

static void bursts_of_unequal_images_use_gpu(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        const compare_result it = compare_images(mix_hosts[i], 0);
        assert_true(it.least.first >= 0.9);
        assert_true(it.least.later >= 0.98);
    }
}

/* The compilation, a trial run, may cost 5 percent, and come after the first passes. */
static void bursts_of_images_pay_compilation_once(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        const compare_result it = compare_images(mix_hosts[i], COMPILE_NS);
        assert_true(it.least.first >= 0.9);
        assert_true(it.least.later >= 0.95);
    }
}

static void tiny_one_by_one(void)
{
    for (uint32_t i = 0; i < 200; i++) {
        (void)world_submit(0, 256);
        world_drain();
    }
}

static void tiny_stream(void)
{
    for (uint32_t i = 0; i < 1000; i++) {
        (void)world_submit(0, 256);
    }
}

static void begin_tiny(uint32_t host)
{
    machine(host, COMPILE_NS, 64);
    w.times[0][0] = (world_time){100, 4000};
    w.times[0][1] = (world_time){10000, 300};
    w.times[0][2] = (world_time){3000, 10};
}

static void tiny_work_one_by_one_stays_on_host(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        begin_tiny(mix_hosts[i]);
        const compare_result it =
            compare_on(mix_hosts[i], 0, "tiny, one by one", 100, tiny_one_by_one);
        assert_true(it.least.first >= 0.9);
        assert_true(it.least.later >= 0.98);
    }
}

static void stream_of_tiny_work_stays_on_host(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        begin_tiny(mix_hosts[i]);
        const compare_result it = compare_on(mix_hosts[i], 0, "tiny, a stream", 100, tiny_stream);
        assert_true(it.least.first >= 0.9);
        assert_true(it.least.later >= 0.98);
    }
}

static void equal_pass(void)
{
    for (uint32_t i = 0; i < 160; i++) {
        (void)world_submit(0, 2000000);
    }
}

static compare_result compare_equal(uint32_t host, uint64_t compile_ns)
{
    machine(host, compile_ns, 64);
    w.times[0][0] = (world_time){100, 1200};
    w.times[0][1] = (world_time){10000, 140};
    w.times[0][2] = (world_time){3000, 17};
    return compare_on(host, compile_ns, "160 equal pieces", 100, equal_pass);
}

/* A GPU with 8 times the speed of all processors: both together have 1.12 times that of the GPU. */
static void equal_pieces_use_processors_beside_gpu(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        const compare_result it = compare_equal(mix_hosts[i], 0);
        assert_true(it.least.first >= 1.1);
        assert_true(it.least.later >= 1.1);
    }
}

static void equal_pieces_pay_compilation_once(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        const compare_result it = compare_equal(mix_hosts[i], COMPILE_NS);
        assert_true(it.least.first >= 0.8);
        assert_true(it.least.later >= 0.97);
    }
}

static void two_equal_gpus_are_twice_as_fast(void **state)
{
    (void)state;
    machine(WORLD_THREAD, 0, 64);
    w.devices[1] = w.devices[2];
    w.times[0][0] = (world_time){100, 1200};
    w.times[0][1] = (world_time){3000, 17};
    w.times[0][2] = (world_time){3000, 17};
    const compare_result it = compare("160 equal pieces, two GPUs", 40, equal_pass);
    assert_true(it.least.first >= 2 * 0.97);
    assert_true(it.least.later >= 2 * 0.97);
}

static void many_kinds_one_by_one(void **state)
{
    (void)state;
    mix_check(1, 0.95, 1);
}

static void many_kinds_with_8_in_flight(void **state)
{
    (void)state;
    mix_check(8, 0.95, 1);
}

static void many_kinds_with_64_in_flight(void **state)
{
    (void)state;
    mix_check(64, 0.95, 1);
}

static void many_kinds_that_compile_one_by_one(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        const compare_result it = compare_mix(mix_hosts[i], COMPILE_NS, 1);
        assert_true(it.least.first >= 0.9);
        assert_true(it.least.later >= 0.98);
    }
}

/* The other device's compilations cost as much as all work of some passes. */
static void many_kinds_that_compile_in_flight(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const compare_result it = compare_mix(mix_hosts[i % 2], COMPILE_NS, i < 2 ? 8 : 64);
        assert_true(it.least.first >= 0.65);
        assert_true(SLOW_HERE || it.mean.first >= 0.8); /* a mean of two lives varies too much */
        assert_true(it.least.later >= 0.9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bursts_of_unequal_images_use_gpu),
        cmocka_unit_test(bursts_of_images_pay_compilation_once),
        cmocka_unit_test(tiny_work_one_by_one_stays_on_host),
        cmocka_unit_test(stream_of_tiny_work_stays_on_host),
        cmocka_unit_test(equal_pieces_use_processors_beside_gpu),
        cmocka_unit_test(equal_pieces_pay_compilation_once),
        cmocka_unit_test(two_equal_gpus_are_twice_as_fast),
        cmocka_unit_test(many_kinds_one_by_one),
        cmocka_unit_test(many_kinds_with_8_in_flight),
        cmocka_unit_test(many_kinds_with_64_in_flight),
        cmocka_unit_test(many_kinds_that_compile_one_by_one),
        cmocka_unit_test(many_kinds_that_compile_in_flight),
    };
    return cmocka_run_group_tests(tests, compare_setup, NULL);
}
