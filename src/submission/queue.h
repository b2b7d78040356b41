/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work in flight on one resource of one policy, oldest first.
 *
 * Any thread appends (one exchange); one thread at a time, the reaper, takes finished work off the
 * head. So the cost of reaping follows what has finished, not what is in flight.
 */
#ifndef DYNSEL_SUBMISSION_QUEUE_H
#define DYNSEL_SUBMISSION_QUEUE_H

#include "submission/limits.h"
#include "submission/slot.h"

enum { DYNSEL_TAIL_IS_OVER = 1 << (DYNSEL_SLOT_GENERATION_SHIFT - 1) };

_Static_assert(CONFIG_DYNSEL_MAX_IN_FLIGHT <= (int)DYNSEL_TAIL_IS_OVER, "a tail has no bit left");

/* A tail is the token of the work appended last, + 1. A mark is set when that work is removed. So
 * the tail also shows slots that were reused and work that came and went. */
static inline bool dynsel_tail_is_over(uint32_t tail)
{
    return ((tail - 1) & DYNSEL_TAIL_IS_OVER) != 0;
}

static inline bool dynsel_queue_is_empty(const dynsel_queue *queue)
{
    return dynsel_tail_is_over(dynsel_word_load_relaxed(&queue->tail));
}

/* The slot of a tail without the mark. */
static inline dynsel_slot *dynsel_queue_last(uint32_t tail)
{
    return dynsel_slot_at(dynsel_slot_number_in(tail - 1));
}

/* The queue of work that has a resource. */
static inline dynsel_queue *dynsel_queue_of(const dynsel_slot *slot)
{
    return &slot->selection.policy->queues[slot->selection.index];
}

/* Takes a draining resource out of service if nothing is in its queue. */
#if CONFIG_DYNSEL_RESOURCE_STATES
void dynsel_queue_note_drained(dynsel_policy *policy, uint32_t index);
#else
static inline void dynsel_queue_note_drained(dynsel_policy *policy, uint32_t index)
{
    (void)policy;
    (void)index;
}
#endif

#if CONFIG_DYNSEL_TIME_LIMITS
/* Takes a resource out of service and ends its work without it; waits for another thread that
 * reaps. False: its backend cannot, nothing was changed. */
bool dynsel_queue_give_up(dynsel_policy *policy, uint32_t index);
#endif

/* Appends a slot that is published as LISTED. */
void dynsel_queue_append(dynsel_queue *queue, dynsel_slot *slot);

/* Removes finished work from the head, unless another thread is reaping. Never blocks. referenced:
 * a slot to which the caller holds a reference, or NULL. */
void dynsel_queue_reap(dynsel_queue *queue, const dynsel_slot *referenced);

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Ends a task that has succeeded, is the first in its queue, and whose results are visible, if only
 * the call that awaits it has references: its slot is given back with these, in half the time that
 * it takes otherwise. For untimed work that runs once. False: the references are still there. */
bool dynsel_queue_end_awaited(dynsel_queue *queue, dynsel_slot *slot);
#endif

/* As dynsel_queue_reap() without a reference, when many are in flight: where the first `most`
 * command groups have ended, or else half as many, down to `least`, the backend is asked about them
 * together. */
#if CONFIG_DYNSEL_COMMAND_GROUPS
void dynsel_queue_reap_many(dynsel_queue *queue, uint32_t most, uint32_t least);
#else
static inline void dynsel_queue_reap_many(dynsel_queue *queue, uint32_t most, uint32_t least)
{
    (void)most;
    (void)least;
    dynsel_queue_reap(queue, NULL);
}
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* As dynsel_queue_reap(); before one choice of several, where the backend has to be asked for ends.
 */
void dynsel_queue_look(dynsel_queue *queue, const dynsel_backend *backend);
#endif

/* The same as dynsel_queue_reap() for all work in flight, and starts second runs. Returns whether
 * work goes on whose backend marks no ends, so that it has to be looked at again; false without
 * command groups. */
bool dynsel_queue_reap_all(void);

/* For loops that wait: looks at the time limits of other work, and starts second runs. */
static inline void dynsel_queue_look_around(void)
{
    if (dynsel_limits_exist() || dynsel_repeats_exist()) {
        (void)dynsel_queue_reap_all();
    }
}

/* As dynsel_queue_reap(), but waits for another thread that reaps. */
void dynsel_queue_reap_after_others(dynsel_queue *queue);

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Ends work in STARTING that has no event, or ended in its start, and frees its slot if nobody
 * needs it. ran: the resource has run it. */
void dynsel_queue_end_outside(dynsel_slot *slot, bool ran);

/* As dynsel_queue_reap_after_others(). ended: a command group of this queue that has ended; the
 * caller holds a reference. True: the oldest remaining work is running; false: the queue is empty,
 * or another thread is completing or appending work. */
bool dynsel_queue_reap_to_running(dynsel_queue *queue, const dynsel_slot *ended);
#endif

/* The started work behind `count` others, with a reference; NULL: the queue is shorter, or another
 * thread is reaping. */
dynsel_slot *dynsel_queue_ref_behind(dynsel_queue *queue, uint32_t count);

/* As dynsel_queue_reap_after_others(), and makes the results of all removed work visible to the
 * caller. */
void dynsel_queue_synchronize(dynsel_queue *queue, const dynsel_resource *resource);

#endif
