/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/start_pending.h"

#include <string.h>

#include "base/fail.h"
#include "data/buffers.h"
#include "data/coherence.h"
#include "data/coherence_commit.h"
#include "data/domains.h"
#include "data/external_events.h"
#include "data/readback_time.h"
#include "data/staging.h"
#include "groups/choose_resource.h"
#include "groups/failures.h"
#include "groups/follow.h"
#include "groups/order.h"
#include "groups/watch.h"
#include "policy/after_fork.h"
#include "port/likely.h"
#include "submission/pending.h"

/* An event or data that it needs are lost: the group fails, and ends after its dependencies. */
static dynsel_status fail_look(dynsel_handler *group)
{
    group->uses->will_fail = true;
    dynsel_watch_changed(group); /* groups that wait behind it for staging memory */
    return dynsel_order_look(group);
}

dynsel_status dynsel_group_look_at_data(dynsel_handler *group, dynsel_buffer_record **copy_out)
{
    group->waits_for = 0;
    group->uses->wants_staging = false;
    if (!DYNSEL_LIKELY(!dynsel_external_events_exist(group->uses))) {
        const dynsel_status status = dynsel_external_events_look(group->uses, &group->error);
        if (status != DYNSEL_OK) {
            return status == DYNSEL_E_AGAIN ? status : fail_look(group);
        }
    }
    if (dynsel_group_is_empty(group)) {
        *copy_out = NULL;
        return DYNSEL_OK;
    }
    const dynsel_outlook outlook = dynsel_coherence_look(group->uses, &group->error);
    dynsel_watch_looked_at(group->uses);
    *copy_out = outlook.copy_out;
    if (DYNSEL_LIKELY(outlook.status == DYNSEL_OK || outlook.status == DYNSEL_E_AGAIN)) {
        return outlook.status;
    }
    return fail_look(group);
}

dynsel_status dynsel_group_look(dynsel_handler *group, dynsel_buffer_record **copy_out)
{
    const dynsel_status status = dynsel_order_look(group);
    return status == DYNSEL_OK ? dynsel_group_look_at_data(group, copy_out) : status;
}

static void fail_dependents(dynsel_handler *group, const dynsel_error *error)
{
    group->uses->will_fail = true;
    group->error = *error;
}

/* Under the lock: returns the group to the state WAITING. status: of the look after a new choice,
 * or of the refusal. refusal: DYNSEL_OK after a new choice. */
static void wait_again(dynsel_handler *group, dynsel_status status, dynsel_status refusal,
                       dynsel_buffer_record *copy_out)
{
    dynsel_pending_put_back(dynsel_slot_of(group));
    if (status != DYNSEL_E_AGAIN || group->uses->will_fail) {
        dynsel_watch_no_longer(group);
    } else if (refusal == DYNSEL_OK) {
        dynsel_watch_obstacle(group, copy_out);
    } else if (refusal == DYNSEL_E_AGAIN) {
        dynsel_watch_resource(group);
    } else {
        dynsel_watch_nothing(group);
    }
}

/* Under the lock: what its former resource copies in is of no use on another one. */
static void forget_copies_in(dynsel_uses *uses)
{
    uses->relies_on = 0;
    for (uint32_t i = 0; i < uses->count; i++) {
        uses->each[i].relies_on = 0;
    }
}

/* Handles a refused or withdrawn start. True: the caller starts the group again, on the newly
 * chosen resource. False: it waits, or waits to fail. */
DYNSEL_RARE static bool handle_refusal(dynsel_handler *group, const dynsel_error *refusal,
                                       bool may_choose)
{
    dynsel_buffer_record *copy_out = NULL;
    dynsel_slot_of(group)->work.quiet = false; /* it may copy data in the next time */
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    dynsel_coherence_roll_back(group->uses);
    dynsel_spinlock_release(&dynsel_memory_lock);
    dynsel_status status = refusal->status;
    if (dynsel_uses_go_around(group->uses)) {
        dynsel_uses_look_again(group->uses);
        status = DYNSEL_OK; /* on the same resource */
    } else if (status == DYNSEL_E_OUT_OF_SERVICE && may_choose) {
        status = dynsel_choose_resource_again(group);
    }

    dynsel_spinlock_acquire(&dynsel_memory_lock);
    dynsel_status why = refusal->status;
    if (status == DYNSEL_OK) {
        why = DYNSEL_OK;
        forget_copies_in(group->uses);
        if (dynsel_take_choice(group, dynsel_slot_of(group)) == DYNSEL_OK) {
            status = dynsel_group_look(group, &copy_out);
        } else {
            fail_dependents(group, dynsel_last_error());
            status = DYNSEL_E_AGAIN;
        }
    } else if (status != DYNSEL_E_AGAIN) {
        fail_dependents(group, refusal);
    }
    if (status != DYNSEL_OK) {
        wait_again(group, status, why, copy_out);
    }
    dynsel_watch_changed(group); /* its copies in were rolled back, or its resource changed */
    if (copy_out != NULL) {
        dynsel_watch_begin_copy_out(copy_out);
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return status == DYNSEL_OK;
}

/* The start has failed, and the group may not end before its dependencies. */
DYNSEL_RARE static void hold(dynsel_handler *group, const dynsel_error *failure)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    fail_dependents(group, failure);
    dynsel_pending_put_back(dynsel_slot_of(group));
    dynsel_watch_no_longer(group);
    dynsel_watch_changed(group); /* it copies nothing in */
    dynsel_spinlock_release(&dynsel_memory_lock);
}

