/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/deliver.h"

#include "base/fail.h"
#include "policy/policy.h"
#include "port/atomic.h"
#include "submission/group.h"
#include "submission/submission.h"

void dynsel_deliver(dynsel_submission *submission, const dynsel_selection *chosen,
                    const dynsel_event *done, const dynsel_kept_error *error)
{
    if (submission == NULL) {
        if (error->status != DYNSEL_OK) {
            dynsel_group_note_failure(chosen->policy, error);
        }
        return;
    }
    submission->policy = chosen->policy;
    submission->index = chosen->index;
    submission->reason = (dynsel_reason)chosen->reason;
    submission->generation = 0;
    if (DYNSEL_SUBMISSIONS_KNOW_LIFE && error->status != DYNSEL_OK) {
        submission->generation = dynsel_policy_life(chosen->policy); /* for who releases it */
    }
    submission->done = *done;
    submission->error = *error;
    dynsel_word_store_relaxed(&submission->slot, DYNSEL_SUBMISSION_COMPLETE);
}

#if CONFIG_DYNSEL_ERROR_DETAILS
dynsel_kept_error dynsel_event_refused(void)
{
    return DYNSEL_KEPT_ERROR(DYNSEL_E_INVALID, "the task function",
                             "it left an event with a backend that waits for none");
}
#endif
