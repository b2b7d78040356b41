/* SPDX-License-Identifier: Apache-2.0 */
/* The integer arithmetic of earliest_finish, against simple second implementations over random
 * numbers of all sizes. */
#include <stdbool.h>

#include "policies/compact_number.h"
#include "random.h"
#include "test.h"

enum { ROUNDS = 200000 };

#define EXACT_BELOW ((uint64_t)1 << 24)
#define MOST_HERE   ((uint64_t)1 << 46)

static test_random rng;

/* Each number of bits is as likely as any other. */
static uint64_t any_number(void)
{
    const uint64_t whole = (uint64_t)test_random_next(&rng) << 32 | test_random_next(&rng);
    const uint32_t bits = test_random_below(&rng, 65);
    return bits == 0 ? 0 : whole >> (64 - bits);
}

static uint64_t any_number_up_to(uint64_t most)
{
    for (;;) {
        const uint64_t number = any_number();
        if (number <= most) {
            return number;
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    rng = (test_random){test_seed()};
    return 0;
}

static void small_numbers_are_kept_exactly(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < EXACT_BELOW; i += 1 + i / 4096) {
        assert_int_equal(dynsel_compact(i), i);
        assert_int_equal(dynsel_expand(dynsel_compact(i)), i);
    }
    assert_int_equal(dynsel_expand(dynsel_compact(EXACT_BELOW - 1)), EXACT_BELOW - 1);
    assert_int_equal(dynsel_expand(dynsel_compact(EXACT_BELOW)), EXACT_BELOW);
}

static void compact_numbers_round_down_by_less_than_24_bits_tell(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t number = any_number();
        const uint64_t back = dynsel_expand(dynsel_compact(number));
        assert_true(back <= number);
        assert_true(number - back <= number >> 23);
        assert_int_equal(dynsel_compact(back), dynsel_compact(number));
    }
}

static void compact_numbers_are_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t a = any_number();
        const uint64_t b = test_random_below(&rng, 2) == 0 ? any_number() : a + (a >> 22) + 1;
        assert_true(a > b || dynsel_compact(a) <= dynsel_compact(b));
        assert_true(a < b || dynsel_compact(a) >= dynsel_compact(b));
    }
    for (uint32_t bit = 0; bit < 64; bit++) {
        const uint64_t power = (uint64_t)1 << bit;
        assert_true(dynsel_compact(power) > dynsel_compact(power - 1));
        assert_int_equal(dynsel_expand(dynsel_compact(power)), power);
    }
}

/* Every compact number up to the largest stands for one number of its own. */
static void each_compact_number_is_used(void **state)
{
    (void)state;
    const uint32_t largest = dynsel_compact(UINT64_MAX);
    assert_true(largest < UINT32_MAX);
    for (int i = 0; i < ROUNDS; i++) {
        const uint32_t compact = test_random_below(&rng, largest);
        assert_int_equal(dynsel_compact(dynsel_expand(compact)), compact);
        assert_true(dynsel_expand(compact) < dynsel_expand(compact + 1));
    }
}

static void extremes_survive(void **state)
{
    (void)state;
    assert_int_equal(dynsel_compact(0), 0);
    assert_int_equal(dynsel_expand(0), 0);
    const uint64_t most = dynsel_expand(dynsel_compact(UINT64_MAX));
    assert_int_equal(most >> 40, UINT64_MAX >> 40);
    assert_int_equal(most << 24, 0);
    assert_int_equal(dynsel_highest_bit(1), 0);
    assert_int_equal(dynsel_highest_bit(UINT64_MAX), 63);
}

/* A difference of a power of two is one of DYNSEL_COMPACT_DOUBLE. */
static void doubling_adds_same_difference(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t number = EXACT_BELOW + any_number_up_to(UINT64_MAX / 4);
        assert_int_equal(dynsel_compact(2 * number) - dynsel_compact(number),
                         DYNSEL_COMPACT_DOUBLE);
    }
}

/* In 256ths of a power of two, straight between powers. */
static double logarithm(double number)
{
    double bit = 0;
    while (number >= 2) {
        number /= 2;
        bit++;
    }
    return 256 * (bit + (number > 1 ? number - 1 : 0));
}

static void logarithms_agree_with_second_implementation(void **state)
{
    (void)state;
    assert_int_equal(dynsel_log2(0), 0);
    assert_int_equal(dynsel_log2(1), 0);
    assert_int_equal(dynsel_log2(3), 256 + 128);
    assert_int_equal(dynsel_log2(UINT64_MAX), 64 * 256 - 1);
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t number = any_number() >> 11; /* exact in double */
        assert_int_equal(dynsel_log2(number), (int32_t)logarithm((double)number));
        assert_true(dynsel_log2(number) <= dynsel_log2(number + 1));
    }
}

static double power(int32_t log2)
{
    double result = 1;
    for (; log2 >= 256; log2 -= 256) {
        result *= 2;
    }
    for (; log2 < 0; log2 += 256) {
        result /= 2;
    }
    return result * (1 + log2 / 256.0);
}

