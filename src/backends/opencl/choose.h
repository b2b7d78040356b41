/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_BACKENDS_OPENCL_CHOOSE_H
#define DYNSEL_BACKENDS_OPENCL_CHOOSE_H

#include "backends/opencl/selector.h"
#include "backends/opencl/table.h"

/* What a selector makes of each device that was found, by index. */
typedef struct dynsel_opencl_choice {
    uint64_t chosen; /* as bits by index */
    uint32_t count;  /* of the chosen */
    dynsel_opencl_verdict verdicts[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
} dynsel_opencl_choice;

/* Under the lock. */
void dynsel_opencl_choose(const dynsel_opencl_table *table, const dynsel_opencl_selector *selector,
                          dynsel_opencl_choice *choice);

#endif
