/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one flow of a piece of work, from the submitting call until it goes on by itself:
 *
 *     check -> claim a slot, where something may outlive the call -> choose -> start -> publish
 *
 * Work that only is a call of the task function is a branch of it: it is over when the call
 * returns, and needs neither a slot nor its backend. Command groups come to the same start and the
 * same end through pending.c, because their work may not be ready yet.
 */
#include <dynsel/submission.h>

#include "base/fail.h"
#include "policy/policy.h"
#include "policy/report.h"
#include "submission/call_task.h"
#include "submission/custom_submit.h"
#include "submission/finish.h"
#include "submission/handle.h"
#include "submission/repeat.h"
#include "submission/request.h"
#include "submission/slot_table.h"
#include "submission/start.h"

DYNSEL_RARE static dynsel_status refuse(const dynsel_policy *policy,
                                        const dynsel_submit_options *options)
{
    return dynsel_refuse_arguments(policy, options->function);
}

/* Nothing outlives the call: the work lies on the stack. Without a handle only a failure has a
 * result, which is the group's. */
DYNSEL_ASIDE static dynsel_status place_on_stack(const dynsel_request *request,
                                                 dynsel_submission *submission)
{
    static const dynsel_kept_error none = {.status = DYNSEL_OK};
    dynsel_work work;
    work.token = 0;
    dynsel_selection chosen;
    const dynsel_status status = dynsel_start(request, &work, &chosen);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return status;
    }
    const bool failed = work.error.status != DYNSEL_OK;
    dynsel_finish(request->policy, &chosen, work.error.status, dynsel_direct_time(&work));
    if (submission != NULL || failed) {
        dynsel_handle_publish_result(submission, &chosen, &work.done, failed ? &work.error : &none);
    }
    return DYNSEL_OK;
}

DYNSEL_ASIDE static dynsel_status place_in_slot(const dynsel_request *request,
                                                dynsel_submission *submission)
{
    dynsel_slot *slot = NULL;
    dynsel_status status = dynsel_repeat_claim(request, &slot);
    if (!DYNSEL_LIKELY(slot != NULL)) {
        return status;
    }
    dynsel_limits_set(slot, request->task);
    status = dynsel_start(request, &slot->work, &slot->selection);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        dynsel_repeat_unclaim(slot);
        return status;
    }
    const bool over = !dynsel_work_goes_on(&slot->work);
    if (over) {
        dynsel_traced_device(&slot->selection, &slot->work);
        dynsel_finish(request->policy, &slot->selection, slot->work.error.status,
                      dynsel_direct_time(&slot->work));
    }
    dynsel_in_flight_publish(slot, over, request->options->awaits, submission);
    return DYNSEL_OK;
}

/* From the choice on, which the policy makes or the program has made. */
static inline dynsel_status place_chosen(const dynsel_request *request,
                                         dynsel_submission *submission)
{
    return dynsel_policy_outlives(request->policy) ? place_in_slot(request, submission)
                                                   : place_on_stack(request, submission);
}

DYNSEL_ASIDE static dynsel_status place(const dynsel_request *request,
                                        dynsel_submission *submission)
{
    return DYNSEL_LIKELY(!dynsel_policy_has_custom_submit(request->policy) ||
                         dynsel_selects(request))
               ? place_chosen(request, submission)
               : dynsel_custom_submit(request, submission);
}

#if !CONFIG_DYNSEL_OPTIMIZE_SIZE

/* The direct branch: a call of the task function, where no trace is running. It repeats choose,
 * start and finish, because that makes a submit over the inline backend half as long. */
typedef struct direct {
    dynsel_selection chosen;
    dynsel_event done;
    uint64_t began_ns;        /* 0: it is not timed */
    uint32_t failures_before; /* to tell its details from older ones */
} direct;

static inline void finish(dynsel_policy *policy, const direct *work, dynsel_status status)
{
    uint64_t took_ns = 0;
    if (work->began_ns != 0) {
        const uint64_t now = dynsel_now_ns();
        took_ns = now > work->began_ns ? now - work->began_ns : 1;
    }
    dynsel_finish_untraced(policy, &work->chosen, status, took_ns);
}

/* Where a handle is: it takes as long as that. */
DYNSEL_ASIDE static void finish_aside(dynsel_policy *policy, const direct *work,
                                      dynsel_status status)
{
    finish(policy, work, status);
}

