/* SPDX-License-Identifier: Apache-2.0 */
/* All work of one policy, or of one backend: waiting for it, and the end of the policy after it. */
#include <dynsel/submission.h>

#include "base/fail.h"
#include "policy/policy.h"
#include "policy/resource_table.h"
#include "submission/finish.h"
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

dynsel_status dynsel_wait_group(dynsel_submission_group group)
{
    dynsel_policy *policy = group.policy;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (group.backend == NULL && !dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, DYNSEL_TEXT(__func__));
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(DYNSEL_TEXT(__func__),
                                     "the work that is waited for might wait for this function");
    }
    if (group.backend != NULL) {
        return dynsel_in_flight_wait_backend(group.backend); /* failures belong to the policies */
    }
    const dynsel_status status = dynsel_in_flight_wait(policy);
    return status == DYNSEL_OK ? dynsel_group_take_failure(policy) : status;
}

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
    dynsel_table_leave(policy, policy->count);
    *policy = (dynsel_policy){0};
    return DYNSEL_OK;
}

void dynsel_progress(void)
{
    if (!dynsel_in_interrupt()) {
        dynsel_in_flight_reap();
    }
}
