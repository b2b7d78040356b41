/* SPDX-License-Identifier: Apache-2.0 */
/* From a task to work that has been started on a resource. */
#ifndef DYNSEL_SUBMISSION_START_H
#define DYNSEL_SUBMISSION_START_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/backend.h>
#include <dynsel/policy.h>
#include <dynsel/selection.h>

#include "port/likely.h"

/* How a submitting call was made; a constant for most of them. */
typedef struct dynsel_manner {
    const char *function; /* the public function, for error texts */
    uint64_t deadline_ns; /* until when to wait for a slot or a resource */
    /* The call waits for the work itself: its slot is pinned from the beginning, so that nobody
     * takes it for one that is never collected. */
    bool awaits;
} dynsel_manner;

/* What one submitting call was asked for. */
typedef struct dynsel_request {
    const dynsel_manner *manner;
    dynsel_policy *policy;
    const dynsel_task *task;
    const dynsel_selection *selection; /* NULL: the policy chooses */
} dynsel_request;

/* Deadlines that are not a time. */
#define DYNSEL_DO_NOT_WAIT  ((uint64_t)0)
#define DYNSEL_WAIT_FOREVER UINT64_MAX

#if CONFIG_DYNSEL_IN_FLIGHT
/* In case a device forgets to tell that work has ended. A millisecond of 2^20 ns is near enough,
 * and small cores make the number of it without twelve bytes of constants. */
#define DYNSEL_LONGEST_SLEEP_NS ((uint64_t)CONFIG_DYNSEL_LONGEST_SLEEP_MS << 20)
#endif

/* The deadline of a call that may take that long from now on. */
static inline uint64_t dynsel_deadline_after(uint64_t timeout_ns)
{
    const uint64_t now = dynsel_now_ns();
    return timeout_ns < DYNSEL_WAIT_FOREVER - now ? now + timeout_ns : DYNSEL_WAIT_FOREVER;
}

static inline bool dynsel_deadline_passed(uint64_t deadline_ns)
{
    return deadline_ns != DYNSEL_WAIT_FOREVER && dynsel_now_ns() >= deadline_ns;
}

/* What the first choice of a policy led to; a failure is not the last word. */
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

/* Fails because a custom policy's choice is not in its table. */
DYNSEL_RARE dynsel_status dynsel_refuse_choice(const dynsel_manner *manner, uint32_t index);

/* Before the policy is asked again that had nothing free. DYNSEL_OK: ask it; DYNSEL_E_AGAIN: the
 * call must not wait. */
DYNSEL_ASIDE dynsel_status dynsel_wait_for_resource(const dynsel_manner *manner, uint32_t round);

/* Adds a generic text where a policy or a backend returned a bare status. */
dynsel_status dynsel_pass_on(const dynsel_manner *manner, dynsel_status status,
                             uint32_t failures_before);

/* One choice of the policy, checked. claims: the work follows at once. */
static inline dynsel_status dynsel_choose(const dynsel_manner *manner, dynsel_policy *policy,
                                          const dynsel_task *task, dynsel_selection *selection,
                                          bool claims)
{
    *selection = (dynsel_selection){
        .policy = policy, .wants = (uint8_t)policy->ops->needs, .claims = claims ? 1 : 0};
    const dynsel_status status = policy->ops->try_select(policy, task, selection);
    if (CONFIG_DYNSEL_CUSTOM_POLICIES && status == DYNSEL_OK && selection->index >= policy->count) {
        return dynsel_refuse_choice(manner, selection->index);
    }
    return status;
}

#endif
