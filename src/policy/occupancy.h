/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much work holds a resource of a policy whose set of resources may change: from just before
 * its start until its slot is free. A resource is removed when no work holds it: the same word that
 * counts the work then closes the resource, so that work which was chosen before and is started
 * afterwards sees it.
 */
#ifndef DYNSEL_POLICY_OCCUPANCY_H
#define DYNSEL_POLICY_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/backend.h>
#include <dynsel/policy.h>

#include "policy/usable.h"
#include "port/likely.h"

#if CONFIG_DYNSEL_RESOURCE_SETS

enum { DYNSEL_OCCUPANCY_CLOSED = 1u << 30 /* in dynsel_queue.users */ };

/* Of a policy whose set may change. False: the resource was removed. */
DYNSEL_ASIDE bool dynsel_occupancy_count(dynsel_policy *policy, uint32_t index, dynsel_work *work);

static inline bool dynsel_occupancy_enter(dynsel_policy *policy, uint32_t index, dynsel_work *work)
{
    return DYNSEL_LIKELY(!dynsel_policy_changes(policy)) ||
           dynsel_occupancy_count(policy, index, work);
}

/* Of work that holds the resource. */
DYNSEL_ASIDE void dynsel_occupancy_drop(dynsel_policy *policy, uint32_t index, dynsel_work *work);

/* The work was not started. */
static inline void dynsel_occupancy_leave(dynsel_policy *policy, uint32_t index, dynsel_work *work)
{
    if (!DYNSEL_LIKELY(!dynsel_policy_changes(policy)) && work->holds) {
        dynsel_occupancy_drop(policy, index, work);
    }
}

/* The slot of the work becomes free. */
static inline void dynsel_occupancy_end(const dynsel_selection *chosen, dynsel_work *work)
{
    if (!DYNSEL_LIKELY(!work->holds)) {
        dynsel_occupancy_drop(chosen->policy, chosen->index, work);
    }
}

static inline uint32_t dynsel_occupancy_of(const dynsel_queue *queue)
{
    return dynsel_word_load_relaxed(&queue->users) & (DYNSEL_OCCUPANCY_CLOSED - 1u);
}

/* Lets no more work in. False: some is there. */
static inline bool dynsel_occupancy_close(dynsel_queue *queue)
{
    uint32_t none = 0;
    return dynsel_word_swap(&queue->users, &none, DYNSEL_OCCUPANCY_CLOSED);
}

static inline void dynsel_occupancy_open(dynsel_queue *queue)
{
    (void)dynsel_word_add_synchronized(&queue->users, 0u - DYNSEL_OCCUPANCY_CLOSED);
}

#else

static inline bool dynsel_occupancy_enter(const dynsel_policy *policy, uint32_t index,
                                          const dynsel_work *work)
{
    (void)policy;
    (void)index;
    (void)work;
    return true;
}

static inline void dynsel_occupancy_leave(const dynsel_policy *policy, uint32_t index,
                                          const dynsel_work *work)
{
    (void)policy;
    (void)index;
    (void)work;
}

static inline void dynsel_occupancy_end(const dynsel_selection *chosen, const dynsel_work *work)
{
    (void)chosen;
    (void)work;
}

#endif

#endif
