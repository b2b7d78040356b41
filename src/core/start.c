/* SPDX-License-Identifier: Apache-2.0 */
#include "core/start.h"

#include "core/fail.h"
#include "core/in_flight.h"
#include "core/policy.h"
#include "core/report.h"
#include "port/pause.h"

dynsel_status dynsel_refuse_choice(const dynsel_request *request, uint32_t index)
{
    return DYNSEL_FAIL_IN(request->function, DYNSEL_E_INVALID,
                          "the policy chose resource {}, which it has not", index);
}

static void fill_in(dynsel_work *work, const dynsel_request *request, dynsel_task_fn function,
                    const dynsel_selection *selection)
{
    dynsel_policy *policy = request->policy;
    work->where = &policy->resources[selection->index];
    work->own = policy->lanes[selection->index].own;
    work->function = function;
    work->args = request->task->args;
    work->wants = selection->wants;
    work->began = false;
    work->ended_ns = 0;
    work->done = (dynsel_event){.native = NULL};
    work->error.status = DYNSEL_OK;
    if ((selection->wants & DYNSEL_TASK_TIME) != 0) {
        work->ready_ns = dynsel_now_ns();
    }
}

static inline dynsel_status start_at(const dynsel_request *request, dynsel_selection *selection,
                                     dynsel_work *work)
{
    dynsel_backend *backend = request->policy->resources[selection->index].backend;
    const dynsel_task_fn function = dynsel_function_for(request->task, backend);
    dynsel_status status = DYNSEL_E_UNSUPPORTED;
    if (function != NULL) {
        dynsel_tell_submission(selection);
        fill_in(work, request, function, selection);
        status = backend->ops->start(backend, work);
        if (status == DYNSEL_OK) {
            dynsel_count_submission(request->policy, selection->index);
            return DYNSEL_OK;
        }
    }
    dynsel_tell_withdrawal(selection);
    if (function == NULL) {
        return dynsel_policy_refuse_task(request->policy, selection->index, selection->index + 1,
                                         request->task);
    }
    return status;
}

/* A resource that would not start the work is lost: it leaves the service. */
static dynsel_status start_or_retire(const dynsel_request *request, dynsel_selection *selection,
                                     dynsel_work *work)
{
    const dynsel_status status = start_at(request, selection, work);
    if (status == DYNSEL_E_OUT_OF_SERVICE) {
        dynsel_lane_retire(request->policy, selection->index);
    }
    return status;
}

static dynsel_status start_selected(const dynsel_request *request, dynsel_work *work,
                                    dynsel_selection *chosen)
{
    *chosen = *request->selection;
    if (chosen->reported != 0) {
        return DYNSEL_FAIL_IN(request->function, DYNSEL_E_INVALID,
                              "the program reported on this selection itself", 0);
    }
    if (!dynsel_lane_in_service(&request->policy->lanes[chosen->index])) {
        return dynsel_policy_refuse_task(request->policy, chosen->index, chosen->index + 1, NULL);
    }
    return start_or_retire(request, chosen, work);
}

static bool waits_for_resource(const dynsel_request *request, dynsel_status status)
{
    return status == DYNSEL_E_AGAIN && request->deadline_ns != DYNSEL_DO_NOT_WAIT &&
           dynsel_this_thread()->task_depth == 0;
}

/*
 * Chooses again after resources refused, each of which left the service, so this ends. `refusal` is
 * the last reason; a policy that has nothing else to choose fails with it, and so does one that
 * insists on what is out of service.
 */
static dynsel_status start_elsewhere(const dynsel_request *request, dynsel_work *work,
                                     dynsel_selection *chosen)
{
    dynsel_error refusal = *dynsel_last_error();
    for (;;) {
        dynsel_status status = dynsel_choose(request, chosen, true);
        if (status == DYNSEL_OK && dynsel_lane_in_service(&request->policy->lanes[chosen->index])) {
            status = start_or_retire(request, chosen, work);
            if (status != DYNSEL_E_OUT_OF_SERVICE) {
                return status;
            }
            refusal = *dynsel_last_error();
        } else if (status == DYNSEL_OK || status == DYNSEL_E_OUT_OF_SERVICE) {
            if (status == DYNSEL_OK) {
                dynsel_tell_withdrawal(chosen);
            }
            refusal.status = DYNSEL_E_OUT_OF_SERVICE;
            return dynsel_fail(&refusal);
        } else {
            return status;
        }
    }
}

static dynsel_status start_once(const dynsel_request *request, dynsel_work *work,
                                dynsel_selection *chosen)
{
    dynsel_status status = dynsel_choose(request, chosen, true);
    if (status == DYNSEL_OK) {
        status = start_at(request, chosen, work);
        if (status == DYNSEL_E_OUT_OF_SERVICE) {
            dynsel_lane_retire(request->policy, chosen->index);
            return start_elsewhere(request, work, chosen);
        }
    }
    return status;
}

dynsel_status dynsel_start(const dynsel_request *request, dynsel_work *work,
                           dynsel_selection *chosen)
{
    if (request->selection != NULL) {
        return start_selected(request, work, chosen);
    }
    dynsel_status status = start_once(request, work, chosen);
    for (uint32_t round = 0; waits_for_resource(request, status); round++) {
        if (dynsel_deadline_passed(request->deadline_ns)) {
            return DYNSEL_FAIL_IN(request->function, DYNSEL_E_TIMEOUT,
                                  "the policy had no resource free in time", 0);
        }
        dynsel_in_flight_reap();
        dynsel_pause(round);
        status = start_once(request, work, chosen);
    }
    return status;
}
