/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/progress.h"

#include "core/deferred.h"
#include "core/fail.h"
#include "memory/coherence.h"
#include "memory/lock.h"
#include "memory/order.h"
#include "memory/place.h"
#include "memory/readback.h"
#include "memory/staging.h"
#include "port/likely.h"

/* Slot numbers; under the lock. */
static uint32_t first = DYNSEL_NO_SLOT;
static uint32_t last = DYNSEL_NO_SLOT;

static dynsel_word waiting; /* how many; without the lock it is a hint */

static dynsel_handler *group_at(uint32_t number)
{
    return &dynsel_groups[number - 1];
}

static uint32_t number_of(const dynsel_handler *group)
{
    return (uint32_t)(group - dynsel_groups) + 1;
}

/* Numbers of entry are counted round. */
static bool comes_before(uint32_t order, uint32_t other)
{
    return (int32_t)(order - other) < 0;
}

static void count(uint32_t change)
{
    dynsel_word_store_relaxed(&waiting, dynsel_word_load_relaxed(&waiting) + change);
}

/* What waits again goes where it was. */
void dynsel_waiting_add(dynsel_handler *group)
{
    uint32_t *link = &first;
    if (last != DYNSEL_NO_SLOT && comes_before(group_at(last)->order, group->order)) {
        link = &group_at(last)->next;
    }
    while (*link != DYNSEL_NO_SLOT && comes_before(group_at(*link)->order, group->order)) {
        link = &group_at(*link)->next;
    }
    group->next = *link;
    *link = number_of(group);
    if (group->next == DYNSEL_NO_SLOT) {
        last = number_of(group);
    }
    count(1);
}

static void take_off(const dynsel_handler *group)
{
    uint32_t before = DYNSEL_NO_SLOT;
    uint32_t *link = &first;
    while (*link != number_of(group)) {
        before = *link;
        link = &group_at(before)->next;
    }
    *link = group->next;
    if (group->next == DYNSEL_NO_SLOT) {
        last = before;
    }
    count((uint32_t)-1);
}

/* Data that are lost for good doom it: it ends when all that it depends on has. */
dynsel_status dynsel_waiting_look_at_data(dynsel_handler *group, dynsel_buffer_record **fetch)
{
    const dynsel_outlook outlook = dynsel_coherence_look(group);
    *fetch = outlook.fetch;
    if (DYNSEL_LIKELY(outlook.status == DYNSEL_OK || outlook.status == DYNSEL_E_AGAIN)) {
        return outlook.status;
    }
    group->doomed = true;
    return dynsel_order_look(group);
}

dynsel_status dynsel_waiting_look(dynsel_handler *group, dynsel_buffer_record **fetch)
{
    const dynsel_status status = dynsel_order_look(group);
    return status == DYNSEL_OK ? dynsel_waiting_look_at_data(group, fetch) : status;
}

/* What becomes of work whose start was refused: DYNSEL_OK: the policy has chosen again;
 * DYNSEL_E_AGAIN: it waits; else it is doomed. */
static dynsel_status choose_again(dynsel_handler *group, dynsel_status refusal, bool may_choose)
{
    return refusal == DYNSEL_E_OUT_OF_SERVICE && may_choose ? dynsel_place_choose_again(group)
                                                            : refusal;
}

static void doom(dynsel_handler *group, const dynsel_error *error)
{
    group->doomed = true;
    group->error = *error;
}

/* Under the lock, where the policy has chosen again. */
static dynsel_status look_elsewhere(dynsel_handler *group, dynsel_buffer_record **fetch)
{
    if (dynsel_place_take(group) == DYNSEL_OK) {
        return dynsel_waiting_look(group, fetch);
    }
    doom(group, dynsel_last_error());
    return DYNSEL_E_AGAIN;
}

/* The start was refused. True: it is to be started where the policy chose it to be now; else it
 * waits, if only for its end. */
DYNSEL_RARE static bool find_another(dynsel_handler *group, const dynsel_error *refusal,
                                     bool may_choose)
{
    dynsel_buffer_record *fetch = NULL;
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    dynsel_coherence_take_back(group);
    dynsel_brief_lock_release(&dynsel_memory_lock);
    dynsel_status status = choose_again(group, refusal->status, may_choose);

    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    if (status == DYNSEL_OK) {
        status = look_elsewhere(group, &fetch);
    } else if (status != DYNSEL_E_AGAIN) {
        doom(group, refusal);
    }
    if (status != DYNSEL_OK) {
        dynsel_deferred_put_back(dynsel_slot_of(group));
        dynsel_waiting_add(group);
    }
    dynsel_brief_lock_release(&dynsel_memory_lock);
    if (fetch != NULL) {
        dynsel_fetch_begin(fetch);
    }
    return status == DYNSEL_OK;
}

