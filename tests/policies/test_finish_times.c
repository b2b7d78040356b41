/* SPDX-License-Identifier: Apache-2.0 */
/* What earliest_finish learns of the run times of a kind of task on one resource, and what it
 * predicts from them for other amounts of work. */
#include <string.h>

#include "policies/earliest_finish_parts.h"
#include "random.h"
#include "test.h"

enum { POINTS = CONFIG_DYNSEL_EARLIEST_FINISH_POINTS };

#define LONGEST DYNSEL_FINISH_LONGEST_NS

static dynsel_finish_times times;
static test_random rng;

static int set_up(void **state)
{
    (void)state;
    memset(&times, 0, sizeof times);
    rng = (test_random){test_seed()};
    return 0;
}

static uint64_t predict(uint64_t amount)
{
    return dynsel_finish_predict(&times, dynsel_finish_amount(amount), 1);
}

static uint64_t predict_from(uint64_t amount, uint64_t shortest_ns)
{
    return dynsel_finish_predict(&times, dynsel_finish_amount(amount), shortest_ns);
}

static void learn(uint64_t amount, uint64_t ns)
{
    dynsel_finish_learn(&times, dynsel_finish_amount(amount), ns);
}

/* Until the first time does not count any more. */
static void learn_well(uint64_t amount, uint64_t ns)
{
    for (int i = 0; i < DYNSEL_FINISH_WINDOW; i++) {
        learn(amount, ns);
    }
}

static unsigned used_points(void)
{
    unsigned used = 0;
    while (used < POINTS && times.points[used].amount.value != 0) {
        used++;
    }
    return used;
}

static bool has_point(uint64_t amount)
{
    for (unsigned i = 0; i < POINTS; i++) {
        if (times.points[i].amount.value == dynsel_finish_amount(amount)) {
            return true;
        }
    }
    return false;
}

static bool is_within(uint64_t a, uint64_t b, double part)
{
    const double apart = a > b ? (double)(a - b) : (double)(b - a);
    return apart <= 2 + part * (double)b;
}

#define assert_near(actual, expected) assert_true(is_within((actual), (expected), 0.001))

static void nothing_is_predicted_from_nothing(void **state)
{
    (void)state;
    assert_int_equal(predict(0), 0);
    assert_int_equal(predict(1000), 0);
    assert_int_equal(predict_from(1000, 4000), 0);
    assert_int_equal(predict(UINT64_MAX), 0);
}

static void one_point_scales(void **state)
{
    (void)state;
    learn_well(1000, 10000);
    assert_int_equal(predict(1000), 10000);
    assert_near(predict(2000), 20000);
    assert_near(predict(100), 1000);
    assert_near(predict(100000000), 1000000000);
    assert_int_equal(used_points(), 1);
}

/* What the shortest work takes does not grow with the amount. */
static void one_point_scales_beyond_shortest_time(void **state)
{
    (void)state;
    learn_well(1000, 10000);
    assert_int_equal(predict_from(1000, 4000), 10000);
    assert_near(predict_from(2000, 4000), 16000);
    assert_near(predict_from(500, 4000), 7000);
    assert_near(predict_from(1, 4000), 4006);
    assert_int_equal(predict_from(0, 4000), 4000);
    assert_int_equal(predict_from(2000, 40000), 40000);
}

static void two_points_interpolate(void **state)
{
    (void)state;
    learn_well(1000, 10000);
    learn_well(3000, 20000);
    assert_int_equal(used_points(), 2);
    assert_int_equal(predict(1000), 10000);
    assert_int_equal(predict(3000), 20000);
    assert_near(predict(2000), 15000);
    assert_near(predict(1500), 12500);
}

