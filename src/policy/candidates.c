/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/candidates.h"

#include "base/fail.h"
#include "port/assert.h"

static bool has_form(const dynsel_policy *policy, uint32_t index, const dynsel_task *task)
{
    return dynsel_function_for(task, policy->resources[index].backend) != NULL;
}

dynsel_status dynsel_policy_refuse_task(const dynsel_policy *policy, uint32_t first, uint32_t end,
                                        const dynsel_task *task)
{
    dynsel_aspect_set missing = 0;
    bool excluded = false;
    uint32_t refused = end;
    for (uint32_t i = first; !CONFIG_DYNSEL_ONLY_FORMS_DECIDE && i < end; i++) {
        if (task == NULL || dynsel_function_at(policy, i, task) != NULL) {
            if (dynsel_health_was_taken(policy, i)) {
                return DYNSEL_E_AGAIN;
            }
            if (!CONFIG_DYNSEL_RESOURCE_STATES) {
                return dynsel_resource_refuse(policy, i);
            }
            refused = refused == end ? i : refused;
            continue;
        }
        if (has_form(policy, i, task)) {
            missing = missing == 0 ? dynsel_missing_aspects(policy, i, task) : missing;
            excluded = excluded || dynsel_is_excluded(task, i);
        }
    }
    if (CONFIG_DYNSEL_RESOURCE_STATES && refused != end) {
        return dynsel_resource_refuse(policy, refused);
    }
    if (excluded) { /* src/groups/pointer_access.c has the better text */
        return DYNSEL_FAIL_IN(DYNSEL_TEXT(policy->ops->name), DYNSEL_E_INVALID,
                              "no resource that the policy may choose takes the task's pointers",
                              0);
    }
    if (missing != 0) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT(policy->ops->name), DYNSEL_E_ASPECT,
                              "the task needs {aspect}, and no resource that the policy may choose "
                              "has all that it needs",
                              dynsel_first_aspect(missing));
    }
    return DYNSEL_FAIL_IN(DYNSEL_TEXT(policy->ops->name), DYNSEL_E_UNSUPPORTED,
                          "the task has no form for any resource that the policy may choose", 0);
}

/* The reason why a resource cannot run a task. */
static dynsel_reason reason_against(const dynsel_policy *policy, uint32_t index,
                                    const dynsel_task *task)
{
    if (dynsel_function_at(policy, index, task) != NULL) {
        return DYNSEL_REASON_ONLY_IN_SERVICE;
    }
    return has_form(policy, index, task) && dynsel_missing_aspects(policy, index, task) != 0
               ? DYNSEL_REASON_ONLY_WITH_ASPECTS
               : DYNSEL_REASON_ONLY_CANDIDATE;
}

dynsel_reason dynsel_policy_reason_of_only(const dynsel_policy *policy, uint32_t index,
                                           const dynsel_task *task)
{
    dynsel_reason reason = DYNSEL_REASON_ONLY_CANDIDATE;
    for (uint32_t i = 0; !CONFIG_DYNSEL_ONLY_FORMS_DECIDE && i < dynsel_policy_count(policy); i++) {
        const dynsel_reason other =
            i != index ? reason_against(policy, i, task) : DYNSEL_REASON_ONLY_CANDIDATE;
        reason = other > reason ? other : reason;
    }
    return reason;
}

#if CONFIG_DYNSEL_RESOURCE_SETS
/* Whether there is a candidate after all. A look at one resource after the other may find the new
 * one of a set not yet there, and the old one gone already; so it is repeated when a state has
 * changed meanwhile. */
static bool one_is_there(const dynsel_policy *policy, const dynsel_task *task)
{
    uint32_t before = 0;
    do {
        before = dynsel_word_load_acquire(&policy->state_changes);
        for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
            const uint32_t health = dynsel_word_load_acquire(&policy->queues[i].health);
            if ((health & DYNSEL_HEALTH_LEAVES) == 0 && dynsel_is_candidate(policy, i, task)) {
                return true;
            }
        }
    } while (dynsel_word_load_relaxed(&policy->state_changes) != before);
    return false;
}
#endif

dynsel_status dynsel_policy_refuse(const dynsel_policy *policy, const dynsel_task *task)
{
#if CONFIG_DYNSEL_RESOURCE_SETS
    if (dynsel_policy_changes(policy) && task != NULL && one_is_there(policy, task)) {
        return DYNSEL_E_AGAIN;
    }
#endif
    return dynsel_policy_refuse_task(policy, 0, dynsel_policy_count(policy), task);
}

#if CONFIG_DYNSEL_CUSTOM_POLICIES
bool dynsel_policy_may_use(const dynsel_policy *policy, uint32_t index, const dynsel_task *task)
{
    DYNSEL_ASSERT(dynsel_policy_is_usable(policy) && index < dynsel_policy_count(policy) &&
                  task != NULL);
    return dynsel_is_candidate(policy, index, task);
}
#endif
