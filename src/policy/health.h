/* SPDX-License-Identifier: Apache-2.0 */
/* Which resources of a policy are in service. */
#ifndef DYNSEL_POLICY_HEALTH_H
#define DYNSEL_POLICY_HEALTH_H

#include <dynsel/resource_states.h>

#include "base/fail.h"
#include "policy/occupancy.h"
#include "policy/statistics.h"
#include "policy/usable.h"

/*
 * dynsel_queue.health is 0 while a resource is in service without failures. All but OUT are there
 * with CONFIG_DYNSEL_RESOURCE_STATES only, but for COUNT.
 *
 * A piece of work that is started on probation bears the probation's number in selection.claims, so
 * that the end of older work, which may come late, says nothing about the resource of today.
 */
enum {
    DYNSEL_HEALTH_OUT = 1u << 30,
    DYNSEL_HEALTH_DRAINING = 1u << 29,  /* no new work; out of service when the queue is empty */
    DYNSEL_HEALTH_PROBATION = 1u << 28, /* one piece of work at a time; COUNT successes to go */
    DYNSEL_HEALTH_TAKEN = 1u << 27,     /* on probation: by its one piece of work */
    DYNSEL_HEALTH_SUSPECT = 1u << 26, /* work exceeded its time limit: no new work until it ends */
    DYNSEL_HEALTH_REMOVED = 1u << 25, /* with OUT: the policy does not have it any more */
    DYNSEL_HEALTH_NUMBER = 0x3fu << 16, /* of the probation */
    DYNSEL_HEALTH_COUNT = 0xffffu,      /* consecutive failures; on probation see there */
    DYNSEL_HEALTH_LEAVES =
        DYNSEL_HEALTH_OUT |
        (CONFIG_DYNSEL_RESOURCE_STATES ? DYNSEL_HEALTH_DRAINING | DYNSEL_HEALTH_SUSPECT : 0)
};

/* How many resources are not simply in service: out of it, draining, on probation. */
static inline uint32_t dynsel_policy_impairment(const dynsel_policy *policy)
{
#if CONFIG_DYNSEL_LOSES_RESOURCES
    return dynsel_word_load_relaxed(&policy->impaired);
#else
    (void)policy;
    return 0;
#endif
}

static inline uint32_t dynsel_health_of(const dynsel_queue *queue)
{
#if CONFIG_DYNSEL_LOSES_RESOURCES
    return dynsel_word_load_relaxed(&queue->health);
#else
    (void)queue;
    return 0;
#endif
}

static inline bool dynsel_health_is_removed(const dynsel_queue *queue)
{
    return CONFIG_DYNSEL_RESOURCE_SETS && (dynsel_health_of(queue) & DYNSEL_HEALTH_REMOVED) != 0;
}

static inline bool dynsel_health_in_service(const dynsel_queue *queue)
{
    return (dynsel_health_of(queue) & DYNSEL_HEALTH_LEAVES) == 0;
}

/* In service, and not taken. */
static inline bool dynsel_health_may_choose(const dynsel_queue *queue)
{
    return (dynsel_health_of(queue) & (DYNSEL_HEALTH_LEAVES | DYNSEL_HEALTH_TAKEN)) == 0;
}

/* After a policy was not allowed to choose the resource: because it is on probation, and taken, or
 * was a moment ago. */
static inline bool dynsel_health_was_taken(const dynsel_policy *policy, uint32_t index)
{
#if CONFIG_DYNSEL_RESOURCE_STATES
    return dynsel_word_load_relaxed(&policy->probations) != 0 &&
           dynsel_health_in_service(&policy->queues[index]);
#else
    (void)policy;
    (void)index;
    return false;
#endif
}

/* The tail of the queue; shows whether work was appended in between. */
static inline uint32_t dynsel_queue_tail(const dynsel_queue *queue)
{
#if CONFIG_DYNSEL_IN_FLIGHT && !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    return dynsel_word_load_relaxed(&queue->tail);
#else
    (void)queue;
    return 0;
#endif
}

/* The end of work where the health is not 0: of a trial, if the resource is on probation. False: it
 * is not, nor was it when it began to drain. */
#if CONFIG_DYNSEL_RESOURCE_STATES
DYNSEL_RARE bool dynsel_health_note_trial(dynsel_policy *policy, const dynsel_selection *chosen,
                                          dynsel_status status);
#else
static inline bool dynsel_health_note_trial(const dynsel_policy *policy,
                                            const dynsel_selection *chosen, dynsel_status status)
{
    (void)policy;
    (void)chosen;
    (void)status;
    return false;
}
#endif

/* Work ended with `status`: a failure, or the first success after failures. */
DYNSEL_RARE void dynsel_health_note_change(dynsel_policy *policy, uint32_t index,
                                           dynsel_status status);

