/* SPDX-License-Identifier: Apache-2.0 */
/* Policies with custom submit operations; none without CONFIG_DYNSEL_CUSTOM_POLICIES. */
#ifndef DYNSEL_SUBMISSION_CUSTOM_SUBMIT_H
#define DYNSEL_SUBMISSION_CUSTOM_SUBMIT_H

#include <dynsel/submission.h>

#include "policy/policy.h"
#include "submission/start.h"

static inline bool dynsel_policy_has_custom_submit(const dynsel_policy *policy)
{
    return CONFIG_DYNSEL_CUSTOM_POLICIES && (policy->submit_flags & DYNSEL_SUBMIT_CUSTOM) != 0;
}

#if CONFIG_DYNSEL_CUSTOM_POLICIES

/* Whether try_select serves this request: it exists, and no custom operation comes first. A call
 * that may wait repeats try_submit if there is no submit. */
bool dynsel_selects(const dynsel_request *request);

DYNSEL_RARE dynsel_status dynsel_custom_submit(const dynsel_request *request,
                                               dynsel_submission *submission);

#else

static inline bool dynsel_selects(const dynsel_request *request)
{
    (void)request;
    return true;
}

static inline dynsel_status dynsel_custom_submit(const dynsel_request *request,
                                                 dynsel_submission *submission)
{
    (void)request;
    (void)submission;
    return DYNSEL_E_UNSUPPORTED;
}

#endif

#endif
