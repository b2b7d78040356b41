/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/selection.h>

#include "base/fail.h"
#include "policy/policy.h"
#include "submission/slot_table.h"
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
    const dynsel_submit_options options = {.function = DYNSEL_TEXT(__func__)};
    dynsel_selection chosen;
    const dynsel_status status = dynsel_choose(&options, policy, task, &chosen, false);
    if (DYNSEL_CORE_LOOKS_AT_CHOICE && status == DYNSEL_OK &&
        !dynsel_is_candidate(policy, chosen.index, task)) {
        return dynsel_policy_refuse_task(policy, chosen.index, chosen.index + 1, task);
    }
    if (status == DYNSEL_OK) {
        chosen.life = dynsel_policy_life(policy);
        *selection = chosen;
    }
    return status;
}
