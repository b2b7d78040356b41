/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/submission.h>

#include "base/fail.h"
#include "policy/policy.h"
#include "policy/report.h"
#include "submission/at_once.h"
#include "submission/in_flight.h"
#include "submission/no_waiting.h"
#include "submission/own_ways.h"
#include "submission/start.h"
#include "submission/submission.h"

/* Where no work outlives a submit: nothing to keep, so no slot. */
DYNSEL_ASIDE static dynsel_status submit_at_once(const dynsel_request *request,
                                                 dynsel_submission *submission)
{
    dynsel_work work;
    work.token = 0;
    dynsel_selection chosen;
    const dynsel_status status = dynsel_start(request, &work, &chosen);
    if (status != DYNSEL_OK) {
        return status;
    }
    dynsel_lane_note_result(request->policy, chosen.index, work.error.status);
    if (chosen.wants != 0) {
        dynsel_tell_end(&chosen, work.error.status, dynsel_time_at_once(&work));
    }
    const dynsel_kept_error error =
        work.error.status != DYNSEL_OK ? work.error : (dynsel_kept_error){.status = DYNSEL_OK};
    dynsel_deliver(submission, &chosen, &work.done, &error);
    return DYNSEL_OK;
}

static inline dynsel_status submit_its_way(const dynsel_request *request,
                                           dynsel_submission *submission)
{
    if (!DYNSEL_LIKELY(!dynsel_policy_has_ways(request->policy) || dynsel_selects(request))) {
        return dynsel_submit_its_own_way(request, submission);
    }
    return dynsel_policy_outlives(request->policy) ? dynsel_in_flight_submit(request, submission)
                                                   : submit_at_once(request, submission);
}

static inline bool is_valid(const dynsel_policy *policy, const dynsel_task *task)
{
    return DYNSEL_LIKELY(dynsel_policy_is_usable(policy) && dynsel_task_is_valid(task));
}

DYNSEL_RARE static dynsel_status refuse(const dynsel_policy *policy, const dynsel_manner *manner)
{
    return dynsel_policy_is_usable(policy)
               ? DYNSEL_FAIL_IN(manner->function, DYNSEL_E_INVALID,
                                "the task is NULL or has no function", 0)
               : dynsel_policy_refuse_use(policy, manner->function);
}

/* Not the shortest way. */
DYNSEL_ASIDE static dynsel_status submit_with_work(dynsel_policy *policy, const dynsel_task *task,
                                                   dynsel_submission *submission,
                                                   const dynsel_manner *manner)
{
    return submit_its_way(&(const dynsel_request){.manner = manner, .policy = policy, .task = task},
                          submission);
}

#if !CONFIG_DYNSEL_OPTIMIZE_SIZE
dynsel_status dynsel_submit_unchosen(const dynsel_request *request, dynsel_submission *submission,
                                     dynsel_status status, uint32_t failures_before)
{
    return status == DYNSEL_E_AGAIN && request->manner->deadline_ns != DYNSEL_DO_NOT_WAIT
               ? submit_its_way(request, submission)
               : dynsel_pass_on(request->manner, status, failures_before);
}
#endif

static inline dynsel_status submit(dynsel_policy *policy, const dynsel_task *task,
                                   dynsel_submission *submission, const dynsel_manner *manner)
{
    if (!is_valid(policy, task)) {
        return refuse(policy, manner);
    }
#if !CONFIG_DYNSEL_OPTIMIZE_SIZE
    if (policy->ways == 0) {
        return dynsel_submit_in_caller(policy, task, submission, manner);
    }
#endif
    return submit_with_work(policy, task, submission, manner);
}

dynsel_status dynsel_submit(dynsel_policy *policy, const dynsel_task *task,
                            dynsel_submission *submission)
{
    static const dynsel_manner manner = {.function = DYNSEL_TEXT("dynsel_submit"),
                                         .deadline_ns = DYNSEL_WAIT_FOREVER};
    return submit(policy, task, submission, &manner);
}

dynsel_status dynsel_try_submit(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_submission *submission)
{
    static const dynsel_manner manner = {.function = DYNSEL_TEXT("dynsel_try_submit"),
                                         .deadline_ns = DYNSEL_DO_NOT_WAIT};
    return submit(policy, task, submission, &manner);
}

