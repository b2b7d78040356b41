/* SPDX-License-Identifier: Apache-2.0 */
/* Why a policy cannot be used, or cannot place a task. */
#include "core/fail.h"
#include "core/policy.h"
#include "port/assert.h"

dynsel_status dynsel_policy_refuse_use(const dynsel_policy *policy, const char *function)
{
    if (policy == NULL) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID, "the policy is NULL", 0);
    }
    if (policy->self == NULL) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_UNINITIALIZED,
                              "call one of the *_init functions first", 0);
    }
    return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                          "the policy is a copy: pass a pointer to the one initialized", 0);
}

dynsel_status dynsel_policy_refuse_task(const dynsel_policy *policy, uint32_t first, uint32_t end,
                                        const dynsel_task *task)
{
    for (uint32_t i = first; i < end; i++) {
        const dynsel_resource *resource = &policy->resources[i];
        if (task == NULL || dynsel_function_for(task, resource->backend) != NULL) {
            return dynsel_fail(&(dynsel_error){
                .status = DYNSEL_E_OUT_OF_SERVICE,
                .function = DYNSEL_TEXT(policy->ops->name),
                .subject = DYNSEL_TEXT(dynsel_resource_name(resource)),
                .detail = DYNSEL_TEXT("its device was lost or failed too often: "
                                      "dynsel_resource_reinstate() tries again"),
            });
        }
    }
    return DYNSEL_FAIL_IN(DYNSEL_TEXT(policy->ops->name), DYNSEL_E_UNSUPPORTED,
                          "the task has no form for any resource that the policy may choose", 0);
}

dynsel_status dynsel_policy_refuse(const dynsel_policy *policy, const dynsel_task *task)
{
    return dynsel_policy_refuse_task(policy, 0, policy->count, task);
}

bool dynsel_policy_may_use(const dynsel_policy *policy, uint32_t index, const dynsel_task *task)
{
    DYNSEL_ASSERT(dynsel_policy_is_usable(policy) && index < policy->count && task != NULL);
    return dynsel_is_candidate(policy, index, task);
}