static void line_continues_beyond_points(void **state)
{
    (void)state;
    learn_well(1000, 10000);
    learn_well(3000, 20000);
    assert_near(predict(5000), 30000);
    assert_near(predict(1001000), 5010000);
    assert_near(predict(200), 6000);
    assert_near(predict(0), 5000);
    assert_int_equal(predict_from(200, 7000), 7000);
    memset(&times, 0, sizeof times);
    learn_well(3000, 20000);
    learn_well(1000, 10000);
    assert_near(predict(5000), 30000);
    assert_near(predict(200), 6000);
}

/* The nearest two decide, in whatever order they were learned. */
static void line_beyond_points_is_through_nearest_two(void **state)
{
    (void)state;
    static const uint64_t amounts[] = {8000, 1000, 4000, 2000};
    static const uint64_t ns[] = {80000, 5000, 20000, 10000};
    for (int i = 0; i < 4; i++) {
        learn_well(amounts[i], ns[i]);
    }
    assert_near(predict(500), 2500);
    assert_near(predict(10000), 110000);
    assert_near(predict(3000), 15000);
    assert_near(predict(6000), 50000);
}

static void falling_times_say_nothing_beyond(void **state)
{
    (void)state;
    learn_well(1000, 20000);
    learn_well(3000, 10000);
    assert_near(predict(2000), 15000);
    assert_int_equal(predict(5000), 10000);
    assert_int_equal(predict(100), 20000);
}

static void equal_times_stay_equal(void **state)
{
    (void)state;
    learn_well(1000, 10000);
    learn_well(3000, 10000);
    assert_int_equal(predict(2000), 10000);
    assert_int_equal(predict(50000), 10000);
    assert_int_equal(predict(10), 10000);
}

static void spike_does_not_change_estimate(void **state)
{
    (void)state;
    learn_well(1000, 10000);
    for (int i = 0; i < 1000; i++) {
        learn(1000, i % 3 == 0 ? 50000000 : 10000);
        assert_int_equal(predict(1000), 10000);
    }
    for (int i = 0; i < 1000; i++) {
        learn(1000, i % 3 == 0 ? 1 : 10000);
        assert_int_equal(predict(1000), 10000);
    }
}

static void lasting_change_is_learned(void **state)
{
    (void)state;
    learn_well(1000, 10000);
    for (uint64_t i = 1; i < 300; i++) {
        learn(1000, 10000 * (i + 1));
        assert_int_equal(predict(1000), 10000 * i);
        learn(1000, 10000 * (i + 1));
        assert_int_equal(predict(1000), 10000 * (i + 1));
        learn(1000, 10000 * (i + 1));
    }
}

/* It may contain a compilation. */
static void second_time_replaces_first(void **state)
{
    (void)state;
    learn(1000, 900000);
    assert_int_equal(predict(1000), 900000);
    learn(1000, 10000);
    assert_int_equal(predict(1000), 10000);
    assert_int_equal(times.error.value, 0);
    learn(1000, 12000);
    assert_int_equal(predict(1000), 10000);
    assert_int_equal(times.samples.value, 3);
    assert_int_not_equal(times.error.value, 0);
}

static void near_amounts_share_point(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {100, 10000, 1000000, 100000000, 10000000000};
    for (int i = 0; i < 5; i++) {
        const uint64_t size = sizes[i];
        memset(&times, 0, sizeof times);
        learn_well(size, 10 * size);
        learn_well(size + size / 10, 11 * size);
        learn_well(size - size / 10, 9 * size);
        assert_int_equal(used_points(), 1);
        assert_near(predict(size), 10 * size);
        learn_well(size + size / 2, 11 * size);
        assert_int_equal(used_points(), 2);
        learn_well(size / 2, 9 * size);
        assert_int_equal(used_points(), 3);
        assert_near(predict(size + size / 2), 11 * size);
        assert_near(predict(size / 2), 9 * size);
    }
}

/* Between points on a steep line, too: a time neither falls with the amount nor grows more than
 * it. */
