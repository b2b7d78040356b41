/* SPDX-License-Identifier: Apache-2.0 */
#include "core/start.h"

#include "core/fail.h"
#include "core/in_flight.h"
#include "core/policy.h"
#include "port/pause.h"

dynsel_status dynsel_refuse_choice(const dynsel_request *request, uint32_t index)
{
    return DYNSEL_FAIL_IN(request->function, DYNSEL_E_INVALID,
                          "the policy chose resource {}, which it has not", index);
}

static inline dynsel_status start_at(const dynsel_request *request, uint32_t index,
                                     dynsel_work *work)
{
    dynsel_policy *policy = request->policy;
    const dynsel_resource *where = &policy->resources[index];
    const dynsel_task_fn function = dynsel_function_for(request->task, where->backend);
    if (function == NULL) {
        return dynsel_policy_refuse_task(policy, index, index + 1, request->task);
    }
    work->where = where;
    work->own = policy->lanes[index].own;
    work->function = function;
    work->args = request->task->args;
    work->done = (dynsel_event){.native = NULL};
    work->error.status = DYNSEL_OK;
    return where->backend->ops->start(where->backend, work);
}

/* A resource that would not start the work is lost: it leaves the service. */
static dynsel_status start_or_retire(const dynsel_request *request, uint32_t index,
                                     dynsel_work *work)
{
    const dynsel_status status = start_at(request, index, work);
    if (status == DYNSEL_E_OUT_OF_SERVICE) {
        dynsel_lane_retire(request->policy, index);
    }
    return status;
}

static dynsel_status start_selected(const dynsel_request *request, dynsel_work *work,
                                    uint32_t *index)
{
    *index = request->selection->index;
    if (!dynsel_lane_in_service(&request->policy->lanes[*index])) {
        return dynsel_policy_refuse_task(request->policy, *index, *index + 1, NULL);
    }
    return start_or_retire(request, *index, work);
}

static bool waits_for_resource(const dynsel_request *request, dynsel_status status)
{
    return status == DYNSEL_E_AGAIN && request->may_wait && dynsel_this_thread()->task_depth == 0;
}

/*
 * Chooses again after resources refused, each of which left the service, so this ends. `refusal` is
 * the last reason; a policy that has nothing else to choose fails with it, and so does one that
 * insists on what is out of service.
 */
static dynsel_status start_elsewhere(const dynsel_request *request, dynsel_work *work,
                                     uint32_t *index)
{
    dynsel_error refusal = *dynsel_last_error();
    for (;;) {
        dynsel_status status = dynsel_choose(request, index);
        if (status == DYNSEL_OK && dynsel_lane_in_service(&request->policy->lanes[*index])) {
            status = start_or_retire(request, *index, work);
            if (status != DYNSEL_E_OUT_OF_SERVICE) {
                return status;
            }
            refusal = *dynsel_last_error();
        } else if (status == DYNSEL_OK || status == DYNSEL_E_OUT_OF_SERVICE) {
            refusal.status = DYNSEL_E_OUT_OF_SERVICE;
            return dynsel_fail(&refusal);
        } else {
            return status;
        }
    }
}

static dynsel_status start_once(const dynsel_request *request, dynsel_work *work, uint32_t *index)
{
    dynsel_status status = dynsel_choose(request, index);
    if (status == DYNSEL_OK) {
        status = start_at(request, *index, work);
        if (status == DYNSEL_E_OUT_OF_SERVICE) {
            dynsel_lane_retire(request->policy, *index);
            return start_elsewhere(request, work, index);
        }
    }
    return status;
}

dynsel_status dynsel_start(const dynsel_request *request, dynsel_work *work, uint32_t *index)
{
    if (request->selection != NULL) {
        return start_selected(request, work, index);
    }
    dynsel_status status = start_once(request, work, index);
    for (uint32_t round = 0; waits_for_resource(request, status); round++) {
        dynsel_in_flight_reap();
        dynsel_pause(round);
        status = start_once(request, work, index);
    }
    return status;
}
