/* SPDX-License-Identifier: Apache-2.0 */
/* The table of resources of a policy: how it is filled and left. */
#ifndef DYNSEL_POLICY_RESOURCE_TABLE_H
#define DYNSEL_POLICY_RESOURCE_TABLE_H

#include <stdbool.h>

#include <dynsel/policy.h>

#include "base/fail.h"
#include "policy/device.h"

/* Fills the table, adapts and verifies its resources, and attaches them. After a failure the policy
 * has the attached ones, for dynsel_table_leave(). options: may be NULL. */
dynsel_status dynsel_table_fill(dynsel_policy *policy, const dynsel_options *options);

/* Ends the use of one resource. */
void dynsel_table_detach(dynsel_policy *policy, uint32_t index);

/* Detaches the first `count` resources, but for those that were removed. */
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
void dynsel_table_leave(dynsel_policy *policy, uint32_t count);
#else
static inline void dynsel_table_leave(dynsel_policy *policy, uint32_t count)
{
    (void)policy;
    (void)count;
}
#endif

/* Converts the user's handle into the backend's own. */
static inline dynsel_status dynsel_table_adapt(dynsel_policy *policy, uint32_t index,
                                               void *(*adapt)(void *))
{
    void *own = policy->resources[index].handle;
    if (adapt != NULL) {
        const uint32_t failures_before = dynsel_this_thread()->failure_count;
        own = adapt(own);
        if (own == NULL) {
            /* with small tables bytes count more than the error that adapt() set */
            return !CONFIG_DYNSEL_IN_FLIGHT_SMALL &&
                           dynsel_this_thread()->failure_count != failures_before
                       ? dynsel_this_thread()->last_error.status
                       : DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
                                        "adapt() refused the handle of resource {}", index);
        }
    }
    if (CONFIG_DYNSEL_CUSTOM_BACKENDS || CONFIG_DYNSEL_ASPECTS) { /* they use it */
        policy->queues[index].own = own;
    }
    return DYNSEL_OK;
}

/* Excludes the resource at `index`: those behind it move up. */
static inline void dynsel_table_leave_out(dynsel_policy *policy, uint32_t index)
{
#if CONFIG_DYNSEL_ASPECTS
    policy->refused++;
#endif
    policy->count--;
    for (uint32_t i = index; i < policy->count && i + 1 < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        policy->resources[i] = policy->resources[i + 1];
    }
}

#if CONFIG_DYNSEL_ASPECTS
/* Verifies the device. A default resource that fails is excluded. left_out: out. */
static inline dynsel_status dynsel_table_admit(dynsel_policy *policy, uint32_t index, bool given,
                                               bool *left_out)
{
    const dynsel_status status = dynsel_admit(policy, index);
    *left_out = status == DYNSEL_E_ASPECT && !given;
    if (!*left_out) {
        return status;
    }
    dynsel_table_leave_out(policy, index);
    return policy->count != 0 ? DYNSEL_OK : status;
}
#else
static inline dynsel_status dynsel_table_admit(dynsel_policy *policy, uint32_t index, bool given,
                                               bool *left_out)
{
    (void)policy;
    (void)index;
    (void)given;
    *left_out = false;
    return DYNSEL_OK;
}
#endif

#endif
