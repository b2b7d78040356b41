/* SPDX-License-Identifier: Apache-2.0 */
/* Which resources of a policy are in service. */
#ifndef DYNSEL_POLICY_HEALTH_H
#define DYNSEL_POLICY_HEALTH_H

#include "base/fail.h"
#include "policy/statistics.h"
#include "policy/usable.h"

enum {
    DYNSEL_HEALTH_OUT = 1u << 30 /* in dynsel_queue.health, above the consecutive failures */
};

/* How many resources are out of service. */
static inline uint32_t dynsel_policy_impairment(const dynsel_policy *policy)
{
#if CONFIG_DYNSEL_LOSES_RESOURCES
    return dynsel_word_load_relaxed(&policy->impaired);
#else
    (void)policy;
    return 0;
#endif
}

static inline bool dynsel_health_in_service(const dynsel_queue *queue)
{
#if CONFIG_DYNSEL_LOSES_RESOURCES
    return (dynsel_word_load_relaxed(&queue->health) & DYNSEL_HEALTH_OUT) == 0;
#else
    (void)queue;
    return true;
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

/* Work ended with `status`: a failure, or the first success after failures. */
DYNSEL_RARE void dynsel_health_note_change(dynsel_policy *policy, uint32_t index,
                                           dynsel_status status);

/* Work ended with `status`: counts consecutive failures of the device. */
static inline void dynsel_health_note_result(dynsel_policy *policy, uint32_t index,
                                             dynsel_status status)
{
    dynsel_count_end(policy, index, status);
#if CONFIG_DYNSEL_MAX_FAILURES > 0
    if (status != DYNSEL_OK || dynsel_word_load_relaxed(&policy->queues[index].health) != 0) {
        dynsel_health_note_change(policy, index, status);
    }
#endif
}

/* Takes a resource out of service. */
void dynsel_health_retire(dynsel_policy *policy, uint32_t index);

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

#endif
