/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever call of OpenCL's fails, once or for good: nothing hangs, leaks or is wrong. */
#include <stdio.h>
#include <stdlib.h>

#include "faults/counts.h"
#include "faults/own_queue.h"
#include "faults/scenarios.h"
#include "test.h"

static void chain_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_chain), 0);
}

static void shared_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_shared), 0);
}

#if CONFIG_DYNSEL_CUSTOM_POLICIES
static void timed_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_timed), 0);
}

static void profiled_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_profiled), 0);
}

static void proving_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_proving), 0);
}
#endif

static void beside_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_beside), 0);
}

static void fill_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_fill), 0);
}

static void ranges_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_ranges), 0);
}

#if CONFIG_DYNSEL_SVM
static void svm_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_svm), 0);
}
#endif

static void opening_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_opening), 0);
}

static void reinstating_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_reinstating), 0);
}

static void finding_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_finding), 0);
}

static void copies_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_copies), 0);
}

static void stored_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_stored), 0);
}

static void adopting_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_adopting), 0);
}

static void pinned_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_pinned), 0);
}

#if CONFIG_DYNSEL_SVM
static void sharing_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_sharing), 0);
}
#endif

static void closing_scenario_survives_each_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_sweep(&fault_closing), 0);
}

/* DYNSEL_TEST_SCENARIO: only the scenario of this name. */
int main(void)
{
    const char *const scenario = getenv("DYNSEL_TEST_SCENARIO");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_scenario_survives_each_fault),
        cmocka_unit_test(shared_scenario_survives_each_fault),
#if CONFIG_DYNSEL_CUSTOM_POLICIES
        cmocka_unit_test(timed_scenario_survives_each_fault),
        cmocka_unit_test(profiled_scenario_survives_each_fault),
        cmocka_unit_test(proving_scenario_survives_each_fault),
#endif
        cmocka_unit_test(beside_scenario_survives_each_fault),
        cmocka_unit_test(fill_scenario_survives_each_fault),
        cmocka_unit_test(ranges_scenario_survives_each_fault),
#if CONFIG_DYNSEL_SVM
        cmocka_unit_test(svm_scenario_survives_each_fault),
#endif
        cmocka_unit_test(opening_scenario_survives_each_fault),
        cmocka_unit_test(reinstating_scenario_survives_each_fault),
        cmocka_unit_test(finding_scenario_survives_each_fault),
        cmocka_unit_test(copies_scenario_survives_each_fault),
        cmocka_unit_test(stored_scenario_survives_each_fault),
        cmocka_unit_test(adopting_scenario_survives_each_fault),
        cmocka_unit_test(pinned_scenario_survives_each_fault),
#if CONFIG_DYNSEL_SVM
        cmocka_unit_test(sharing_scenario_survives_each_fault),
#endif
        cmocka_unit_test(closing_scenario_survives_each_fault),
    };
    if (scenario != NULL) {
        static char tests_of_scenario[64];
        (void)snprintf(tests_of_scenario, sizeof tests_of_scenario, "%s_scenario_*", scenario);
        cmocka_set_test_filter(tests_of_scenario);
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fault_release_own_queue();
    fault_print_counts();
    return failed;
}
