/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/fixed_resource.h>

#include "base/fail.h"
#include "policy/policy.h"

DYNSEL_ASIDE static dynsel_status select_if_candidate(const dynsel_policy *base, uint32_t index,
                                                      const dynsel_task *task,
                                                      dynsel_selection *selection)
{
    if (!dynsel_is_candidate(base, index, task)) {
        return dynsel_policy_refuse_task(base, index, index + 1, task);
    }
    selection->index = index;
    selection->reason = DYNSEL_REASON_FIXED;
    return DYNSEL_OK;
}

static dynsel_status try_select(dynsel_policy *base, const dynsel_task *task,
                                dynsel_selection *selection)
{
    const uint32_t index = ((const dynsel_fixed_resource_policy *)base)->index;
    if (!DYNSEL_CORE_LOOKS_AT_CHOICE && !dynsel_all_are_candidates(base, task)) {
        return select_if_candidate(base, index, task, selection);
    }
    selection->index = index;
    selection->reason = DYNSEL_REASON_FIXED;
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_TRACE
/* It never changes. */
static bool is_new(const dynsel_policy *base)
{
    (void)base;
    return true;
}
#endif

static const dynsel_policy_ops ops = {.name = DYNSEL_POLICY_NAME("fixed_resource"),
#if CONFIG_DYNSEL_TRACE
                                      .is_new = is_new,
#endif
                                      DYNSEL_TAKES_ANY_RESOURCE.try_select = try_select};

dynsel_status dynsel_fixed_resource_init(dynsel_fixed_resource_policy *policy,
                                         const dynsel_options *options, size_t offset)
{
    if (CONFIG_DYNSEL_ERROR_TEXTS && policy == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the policy is NULL");
    }
    const dynsel_status status =
        dynsel_policy_init_at((dynsel_policy *)policy, &ops, options, offset);
    if (status == DYNSEL_OK) {
        policy->index = (uint32_t)offset;
        dynsel_traced_option(&policy->policy, offset);
    }
    return status;
}