/* True: it is empty and, as all that it depends on is over, over. */
DYNSEL_RARE static bool start_uncommon(const dynsel_handler *group)
{
    static const dynsel_error nothing_is_wrong = {.status = DYNSEL_OK};
    if (dynsel_group_is_empty(group)) {
        dynsel_pending_fail(dynsel_slot_of(group), &nothing_is_wrong);
        return true;
    }
    if (dynsel_group_follows(group)) {
        dynsel_follow_synchronize(group);
    }
    return false;
}

bool dynsel_group_start(dynsel_handler *group)
{
    dynsel_slot *slot = dynsel_slot_of(group);
    if (!DYNSEL_LIKELY(group->uncommon == 0) && start_uncommon(group)) {
        return true;
    }
    const uint32_t resources = dynsel_policy_count(slot->selection.policy);
    for (uint32_t refused = 0;; refused++) {
        const uint32_t failures_before = dynsel_this_thread()->failure_count;
        const dynsel_status status = dynsel_pending_start(slot);
        if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
            return true;
        }
        if (slot->work.error.status != DYNSEL_OK) {
            hold(group, &slot->work.error);
            return false;
        }
        const dynsel_error refusal = dynsel_details_of(status, failures_before);
        if (!handle_refusal(group, &refusal, refused < resources)) {
            return false;
        }
    }
}

/* Looks at a group, and starts it, ends it, or makes it watch again. Under the lock, which is
 * released meanwhile. */
static void look_again(dynsel_handler *group)
{
    dynsel_buffer_record *copy_out = NULL;
    if (!group->uses->will_fail && dynsel_watch_line(group)) {
        return;
    }
    const bool was_refused = group->refused;
    group->refused = false;
    const dynsel_status status = dynsel_group_look(group, &copy_out);
    if (status == DYNSEL_E_AGAIN) {
        dynsel_watch_obstacle(group, copy_out);
        if (was_refused) {
            dynsel_watch_changed(group); /* another group in line tries the resource */
        }
        if (copy_out != NULL) {
            dynsel_watch_begin_copy_out(copy_out);
        }
        return;
    }
    dynsel_pending_take(dynsel_slot_of(group));
    if (status == DYNSEL_OK && group->command.kind == DYNSEL_COMMAND_HOST_ACCESS) {
        group->held = true; /* from now on its owner ends it */
        return;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    if (status == DYNSEL_OK) {
        (void)dynsel_group_start(group);
    } else {
        dynsel_pending_fail(dynsel_slot_of(group), &group->error);
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
}

/* One round, under the lock: looks at groups in the order of their entry, except those that are
 * entered meanwhile. */
static void look_at_due_groups(void)
{
    const uint32_t newest = dynsel_order_entries;
    dynsel_watch_begin_round();
    dynsel_buffer_record *record = dynsel_watched_copy_out(0);
    while (record != NULL) {
        dynsel_watch_look_at_copy_out(record);
        record = dynsel_watched_copy_out((uint32_t)(record - dynsel_buffers) + 1);
    }
    dynsel_handler *group = dynsel_watch_take(newest, dynsel_order_entries);
    while (group != NULL) {
        look_again(group);
        group = dynsel_watch_take(newest, dynsel_order_entries);
    }
}

bool dynsel_groups_progress(void)
{
    if (dynsel_watch_is_due()) {
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        look_at_due_groups();
        dynsel_spinlock_release(&dynsel_memory_lock);
    }
    dynsel_readback_tell();
    return dynsel_watch_is_due();
}

dynsel_status dynsel_group_cancel(dynsel_slot *slot, const dynsel_kept_error *error)
{
    dynsel_handler *const group = dynsel_group_of(slot);
    const bool is_host_access = group->command.kind == DYNSEL_COMMAND_HOST_ACCESS;
    dynsel_status status = DYNSEL_E_BUSY;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    if (dynsel_slot_state(dynsel_word_load_acquire(&slot->word)) == DYNSEL_SLOT_WAITING) {
        status = group->uses->will_fail && !is_host_access ? DYNSEL_E_STALE : DYNSEL_OK;
    }
    if (status == DYNSEL_OK) {
        fail_dependents(group, error);
        if (is_host_access) {
            dynsel_order_leave(group);
        }
        dynsel_watch_end(group);
        dynsel_watch_changed(group); /* it copies nothing in */
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return status;
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork() there are no buffers and no command groups. Memory on devices is the
 * parent's: nothing is freed. */
static void forget(void)
{
    dynsel_buffers_forget();
    (void)memset(dynsel_domains, 0, sizeof(dynsel_domains));
    (void)memset(dynsel_all_uses, 0, sizeof(dynsel_all_uses));
    (void)memset(dynsel_groups, 0, sizeof(dynsel_groups));
    dynsel_staging_forget_all();
    dynsel_readback_forget_all();
    dynsel_watch_forget_all();
    dynsel_failures_forget_all();
}

void (*const dynsel_fork_groups)(void) = forget;
#endif
