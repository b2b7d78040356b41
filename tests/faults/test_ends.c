/* SPDX-License-Identifier: Apache-2.0 */
/* However commands end, and whatever drivers tell about it: nothing hangs, leaks or is wrong. */
#include "faults/scenario_tests.h"

static void survives_each_end(void **state)
{
    if (*state == &fault_opening && !fault_is_whole()) {
        skip(); /* it has the commands of the others, and building takes time */
    }
    assert_int_equal(fault_sweep_ends(*state), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO_TEST(chain, survives_each_end),
        SCENARIO_TEST(shared, survives_each_end),
#if CONFIG_DYNSEL_CUSTOM_POLICIES
        SCENARIO_TEST(timed, survives_each_end),
        SCENARIO_TEST(profiled, survives_each_end),
#endif
        SCENARIO_TEST(beside, survives_each_end),
        SCENARIO_TEST(fill, survives_each_end),
        SCENARIO_TEST(ranges, survives_each_end),
#if CONFIG_DYNSEL_SVM
        SCENARIO_TEST(svm, survives_each_end),
#endif
        SCENARIO_TEST(opening, survives_each_end),
        SCENARIO_TEST(copies, survives_each_end),
        SCENARIO_TEST(pinned, survives_each_end),
        SCENARIO_TEST(memory, survives_each_end),
        SCENARIO_TEST(events, survives_each_end),
    };
    scenario_filter();
    return scenario_end(cmocka_run_group_tests(tests, NULL, NULL));
}
