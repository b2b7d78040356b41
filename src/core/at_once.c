/* SPDX-License-Identifier: Apache-2.0 */
#include "core/at_once.h"

#include "core/fail.h"
#include "core/group.h"
#include "core/policy.h"
#include "core/report.h"
#include "core/submission.h"

void dynsel_deliver(dynsel_submission *submission, const dynsel_selection *chosen,
                    const dynsel_event *done, const dynsel_error *error)
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
    submission->done = *done;
    submission->error = *error;
    dynsel_word_store_relaxed(&submission->slot, DYNSEL_SUBMISSION_COMPLETE);
}

dynsel_error dynsel_event_refused(void)
{
    return (dynsel_error){
        .status = DYNSEL_E_INVALID,
        .function = DYNSEL_TEXT("the task function"),
        .detail = DYNSEL_TEXT("it left an event with a backend that waits for none"),
    };
}

/* What went wrong, as an error record; `failures_before` tells its details from older ones. */
DYNSEL_RARE static dynsel_error details_of(dynsel_status status, dynsel_event *done,
                                           uint32_t failures_before)
{
    done->native = NULL;
    return status == DYNSEL_OK ? dynsel_event_refused()
                               : dynsel_details_of(status, failures_before);
}

static inline uint64_t begin_if_timed(const dynsel_selection *chosen)
{
    return (chosen->wants & DYNSEL_TASK_TIME) != 0 ? dynsel_now_ns() : 0;
}

static inline void tell_end(const dynsel_selection *chosen, dynsel_status status, uint64_t began_ns)
{
    if (chosen->wants != 0) {
        const uint64_t took = began_ns != 0 ? dynsel_now_ns() - began_ns : 0;
        dynsel_tell_end(chosen, status, began_ns != 0 && took == 0 ? 1 : took);
    }
}

static inline dynsel_status run(const dynsel_request *request, dynsel_selection *chosen,
                                dynsel_task_fn function, dynsel_submission *submission)
{
    dynsel_policy *policy = request->policy;
    dynsel_thread *thread = dynsel_this_thread();
    const uint32_t failures_before = thread->failure_count;
    dynsel_event done = {.native = NULL};
    dynsel_tell_submission(chosen);
    dynsel_count_submission(policy, chosen->index);
    const uint64_t began_ns = begin_if_timed(chosen);
    thread->task_depth++;
    dynsel_error error = {
        .status = function(&policy->resources[chosen->index], request->task->args, &done)};
    thread->task_depth--;
    if (error.status != DYNSEL_OK || done.native != NULL) {
        error = details_of(error.status, &done, failures_before);
    }
    dynsel_lane_note_result(policy, chosen->index, error.status);
    tell_end(chosen, error.status, began_ns);
    if (submission != NULL || error.status != DYNSEL_OK) {
        dynsel_deliver(submission, chosen, &done, &error);
    }
    return DYNSEL_OK;
}

/* Nothing was started. */
DYNSEL_RARE static dynsel_status refuse_form(const dynsel_request *request,
                                             const dynsel_selection *chosen)
{
    dynsel_tell_withdrawal(chosen);
    return dynsel_policy_refuse_task(request->policy, chosen->index, chosen->index + 1,
                                     request->task);
}

dynsel_status dynsel_submit_in_caller(const dynsel_request *request, dynsel_submission *submission)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_selection chosen;
    const dynsel_status status = dynsel_choose(request, &chosen, true);
    if (status != DYNSEL_OK) {
        return dynsel_pass_on(request, status, failures_before);
    }
    const dynsel_task_fn function =
        dynsel_function_at(request->policy, chosen.index, request->task);
    return DYNSEL_LIKELY(function != NULL) ? run(request, &chosen, function, submission)
                                           : refuse_form(request, &chosen);
}