/* The work has a handle, or it failed. */
DYNSEL_ASIDE static void finish_with_result(dynsel_policy *policy, direct *work,
                                            dynsel_status status, dynsel_submission *submission)
{
    dynsel_kept_error error = {.status = DYNSEL_OK};
    if (status != DYNSEL_OK) {
        error = dynsel_details_of(status, work->failures_before);
    } else if (work->done.native != NULL) {
        error = dynsel_event_refused();
    }
    work->done.native = NULL;
    finish_aside(policy, work, error.status);
    dynsel_handle_publish_result(submission, &work->chosen, &work->done, &error);
}

/* The policy chose no resource: returns its status, or waits if the call may. */
DYNSEL_RARE static dynsel_status place_unchosen(const dynsel_request *request,
                                                dynsel_submission *submission, dynsel_status status,
                                                uint32_t failures_before)
{
    return status == DYNSEL_E_AGAIN && request->options->deadline_ns != DYNSEL_DO_NOT_WAIT
               ? place(request, submission)
               : dynsel_pass_on(request->options, status, failures_before);
}

DYNSEL_ASIDE static dynsel_status submit_directly(dynsel_policy *policy, const dynsel_task *task,
                                                  dynsel_submission *submission,
                                                  const dynsel_submit_options *options)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    direct work;
    dynsel_status status = dynsel_choose_traced(options, policy, task, &work.chosen, true, false);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return place_unchosen(
            &(const dynsel_request){.options = options, .policy = policy, .task = task}, submission,
            status, failures_before);
    }
    const dynsel_task_fn function = dynsel_function_at(policy, work.chosen.index, task);
    if (!DYNSEL_LIKELY(function != NULL)) {
        return dynsel_refuse_form(policy, task, &work.chosen);
    }
    work.failures_before = dynsel_this_thread()->failure_count;
    work.began_ns = 0;
    work.done = (dynsel_event){.native = NULL};
    if (work.chosen.wants != 0) {
        dynsel_tell_submission(&work.chosen);
        work.began_ns = (work.chosen.wants & DYNSEL_TASK_TIME) != 0 ? dynsel_now_ns() : 0;
    }
    dynsel_count_submission(policy, work.chosen.index);
    status = dynsel_call_function(function, &policy->resources[work.chosen.index], task->args,
                                  &work.done);
    if (DYNSEL_LIKELY(status == DYNSEL_OK && work.done.native == NULL && submission == NULL)) {
        finish(policy, &work, DYNSEL_OK);
    } else if (options->awaits && status == DYNSEL_OK && work.done.native == NULL) {
        finish_aside(policy, &work, DYNSEL_OK);
        dynsel_word_store_relaxed(&submission->slot, DYNSEL_SUBMISSION_COLLECTED); /* no more */
    } else {
        finish_with_result(policy, &work, status, submission);
    }
    return DYNSEL_OK;
}

#endif

DYNSEL_ASIDE static dynsel_status place_task(dynsel_policy *policy, const dynsel_task *task,
                                             dynsel_submission *submission,
                                             const dynsel_submit_options *options)
{
    return place(&(const dynsel_request){.options = options, .policy = policy, .task = task},
                 submission);
}

static inline dynsel_status submit(dynsel_policy *policy, const dynsel_task *task,
                                   dynsel_submission *submission,
                                   const dynsel_submit_options *options)
{
    if (!DYNSEL_LIKELY(dynsel_arguments_are_valid(policy, task))) {
        return refuse(policy, options);
    }
#if !CONFIG_DYNSEL_OPTIMIZE_SIZE
    if (DYNSEL_LIKELY(policy->submit_flags == 0 && !dynsel_traced_is_running())) {
        return submit_directly(policy, task, submission, options);
    }
#endif
    return place_task(policy, task, submission, options);
}

dynsel_status dynsel_submit(dynsel_policy *policy, const dynsel_task *task,
                            dynsel_submission *submission)
{
    static const dynsel_submit_options options = {.function = DYNSEL_TEXT("dynsel_submit"),
                                                  .deadline_ns = DYNSEL_WAIT_FOREVER};
    return submit(policy, task, submission, &options);
}

dynsel_status dynsel_try_submit(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_submission *submission)
{
    static const dynsel_submit_options options = {.function = DYNSEL_TEXT("dynsel_try_submit"),
                                                  .deadline_ns = DYNSEL_DO_NOT_WAIT};
    return submit(policy, task, submission, &options);
}

