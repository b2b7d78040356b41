/* SPDX-License-Identifier: Apache-2.0 */
/* All work of one policy, or of one backend: waiting for it, and the end of the policy after it. */
#include <dynsel/submission.h>

#include "base/fail.h"
#include "policy/after_fork.h"
#include "policy/policy.h"
#include "policy/resource_table.h"
#include "submission/finish.h"
#include "submission/handle.h"
#include "submission/request.h"
#include "submission/slot_table.h"

dynsel_submission_group dynsel_get_submission_group(dynsel_policy *policy)
{
    return (dynsel_submission_group){.policy = policy};
}

dynsel_submission_group dynsel_get_backend_submission_group(dynsel_backend *backend)
{
    return (dynsel_submission_group){.backend = backend};
}

static dynsel_status wait_group(dynsel_submission_group group, const char *function,
                                uint64_t deadline_ns)
{
    dynsel_policy *policy = group.policy;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (group.backend == NULL && !dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, function);
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(function,
                                     "the work that is waited for might wait for this function");
    }
    const dynsel_status status = group.backend != NULL
                                     ? dynsel_in_flight_wait_backend(group.backend, deadline_ns)
                                     : dynsel_in_flight_wait(policy, deadline_ns);
    if (status == DYNSEL_E_TIMEOUT) {
        return dynsel_refuse_unfinished(function);
    }
    /* failures of work on a backend belong to the policies */
    return status == DYNSEL_OK && group.backend == NULL
               ? dynsel_submission_group_take_failure(policy)
               : status;
}

dynsel_status dynsel_wait_group(dynsel_submission_group group)
{
    return wait_group(group, DYNSEL_TEXT(__func__), DYNSEL_WAIT_FOREVER);
}

#if CONFIG_DYNSEL_SUBMISSION_CONTROL
dynsel_status dynsel_wait_group_for(dynsel_submission_group group, uint64_t timeout_ns)
{
    return wait_group(group, DYNSEL_TEXT(__func__),
                      CONFIG_DYNSEL_IN_FLIGHT ? dynsel_deadline_after(timeout_ns) : timeout_ns);
}
#endif

dynsel_status dynsel_policy_deinit(dynsel_policy *policy)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, DYNSEL_TEXT(__func__));
    }
    const uint32_t out = dynsel_in_flight_retire(policy);
    if (out != 0) {
        return DYNSEL_FAIL_NUMBER(
            DYNSEL_E_BUSY, "{} submissions are in flight or were neither waited for nor released",
            out);
    }
    dynsel_fork_leave(policy);
    dynsel_table_leave(policy, dynsel_policy_count(policy));
    *policy = (dynsel_policy){0};
    return DYNSEL_OK;
}

void dynsel_progress(void)
{
    if (!dynsel_in_interrupt()) {
        dynsel_in_flight_reap();
    }
}
