/* SPDX-License-Identifier: Apache-2.0 */
/* What earliest_finish learns of the speed of resources, and of copies to them. */
#include <string.h>

#include "policies/earliest_finish_parts.h"
#include "random.h"
#include "test.h"

#define SHORT_NS  UINT64_C(10000)
#define LONGER_NS UINT64_C(200000)
#define LONG_NS   UINT64_C(50000000)

#define MIB ((uint64_t)1 << 20)

static dynsel_earliest_finish_policy policy;
static test_random rng;

/* Three resources; the last is assumed to be 32 times slower. */
static int set_up(void **state)
{
    (void)state;
    memset(&policy, 0, sizeof policy);
    policy.policy.count = 3;
    for (uint32_t i = 0; i < 3; i++) {
        policy.states[i].is.shortest_ns.value = 1;
        policy.states[i].is.copy_rate.value = 100000;
        for (uint32_t k = 0; k < DYNSEL_FINISH_SCALES; k++) {
            policy.speeds[i][k].slowness.value = i == 2 ? 5 * DYNSEL_LOG2_ONE : 0;
        }
    }
    rng = (test_random){test_seed()};
    return 0;
}

static uint64_t guess(uint32_t index, uint32_t known, uint64_t known_ns)
{
    return dynsel_finish_guess(&policy, index, known, known_ns, 0);
}

static void learn(uint32_t times, uint32_t index, uint64_t ns, uint32_t other, uint64_t other_ns)
{
    for (uint32_t i = 0; i < times; i++) {
        dynsel_finish_learn_speed(&policy, index, ns, other, other_ns);
    }
}

static void assumed_ratio_is_guessed(void **state)
{
    (void)state;
    assert_in_range(guess(1, 0, LONG_NS), LONG_NS * 0.99, LONG_NS * 1.01);
    assert_in_range(guess(2, 0, LONG_NS), LONG_NS * 31.5, LONG_NS * 32.5);
    assert_in_range(guess(0, 2, LONG_NS), LONG_NS / 33, LONG_NS / 31);
}

/* On a GPU most is idle while it has few work-items; on processors nothing is. */
static void few_items_are_not_much_slower_elsewhere(void **state)
{
    (void)state;
    policy.states[2].is.place.value = DYNSEL_FINISH_PROCESSORS;
    assert_in_range(dynsel_finish_guess(&policy, 2, 0, LONG_NS, 64), LONG_NS, LONG_NS * 1.2);
    assert_in_range(dynsel_finish_guess(&policy, 2, 0, LONG_NS, 4096), LONG_NS * 8, LONG_NS * 9.5);
    assert_in_range(dynsel_finish_guess(&policy, 2, 0, LONG_NS, UINT64_MAX), LONG_NS * 31.5,
                    LONG_NS * 32.5);
    policy.states[2].is.place.value = DYNSEL_FINISH_THREAD;
    assert_in_range(dynsel_finish_guess(&policy, 2, 0, LONG_NS, 64), LONG_NS * 2.9, LONG_NS * 3.1);
    policy.states[0].is.place.value = DYNSEL_FINISH_PROCESSORS;
    assert_in_range(dynsel_finish_guess(&policy, 2, 0, LONG_NS, 64), LONG_NS * 1.9, LONG_NS * 2.1);
    assert_in_range(dynsel_finish_guess(&policy, 0, 2, LONG_NS, 64), LONG_NS / 33, LONG_NS / 31);
    policy.states[2].is.place.value = DYNSEL_FINISH_APART;
    assert_in_range(dynsel_finish_guess(&policy, 2, 0, LONG_NS, 64), LONG_NS * 31.5,
                    LONG_NS * 32.5);
}

static void measured_ratio_is_guessed(void **state)
{
    (void)state;
    learn(50, 1, 8 * LONG_NS, 0, LONG_NS);
    assert_in_range(guess(1, 0, LONG_NS), LONG_NS * 7.5, LONG_NS * 8.5);
    assert_in_range(guess(0, 1, LONG_NS), LONG_NS / 9, LONG_NS / 7);
}

static void first_kind_decides_half(void **state)
{
    (void)state;
    learn(1, 1, 16 * LONG_NS, 0, LONG_NS);
    const int32_t apart = (int32_t)(policy.speeds[1][2].slowness.value - //
                                    policy.speeds[0][2].slowness.value);
    assert_in_range(apart, 1.9 * DYNSEL_LOG2_ONE, 2.1 * DYNSEL_LOG2_ONE);
}