dynsel_status dynsel_submit_for(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_submission *submission, uint64_t timeout_ns)
{
    const dynsel_submit_options options = {.function = DYNSEL_TEXT(__func__),
                                           .deadline_ns = dynsel_deadline_after(timeout_ns)};
    return submit(policy, task, submission, &options);
}

static dynsel_status submit_selection(const dynsel_submit_options *options,
                                      dynsel_selection *selection, const dynsel_task *task,
                                      dynsel_submission *submission)
{
    dynsel_status status = dynsel_selection_check(selection, options->function);
    if (status != DYNSEL_OK) {
        return status;
    }
    const dynsel_request request = {
        .options = options, .policy = selection->policy, .task = task, .selection = selection};
    if (!DYNSEL_LIKELY(dynsel_arguments_are_valid(selection->policy, task))) {
        return refuse(selection->policy, options);
    }
    status = place_chosen(&request, submission);
    if (status == DYNSEL_OK) {
        selection->policy = NULL;
    }
    return status;
}

dynsel_status dynsel_submit_selection(dynsel_selection *selection, const dynsel_task *task,
                                      dynsel_submission *submission)
{
    static const dynsel_submit_options options = {
        .function = DYNSEL_TEXT("dynsel_submit_selection"), .deadline_ns = DYNSEL_WAIT_FOREVER};
    return submit_selection(&options, selection, task, submission);
}

dynsel_status dynsel_try_submit_selection(dynsel_selection *selection, const dynsel_task *task,
                                          dynsel_submission *submission)
{
    static const dynsel_submit_options options = {
        .function = DYNSEL_TEXT("dynsel_try_submit_selection"), .deadline_ns = DYNSEL_DO_NOT_WAIT};
    return submit_selection(&options, selection, task, submission);
}

/* Out of line, so that the calls need no registers for it: inline it costs each 4 instructions. */
DYNSEL_RARE static dynsel_status refuse_to_await(const char *function)
{
    return dynsel_refuse_to_await(function);
}

/* The result of work that was submitted for a call that awaits it, to which the handle belongs. */
static inline dynsel_status await(dynsel_submission *submission)
{
    const uint32_t slot = dynsel_word_load_relaxed(&submission->slot);
    if (slot == DYNSEL_SUBMISSION_COLLECTED) {
        return DYNSEL_OK;
    }
    return slot >= DYNSEL_SUBMISSION_IN_SLOT ? dynsel_in_flight_await(slot)
                                             : dynsel_wait(submission);
}

dynsel_status dynsel_submit_and_wait(dynsel_policy *policy, const dynsel_task *task)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (dynsel_must_not_wait()) {
        return refuse_to_await(DYNSEL_TEXT(__func__));
    }
#if CONFIG_DYNSEL_CUSTOM_POLICIES
    if (dynsel_policy_is_usable(policy) && policy->ops->submit_and_wait != NULL) {
        return policy->ops->submit_and_wait(policy, task);
    }
#endif
    static const dynsel_submit_options options = {.function = DYNSEL_TEXT("dynsel_submit_and_wait"),
                                                  .deadline_ns = DYNSEL_WAIT_FOREVER};
    static const dynsel_submit_options awaiting = {.function =
                                                       DYNSEL_TEXT("dynsel_submit_and_wait"),
                                                   .deadline_ns = DYNSEL_WAIT_FOREVER,
                                                   .awaits = true};
    dynsel_submission submission;
    if (!CONFIG_DYNSEL_CUSTOM_POLICIES ||
        (dynsel_policy_is_usable(policy) && !dynsel_policy_has_custom_submit(policy))) {
        const dynsel_status status = submit(policy, task, &submission, &awaiting);
        return status == DYNSEL_OK ? await(&submission) : status;
    }
    const dynsel_status status = submit(policy, task, &submission, &options);
    return status == DYNSEL_OK ? dynsel_wait(&submission) : status;
}

dynsel_status dynsel_submit_selection_and_wait(dynsel_selection *selection, const dynsel_task *task)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (dynsel_must_not_wait()) {
        return refuse_to_await(DYNSEL_TEXT(__func__));
    }
    static const dynsel_submit_options awaiting = {
        .function = DYNSEL_TEXT("dynsel_submit_selection_and_wait"),
        .deadline_ns = DYNSEL_WAIT_FOREVER,
        .awaits = true};
    dynsel_submission submission;
    const dynsel_status status = submit_selection(&awaiting, selection, task, &submission);
    return status == DYNSEL_OK ? await(&submission) : status;
}
