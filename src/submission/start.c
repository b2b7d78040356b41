/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/start.h"

#include "base/fail.h"
#include "policy/policy.h"
#include "policy/report.h"
#include "port/pause.h"
#include "submission/handle.h"
#include "submission/slot_table.h"

dynsel_status dynsel_refuse_choice(const dynsel_submit_options *options, uint32_t index)
{
    return DYNSEL_FAIL_IN(options->function, DYNSEL_E_INVALID,
                          "the policy chose resource {}, which it has not", index);
}

static inline void fill_in(dynsel_work *work, const dynsel_request *request,
                           dynsel_task_fn function, const dynsel_selection *selection)
{
    dynsel_policy *policy = request->policy;
    work->where = &policy->resources[selection->index];
    work->own = policy->queues[selection->index].own;
    work->function = function;
    work->args = request->task->args;
    work->wants = selection->wants;
    work->done = (dynsel_event){.native = NULL};
    work->error.status = DYNSEL_OK;
    if (dynsel_policy_outlives(policy)) {
        work->queue_tail = dynsel_queue_tail(&policy->queues[selection->index]);
        work->ended_ns = 0;
#if !CONFIG_DYNSEL_IN_FLIGHT_SMALL
        work->over = false;
#endif
    }
    if ((selection->wants & DYNSEL_TASK_TIME) != 0) {
        work->began = false;
        work->ready_ns = dynsel_now_ns();
    }
}

DYNSEL_RARE static void refuse_event(dynsel_work *work)
{
    dynsel_refuse_event(work);
}

dynsel_status dynsel_refuse_form(const dynsel_policy *policy, const dynsel_task *task,
                                 const dynsel_selection *chosen)
{
    dynsel_tell_withdrawal(chosen);
    return dynsel_policy_refuse_task(policy, chosen->index, chosen->index + 1, task);
}

/* Nothing was started: withdraws the reported submission. */
DYNSEL_RARE static dynsel_status withdraw(const dynsel_request *request,
                                          const dynsel_selection *selection,
                                          dynsel_task_fn function, dynsel_status status)
{
    if (function == NULL) {
        return dynsel_refuse_form(request->policy, request->task, selection);
    }
    dynsel_tell_withdrawal(selection);
    return status;
}

static inline dynsel_status start_at(const dynsel_request *request, dynsel_selection *selection,
                                     dynsel_work *work)
{
    dynsel_backend *backend = request->policy->resources[selection->index].backend;
    const dynsel_task_fn function =
        dynsel_function_at(request->policy, selection->index, request->task);
    dynsel_status status = DYNSEL_E_UNSUPPORTED;
    if (DYNSEL_LIKELY(function != NULL)) {
        status = dynsel_health_enter(request->policy, selection, work);
        if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
            return withdraw(request, selection, function, status);
        }
        if (selection->wants != 0) {
            dynsel_tell_submission(selection);
        }
        fill_in(work, request, function, selection);
        const uint64_t since = dynsel_traced_now();
        const uint64_t since_ns = dynsel_clock_of_start(selection);
        status = backend->ops->start(backend, work);
        if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
            dynsel_traced_start(selection, backend, since);
            if (dynsel_outlives_submit(backend)) {
                dynsel_tell_start(selection, since_ns);
            }
            /* not read where another thread may be writing it */
            if (!dynsel_outlives_submit(backend) && work->done.native != NULL) {
                refuse_event(work);
            }
            dynsel_count_submission(request->policy, selection->index);
            return DYNSEL_OK;
        }
        dynsel_health_note_refusal(request->policy, selection, work, status);
    }
    return withdraw(request, selection, function, status);
}

DYNSEL_ASIDE static dynsel_status take_selection(const dynsel_request *request,
                                                 dynsel_selection *chosen)
{
    *chosen = *request->selection;
    return dynsel_check_given(request->policy, chosen, request->options->function);
}

dynsel_attempt dynsel_start_once(const dynsel_request *request, dynsel_work *work,
                                 dynsel_selection *chosen)
{
    dynsel_attempt made = {.failures_before = dynsel_this_thread()->failure_count};
    made.status =
        DYNSEL_LIKELY(request->selection == NULL)
            ? dynsel_choose(request->options, request->policy, request->task, chosen, true)
            : take_selection(request, chosen);
    if (DYNSEL_LIKELY(made.status == DYNSEL_OK)) {
        made.chose = true;
        made.status = start_at(request, chosen, work);
    }
    return made;
}

/* Fails with the details of the first refusal. */
static dynsel_status fail_as_refused(const dynsel_kept_error *refusal)
{
    dynsel_kept_error error = *refusal;
    error.status = DYNSEL_E_OUT_OF_SERVICE;
    return dynsel_fail_again(&error);
}

/*
 * After a resource has refused with DYNSEL_E_OUT_OF_SERVICE the policy chooses again, at most once
 * per resource: a policy may insist on a retired one.
 */
static dynsel_status recover(const dynsel_request *request, dynsel_work *work,
                             dynsel_selection *chosen, dynsel_attempt made)
{
    dynsel_kept_error refusal;
    for (uint32_t refused = 0; made.chose && made.status == DYNSEL_E_OUT_OF_SERVICE; refused++) {
        if (request->selection != NULL) {
            return made.status;
        }
        if (!CONFIG_DYNSEL_RESOURCE_STATES || refused == 0) { /* later ones may be the library's */
            refusal = dynsel_details_of(made.status, made.failures_before);
        }
        if (refused == dynsel_policy_count(request->policy)) {
            return fail_as_refused(&refusal);
        }
        made = dynsel_start_once(request, work, chosen);
        if (!made.chose && made.status == DYNSEL_E_OUT_OF_SERVICE) {
            return fail_as_refused(&refusal);
        }
    }
    return made.status;
}

dynsel_status dynsel_pass_on(const dynsel_submit_options *options, dynsel_status status,
                             uint32_t failures_before)
{
    return status == DYNSEL_OK || dynsel_this_thread()->failure_count != failures_before
               ? status
               : DYNSEL_FAIL_IN(options->function, status, "the policy or the backend refused", 0);
}

dynsel_status dynsel_wait_for_resource(const dynsel_submit_options *options, uint32_t round)
{
    if (options->deadline_ns == DYNSEL_DO_NOT_WAIT || dynsel_this_thread()->task_depth != 0) {
        return DYNSEL_E_AGAIN;
    }
    if (dynsel_deadline_passed(options->deadline_ns)) {
        return DYNSEL_FAIL_IN(options->function, DYNSEL_E_TIMEOUT,
                              "the policy had no resource free in time", 0);
    }
    dynsel_in_flight_reap();
    dynsel_pause(round);
    return DYNSEL_OK;
}

dynsel_status dynsel_start_after(const dynsel_request *request, dynsel_work *work,
                                 dynsel_selection *chosen, dynsel_attempt made)
{
    dynsel_status status = recover(request, work, chosen, made);
    for (uint32_t round = 0; status == DYNSEL_E_AGAIN; round++) {
        status = dynsel_wait_for_resource(request->options, round);
        if (status != DYNSEL_OK) {
            break;
        }
        status = recover(request, work, chosen, dynsel_start_once(request, work, chosen));
    }
    return dynsel_pass_on(request->options, status, made.failures_before);
}