/* Half of it for the next scale, a quarter for long work. */
static void short_work_says_little_of_long_work(void **state)
{
    (void)state;
    learn(100, 1, SHORT_NS, 0, 16 * SHORT_NS);
    assert_in_range(guess(1, 0, 6 * SHORT_NS), SHORT_NS * 0.3, SHORT_NS * 0.5);
    assert_in_range(guess(1, 0, LONGER_NS), LONGER_NS / 4.5, LONGER_NS / 3.5);
    assert_in_range(guess(1, 0, LONG_NS), LONG_NS / 2.2, LONG_NS / 1.8);
    learn(100, 1, 16 * LONG_NS, 0, LONG_NS);
    assert_in_range(guess(1, 0, LONG_NS), LONG_NS * 15, LONG_NS * 17);
    assert_true(dynsel_finish_slowness(&policy, 1) > dynsel_finish_slowness(&policy, 0));
}

/* Long work is what counts for work of which nothing is known. */
static void fast_short_work_does_not_make_fast(void **state)
{
    (void)state;
    learn(1000, 2, SHORT_NS, 0, 4 * SHORT_NS);
    assert_true(dynsel_finish_slowness(&policy, 2) > dynsel_finish_slowness(&policy, 0));
}

/* Kinds of which each is some times faster on the resource that runs it second. */
static void speeds_do_not_drift(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 100000; i++) {
        const uint32_t index = test_random_below(&rng, 2);
        const uint64_t factor = 1 + test_random_below(&rng, 16);
        dynsel_finish_learn_speed(&policy, index, LONG_NS, 1 - index, LONG_NS * factor);
    }
    for (uint32_t i = 0; i < 2; i++) {
        const int32_t slowness = (int32_t)policy.speeds[i][2].slowness.value;
        assert_true(slowness > -4 * DYNSEL_LOG2_ONE && slowness < 4 * DYNSEL_LOG2_ONE);
    }
    assert_true(guess(2, 0, LONG_NS) > 2 * LONG_NS);
}

static uint64_t any_time(void)
{
    const uint64_t time_ns = (uint64_t)test_random_next(&rng) << 32 | test_random_next(&rng);
    return time_ns >> test_random_below(&rng, 64);
}

static void guesses_have_bounds(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 100000; i++) {
        const uint32_t index = test_random_below(&rng, 3);
        dynsel_finish_learn_speed(&policy, index, any_time(), (index + 1) % 3, any_time());
        assert_in_range(guess(index, (index + 2) % 3, any_time()), 1, DYNSEL_FINISH_LONGEST_NS);
    }
}

static void copies_are_learned(void **state)
{
    (void)state;
    dynsel_finish_resource *resource = &policy.states[0];
    assert_int_equal(dynsel_finish_copy_ns(resource, 0), 0);
    for (int i = 0; i < 50; i++) {
        const uint64_t predicted_ns = dynsel_finish_copy_ns(resource, 64 * MIB);
        dynsel_finish_learn_copy(resource, predicted_ns, 64 * UINT64_C(400000));
    }
    assert_in_range(dynsel_finish_copy_ns(resource, 64 * MIB), 64 * 390000, 64 * 410000);
}

/* They are slow for ever, and then fast: neither makes the rate wrap. */
static void copies_that_take_longest_are_bounded(void **state)
{
    (void)state;
    dynsel_finish_resource *resource = &policy.states[0];
    uint64_t before_ns = 0;
    for (int i = 0; i < 100; i++) {
        const uint64_t predicted_ns = dynsel_finish_copy_ns(resource, MIB);
        assert_true(predicted_ns >= before_ns);
        before_ns = predicted_ns;
        dynsel_finish_learn_copy(resource, predicted_ns, DYNSEL_FINISH_LONGEST_NS);
    }
    assert_true(before_ns > UINT64_C(1000000000));
    for (int i = 0; i < 100; i++) {
        dynsel_finish_learn_copy(resource, dynsel_finish_copy_ns(resource, MIB), 1);
    }
    assert_in_range(dynsel_finish_copy_ns(resource, MIB), 1, 20000);
}

static void least_of_many_submits_counts(void **state)
{
    (void)state;
    dynsel_finish_resource *resource = &policy.states[0];
    for (uint32_t i = 0; i < 64; i++) {
        dynsel_finish_learn_submit(resource, i % 32 == 7 ? 20 : 50 + i);
    }
    assert_int_equal(resource->is.submit.value, 20);
}