dynsel_status dynsel_submit_for(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_submission *submission, uint64_t timeout_ns)
{
    const dynsel_manner manner = {.function = DYNSEL_TEXT(__func__),
                                  .deadline_ns = dynsel_deadline_after(timeout_ns)};
    return submit(policy, task, submission, &manner);
}

static dynsel_status submit_selection(const dynsel_manner *manner, dynsel_selection *selection,
                                      const dynsel_task *task, dynsel_submission *submission)
{
    dynsel_status status = dynsel_selection_check(selection, manner->function);
    if (status != DYNSEL_OK) {
        return status;
    }
    const dynsel_request request = {
        .manner = manner, .policy = selection->policy, .task = task, .selection = selection};
    if (!is_valid(selection->policy, task)) {
        return refuse(selection->policy, manner);
    }
    status = submit_its_way(&request, submission);
    if (status == DYNSEL_OK) {
        selection->policy = NULL;
    }
    return status;
}

dynsel_status dynsel_submit_selection(dynsel_selection *selection, const dynsel_task *task,
                                      dynsel_submission *submission)
{
    static const dynsel_manner manner = {.function = DYNSEL_TEXT("dynsel_submit_selection"),
                                         .deadline_ns = DYNSEL_WAIT_FOREVER};
    return submit_selection(&manner, selection, task, submission);
}

dynsel_status dynsel_try_submit_selection(dynsel_selection *selection, const dynsel_task *task,
                                          dynsel_submission *submission)
{
    static const dynsel_manner manner = {.function = DYNSEL_TEXT("dynsel_try_submit_selection"),
                                         .deadline_ns = DYNSEL_DO_NOT_WAIT};
    return submit_selection(&manner, selection, task, submission);
}

static dynsel_status refuse_in_task(const char *function)
{
    return DYNSEL_REFUSE_TO_WAIT(function,
                                 "submit without waiting, or wait outside of the task function");
}

/* Of work that was submitted by who awaits it, so that its slot is pinned. */
static dynsel_status wait_and_unpin(dynsel_submission *submission)
{
    const uint32_t slot = dynsel_word_load_relaxed(&submission->slot);
    const dynsel_status status = dynsel_wait(submission);
    dynsel_in_flight_unpin(slot);
    return status;
}

dynsel_status dynsel_submit_and_wait(dynsel_policy *policy, const dynsel_task *task)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (dynsel_must_not_wait()) {
        return refuse_in_task(DYNSEL_TEXT(__func__));
    }
#if CONFIG_DYNSEL_CUSTOM_POLICIES
    if (dynsel_policy_is_usable(policy) && policy->ops->submit_and_wait != NULL) {
        return policy->ops->submit_and_wait(policy, task);
    }
#endif
    static const dynsel_manner manner = {.function = DYNSEL_TEXT("dynsel_submit_and_wait"),
                                         .deadline_ns = DYNSEL_WAIT_FOREVER};
    static const dynsel_manner awaiting = {.function = DYNSEL_TEXT("dynsel_submit_and_wait"),
                                           .deadline_ns = DYNSEL_WAIT_FOREVER,
                                           .awaits = true};
    dynsel_submission submission;
    if (!CONFIG_DYNSEL_CUSTOM_POLICIES ||
        (dynsel_policy_is_usable(policy) && !dynsel_policy_has_ways(policy))) {
        const dynsel_status status = submit(policy, task, &submission, &awaiting);
        return status == DYNSEL_OK ? wait_and_unpin(&submission) : status;
    }
    const dynsel_status status = submit(policy, task, &submission, &manner);
    return status == DYNSEL_OK ? dynsel_wait(&submission) : status;
}

dynsel_status dynsel_submit_selection_and_wait(dynsel_selection *selection, const dynsel_task *task)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (dynsel_must_not_wait()) {
        return refuse_in_task(DYNSEL_TEXT(__func__));
    }
    static const dynsel_manner awaiting = {.function =
                                               DYNSEL_TEXT("dynsel_submit_selection_and_wait"),
                                           .deadline_ns = DYNSEL_WAIT_FOREVER,
                                           .awaits = true};
    dynsel_submission submission;
    const dynsel_status status = submit_selection(&awaiting, selection, task, &submission);
    return status == DYNSEL_OK ? wait_and_unpin(&submission) : status;
}
