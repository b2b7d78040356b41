/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with more kinds of work than the table of earliest_finish has entries, so that kinds
 * are forgotten and learned anew.
 */
#define COPY_KINDS 32
#include "policies/finish_copy.h"
#include "policies/finish_mix.h"

static const uint32_t hosts[] = {WORLD_THREAD, WORLD_CALLER};

static void check(uint32_t in_flight)
{
    for (uint32_t i = 0; i < 2; i++) {
        const compare_result it = compare_mix(hosts[i], 0, in_flight);
        assert_true(it.least.first >= 0.9);
        assert_true(it.least.later >= 0.9);
    }
}

static void one_by_one(void **state)
{
    (void)state;
    check(1);
}

static void with_8_in_flight(void **state)
{
    (void)state;
    check(8);
}

static void with_64_in_flight(void **state)
{
    (void)state;
    check(64);
}

static int setup(void **state)
{
    (void)state;
    compare_seed = test_seed();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_by_one),
        cmocka_unit_test(with_8_in_flight),
        cmocka_unit_test(with_64_in_flight),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
