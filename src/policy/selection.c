/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on a selection that the program holds. */
#include "policy/selection.h"

#include "base/fail.h"
#include "policy/usable.h"

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
    if (!dynsel_policy_is_of_life(policy, selection->life) ||
        selection->index >= dynsel_policy_count(policy)) {
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