static void time_of_near_amount_changes_no_more_than_amount(void **state)
{
    (void)state;
    learn_well(1000, 1000);
    learn_well(2000, 100000);
    learn_well(1150, 1500);
    assert_near(predict(1000), 1304);
    memset(&times, 0, sizeof times);
    learn_well(1000, 100000);
    learn_well(2000, 1000);
    learn_well(1150, 50000);
    assert_near(predict(1000), 50000);
    memset(&times, 0, sizeof times);
    learn_well(1000, 2);
    learn_well(2000, 10);
    learn_well(1150, 1);
    assert_int_equal(predict(1000), 1);
}

static void extremes_are_kept_of_many_amounts(void **state)
{
    (void)state;
    static const uint64_t firsts[] = {16, 1000, 7000000};
    for (int k = 0; k < 3; k++) {
        memset(&times, 0, sizeof times);
        const uint64_t last = firsts[k] << 19;
        for (int i = 0; i < 2000; i++) {
            const uint64_t amount = firsts[k] << test_random_below(&rng, 20);
            learn(amount, 5000 + 3 * amount);
        }
        learn_well(firsts[k], 5000 + 3 * firsts[k]);
        learn_well(last, 5000 + 3 * last);
        assert_int_equal(used_points(), POINTS);
        assert_true(has_point(firsts[k]) && has_point(last));
        assert_near(predict(firsts[k]), 5000 + 3 * firsts[k]);
        assert_near(predict(last), 5000 + 3 * last);
    }
}

/* In a table that is full, one that lies close to a point is counted there. */
static void amount_between_close_points_takes_no_other_place(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) {
        learn_well((uint64_t)1000 << 2 * i, (uint64_t)10000 << 2 * i);
    }
    learn_well(2000, 20000); /* half way between two in powers */
    for (int i = 0; i < POINTS; i++) {
        assert_true(has_point((uint64_t)1000 << 2 * i));
    }
    assert_near(predict(1000), 10000);
    assert_near(predict(4000), 40000);
    learn_well(4000, 40000);
    learn_well((uint64_t)1000 << 2 * POINTS, (uint64_t)10000 << 2 * POINTS);
    assert_true(has_point((uint64_t)1000 << 2 * POINTS));
    assert_true(has_point(1000));
    assert_true(has_point(4000)); /* it has more times than others between them */
}

static void amounts_that_are_not_said_are_one(void **state)
{
    (void)state;
    learn_well(0, 7000);
    assert_int_equal(predict(0), 7000);
    assert_int_equal(predict(1), 7000);
    assert_int_equal(predict(1000000), 7000);
    assert_int_equal(used_points(), 1);
}

/* A program that says some amounts and not others. */
static void amount_of_zero_beside_others_has_its_own_time(void **state)
{
    (void)state;
    learn_well(0, 7000);
    learn_well(100, 9000);
    learn_well(1, 7020);
    assert_int_equal(predict(0), 7000);
    assert_int_equal(predict(100), 9000);
    assert_int_equal(predict(1), 7020);
    memset(&times, 0, sizeof times);
    learn_well(1, 5000);
    learn_well(0, 7000);
    assert_int_equal(predict(0), 7000);
    assert_int_equal(predict(1), 5000);
}

/* So it is in a table that is full. */
static void amount_of_zero_takes_times_of_small_amounts(void **state)
{
    (void)state;
    uint64_t amount = 3;
    learn_well(0, 7000);
    for (int i = 1; i < POINTS; i++) {
        learn_well(amount, 7000 + amount);
        amount *= 8;
    }
    learn_well(1, 7010);
    assert_int_equal(used_points(), POINTS);
    assert_near(predict(0), 7005);
    assert_true(has_point(0) && has_point(3));
}

