/* SPDX-License-Identifier: Apache-2.0 */
/* Which resources of a policy may run a task, and why others may not. */
#ifndef DYNSEL_POLICY_CANDIDATES_H
#define DYNSEL_POLICY_CANDIDATES_H

#include "policy/health.h"
#include "policy/task.h"

enum {
    /* A policy may choose a resource that the task cannot use: the submit rejects it then. */
    DYNSEL_CORE_LOOKS_AT_CHOICE = CONFIG_DYNSEL_IN_FLIGHT_SMALL
};

/* Each of the resources may run the task. */
static inline bool dynsel_all_are_candidates(const dynsel_policy *policy, const dynsel_task *task)
{
    return DYNSEL_RESOURCES_ARE_ALIKE ||
           DYNSEL_LIKELY(dynsel_task_suits_all(task) && dynsel_policy_impairment(policy) == 0);
}

/* dynsel_policy_may_use() without a call in the simple case. Where all resources are alike, no
 * policy is asked about a task that they do not run. */
static inline bool dynsel_is_candidate(const dynsel_policy *policy, uint32_t index,
                                       const dynsel_task *task)
{
    return DYNSEL_RESOURCES_ARE_ALIKE || (dynsel_health_may_choose(&policy->queues[index]) &&
                                          dynsel_function_at(policy, index, task) != NULL);
}

#if !CONFIG_DYNSEL_CUSTOM_POLICIES
/* The public header describes them where there are custom policies. */
dynsel_status dynsel_policy_refuse(const dynsel_policy *policy, const dynsel_task *task);
dynsel_reason dynsel_policy_reason_of_only(const dynsel_policy *policy, uint32_t index,
                                           const dynsel_task *task);
#endif

/* Why none of the resources from `first` to before `end` may be used for `task`. */
DYNSEL_RARE dynsel_status dynsel_policy_refuse_task(const dynsel_policy *policy, uint32_t first,
                                                    uint32_t end, const dynsel_task *task);

#endif
