/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with more kinds of work than the table of earliest_finish has entries, so that kinds
 * are forgotten and learned anew.
 */
#define COPY_KINDS 32
#include "policies/finish_copy.h"
#include "policies/finish_mix.h"

static void one_by_one(void **state)
{
    (void)state;
    mix_check(1, 0.9, 0);
}

static void with_8_in_flight(void **state)
{
    (void)state;
    mix_check(8, 0.9, 0);
}

static void with_64_in_flight(void **state)
{
    (void)state;
    mix_check(64, 0.9, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_by_one),
        cmocka_unit_test(with_8_in_flight),
        cmocka_unit_test(with_64_in_flight),
    };
    return cmocka_run_group_tests(tests, compare_setup, NULL);
}
