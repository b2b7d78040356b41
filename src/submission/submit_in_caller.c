/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submitting where that is a call of the task function: all backends do nothing else, and all
 * policies choose at once. So nothing is waited for, and every submitting call is the same.
 *
 * A flow of its own: submit.c takes 774 bytes here, before start.c is added and backends have a
 * `start` for it, and this takes 628 of an archive of 3,891 (mps2_an385+tiny).
 */
#include <dynsel/submission.h>

#include "base/fail.h"
#include "policy/policy.h"
#include "policy/report.h"
#include "submission/call_task.h"
#include "submission/handle.h"
#include "submission/start.h"

/* A piece of work and its result. */
typedef struct piece {
    dynsel_selection chosen;
    dynsel_event done;
    dynsel_kept_error error;
} piece;

/* An end of its own, in place of dynsel_finish(): that costs 24 bytes in the smallest program
 * (mps2_an385+tiny: 1,039 of 1,024). */
static void run(dynsel_policy *policy, piece *work, dynsel_task_fn function, void *args)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    const unsigned wants = work->chosen.wants & DYNSEL_NEEDS_OF_POLICIES;
    const bool timed = (wants & DYNSEL_TASK_TIME) != 0;
    if (wants != 0) {
        dynsel_tell_submission(&work->chosen);
    }
    dynsel_count_submission(policy, work->chosen.index);
    const uint64_t began_ns = timed ? dynsel_now_ns() : 0;
    const uint64_t since = dynsel_traced_now();
    const dynsel_status status =
        dynsel_call_function(function, &policy->resources[work->chosen.index], args, &work->done);
    dynsel_traced_ran(&work->chosen, since);
    if (status != DYNSEL_OK) {
        work->error = dynsel_details_of(status, failures_before);
    } else if (work->done.native != NULL) {
        work->error = dynsel_event_refused();
    } else if (timed) {
        dynsel_tell(&work->chosen, DYNSEL_TASK_TIME, dynsel_now_ns() - began_ns);
    }
    work->done.native = NULL;
    dynsel_health_note_result(policy, &work->chosen, work->error.status);
    dynsel_traced_end(&work->chosen, work->error.status, 0);
    if ((wants & DYNSEL_TASK_COMPLETION) != 0) {
        dynsel_tell(&work->chosen, DYNSEL_TASK_COMPLETION, 0);
    }
}

/* given: work->chosen is the program's, else the policy chooses. A failure had no effect. */
static dynsel_status submit(dynsel_policy *policy, const dynsel_task *task, piece *work, bool given,
                            const char *name)
{
    work->done = (dynsel_event){.native = NULL};
    work->error = (dynsel_kept_error){.status = DYNSEL_OK};
    if (!dynsel_arguments_are_valid(policy, task)) {
        return dynsel_refuse_arguments(policy, name);
    }
    dynsel_task_fn function =
        DYNSEL_RESOURCES_ARE_ALIKE ? dynsel_function_for(task, policy->resources[0].backend) : NULL;
    if (DYNSEL_RESOURCES_ARE_ALIKE && function == NULL) {
        return dynsel_policy_refuse(policy, task);
    }
    const dynsel_submit_options options = {.function = name};
    const dynsel_status status = given ? dynsel_check_given(policy, &work->chosen, name)
                                       : dynsel_choose(&options, policy, task, &work->chosen, true);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (!DYNSEL_RESOURCES_ARE_ALIKE) {
        const uint32_t index = work->chosen.index;
        function = dynsel_function_at(policy, index, task);
        if (function == NULL) { /* the selection was made for another task */
            return dynsel_policy_refuse_task(policy, index, index + 1, task);
        }
    }
    run(policy, work, function, task->args);
    return DYNSEL_OK;
}

static dynsel_status submit_and_publish(dynsel_policy *policy, const dynsel_task *task,
                                        dynsel_submission *submission, const char *name)
{
    piece work;
    const dynsel_status status = submit(policy, task, &work, false, name);
    if (status == DYNSEL_OK) {
        dynsel_handle_publish_result(submission, &work.chosen, &work.done, &work.error);
    }
    return status;
}

static dynsel_status result_of(const piece *work)
{
    return work->error.status == DYNSEL_OK ? DYNSEL_OK : dynsel_fail_again(&work->error);
}

/* Consumes the selection. */
static dynsel_status submit_selected(dynsel_selection *selection, const dynsel_task *task,
                                     piece *work, const char *name)
{
    dynsel_status status = dynsel_selection_check(selection, name);
    if (status != DYNSEL_OK) {
        return status;
    }
    work->chosen = *selection;
    status = submit(selection->policy, task, work, true, name);
    if (status == DYNSEL_OK) {
        selection->policy = NULL;
    }
    return status;
}

static dynsel_status submit_selection(dynsel_selection *selection, const dynsel_task *task,
                                      dynsel_submission *submission, const char *name)
{
    piece work;
    const dynsel_status status = submit_selected(selection, task, &work, name);
    if (status == DYNSEL_OK) {
        dynsel_handle_publish_result(submission, &work.chosen, &work.done, &work.error);
    }
    return status;
}

dynsel_status dynsel_submit(dynsel_policy *policy, const dynsel_task *task,
                            dynsel_submission *submission)
{
    return submit_and_publish(policy, task, submission, DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_try_submit(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_submission *submission)
{
    return submit_and_publish(policy, task, submission, DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_submit_for(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_submission *submission, uint64_t timeout_ns)
{
    (void)timeout_ns;
    return submit_and_publish(policy, task, submission, DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_submit_and_wait(dynsel_policy *policy, const dynsel_task *task)
{
    const dynsel_status refused = dynsel_check_await(DYNSEL_TEXT(__func__));
    if (refused != DYNSEL_OK) {
        return refused;
    }
    piece work;
    const dynsel_status status = submit(policy, task, &work, false, DYNSEL_TEXT(__func__));
    return status == DYNSEL_OK ? result_of(&work) : status;
}

dynsel_status dynsel_submit_selection(dynsel_selection *selection, const dynsel_task *task,
                                      dynsel_submission *submission)
{
    return submit_selection(selection, task, submission, DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_try_submit_selection(dynsel_selection *selection, const dynsel_task *task,
                                          dynsel_submission *submission)
{
    return submit_selection(selection, task, submission, DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_submit_selection_and_wait(dynsel_selection *selection, const dynsel_task *task)
{
    const dynsel_status refused = dynsel_check_await(DYNSEL_TEXT(__func__));
    if (refused != DYNSEL_OK) {
        return refused;
    }
    piece work;
    const dynsel_status status = submit_selected(selection, task, &work, DYNSEL_TEXT(__func__));
    return status == DYNSEL_OK ? result_of(&work) : status;
}