static void largest_amount_is_one_as_others(void **state)
{
    (void)state;
    learn_well(UINT64_MAX, 1000000);
    assert_int_equal(predict(UINT64_MAX), 1000000);
    assert_near(predict(UINT64_MAX / 2), 500000);
    assert_int_equal(predict(0), 1);
    learn_well(0, 2000);
    assert_int_equal(predict(0), 2000);
    assert_int_equal(predict(UINT64_MAX), 1000000);
    assert_near(predict(UINT64_MAX / 2), 501000);
}

static void no_time_counts_as_least(void **state)
{
    (void)state;
    learn_well(1000, 0);
    assert_int_equal(predict(1000), 1);
    learn_well(1150, 1); /* less than a nanosecond for 1000 */
    assert_int_equal(predict(1000), 1);
    assert_true(predict(2000) <= 2);
    assert_int_equal(predict_from(1000, 250), 1);
    assert_int_equal(predict_from(2000, 250), 250);
}

static void long_times_count_as_longest(void **state)
{
    (void)state;
    static const uint64_t all[] = {LONGEST, LONGEST + 1, UINT64_MAX / 2, UINT64_MAX};
    for (int i = 0; i < 4; i++) {
        memset(&times, 0, sizeof times);
        learn_well(1000, all[i]);
        assert_int_equal(predict(1000), LONGEST);
        assert_int_equal(predict(2000), LONGEST);
        assert_near(predict(500), LONGEST / 2);
        learn_well(1, 1);
        assert_int_equal(predict(1000000), LONGEST);
        assert_int_equal(predict(1), 1);
        assert_near(predict(501), LONGEST / 999 * 500);
    }
}

/* None beyond the longest, and none below the shortest, whatever was learned. */
static void predictions_have_bounds(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        memset(&times, 0, sizeof times);
        const uint32_t count = 1 + test_random_below(&rng, 30);
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t wild = (uint64_t)test_random_next(&rng) << 32 | test_random_next(&rng);
            learn(test_random_below(&rng, 8) == 0 ? 0 : wild >> test_random_below(&rng, 64),
                  wild >> test_random_below(&rng, 64));
        }
        assert_true(used_points() >= 1 && used_points() <= POINTS);
        for (int i = 0; i < 30; i++) {
            const uint64_t wild = (uint64_t)test_random_next(&rng) << 32 | test_random_next(&rng);
            const uint64_t ns = predict(wild >> test_random_below(&rng, 64));
            assert_true(ns >= 1 && ns <= LONGEST);
        }
    }
}

/* Random lines, at random amounts over many powers of two: what is predicted between and beyond
 * them is on the line. */
static void predictions_are_on_random_lines(void **state)
{
    (void)state;
    for (int round = 0; round < 2000; round++) {
        const uint64_t first = 1 + (test_random_next(&rng) >> (12 + test_random_below(&rng, 20)));
        const uint32_t powers = 2 + test_random_below(&rng, 12);
        const double fixed = 1000 + test_random_below(&rng, 100000);
        const double each = (1 + test_random_below(&rng, 100000)) / 1000.0;
        memset(&times, 0, sizeof times);
        learn_well(first, (uint64_t)(fixed + each * (double)first + 0.5));
        for (uint32_t i = 0; i <= powers + 100; i++) {
            const uint64_t amount = i <= powers ? first << i
                                                : (first << test_random_below(&rng, powers)) +
                                                      test_random_below(&rng, (uint32_t)first);
            learn_well(amount, (uint64_t)(fixed + each * (double)amount + 0.5));
        }
        assert_true(used_points() >= 2);
        for (int i = 0; i < 50; i++) {
            const uint64_t amount =
                (first << test_random_below(&rng, powers)) +
                test_random_below(&rng, (uint32_t)(first < 1000 ? first : 1000));
            const double expected = fixed + each * (double)amount;
            assert_true(is_within(predict(amount), (uint64_t)expected, 0.01));
        }
        const double expected = fixed + each * (double)(first << (powers + 3));
        assert_true(is_within(predict(first << (powers + 3)), (uint64_t)expected, 0.05));
    }
}

