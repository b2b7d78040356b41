/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/place.h"

#include "base/fail.h"
#include "data/buffers.h"
#include "data/decision.h"
#include "groups/choose.h"
#include "groups/order.h"
#include "groups/progress.h"
#include "groups/watch.h"
#include "port/likely.h"
#include "submission/pending.h"

/* The result of one attempt to enter. */
typedef struct entry {
    dynsel_status status;           /* DYNSEL_OK: it is published */
    uint32_t token;                 /* of work to wait for; with `waits` */
    bool waits;                     /* a table is full */
    dynsel_status start;            /* whether it may be started */
    dynsel_buffer_record *copy_out; /* to begin */
} entry;

static inline bool is_host_access(const dynsel_handler *group)
{
    return group->command.kind == DYNSEL_COMMAND_HOST_ACCESS;
}

static inline dynsel_status look(dynsel_handler *group, bool waits, dynsel_buffer_record **copy_out)
{
    if (DYNSEL_LIKELY(!waits && dynsel_coherence_start_resident(group->uses))) {
        return DYNSEL_OK;
    }
    return waits ? dynsel_waiting_look(group, copy_out)
                 : dynsel_waiting_look_at_data(group, copy_out);
}

static inline void publish(dynsel_handler *group, uint32_t references, bool waits, entry *made)
{
    made->start = look(group, waits, &made->copy_out);
    if (DYNSEL_LIKELY(made->start == DYNSEL_OK)) {
        group->held = is_host_access(group);
        dynsel_pending_publish(dynsel_slot_of(group), references,
                               group->held ? DYNSEL_INITIAL_HELD : DYNSEL_INITIAL_STARTING);
    } else {
        dynsel_pending_publish(dynsel_slot_of(group), references, DYNSEL_INITIAL_WAITING);
        if (made->start == DYNSEL_E_AGAIN) {
            dynsel_watch_obstacle(group, made->copy_out);
        } else {
            dynsel_watch_no_longer(group);
        }
    }
}

/* Under the lock: all of it at once, so that two that are entered at the same time come in the same
 * order for all buffers. */
static inline void try_to_enter(dynsel_handler *group, const dynsel_submit_options *options,
                                uint32_t references, entry *made)
{
    group->uses->will_fail = false;
    group->uses->undone = false; /* other threads see it until this one is over */
    group->held = false;
    group->refused = false;
    group->looked_since = 0;
    group->uses->opener = is_host_access(group) ? dynsel_thread_identity() : 0;
    made->status = dynsel_place_take(group);
    if (!DYNSEL_LIKELY(made->status == DYNSEL_OK)) {
        return;
    }
    bool waits = false;
    made->status = dynsel_order_enter(group, options->function, &waits, &made->token);
    if (DYNSEL_LIKELY(made->status == DYNSEL_OK)) {
        dynsel_waiting_register();
        publish(group, references, waits, made);
    } else {
        made->waits = made->status == DYNSEL_E_FULL;
    }
}

/* Whether this thread itself has it open, so that it would wait for ever. */
static bool is_own(uint32_t token)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const bool own = dynsel_order_is_own(token);
    dynsel_spinlock_release(&dynsel_memory_lock);
    return own;
}

/* Until that work is over. DYNSEL_OK: try again. */
DYNSEL_RARE static dynsel_status wait_for_room(uint32_t token, const dynsel_submit_options *options)
{
    dynsel_error full = *dynsel_last_error();
    if (options->deadline_ns == DYNSEL_DO_NOT_WAIT || dynsel_this_thread()->task_depth != 0 ||
        is_own(token)) {
        return full.status;
    }
    if (!dynsel_pending_ref(token)) {
        return DYNSEL_OK;
    }
    dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(token));
    const dynsel_status status = dynsel_wait_until(slot, options->deadline_ns);
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    if (status == DYNSEL_E_BUSY) {
        return dynsel_fail(&full);
    }
    if (status == DYNSEL_E_TIMEOUT) {
        full.status = status; /* it names the full table */
        return dynsel_fail(&full);
    }
    return status;
}

/* A refused start, or one that can never succeed, is handled at once. */
static inline void go_on(dynsel_handler *group, const entry *made)
{
    bool more = made->start != DYNSEL_OK && made->start != DYNSEL_E_AGAIN;
    if (made->start == DYNSEL_OK) {
        more = !is_host_access(group) && !dynsel_waiting_start(group);
    } else if (made->copy_out != NULL) {
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        dynsel_watch_begin_copy_out(made->copy_out);
        dynsel_spinlock_release(&dynsel_memory_lock);
        more = true;
    }
    if (more) {
        dynsel_pending_progress();
    }
}

dynsel_status dynsel_place_enter(dynsel_handler *group, const dynsel_submit_options *options,
                                 uint32_t references)
{
    for (;;) {
        entry made = {.status = DYNSEL_OK};
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        try_to_enter(group, options, references, &made);
        dynsel_spinlock_release(&dynsel_memory_lock);
        if (DYNSEL_LIKELY(made.status == DYNSEL_OK)) {
            go_on(group, &made);
            return DYNSEL_OK;
        }
        if (!made.waits) {
            return made.status;
        }
        made.status = wait_for_room(made.token, options);
        if (made.status != DYNSEL_OK) {
            return made.status;
        }
    }
}
