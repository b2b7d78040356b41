/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/handle.h"

#include "base/fail.h"
#include "policy/policy.h"
#include "submission/finish.h"

void dynsel_handle_publish_result(dynsel_submission *submission, const dynsel_selection *chosen,
                                  const dynsel_event *done, const dynsel_kept_error *error)
{
    if (submission == NULL) {
        if (error->status != DYNSEL_OK) {
            dynsel_submission_group_note_failure(chosen->policy, error);
        }
        return;
    }
    uint32_t life = 0; /* checked when it is released */
    if (DYNSEL_SUBMISSIONS_KNOW_LIFE && error->status != DYNSEL_OK) {
        life = dynsel_policy_life(chosen->policy);
    }
    submission->done = *done;
    submission->error = *error;
#if CONFIG_DYNSEL_TRACE
    submission->piece = chosen->piece;
#endif
    dynsel_handle_publish(submission, chosen->policy, chosen->index, chosen->reason, life,
                          DYNSEL_SUBMISSION_COMPLETE);
}

#if CONFIG_DYNSEL_ERROR_DETAILS
dynsel_kept_error dynsel_event_refused(void)
{
    return DYNSEL_KEPT_ERROR(DYNSEL_E_INVALID, "the task function",
                             "it left an event with a backend that waits for none");
}
#endif

dynsel_policy *dynsel_submission_policy(const dynsel_submission *submission)
{
    return submission != NULL ? submission->policy : NULL;
}

const dynsel_resource *dynsel_submission_resource(const dynsel_submission *submission)
{
    const dynsel_policy *policy = dynsel_submission_policy(submission);
    return dynsel_policy_is_usable(policy) && submission->index < dynsel_policy_count(policy)
               ? &policy->resources[submission->index]
               : NULL;
}

dynsel_reason dynsel_submission_reason(const dynsel_submission *submission)
{
    return submission != NULL ? submission->reason : DYNSEL_REASON_UNKNOWN;
}