static void latency_falls_fast_and_rises_slowly(void **state)
{
    (void)state;
    dynsel_finish_resource *resource = &policy.states[0];
    dynsel_finish_learn_latency(resource, 100);
    assert_int_equal(resource->is.latency.value, 100);
    dynsel_finish_learn_latency(resource, 50);
    assert_int_equal(resource->is.latency.value, 75);
    dynsel_finish_learn_latency(resource, 155);
    assert_int_equal(resource->is.latency.value, 85);
    dynsel_finish_learn_latency(resource, 1000000); /* the program lost its processor */
    assert_int_equal(resource->is.latency.value, 96);
    for (uint32_t i = 0; i < 40; i++) {
        dynsel_finish_learn_latency(resource, 1000);
    }
    assert_in_range(resource->is.latency.value, 900, 1000); /* it is later than it was */
}

static void fade(uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        const uint32_t now = policy.faded_at.value + 100;
        policy.states[0].is.free_at.value = now - 50; /* it was used since the last time */
        dynsel_finish_fade_latencies(&policy, now);
    }
}

/* The latencies of resources that are not used. The next run counts as the first one does, but a
 * bad one up to 8 times of what is left, or 1 ms. */
static void latency_fades_where_it_is_not_seen(void **state)
{
    (void)state;
    policy.faded_at.value = UINT32_MAX - 1000; /* the clock wraps */
    policy.states[1].is.free_at.value = policy.faded_at.value;
    dynsel_finish_learn_latency(&policy.states[0], 1000);
    dynsel_finish_learn_latency(&policy.states[1], 1000);
    fade(45);
    assert_int_equal(dynsel_finish_latency(&policy.states[0]), 1000);
    assert_false(dynsel_finish_has_faded(&policy.states[0]));
    assert_in_range(dynsel_finish_latency(&policy.states[1]), 450, 550);
    assert_true(dynsel_finish_has_faded(&policy.states[1]));
    dynsel_finish_learn_latency(&policy.states[1], 1100);
    assert_int_equal(policy.states[1].is.latency.value, 1100);
    fade(1000);
    assert_int_equal(dynsel_finish_latency(&policy.states[1]), 0);
    dynsel_finish_learn_latency(&policy.states[1], 10);
    assert_int_equal(policy.states[1].is.latency.value, 10);
    fade(1);
    dynsel_finish_learn_latency(&policy.states[1], 1000000);
    assert_int_equal(policy.states[1].is.latency.value, 72);
    fade(1000);
    dynsel_finish_learn_latency(&policy.states[1], 1000000);
    assert_int_equal(policy.states[1].is.latency.value, 4096);
}

/* Copies that could not be timed count as short ones. */
static void short_copies_back_count_for_untimed_ones(void **state)
{
    (void)state;
    dynsel_finish_resource *resource = &policy.states[1];
    assert_int_equal(dynsel_finish_copy_back_ns(resource, 0), 0); /* nothing is known */
    assert_int_equal(dynsel_finish_copy_back_ns(resource, 90000), 90000);
    assert_int_equal(dynsel_finish_copy_back_ns(resource, 0), 90000);
    assert_int_equal(dynsel_finish_copy_back_ns(resource, 30000), 30000);
    assert_int_equal(dynsel_finish_copy_back_ns(resource, 0), 30000);
    assert_int_equal(dynsel_finish_copy_back_ns(resource, 94000), 94000);
    assert_int_equal(dynsel_finish_copy_back_ns(resource, 0), 31000);
    for (uint32_t i = 0; i < 1000; i++) {
        (void)dynsel_finish_copy_back_ns(resource, UINT64_MAX);
    }
    assert_in_range(dynsel_finish_copy_back_ns(resource, 0), INT32_MAX / 2, INT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(assumed_ratio_is_guessed),
        TEST_SET_UP(few_items_are_not_much_slower_elsewhere),
        TEST_SET_UP(measured_ratio_is_guessed),
        TEST_SET_UP(first_kind_decides_half),
        TEST_SET_UP(short_work_says_little_of_long_work),
        TEST_SET_UP(fast_short_work_does_not_make_fast),
        TEST_SET_UP(speeds_do_not_drift),
        TEST_SET_UP(guesses_have_bounds),
        TEST_SET_UP(copies_are_learned),
        TEST_SET_UP(copies_that_take_longest_are_bounded),
        TEST_SET_UP(least_of_many_submits_counts),
        TEST_SET_UP(latency_falls_fast_and_rises_slowly),
        TEST_SET_UP(latency_fades_where_it_is_not_seen),
        TEST_SET_UP(short_copies_back_count_for_untimed_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
