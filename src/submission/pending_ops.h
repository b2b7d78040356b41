/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of the upper layer that accepts work before it can be started. */
#ifndef DYNSEL_SUBMISSION_PENDING_OPS_H
#define DYNSEL_SUBMISSION_PENDING_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/policy.h>

#include "port/atomic.h"
#include "port/likely.h"

struct dynsel_slot;

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* The operations of the owner of pending work. The library has one owner. */
typedef struct dynsel_pending_ops {
    /* Starts all work that is ready; never blocks. Not called inside a task function. Returns
     * whether pending work waits for what no mark of a backend tells: it has to be called again. */
    bool (*progress)(void);

    /* Finds the work that has to end before this slot's work can start. DYNSEL_OK: `token` is that
     * of started work; DYNSEL_E_AGAIN: no such work, try again; DYNSEL_E_BUSY (last error set): the
     * wait would never end. slot: the caller holds a reference. */
    dynsel_status (*find_dependency)(const struct dynsel_slot *slot, uint32_t *token);

    /* Lets pending work end without a start, when what it depends on is over. DYNSEL_E_BUSY: it
     * does not wait; DYNSEL_E_STALE: it will end without a start already. slot: the caller holds a
     * reference. */
    dynsel_status (*cancel)(struct dynsel_slot *slot, const dynsel_kept_error *error);

    /* Pending work has ended, and its end is not visible yet. May change slot->work.error. The
     * caller holds no lock but that of the slot's queue. Not called for quiet work, see below. */
    void (*ended)(struct dynsel_slot *slot);

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    /* Whether a start that failed is withdrawn: the work is as before it. */
    bool (*is_withdrawn)(const struct dynsel_slot *slot);
#endif

    /* Whether work whose start failed must not end yet. Its event, if any, is not polled before. */
    bool (*holds)(const struct dynsel_slot *slot);

#if CONFIG_DYNSEL_REPEAT
    /* Starts the second run of work whose first run failed, in a slot of its own. DYNSEL_OK: it was
     * started, and may be over; DYNSEL_E_AGAIN: not now; DYNSEL_E_OUT_OF_SERVICE: another resource
     * may be chosen; another failure: it cannot run again. */
    dynsel_status (*run_again)(struct dynsel_slot *first, struct dynsel_slot *second);

    /* Whether work that ended with DYNSEL_E_DEPENDENCY depends on nothing that failed: its copies
     * in did. */
    bool (*failed_alone)(const struct dynsel_slot *slot);

    /* Whether a resource that hangs uses no memory of the host for this work. */
    bool (*is_apart)(const struct dynsel_slot *slot);
#endif

    /* A policy without work in flight is being deinitialized. */
    void (*leave)(const dynsel_policy *policy);

    /* The stage of a slot with `watchers` has changed visibly; the slot may be in use again. Locks
     * as for `ended`. */
    void (*moved)(struct dynsel_slot *slot);
} dynsel_pending_ops;

/* Visible to threads that see a pending count above 0. */
extern const dynsel_pending_ops *dynsel_pending_operations;

DYNSEL_RARE void dynsel_pending_register_first(const dynsel_pending_ops *pending_ops);

/* Registers the operations, the same ones each time, before the first pending work and under the
 * caller's lock. */
static inline void dynsel_pending_register(const dynsel_pending_ops *pending_ops)
{
    if (!DYNSEL_LIKELY(dynsel_pending_operations != NULL)) {
        dynsel_pending_register_first(pending_ops);
    }
}

/* The number of published pieces of work that are neither started nor ended, without those that the
 * accepting call starts directly. */
extern dynsel_word dynsel_pending_count;

/*
 * Work with slot->work.quiet, which its owner sets before the start, ends without `ended`, except
 * where it failed or there are alarms: the owner's count of what can make other work fail. So the
 * end of most work touches nothing but its slot.
 */
extern dynsel_word dynsel_pending_alarms;

bool dynsel_pending_progress_now(void);

/* Starts ready work, if work is pending and this thread is not in a task function. Returns as
 * dynsel_pending_ops.progress. */
static inline bool dynsel_pending_progress(void)
{
    return !DYNSEL_LIKELY(dynsel_word_load_acquire(&dynsel_pending_count) == 0) &&
           dynsel_pending_progress_now();
}

/* Calls dynsel_pending_ops.cancel. */
dynsel_status dynsel_pending_cancel(struct dynsel_slot *slot, const dynsel_kept_error *error);

/* Calls dynsel_pending_ops.ended. */
void dynsel_pending_tell_end(struct dynsel_slot *slot);

/* Calls dynsel_pending_ops.moved, after each change of the stage. */
DYNSEL_RARE void dynsel_pending_tell_watchers(struct dynsel_slot *slot);

/* Calls dynsel_pending_ops.leave. */
void dynsel_pending_leave(const dynsel_policy *policy);

#else

static inline bool dynsel_pending_progress(void)
{
    return false;
}

static inline dynsel_status dynsel_pending_cancel(struct dynsel_slot *slot,
                                                  const dynsel_kept_error *error)
{
    (void)slot;
    (void)error;
    return DYNSEL_E_BUSY;
}

static inline void dynsel_pending_leave(const dynsel_policy *policy)
{
    (void)policy;
}

#endif

#endif
