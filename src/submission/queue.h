/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work in flight on one resource of one policy, oldest first.
 *
 * Any thread appends (one exchange); one thread at a time, the reaper, takes finished work off the
 * head. So the cost of reaping follows what has finished, not what is in flight.
 */
#ifndef DYNSEL_SUBMISSION_QUEUE_H
#define DYNSEL_SUBMISSION_QUEUE_H

#include "submission/slot.h"

enum { DYNSEL_TAIL_IS_OVER = 1 << (DYNSEL_SLOT_GENERATION_SHIFT - 1) };

_Static_assert(CONFIG_DYNSEL_MAX_IN_FLIGHT <= (int)DYNSEL_TAIL_IS_OVER, "a tail has no bit left");

/* A tail is the token of what was appended last, + 1, so that a slot that was used again in between
 * shows. It stays, with a mark, when that was taken off, so that work that came and went shows too.
 */
static inline bool dynsel_tail_is_over(uint32_t tail)
{
    return ((tail - 1) & DYNSEL_TAIL_IS_OVER) != 0;
}

static inline bool dynsel_queue_is_empty(const dynsel_queue *queue)
{
    return dynsel_tail_is_over(dynsel_word_load_relaxed(&queue->tail));
}

/* The slot that a tail stands for that is not over. */
static inline dynsel_slot *dynsel_queue_last(uint32_t tail)
{
    return dynsel_slot_at(dynsel_slot_number_in(tail - 1));
}

/* Appends a slot that is published as LISTED. */
void dynsel_queue_append(dynsel_queue *queue, dynsel_slot *slot);

/* Takes finished work off the head, unless another thread is doing so. Never blocks. referenced:
 * the slot that the caller itself holds a reference of; or NULL. */
void dynsel_queue_reap(dynsel_queue *queue, const dynsel_slot *referenced);

/* The same for all work in flight. */
void dynsel_queue_reap_all(void);

/* As dynsel_queue_reap(), after any thread that is doing so. */
void dynsel_queue_reap_after_others(dynsel_queue *queue);

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Started work that has no place in the queue yet, and of which nobody wants to know more than its
 * end: where the queue is empty and the work is over by now, it ends without one. False: it is as
 * it was. */
bool dynsel_queue_pass(dynsel_queue *queue, dynsel_slot *slot);

/* As dynsel_queue_reap_after_others(). True: the oldest work that is left goes on; false: nothing
 * is left, or another thread is about to complete or append something. */
bool dynsel_queue_reap_to_running(dynsel_queue *queue);
#endif

/* The started work that has `count` others ahead of it, referenced; NULL: there are fewer, or
 * another thread is taking work off. */
dynsel_slot *dynsel_queue_ref_behind(dynsel_queue *queue, uint32_t count);

/* The same again; and makes the results of all work that was taken off visible to the caller. */
void dynsel_queue_synchronize(dynsel_queue *queue, const dynsel_resource *resource);

#endif
