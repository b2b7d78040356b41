/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever call of OpenCL's fails, once or for good: nothing hangs, leaks or is wrong. */
#include "faults/scenario_tests.h"

static void survives_each_fault(void **state)
{
    assert_int_equal(fault_sweep(*state), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO_TEST(chain, survives_each_fault),
        SCENARIO_TEST(shared, survives_each_fault),
#if CONFIG_DYNSEL_CUSTOM_POLICIES
        SCENARIO_TEST(timed, survives_each_fault),
        SCENARIO_TEST(profiled, survives_each_fault),
        SCENARIO_TEST(proving, survives_each_fault),
#endif
        SCENARIO_TEST(beside, survives_each_fault),
        SCENARIO_TEST(fill, survives_each_fault),
        SCENARIO_TEST(ranges, survives_each_fault),
#if CONFIG_DYNSEL_SVM
        SCENARIO_TEST(svm, survives_each_fault),
#endif
        SCENARIO_TEST(opening, survives_each_fault),
        SCENARIO_TEST(reinstating, survives_each_fault),
        SCENARIO_TEST(finding, survives_each_fault),
        SCENARIO_TEST(copies, survives_each_fault),
        SCENARIO_TEST(stored, survives_each_fault),
        SCENARIO_TEST(adopting, survives_each_fault),
        SCENARIO_TEST(memory, survives_each_fault),
        SCENARIO_TEST(events, survives_each_fault),
        SCENARIO_TEST(flushed, survives_each_fault),
        SCENARIO_TEST(batched, survives_each_fault),
        SCENARIO_TEST(log, survives_each_fault),
        SCENARIO_TEST(pinned, survives_each_fault),
#if CONFIG_DYNSEL_SVM
        SCENARIO_TEST(sharing, survives_each_fault),
#endif
        SCENARIO_TEST(closing, survives_each_fault),
    };
    scenario_filter();
    return scenario_end(cmocka_run_group_tests(tests, NULL, NULL));
}
