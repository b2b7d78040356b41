/* SPDX-License-Identifier: Apache-2.0 */
/* Policies with entries of their own for submitting. */
#include "core/own_ways.h"

#include "core/fail.h"
#include "core/in_flight.h"
#include "port/pause.h"
#include "port/thread.h"

static dynsel_status refuse_way(const dynsel_request *request)
{
    return DYNSEL_FAIL_IN(request->manner->function, DYNSEL_E_UNSUPPORTED,
                          "the policy has no such way of submitting", 0);
}

static dynsel_status submit_with_own_try(const dynsel_request *request,
                                         dynsel_submission *submission)
{
    const dynsel_policy_ops *ops = request->policy->ops;
    for (uint32_t round = 0;; round++) {
        const dynsel_status status = ops->try_submit(request->policy, request->task, submission);
        if (status != DYNSEL_E_AGAIN || request->manner->deadline_ns == DYNSEL_DO_NOT_WAIT ||
            dynsel_this_thread()->task_depth != 0) {
            return status;
        }
        if (dynsel_deadline_passed(request->manner->deadline_ns)) {
            return DYNSEL_FAIL_IN(request->manner->function, DYNSEL_E_TIMEOUT,
                                  "the policy had no resource free in time", 0);
        }
        dynsel_in_flight_reap();
        dynsel_pause(round);
    }
}

dynsel_status dynsel_submit_its_own_way(const dynsel_request *request,
                                        dynsel_submission *submission)
{
    const dynsel_policy_ops *ops = request->policy->ops;
    if (ops->submit != NULL && request->manner->deadline_ns == DYNSEL_WAIT_FOREVER) {
        return ops->submit(request->policy, request->task, submission);
    }
    return ops->try_submit != NULL ? submit_with_own_try(request, submission) : refuse_way(request);
}

bool dynsel_selects(const dynsel_request *request)
{
    const dynsel_policy_ops *ops = request->policy->ops;
    const bool own = request->manner->deadline_ns == DYNSEL_WAIT_FOREVER ? ops->submit != NULL
                                                                         : ops->try_submit != NULL;
    return request->selection != NULL || (ops->try_select != NULL && !own);
}
