/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a policy and its table of resources. */
#include "policy/policy.h"

#include "base/fail.h"
#include "policy/after_fork.h"
#include "policy/resource_table.h"
#include "port/likely.h"

#if CONFIG_DYNSEL_CUSTOM_POLICIES

static bool has_custom_submit(const dynsel_policy_ops *ops)
{
    return ops->try_select == NULL || ops->submit != NULL || ops->try_submit != NULL;
}

static bool are_complete(const dynsel_policy *policy, const dynsel_policy_ops *ops)
{
    return policy != NULL && ops != NULL &&
           (ops->try_select != NULL || ops->submit != NULL || ops->try_submit != NULL ||
            ops->submit_and_wait != NULL) &&
           (ops->needs == 0 || ops->report != NULL);
}

#else

static bool has_custom_submit(const dynsel_policy_ops *ops)
{
    (void)ops;
    return false;
}

/* Built-in policies have complete operations. */
static bool are_complete(const dynsel_policy *policy, const dynsel_policy_ops *ops)
{
    (void)ops;
    return policy != NULL;
}

#endif

static dynsel_status check_new(const dynsel_policy *policy, const dynsel_policy_ops *ops)
{
    if (!are_complete(policy, ops)) {
        return DYNSEL_FAIL_IN(
            DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
            "the policy or its operations are NULL, or lack a way to submit, or report", 0);
    }
    if (policy->self != NULL || policy->count != 0) {
        return DYNSEL_FAIL_IN(
            DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
            policy->self == policy
                ? "the policy is initialized already: call dynsel_policy_deinit() first"
                : "the policy is a copy or not zeroed: set it to zero before its first use",
            0);
    }
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_RESOURCE_SETS

dynsel_status dynsel_policy_take_any(dynsel_policy *policy, uint32_t index)
{
    (void)policy;
    (void)index;
    return DYNSEL_OK;
}

static dynsel_status check_changes(const dynsel_policy_ops *ops, const dynsel_options *options)
{
    return options != NULL && options->may_change && ops->add_resource == NULL
               ? DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_UNSUPPORTED,
                                "options.may_change is for policies with the operation "
                                "add_resource, which this one lacks",
                                0)
               : DYNSEL_OK;
}

/* Resources of any backend may come, and work is counted in its slot. */
static void allow_changes(dynsel_policy *policy, const dynsel_options *options)
{
    if (options != NULL && options->may_change) {
        policy->submit_flags |=
            DYNSEL_SUBMIT_CHANGES | DYNSEL_SUBMIT_WITH_SLOTS | DYNSEL_SUBMIT_THROUGH_BACKENDS;
        policy->adapt = options->adapt;
    }
}

#else

static dynsel_status check_changes(const dynsel_policy_ops *ops, const dynsel_options *options)
{
    (void)ops;
    (void)options;
    return DYNSEL_OK;
}

static void allow_changes(dynsel_policy *policy, const dynsel_options *options)
{
    (void)policy;
    (void)options;
}

#endif

DYNSEL_RARE dynsel_status dynsel_policy_init_at(dynsel_policy *policy, const dynsel_policy_ops *ops,
                                                const dynsel_options *options, size_t offset)
{
    dynsel_status status = dynsel_in_interrupt() ? DYNSEL_E_CONTEXT : check_new(policy, ops);
    status = status == DYNSEL_OK ? check_changes(ops, options) : status;
    if (status != DYNSEL_OK) {
        return status;
    }
    policy->ops = ops;
    status = dynsel_table_fill(policy, options);
    if (status == DYNSEL_OK && offset >= policy->count) {
        status =
            DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_policy_init"), DYNSEL_E_INVALID,
                           "the offset is past the table: there are {} resources", policy->count);
    }
    if (status != DYNSEL_OK) {
        dynsel_table_leave(policy, policy->count);
        *policy = (dynsel_policy){0};
        return status;
    }
    policy->submit_flags |= has_custom_submit(ops) ? DYNSEL_SUBMIT_CUSTOM : 0;
    allow_changes(policy, options);
#if CONFIG_DYNSEL_RESOURCE_STATES
    policy->resource_changed = options != NULL ? options->resource_changed : NULL;
#endif
    policy->self = policy;
    dynsel_fork_enter(policy);
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_CUSTOM_POLICIES
dynsel_status dynsel_policy_init(dynsel_policy *policy, const dynsel_policy_ops *ops,
                                 const dynsel_options *options)
{
    return dynsel_policy_init_at(policy, ops, options, 0);
}
#endif

const dynsel_resource *dynsel_get_resources(const dynsel_policy *policy, size_t *count)
{
    if (count == NULL) {
        (void)DYNSEL_FAIL(DYNSEL_E_INVALID, "count is NULL");
        return NULL;
    }
    *count = 0;
    if (!dynsel_policy_is_usable(policy)) {
        (void)dynsel_policy_refuse_use(policy, DYNSEL_TEXT(__func__));
        return NULL;
    }
    *count = dynsel_policy_count(policy);
    return policy->resources;
}

#if CONFIG_DYNSEL_ASPECTS
size_t dynsel_refused_count(const dynsel_policy *policy)
{
    return dynsel_policy_is_usable(policy) ? policy->refused : 0;
}
#endif
