/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/at_once.h"

#include "base/fail.h"
#include "policy/policy.h"
#include "policy/report.h"
#include "submission/work.h"

/* A piece of work that the core runs itself. */
typedef struct piece {
    dynsel_selection chosen;
    dynsel_event done;
    uint64_t began_ns;        /* 0: it is not timed */
    uint32_t failures_before; /* to tell its details from older ones */
} piece;

/* What went wrong, as an error record. */
static dynsel_kept_error details_of(const piece *work, dynsel_status status)
{
    return status == DYNSEL_OK ? dynsel_event_refused()
                               : dynsel_details_of(status, work->failures_before);
}

static inline void tell_begin(piece *work)
{
    dynsel_tell_submission(&work->chosen);
    if ((work->chosen.wants & DYNSEL_TASK_TIME) != 0) {
        work->began_ns = dynsel_now_ns();
    }
}

static inline void tell_end(const piece *work, dynsel_status status)
{
    uint64_t took_ns = 0;
    if (work->began_ns != 0) {
        const uint64_t now = dynsel_now_ns();
        took_ns = now > work->began_ns ? now - work->began_ns : 1;
    }
    dynsel_tell_end(&work->chosen, status, took_ns);
}

static inline void end(dynsel_policy *policy, const piece *work, dynsel_status status)
{
    dynsel_lane_note_result(policy, work->chosen.index, status);
    if (work->chosen.wants != 0) {
        tell_end(work, status);
    }
}

/* Somebody wants to hear of it, or it failed. */
DYNSEL_ASIDE static void end_with_result(dynsel_policy *policy, piece *work, dynsel_status status,
                                         dynsel_submission *submission)
{
    dynsel_kept_error error = {.status = DYNSEL_OK};
    if (status != DYNSEL_OK || work->done.native != NULL) {
        error = details_of(work, status);
        work->done.native = NULL;
    }
    end(policy, work, error.status);
    dynsel_deliver(submission, &work->chosen, &work->done, &error);
}

static inline void run(dynsel_policy *policy, piece *work, dynsel_task_fn function, void *args,
                       dynsel_submission *submission)
{
    work->failures_before = dynsel_this_thread()->failure_count;
    work->began_ns = 0;
    work->done = (dynsel_event){.native = NULL};
    if (work->chosen.wants != 0) {
        tell_begin(work);
    }
    dynsel_count_submission(policy, work->chosen.index);
    const dynsel_status status =
        dynsel_call_function(function, &policy->resources[work->chosen.index], args, &work->done);
    if (DYNSEL_LIKELY(status == DYNSEL_OK && work->done.native == NULL && submission == NULL)) {
        end(policy, work, DYNSEL_OK);
    } else {
        end_with_result(policy, work, status, submission);
    }
}

/* Nothing was started. */
DYNSEL_RARE static dynsel_status refuse_form(const dynsel_policy *policy, const dynsel_task *task,
                                             const dynsel_selection *chosen)
{
    dynsel_tell_withdrawal(chosen);
    return dynsel_policy_refuse_task(policy, chosen->index, chosen->index + 1, task);
}

dynsel_status dynsel_submit_in_caller(dynsel_policy *policy, const dynsel_task *task,
                                      dynsel_submission *submission, const dynsel_manner *manner)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    piece work;
    const dynsel_status status = dynsel_choose(manner, policy, task, &work.chosen, true);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return dynsel_submit_unchosen(
            &(const dynsel_request){.manner = manner, .policy = policy, .task = task}, submission,
            status, failures_before);
    }
    const dynsel_task_fn function = dynsel_function_at(policy, work.chosen.index, task);
    if (!DYNSEL_LIKELY(function != NULL)) {
        return refuse_form(policy, task, &work.chosen);
    }
    run(policy, &work, function, task->args, submission);
    return DYNSEL_OK;
}
