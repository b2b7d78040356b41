/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of programs about work that they ran themselves. */
#include "policy/report.h"

#include "base/fail.h"
#include "policy/selection.h"
#include "policy/usable.h"

bool dynsel_selection_needs(const dynsel_selection *selection, dynsel_execution_info info)
{
    return selection != NULL && selection->policy != NULL &&
           dynsel_policy_is_of_life(selection->policy, selection->life) &&
           (selection->wants & (unsigned)info) != 0;
}

/* A needed submission comes first, each report comes once, and none after the completion. The
 * read-back time follows the time, also after the completion. */
static bool in_order(const dynsel_selection *selection, dynsel_execution_info info)
{
    const unsigned before = selection->reported;
    if (info == DYNSEL_TASK_READBACK_TIME) {
        return (before & DYNSEL_TASK_TIME) != 0;
    }
    if ((before & (unsigned)info) != 0 || (before & DYNSEL_TASK_COMPLETION) != 0) {
        return false;
    }
    if (info == DYNSEL_TASK_SUBMISSION) {
        return before == 0;
    }
    return (selection->wants & ~before & DYNSEL_TASK_SUBMISSION) == 0;
}

static dynsel_status report(dynsel_selection *selection, dynsel_execution_info info, uint64_t value,
                            const char *function)
{
    const dynsel_status status = dynsel_selection_check(selection, function);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (!in_order(selection, info)) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "out of order: submission, then time, then completion, each once", 0);
    }
    if ((selection->wants & (unsigned)info) != 0) {
        dynsel_tell(selection, info, value);
    }
    selection->reported |= (uint8_t)info;
    return DYNSEL_OK;
}

dynsel_status dynsel_report(dynsel_selection *selection, dynsel_execution_info info)
{
    if (info != DYNSEL_TASK_SUBMISSION && info != DYNSEL_TASK_COMPLETION) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "only submission and completion have no value");
    }
    return report(selection, info, 0, DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_report_value(dynsel_selection *selection, dynsel_execution_info info,
                                  uint64_t value)
{
    if (info != DYNSEL_TASK_TIME && info != DYNSEL_TASK_START_TIME &&
        info != DYNSEL_TASK_READBACK_TIME) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "only times have a value");
    }
    return report(selection, info, value, DYNSEL_TEXT(__func__));
}
