/* SPDX-License-Identifier: Apache-2.0 */
#include "core/start.h"

#include "core/fail.h"
#include "core/in_flight.h"
#include "core/policy.h"
#include "port/pause.h"

/* Never leaves this file. */
#define DYNSEL_CHOOSE_AGAIN ((dynsel_status)1)

dynsel_status dynsel_choose(const dynsel_request *request, dynsel_selection *selection)
{
    dynsel_policy *policy = request->policy;
    *selection = (dynsel_selection){.policy = policy};
    const dynsel_status status = policy->ops->try_select(policy, request->task, selection);
    if (status == DYNSEL_OK && selection->index >= policy->count) {
        return DYNSEL_FAIL_IN(request->function, DYNSEL_E_INVALID,
                              "the policy chose resource {}, which it has not", selection->index);
    }
    return status;
}

static dynsel_status start_at(const dynsel_request *request, uint32_t index, dynsel_work *work)
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

static dynsel_status start_selected(const dynsel_request *request, dynsel_work *work,
                                    uint32_t *index)
{
    *index = request->selection->index;
    if (!dynsel_lane_in_service(&request->policy->lanes[*index])) {
        return dynsel_policy_refuse_task(request->policy, *index, *index + 1, NULL);
    }
    const dynsel_status status = start_at(request, *index, work);
    if (status == DYNSEL_E_OUT_OF_SERVICE) {
        dynsel_lane_retire(request->policy, *index);
    }
    return status;
}

static bool waits_for_resource(const dynsel_request *request, dynsel_status status)
{
    return status == DYNSEL_E_AGAIN && request->may_wait && dynsel_this_thread()->task_depth == 0;
}

/* `refusal` is why a resource chosen before would not start: it left the service, and the policy
 * should have passed it over. */
static dynsel_status choose_and_start(const dynsel_request *request, dynsel_work *work,
                                      uint32_t *index, dynsel_error *refusal)
{
    dynsel_selection selection;
    dynsel_status status = dynsel_choose(request, &selection);
    const bool chose = status == DYNSEL_OK;
    if (refusal->status != DYNSEL_OK) {
        if (status == DYNSEL_E_OUT_OF_SERVICE ||
            (chose && !dynsel_lane_in_service(&request->policy->lanes[selection.index]))) {
            return dynsel_fail(refusal);
        }
    }
    if (!chose) {
        return status;
    }
    *index = selection.index;
    status = start_at(request, selection.index, work);
    if (status == DYNSEL_E_OUT_OF_SERVICE) {
        *refusal = *dynsel_last_error();
        refusal->status = status;
        dynsel_lane_retire(request->policy, selection.index);
        return DYNSEL_CHOOSE_AGAIN;
    }
    return status;
}

dynsel_status dynsel_start(const dynsel_request *request, dynsel_work *work, uint32_t *index)
{
    if (request->selection != NULL) {
        return start_selected(request, work, index);
    }
    dynsel_error refusal = {.status = DYNSEL_OK};
    for (uint32_t round = 0;;) {
        const dynsel_status status = choose_and_start(request, work, index, &refusal);
        if (waits_for_resource(request, status)) {
            dynsel_in_flight_reap();
            dynsel_pause(round++);
        } else if (status != DYNSEL_CHOOSE_AGAIN) {
            return status;
        }
    }
}