static double at_most(double number, uint64_t most)
{
    return number < (double)most ? number : (double)most;
}

static bool is_near(uint64_t number, double expected, double relative)
{
    const double difference = (double)number - expected;
    return (difference < 0 ? -difference : difference) <= 2 + relative * expected;
}

static void powers_agree_with_second_implementation(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t most = 1 + any_number_up_to(((uint64_t)1 << 53) - 1);
        const uint64_t number = any_number_up_to(most);
        const int32_t log2 = (int32_t)test_random_below(&rng, 140 * 256) - 70 * 256;
        const uint64_t result = dynsel_times_power(number, log2, most);
        assert_true(result <= most);
        assert_true(is_near(result, at_most((double)number * power(log2), most), 1e-12));
    }
}

/* Even of the smallest number: a logarithm alone is a number. */
static void power_of_logarithm_is_number(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t number = 1 + any_number_up_to(MOST_HERE - 1);
        const uint64_t back = dynsel_times_power(1, dynsel_log2(number), MOST_HERE);
        assert_true(back <= number);
        assert_true(number - back <= (number >> 8) + 1);
    }
}

static void powers_end_at_most_and_zero(void **state)
{
    (void)state;
    const int32_t far = 200 * 256;
    assert_int_equal(dynsel_times_power(5, far, MOST_HERE), MOST_HERE);
    assert_int_equal(dynsel_times_power(MOST_HERE, -far, MOST_HERE), 0);
    assert_int_equal(dynsel_times_power(0, far, MOST_HERE), 0);
    assert_int_equal(dynsel_times_power(UINT64_MAX, 0, MOST_HERE), MOST_HERE);
    assert_int_equal(dynsel_times_power(UINT64_MAX, 1, MOST_HERE), MOST_HERE);
    assert_int_equal(dynsel_times_power(MOST_HERE, 255, MOST_HERE), MOST_HERE);
    assert_int_equal(dynsel_times_power(1000, -256, MOST_HERE), 500);
    assert_int_equal(dynsel_times_power(1000, -128, MOST_HERE), 750);
    assert_int_equal(dynsel_times_power(1000, 128, MOST_HERE), 1500);
}

static void proportions_agree_with_second_implementation(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t most = 1 + any_number_up_to(((uint64_t)1 << 47) - 2);
        const uint64_t number = any_number_up_to(most);
        const uint64_t to = any_number();
        const uint64_t from = 1 + any_number_up_to(UINT64_MAX - 1);
        const double exact = (double)number * ((double)to / (double)from);
        const uint64_t result = dynsel_in_proportion(number, to, from, most);
        assert_true(result <= most);
        assert_true(is_near(result, at_most(exact, most), 0x1p-14));
    }
}

static void proportions_of_small_numbers_are_exact(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        const uint64_t number = any_number_up_to(MOST_HERE);
        const uint64_t to = test_random_below(&rng, 1 << 16);
        const uint64_t from = 1 + test_random_below(&rng, (1 << 16) - 1);
        const uint64_t exact = number * to / from;
        assert_int_equal(dynsel_in_proportion(number, to, from, MOST_HERE),
                         exact < MOST_HERE ? exact : MOST_HERE);
    }
}

static void proportions_have_ends(void **state)
{
    (void)state;
    assert_int_equal(dynsel_in_proportion(1234, 77, 0, MOST_HERE), 1234);
    assert_int_equal(dynsel_in_proportion(1234, 0, 0, MOST_HERE), 1234);
    assert_int_equal(dynsel_in_proportion(1234, UINT64_MAX, 0, MOST_HERE), 1234);
    assert_int_equal(dynsel_in_proportion(1234, 0, 5, MOST_HERE), 0);
    assert_int_equal(dynsel_in_proportion(0, UINT64_MAX, 1, MOST_HERE), 0);
    assert_int_equal(dynsel_in_proportion(1, UINT64_MAX, 1, MOST_HERE), MOST_HERE);
    assert_int_equal(dynsel_in_proportion(MOST_HERE, 1, UINT64_MAX, MOST_HERE), 0);
    assert_int_equal(dynsel_in_proportion(MOST_HERE, UINT64_MAX, UINT64_MAX, MOST_HERE), MOST_HERE);
    assert_int_equal(dynsel_in_proportion(1000, 300, 100, MOST_HERE), 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(small_numbers_are_kept_exactly),
        TEST_SET_UP(compact_numbers_round_down_by_less_than_24_bits_tell),
        TEST_SET_UP(compact_numbers_are_in_order),
        TEST_SET_UP(each_compact_number_is_used),
        TEST_SET_UP(extremes_survive),
        TEST_SET_UP(doubling_adds_same_difference),
        TEST_SET_UP(logarithms_agree_with_second_implementation),
        TEST_SET_UP(powers_agree_with_second_implementation),
        TEST_SET_UP(power_of_logarithm_is_number),
        TEST_SET_UP(powers_end_at_most_and_zero),
        TEST_SET_UP(proportions_agree_with_second_implementation),
        TEST_SET_UP(proportions_of_small_numbers_are_exact),
        TEST_SET_UP(proportions_have_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
