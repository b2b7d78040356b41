/* SPDX-License-Identifier: Apache-2.0 */
/* A policy on one device that wants the times of all work, or of none, and counts those it gets. */
#ifndef DYNSEL_TESTS_OPENCL_TIMING_POLICY_H
#define DYNSEL_TESTS_OPENCL_TIMING_POLICY_H

#include <stdbool.h>

#include <dynsel/dynsel.h>

#include "test.h"

typedef struct timing_policy {
    dynsel_policy policy; /* first: it is what the operations get */
    bool wants_times;
    bool without_copies;
    uint32_t times;
    uint64_t time_ns; /* the last */
} timing_policy;

static inline dynsel_status timing_policy_select(dynsel_policy *base, const dynsel_task *task,
                                                 dynsel_selection *selection)
{
    (void)task;
    const timing_policy *const timing = (const timing_policy *)base;
    selection->index = 0;
    if (!timing->wants_times) {
        selection->wants &= (uint8_t)~DYNSEL_TASK_TIME;
    }
    selection->wants |= timing->without_copies ? DYNSEL_TASK_WITHOUT_COPIES : 0;
    return DYNSEL_OK;
}

static inline void timing_policy_report(dynsel_policy *base, const dynsel_selection *selection,
                                        dynsel_execution_info info, uint64_t value)
{
    timing_policy *const timing = (timing_policy *)base;
    (void)selection;
    if (info == DYNSEL_TASK_TIME) {
        timing->times++;
        timing->time_ns = value;
    }
}

/* It wants times. `adapt`: NULL for none. */
static inline void timing_policy_init(timing_policy *timing, dynsel_resource resource,
                                      void *(*adapt)(void *))
{
    static const dynsel_policy_ops ops = {.name = "timing",
                                          .needs = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION |
                                                   DYNSEL_TASK_TIME,
                                          .try_select = timing_policy_select,
                                          .report = timing_policy_report};
    const dynsel_options options = {.resources = &resource, .count = 1, .adapt = adapt};
    *timing = (timing_policy){.wants_times = true};
    assert_status(DYNSEL_OK, dynsel_policy_init(&timing->policy, &ops, &options));
}

#endif
