/* SPDX-License-Identifier: Apache-2.0 */
/* From a task to work that has been started on a resource. */
#ifndef DYNSEL_SUBMISSION_START_H
#define DYNSEL_SUBMISSION_START_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/backend.h>
#include <dynsel/policy.h>
#include <dynsel/selection.h>

#include "policy/traced_choice.h"
#include "port/likely.h"
#include "submission/repeat_table.h"
#include "submission/request.h"

/* The result of a policy's first choice; a failure may still be recovered. */
typedef struct dynsel_attempt {
    dynsel_status status;
    bool chose;               /* the failure is that of the chosen resource */
    uint32_t failures_before; /* to tell its details from older ones */
} dynsel_attempt;

dynsel_attempt dynsel_start_once(const dynsel_request *request, dynsel_work *work,
                                 dynsel_selection *chosen);

/* Goes on after a failure: tries elsewhere, and waits if it may. */
DYNSEL_RARE dynsel_status dynsel_start_after(const dynsel_request *request, dynsel_work *work,
                                             dynsel_selection *chosen, dynsel_attempt made);

/*
 * Chooses a resource, unless a selection is given, and starts the work there. chosen: out.
 * work->token is the caller's. A failure had no effect.
 */
static inline dynsel_status dynsel_start(const dynsel_request *request, dynsel_work *work,
                                         dynsel_selection *chosen)
{
    const dynsel_attempt made = dynsel_start_once(request, work, chosen);
    return DYNSEL_LIKELY(made.status == DYNSEL_OK)
               ? DYNSEL_OK
               : dynsel_start_after(request, work, chosen, made);
}

/* Whether work with an event was complete when its start returned. Work that may run again ends
 * in its queue. */
static inline bool dynsel_work_ended_in_start(const dynsel_work *work)
{
#if CONFIG_DYNSEL_IN_FLIGHT_SMALL
    (void)work;
    return false;
#else
    return work->over && dynsel_work_runs_once(work);
#endif
}

/* Whether started work goes on, or its end is not reported yet. */
static inline bool dynsel_work_goes_on(const dynsel_work *work)
{
#if CONFIG_DYNSEL_IN_FLIGHT
    return work->where->backend->ops->marks_completion ||
           (work->done.native != NULL && !dynsel_work_ended_in_start(work));
#else
    (void)work;
    return false;
#endif
}

/* Fails because the task has no form for the chosen resource; withdraws the reported submission. */
DYNSEL_RARE dynsel_status dynsel_refuse_form(const dynsel_policy *policy, const dynsel_task *task,
                                             const dynsel_selection *chosen);

/* Fails because a custom policy's choice is not in its table. */
DYNSEL_RARE dynsel_status dynsel_refuse_choice(const dynsel_submit_options *options,
                                               uint32_t index);

/* Waits before the policy is asked again. DYNSEL_OK: ask it; DYNSEL_E_AGAIN: the call must not
 * wait. */
DYNSEL_ASIDE dynsel_status dynsel_wait_for_resource(const dynsel_submit_options *options,
                                                    uint32_t round);

/* Adds a generic text where a policy or a backend returned a bare status. */
dynsel_status dynsel_pass_on(const dynsel_submit_options *options, dynsel_status status,
                             uint32_t failures_before);

/* One choice of the policy, checked. claims: the work follows at once. is_traced: false where no
 * trace was running when the call began. */
static inline dynsel_status dynsel_choose_traced(const dynsel_submit_options *options,
                                                 dynsel_policy *policy, const dynsel_task *task,
                                                 dynsel_selection *selection, bool claims,
                                                 bool is_traced)
{
#if CONFIG_DYNSEL_OPTIMIZE_SIZE
    /* One member after the other: for a literal GCC calls memset() with -Os, 49 instructions on a
       Cortex-M3. Elsewhere it takes a literal in two fewer. */
    selection->policy = policy;
    selection->index = 0;
    selection->reason = 0;
    selection->wants = (uint8_t)policy->ops->needs;
    selection->reported = 0;
    selection->claims = claims ? 1 : 0;
    selection->notes[0] = 0;
    selection->notes[1] = 0; /* policies with more notes set all of them */
    selection->life = 0;
#if CONFIG_DYNSEL_TRACE
    selection->piece = 0;
#endif
#else
    *selection = (dynsel_selection){
        .policy = policy, .wants = (uint8_t)policy->ops->needs, .claims = claims ? 1 : 0};
#endif
    if (is_traced) {
        dynsel_traced_begin(selection);
        dynsel_traced_candidates(selection, task);
    }
    const dynsel_status status = policy->ops->try_select(policy, task, selection);
    if (CONFIG_DYNSEL_CUSTOM_POLICIES && status == DYNSEL_OK &&
        selection->index >= dynsel_policy_count(policy)) {
        return dynsel_refuse_choice(options, selection->index);
    }
    if (is_traced) {
        dynsel_traced_choice(selection, task, status);
    }
    return status;
}

static inline dynsel_status dynsel_choose(const dynsel_submit_options *options,
                                          dynsel_policy *policy, const dynsel_task *task,
                                          dynsel_selection *selection, bool claims)
{
    return dynsel_choose_traced(options, policy, task, selection, claims, true);
}

#endif