/* Its start has failed, and it may not end yet. */
DYNSEL_RARE static void hold(dynsel_handler *group, const dynsel_error *failure)
{
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    doom(group, failure);
    dynsel_deferred_put_back(dynsel_slot_of(group));
    dynsel_waiting_add(group);
    dynsel_brief_lock_release(&dynsel_memory_lock);
}

bool dynsel_waiting_start(dynsel_handler *group)
{
    dynsel_slot *slot = dynsel_slot_of(group);
    const uint32_t resources = slot->selection.policy->count;
    for (uint32_t refused = 0;; refused++) {
        const uint32_t failures_before = dynsel_this_thread()->failure_count;
        const dynsel_status status = dynsel_deferred_start(slot);
        if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
            return true;
        }
        if (slot->work.error.status != DYNSEL_OK) {
            hold(group, &slot->work.error);
            return false;
        }
        const dynsel_error refusal = dynsel_details_of(status, failures_before);
        if (!find_another(group, &refusal, refused < resources)) {
            return false;
        }
    }
}

/* Started or ended without the lock. */
static void go_on(dynsel_handler *group, dynsel_status status)
{
    dynsel_brief_lock_release(&dynsel_memory_lock);
    if (status == DYNSEL_OK) {
        (void)dynsel_waiting_start(group);
    } else {
        dynsel_deferred_fail(dynsel_slot_of(group), &group->error);
    }
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
}

/* Under the lock, which is let go in between. True: it is worth another look at once. */
static bool attend_to(dynsel_handler *group)
{
    dynsel_buffer_record *fetch = NULL;
    const dynsel_status status = dynsel_waiting_look(group, &fetch);
    if (status == DYNSEL_E_AGAIN) {
        if (fetch != NULL) {
            dynsel_brief_lock_release(&dynsel_memory_lock);
            dynsel_fetch_begin(fetch);
            dynsel_brief_lock_acquire(&dynsel_memory_lock);
        }
        return fetch != NULL;
    }
    take_off(group);
    dynsel_deferred_take(dynsel_slot_of(group));
    if (status == DYNSEL_OK && group->command.kind == DYNSEL_COMMAND_HOST_ACCESS) {
        group->held = true; /* from now on it is who asked for it that ends it */
    } else {
        go_on(group, status);
    }
    return false;
}

/* The list may have changed while the lock was let go. NULL: nothing is left of this round. */
static dynsel_handler *find_next(uint32_t done, uint32_t end)
{
    uint32_t number = first;
    while (number != DYNSEL_NO_SLOT && !comes_before(done, group_at(number)->order)) {
        number = group_at(number)->next;
    }
    return number != DYNSEL_NO_SLOT && !comes_before(end, group_at(number)->order)
               ? group_at(number)
               : NULL;
}

/* Once through what waited at the beginning. */
static void walk(void)
{
    uint32_t done = group_at(first)->order - 1;
    const uint32_t end = group_at(last)->order;
    for (dynsel_handler *group = find_next(done, end); group != NULL;
         group = find_next(done, end)) {
        const uint32_t order = group->order;
        if (!attend_to(group)) {
            done = order;
        }
    }
}

void dynsel_waiting_progress(void)
{
    if (dynsel_word_load_relaxed(&waiting) != 0) {
        dynsel_brief_lock_acquire(&dynsel_memory_lock);
        if (first != DYNSEL_NO_SLOT) {
            walk();
        }
        dynsel_brief_lock_release(&dynsel_memory_lock);
    }
    dynsel_readback_tell();
}

static void leave(const dynsel_policy *policy)
{
    dynsel_staging_leave(policy);
    dynsel_readback_leave(policy);
}

void dynsel_waiting_register(void)
{
    static const dynsel_deferral deferral = {.progress = dynsel_waiting_progress,
                                             .blocker = dynsel_order_blocker,
                                             .ended = dynsel_order_ended,
                                             .holds = dynsel_order_holds,
                                             .leave = leave};
    dynsel_deferral_register(&deferral);
}
