/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/selection.h>

#include "base/fail.h"
#include "policy/policy.h"
#include "submission/in_flight.h"
#include "submission/start.h"

dynsel_status dynsel_select(dynsel_policy *policy, const dynsel_task *task,
                            dynsel_selection *selection)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, DYNSEL_TEXT(__func__));
    }
    if (!dynsel_task_is_valid(task) || selection == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the task has no function, or an argument is NULL");
    }
    if (DYNSEL_RESOURCES_ARE_ALIKE && dynsel_function_at(policy, 0, task) == NULL) {
        return dynsel_policy_refuse(policy, task);
    }
    if (CONFIG_DYNSEL_CUSTOM_POLICIES && policy->ops->try_select == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_UNSUPPORTED, "the policy only submits, it does not select");
    }
    dynsel_in_flight_look(policy);
    const dynsel_manner manner = {.function = DYNSEL_TEXT(__func__)};
    dynsel_selection chosen;
    const dynsel_status status = dynsel_choose(&manner, policy, task, &chosen, false);
    if (DYNSEL_CORE_LOOKS_AT_CHOICE && status == DYNSEL_OK &&
        dynsel_function_at(policy, chosen.index, task) == NULL) {
        return dynsel_policy_refuse_task(policy, chosen.index, chosen.index + 1, task);
    }
    if (status == DYNSEL_OK) {
        chosen.life = dynsel_policy_life(policy);
        *selection = chosen;
    }
    return status;
}

dynsel_status dynsel_selection_check(const dynsel_selection *selection, const char *function)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (selection == NULL) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID, "the selection is NULL", 0);
    }
    const dynsel_policy *policy = selection->policy;
    if (policy == NULL) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_STALE, "the selection was consumed by a submit",
                              0);
    }
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, function);
    }
    if (!dynsel_policy_is_of_life(policy, selection->life) || selection->index >= policy->count) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "the policy was deinitialized since it chose, or the selection is "
                              "not one that dynsel_select() made",
                              0);
    }
    return DYNSEL_OK;
}

const dynsel_resource *dynsel_selection_unwrap(const dynsel_selection *selection)
{
    return dynsel_selection_check(selection, DYNSEL_TEXT(__func__)) == DYNSEL_OK
               ? &selection->policy->resources[selection->index]
               : NULL;
}

dynsel_policy *dynsel_selection_policy(const dynsel_selection *selection)
{
    return selection != NULL ? selection->policy : NULL;
}
