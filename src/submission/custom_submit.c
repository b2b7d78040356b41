/* SPDX-License-Identifier: Apache-2.0 */
/* Policies with custom submit operations. */
#include "submission/custom_submit.h"

#include "base/fail.h"
#include "port/atomic.h"
#include "submission/handle.h"

typedef dynsel_status (*submit_fn)(dynsel_policy *policy, const dynsel_task *task,
                                   dynsel_submission *submission);

/*
 * Calls the custom operation with a local handle, which shows whether work was placed; the caller's
 * handle stays unchanged on failure. Work that was placed although the operation failed is
 * detached.
 */
static dynsel_status submit_with(submit_fn own, const dynsel_request *request,
                                 dynsel_submission *submission)
{
    if (submission == NULL) {
        return own(request->policy, request->task, NULL);
    }
    dynsel_submission placed = {.policy = NULL};
    const dynsel_status status = own(request->policy, request->task, &placed);
    const bool is_placed = dynsel_word_load_relaxed(&placed.slot) != DYNSEL_SUBMISSION_NONE;
    if (status == DYNSEL_OK && is_placed) {
        *submission = placed;
    } else if (status == DYNSEL_OK) {
        return DYNSEL_FAIL_IN(request->options->function, DYNSEL_E_INVALID,
                              "the policy's own submit returned DYNSEL_OK and placed no work: it "
                              "has to call dynsel_submit_selection() with the submission",
                              0);
    } else if (is_placed) {
        const dynsel_status given_up = dynsel_submission_release(&placed);
        (void)given_up; /* the operation may have waited for it */
    }
    return status;
}

static dynsel_status submit_with_own_try(const dynsel_request *request,
                                         dynsel_submission *submission)
{
    const dynsel_policy_ops *ops = request->policy->ops;
    for (uint32_t round = 0;; round++) {
        const dynsel_status status = submit_with(ops->try_submit, request, submission);
        if (status != DYNSEL_E_AGAIN) {
            return status;
        }
        const dynsel_status waited = dynsel_wait_for_resource(request->options, round);
        if (waited != DYNSEL_OK) {
            return waited;
        }
    }
}

dynsel_status dynsel_custom_submit(const dynsel_request *request, dynsel_submission *submission)
{
    const dynsel_policy_ops *ops = request->policy->ops;
    if (ops->submit != NULL && request->options->deadline_ns == DYNSEL_WAIT_FOREVER) {
        return submit_with(ops->submit, request, submission);
    }
    if (ops->try_submit == NULL) {
        return DYNSEL_FAIL_IN(request->options->function, DYNSEL_E_UNSUPPORTED,
                              "the policy has no such way of submitting", 0);
    }
    return submit_with_own_try(request, submission);
}

bool dynsel_selects(const dynsel_request *request)
{
    const dynsel_policy_ops *ops = request->policy->ops;
    const bool own = ops->try_submit != NULL ||
                     (ops->submit != NULL && request->options->deadline_ns == DYNSEL_WAIT_FOREVER);
    return ops->try_select != NULL && !own;
}
