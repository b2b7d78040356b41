/* SPDX-License-Identifier: Apache-2.0 */
/* One test for each scenario, and the main program of such tests. */
#ifndef DYNSEL_TESTS_FAULTS_SCENARIO_TESTS_H
#define DYNSEL_TESTS_FAULTS_SCENARIO_TESTS_H

#include <stdio.h>
#include <stdlib.h>

#include "faults/counts.h"
#include "faults/own_queue.h"
#include "faults/scenarios.h"
#include "test.h"

/* "chain_scenario_survives_each_end"; the state of the function is the scenario. */
#define SCENARIO_TEST(scenario, function)                                                          \
    {                                                                                              \
        .name = #scenario "_scenario_" #function, .test_func = (function),                         \
        .initial_state = (void *)&fault_##scenario                                                 \
    }

/* DYNSEL_TEST_SCENARIO: only the scenario of this name. */
static inline void scenario_filter(void)
{
    static char tests_of_scenario[64];
    const char *const scenario = getenv("DYNSEL_TEST_SCENARIO");
    if (scenario != NULL) {
        (void)snprintf(tests_of_scenario, sizeof tests_of_scenario, "%s_scenario_*", scenario);
        cmocka_set_test_filter(tests_of_scenario);
    }
}

static inline int scenario_end(int failed)
{
    fault_release_own_queue();
    fault_print_counts();
    return failed;
}

#endif
