/* SPDX-License-Identifier: Apache-2.0 */
/* What is told to the upper layer that accepts work before it can be started, and asked of it. */
#ifndef DYNSEL_SUBMISSION_PENDING_OPS_H
#define DYNSEL_SUBMISSION_PENDING_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/policy.h>

#include "port/atomic.h"
#include "port/likely.h"

struct dynsel_slot;

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* What the core asks of the owner of pending work. There is one such part of the library. */
typedef struct dynsel_pending_ops {
    /* Starts what can be started; never blocks. Not called while this thread is in a task
     * function. */
    void (*progress)(void);

    /* What has to end before waiting work can be started. DYNSEL_OK: `token` is that of a piece of
     * work that was started and is not over; DYNSEL_E_AGAIN: none that can be waited for, look
     * again; DYNSEL_E_BUSY (with the last error set): it would be waited for for ever. slot:
     * referenced. */
    dynsel_status (*find_dependency)(const struct dynsel_slot *slot, uint32_t *token);

    /* Pending work has ended, however it did, and nobody can see that yet. May change
     * slot->work.error. No lock of the caller's is held but that of the slot's queue. */
    void (*ended)(struct dynsel_slot *slot);

    /* Whether work whose start failed may not end yet. Its event, if it left one, is not looked at
     * before. */
    bool (*holds)(const struct dynsel_slot *slot);

    /* A policy of which nothing is in flight is about to leave its resources, and to end. */
    void (*leave)(const dynsel_policy *policy);

    /* The stage of a slot with `watchers` has changed, and everybody can see that; the slot may be
     * another's by now. Held is what `ended` says. */
    void (*moved)(struct dynsel_slot *slot);
} dynsel_pending_ops;

/* Makes it known; the same one each time. Before any work is deferred, under a lock of the
 * caller's. */
void dynsel_pending_register(const dynsel_pending_ops *pending_ops);

/* Visible to who sees that something is pending. */
extern const dynsel_pending_ops *dynsel_pending_operations;

/* How much was published and is neither started nor ended, but for what the call that accepted it
 * starts at once: nobody can count on that before the call has returned. */
extern dynsel_word dynsel_pending_count;

void dynsel_pending_progress_now(void);

/* Starts what can be started, if anything waits and this thread is in no task function. */
static inline void dynsel_pending_progress(void)
{
    if (!DYNSEL_LIKELY(dynsel_word_load_acquire(&dynsel_pending_count) == 0)) {
        dynsel_pending_progress_now();
    }
}

/* What dynsel_pending_ops.ended is for. */
void dynsel_pending_tell_end(struct dynsel_slot *slot);

/* What dynsel_pending_ops.moved is for: after each change of the stage. */
DYNSEL_RARE void dynsel_pending_tell_watchers(struct dynsel_slot *slot);

/* What dynsel_pending_ops.leave is for. */
void dynsel_pending_leave(const dynsel_policy *policy);

#else

static inline void dynsel_pending_progress(void)
{
}

static inline void dynsel_pending_tell_end(struct dynsel_slot *slot)
{
    (void)slot;
}

static inline void dynsel_pending_leave(const dynsel_policy *policy)
{
    (void)policy;
}

#endif

#endif
