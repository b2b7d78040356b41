/* SPDX-License-Identifier: Apache-2.0 */
/* How a policy comes to its table of resources. */
#ifndef DYNSEL_POLICY_RESOURCE_TABLE_H
#define DYNSEL_POLICY_RESOURCE_TABLE_H

#include <stdbool.h>

#include <dynsel/policy.h>

#include "base/fail.h"
#include "policy/device.h"

/* Fills the table, adapts and proves what is in it, and begins to use it. A failure leaves the
 * policy with those of which the use is to be ended. options: may be NULL. */
dynsel_status dynsel_table_fill(dynsel_policy *policy, const dynsel_options *options);

/* Ends the use of the first `count` resources. */
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
void dynsel_table_leave(dynsel_policy *policy, uint32_t count);
#else
static inline void dynsel_table_leave(dynsel_policy *policy, uint32_t count)
{
    (void)policy;
    (void)count;
}
#endif

/* From the user's handle to the backend's own. */
static inline dynsel_status dynsel_table_adapt(dynsel_policy *policy, uint32_t index,
                                               void *(*adapt)(void *))
{
    void *own = policy->resources[index].handle;
    if (adapt != NULL) {
        const uint32_t failures_before = dynsel_this_thread()->failure_count;
        own = adapt(own);
        if (own == NULL) {
            /* with small tables bytes count more than what adapt() itself said */
            return !CONFIG_DYNSEL_IN_FLIGHT_SMALL &&
                           dynsel_this_thread()->failure_count != failures_before
                       ? dynsel_this_thread()->last_error.status
                       : DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
                                        "adapt() refused the handle of resource {}", index);
        }
    }
    if (CONFIG_DYNSEL_CUSTOM_BACKENDS || CONFIG_DYNSEL_ASPECTS) { /* who works with it */
        policy->queues[index].own = own;
    }
    return DYNSEL_OK;
}

/* Without the resource at `index`: those behind it move up. */
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
/* A default resource that does not stand the proof is left out. left_out: out. */
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
