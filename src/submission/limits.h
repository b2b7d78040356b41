/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time limits of work that has a place in a queue.
 *
 * Whoever reaps a queue looks at its oldest work, whose limit counts from its start, or from when
 * the work before it was taken off. Past the limit the resource is suspect; after
 * CONFIG_DYNSEL_GIVE_UP_AFTER_MS more it is given up: all its work of the policy ends with
 * DYNSEL_E_GIVEN_UP.
 *
 * While such work exists, no wait may block in a driver, and each wait looks at all queues.
 */
#ifndef DYNSEL_SUBMISSION_LIMITS_H
#define DYNSEL_SUBMISSION_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "port/likely.h"
#include "submission/slot.h"

#if CONFIG_DYNSEL_TIME_LIMITS

/* How long a sleep may be while work with a limit is in flight. */
#define DYNSEL_LIMITS_SLEEP_NS ((uint64_t)1 << 20)

static inline bool dynsel_limits_exist(void)
{
    return !DYNSEL_LIKELY(dynsel_word_load_relaxed(&dynsel_limited_count) == 0);
}

/* The limit of a task, for dynsel_slot.limit_ns. */
static inline uint64_t dynsel_limit_of(const dynsel_task *task)
{
    enum { NS_PER_MS = 1000000 };
    return CONFIG_DYNSEL_TIME_LIMIT_MS == 0 || task->limit_ns != 0
               ? task->limit_ns
               : (uint64_t)CONFIG_DYNSEL_TIME_LIMIT_MS * NS_PER_MS;
}

/* Sets the limit of a slot whose work is about to start. */
static inline void dynsel_limits_set(dynsel_slot *slot, const dynsel_task *task)
{
    slot->limit_ns = dynsel_limit_of(task);
}

/* The work has been started, and gets its place in a queue. */
DYNSEL_RARE void dynsel_limits_begin(dynsel_slot *slot);

static inline bool dynsel_limits_concern(const dynsel_slot *slot)
{
    return !DYNSEL_LIKELY(slot->limit_ns == 0);
}

static inline void dynsel_limits_enter(dynsel_slot *slot)
{
    if (dynsel_limits_concern(slot)) {
        dynsel_limits_begin(slot);
    }
}

/* Reaper only: finished work was taken off its queue. */
DYNSEL_RARE void dynsel_limits_end(const dynsel_slot *slot);

static inline void dynsel_limits_leave(const dynsel_slot *slot)
{
    if (dynsel_limits_concern(slot)) {
        dynsel_limits_end(slot);
    }
}

/* Reaper only: finished work was taken off, so the limit of the oldest work counts from now on. */
DYNSEL_RARE void dynsel_limits_restart(const dynsel_queue *queue);

/* Reaper only: looks at the oldest work, which was not finished. True: some is finished now,
 * because it just ended or the resource was given up. */
DYNSEL_RARE bool dynsel_limits_look(dynsel_queue *queue);

/* Reaper only: ends all work in the queue, without its resource. False: the backend cannot. */
bool dynsel_limits_give_up(dynsel_queue *queue, dynsel_policy *policy, uint32_t index);

#else

#define DYNSEL_LIMITS_SLEEP_NS ((uint64_t)1)

static inline bool dynsel_limits_exist(void)
{
    return false;
}

static inline void dynsel_limits_set(dynsel_slot *slot, const dynsel_task *task)
{
    (void)slot;
    (void)task;
}

static inline bool dynsel_limits_concern(const dynsel_slot *slot)
{
    (void)slot;
    return false;
}

static inline void dynsel_limits_enter(const dynsel_slot *slot)
{
    (void)slot;
}

static inline void dynsel_limits_leave(const dynsel_slot *slot)
{
    (void)slot;
}

static inline void dynsel_limits_restart(const dynsel_queue *queue)
{
    (void)queue;
}

static inline bool dynsel_limits_look(const dynsel_queue *queue)
{
    (void)queue;
    return false;
}

#endif

#endif