/* From other amounts than the one that is new: how far predictions are off, in 256ths of a power.
 * */
static void error_tells_whether_amounts_tell_time(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        const uint64_t amount = 1000 + test_random_below(&rng, 1000000);
        learn(amount, 5000 + 2 * amount);
    }
    assert_true(times.error.value < DYNSEL_LOG2_ONE / 8);
    const uint32_t before = times.error.value;
    learn(1000, LONGEST); /* a spike is one error */
    assert_true(times.error.value <= before + DYNSEL_LOG2_ONE / 4);
    for (uint64_t i = 0; i < 200; i++) {
        learn(1000, i % 2 == 0 ? 10000 : 10000000);
    }
    assert_true(times.error.value > DYNSEL_LOG2_ONE / 4);
    assert_int_equal(times.samples.value, DYNSEL_FINISH_MOST_SAMPLES);
}

static void learned_time_ends_trials(void **state)
{
    (void)state;
    times.trials.value = 3;
    learn(1000, 5000);
    assert_int_equal(times.trials.value, 0);
}

static uint64_t readback(void)
{
    return dynsel_expand(times.readback.value);
}

/* As much for each run as all copies of results took, lately. */
static void readback_is_mean_over_runs(void **state)
{
    (void)state;
    assert_int_equal(readback(), 0);
    dynsel_finish_learn_readback(&times, 5000); /* before a run was counted */
    assert_int_equal(readback(), 5000);
    memset(&times, 0, sizeof times);
    for (uint32_t i = 1; i <= 20000; i++) {
        times.runs.value = i;
        if (i % 4 == 0) {
            dynsel_finish_learn_readback(&times, 40000);
        }
        assert_true(i < 400 || is_within(readback(), 10000, 0.02));
    }
    for (uint32_t i = 20001; i <= 24000; i++) {
        times.runs.value = i;
        dynsel_finish_learn_readback(&times, 40000);
    }
    assert_true(is_within(readback(), 40000, 0.02));
    dynsel_finish_learn_readback(&times, UINT64_MAX);
    dynsel_finish_learn_readback(&times, UINT64_MAX);
    assert_in_range(readback(), LONGEST / 256, 2 * LONGEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(nothing_is_predicted_from_nothing),
        TEST_SET_UP(one_point_scales),
        TEST_SET_UP(one_point_scales_beyond_shortest_time),
        TEST_SET_UP(two_points_interpolate),
        TEST_SET_UP(line_continues_beyond_points),
        TEST_SET_UP(line_beyond_points_is_through_nearest_two),
        TEST_SET_UP(falling_times_say_nothing_beyond),
        TEST_SET_UP(equal_times_stay_equal),
        TEST_SET_UP(spike_does_not_change_estimate),
        TEST_SET_UP(lasting_change_is_learned),
        TEST_SET_UP(second_time_replaces_first),
        TEST_SET_UP(near_amounts_share_point),
        TEST_SET_UP(time_of_near_amount_changes_no_more_than_amount),
        TEST_SET_UP(extremes_are_kept_of_many_amounts),
        TEST_SET_UP(amount_between_close_points_takes_no_other_place),
        TEST_SET_UP(amounts_that_are_not_said_are_one),
        TEST_SET_UP(amount_of_zero_beside_others_has_its_own_time),
        TEST_SET_UP(amount_of_zero_takes_times_of_small_amounts),
        TEST_SET_UP(largest_amount_is_one_as_others),
        TEST_SET_UP(no_time_counts_as_least),
        TEST_SET_UP(long_times_count_as_longest),
        TEST_SET_UP(predictions_have_bounds),
        TEST_SET_UP(predictions_are_on_random_lines),
        TEST_SET_UP(error_tells_whether_amounts_tell_time),
        TEST_SET_UP(learned_time_ends_trials),
        TEST_SET_UP(readback_is_mean_over_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
