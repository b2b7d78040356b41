/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of the fault tests tried: printed at its end. */
#ifndef DYNSEL_TESTS_FAULTS_COUNTS_H
#define DYNSEL_TESTS_FAULTS_COUNTS_H

#include "faults/layer.h"

/* DYNSEL_TEST_FAULTS=all: the whole matrix, which `scons soak` plays; else a subset. */
bool fault_is_whole(void);

void fault_count_scenario(void);

/* A case was played; came: the call was reached. */
void fault_count_case(const fault_point *point, bool came);

/* The function has so many calls in a scenario. */
void fault_count_calls(fault_function function, uint32_t calls);

/* Cases of the whole matrix that are not played. */
void fault_count_left_out(uint32_t cases);

void fault_print_counts(void);

#endif
