/* SPDX-License-Identifier: Apache-2.0 */
/* Where a submission went, and why. */
#include <dynsel/submission.h>

#include "policy/policy.h"

dynsel_policy *dynsel_submission_policy(const dynsel_submission *submission)
{
    return submission != NULL ? submission->policy : NULL;
}

const dynsel_resource *dynsel_submission_resource(const dynsel_submission *submission)
{
    const dynsel_policy *policy = dynsel_submission_policy(submission);
    return dynsel_policy_is_usable(policy) && submission->index < policy->count
               ? &policy->resources[submission->index]
               : NULL;
}

dynsel_reason dynsel_submission_reason(const dynsel_submission *submission)
{
    return submission != NULL ? submission->reason : DYNSEL_REASON_UNKNOWN;
}