/* Work ended with `status`: counts consecutive failures of the device. */
static inline void dynsel_health_note_result(dynsel_policy *policy, const dynsel_selection *chosen,
                                             dynsel_status status)
{
    dynsel_count_end(policy, chosen->index, status);
#if CONFIG_DYNSEL_MAX_FAILURES > 0 || CONFIG_DYNSEL_RESOURCE_STATES
    if ((status != DYNSEL_OK || dynsel_health_of(&policy->queues[chosen->index]) != 0) &&
        !dynsel_health_note_trial(policy, chosen, status)) {
        dynsel_health_note_change(policy, chosen->index, status);
    }
#endif
}

#if CONFIG_DYNSEL_TIME_LIMITS
/* Work has exceeded its time limit: the resource is suspect, unless it is out of service. */
void dynsel_health_suspect(dynsel_policy *policy, uint32_t index);

/* That work has ended. If the resource is still suspect it drains on, or is on probation. */
void dynsel_health_recover(dynsel_policy *policy, uint32_t index);
#endif

#if CONFIG_DYNSEL_SHADOW_CHECK
/* The results of a resource differ from those of another one. */
void dynsel_health_doubt(dynsel_policy *policy, uint32_t index);

/* The end of that doubt. Too many wrong results take the resource out of service. */
void dynsel_health_decide(dynsel_policy *policy, uint32_t index, bool wrong);
#endif

/* Takes a resource out of service. cause: of dynsel_resource_change. */
#if CONFIG_DYNSEL_RESOURCE_STATES
void dynsel_health_retire(dynsel_policy *policy, uint32_t index, dynsel_status cause);
#else
void dynsel_health_take_out(dynsel_policy *policy, uint32_t index);

static inline void dynsel_health_retire(dynsel_policy *policy, uint32_t index, dynsel_status cause)
{
    (void)cause; /* nobody hears it */
    dynsel_health_take_out(policy, index);
}
#endif

/* Fails because the resource is out of service. */
#if CONFIG_DYNSEL_ERROR_TEXTS
DYNSEL_RARE dynsel_status dynsel_resource_refuse(const dynsel_policy *policy, uint32_t index);
#else
static inline dynsel_status dynsel_resource_refuse(const dynsel_policy *policy, uint32_t index)
{
    (void)policy;
    (void)index;
    return DYNSEL_FAIL(DYNSEL_E_OUT_OF_SERVICE, NULL);
}
#endif

#if CONFIG_DYNSEL_RESOURCE_STATES

/* Changes the state from `seen` to `wanted`, and tells so. False: it has changed, seen: out. */
bool dynsel_health_change(dynsel_policy *policy, uint32_t index, uint32_t *seen, uint32_t wanted,
                          dynsel_status cause);

/* dynsel_resource_get_state() without the reap, on behalf of `function`. */
dynsel_status dynsel_health_look(const dynsel_policy *policy, size_t index, const char *function,
                                 dynsel_resource_state *state);

DYNSEL_RARE dynsel_status dynsel_health_enter_impaired(dynsel_policy *policy,
                                                       dynsel_selection *chosen);

/* After dynsel_health_enter(): the work was not started, and says nothing about the resource. */
DYNSEL_RARE void dynsel_health_leave(dynsel_policy *policy, const dynsel_selection *chosen);

/* Before work is started: DYNSEL_E_OUT_OF_SERVICE where the resource left after it was chosen,
 * DYNSEL_E_AGAIN where it is on probation and taken. */
static inline dynsel_status dynsel_health_enter(dynsel_policy *policy, dynsel_selection *chosen,
                                                dynsel_work *work)
{
    if (!dynsel_occupancy_enter(policy, chosen->index, work)) {
        return dynsel_resource_refuse(policy, chosen->index);
    }
    if (DYNSEL_LIKELY(dynsel_policy_impairment(policy) == 0)) {
        return DYNSEL_OK;
    }
    const dynsel_status status = dynsel_health_enter_impaired(policy, chosen);
    if (status != DYNSEL_OK) {
        dynsel_occupancy_leave(policy, chosen->index, work);
    }
    return status;
}

#else

static inline dynsel_status
dynsel_health_enter(dynsel_policy *policy, const dynsel_selection *chosen, const dynsel_work *work)
{
    (void)policy;
    (void)chosen;
    (void)work;
    return DYNSEL_OK;
}

#endif

/* The backend did not start the work: the opposite of dynsel_health_enter(). Retires the resource
 * where that is out of service. */
static inline void dynsel_health_note_refusal(dynsel_policy *policy, const dynsel_selection *chosen,
                                              dynsel_work *work, dynsel_status status)
{
    dynsel_occupancy_leave(policy, chosen->index, work);
#if CONFIG_DYNSEL_RESOURCE_STATES
    dynsel_health_leave(policy, chosen);
#endif
    if (status == DYNSEL_E_OUT_OF_SERVICE) {
        dynsel_health_retire(policy, chosen->index, status);
    }
}

#endif
