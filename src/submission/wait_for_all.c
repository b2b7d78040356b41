/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for all work of a policy or of a backend, and counts the slots that a policy holds. */
#include "submission/slot_table.h"

#include "policy/policy.h"
#include "port/pause.h"
#include "submission/abandon.h"
#include "submission/pending_ops.h"
#include "submission/queue.h"
#include "submission/slot.h"
#include "submission/wait_until.h"

/* Takes a reference to the slot if its work is in this queue. */
static dynsel_slot *ref_in_queue(const dynsel_queue *queue, dynsel_slot *slot)
{
    if (slot == NULL || !dynsel_slot_ref(slot, DYNSEL_SLOT_LISTED)) {
        return NULL;
    }
    if (dynsel_queue_of(slot) == queue) {
        return slot;
    }
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return NULL;
}

static dynsel_slot *first_of(const dynsel_queue *queue)
{
    const uint32_t head = dynsel_word_load_acquire(&queue->head);
    return head == DYNSEL_NO_SLOT ? NULL : dynsel_slot_at(head);
}

static dynsel_slot *last_of(const dynsel_queue *queue)
{
    const uint32_t tail = dynsel_word_load_acquire(&queue->tail);
    return dynsel_tail_is_over(tail) ? NULL : dynsel_queue_last(tail);
}

/* The newest work in the queue, with a reference; NULL: the queue is empty, or it is too late.
 * Pending work is appended before it is listed: until another thread has done that, older work may
 * be running in front of it. */
static dynsel_slot *ref_last(const dynsel_queue *queue, uint64_t deadline_ns, dynsel_status *status)
{
    dynsel_slot *last = last_of(queue);
    dynsel_slot *newest = ref_in_queue(queue, last);
    for (uint32_t round = 0; CONFIG_DYNSEL_COMMAND_GROUPS && last != NULL && newest == NULL;
         round++) {
        if (dynsel_deadline_passed(deadline_ns)) {
            *status = DYNSEL_E_TIMEOUT;
            return NULL;
        }
        dynsel_pause(round);
        last = last_of(queue);
        newest = ref_in_queue(queue, last);
    }
    return newest;
}

static bool is_listed(const dynsel_slot *slot)
{
    return (dynsel_word_load_acquire(&slot->word) & DYNSEL_SLOT_LISTED) != 0;
}

/* Waits for the newest work first: on an in-order resource the older work is done then too. */
static dynsel_status drain(dynsel_queue *queue, uint64_t deadline_ns)
{
    dynsel_status status = DYNSEL_OK;
    dynsel_slot *newest = ref_last(queue, deadline_ns, &status);
    if (newest == NULL) {
        return status;
    }
    status = dynsel_wait_until(newest, deadline_ns);
    dynsel_queue_reap(queue, newest);
    for (uint32_t round = 0; status == DYNSEL_OK && is_listed(newest); round++) {
        dynsel_slot *oldest = ref_in_queue(queue, first_of(queue));
        if (oldest != NULL) {
            status = dynsel_wait_until(oldest, deadline_ns);
            dynsel_slot_unref(oldest, DYNSEL_SLOT_REF);
        }
        dynsel_queue_reap(queue, newest);
        if (is_listed(newest)) {
            dynsel_pause(round);
        }
    }
    dynsel_slot_unref(newest, DYNSEL_SLOT_REF);
    return status;
}

#if CONFIG_DYNSEL_REPEAT
/* Waits for work of the policy that is between two runs. False: there is none. */
static bool wait_for_repeated(const dynsel_policy *policy, uint64_t deadline_ns,
                              dynsel_status *status)
{
    bool found = false;
    for (uint32_t number = 1;
         dynsel_repeats_exist() && *status == DYNSEL_OK && number <= dynsel_slots_open();
         number++) {
        dynsel_slot *const slot = dynsel_slot_at(number);
        if (!dynsel_slot_ref(slot, 0)) {
            continue;
        }
        if (slot->selection.policy == policy &&
            dynsel_slot_repeat_stage(slot) >= DYNSEL_REPEAT_FAILED &&
            !dynsel_slot_is_repeated(slot)) {
            *status = dynsel_wait_until(slot, deadline_ns);
            found = true;
        }
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    }
    return found && *status == DYNSEL_OK;
}
#else
static bool wait_for_repeated(const dynsel_policy *policy, uint64_t deadline_ns,
                              const dynsel_status *status)
{
    (void)policy;
    (void)deadline_ns;
    (void)status;
    return false;
}
#endif

dynsel_status dynsel_in_flight_wait(dynsel_policy *policy, uint64_t deadline_ns)
{
    const uint64_t since = dynsel_traced_now();
    dynsel_status status = dynsel_pending_wait(policy, NULL, deadline_ns);
    if (!dynsel_policy_outlives(policy)) {
        dynsel_traced_wait_for_all(policy, since);
        return status;
    }
    do {
        for (uint32_t i = 0; status == DYNSEL_OK && i < dynsel_policy_count(policy); i++) {
            status = drain(&policy->queues[i], deadline_ns);
            if (status == DYNSEL_OK) {
                dynsel_queue_synchronize(&policy->queues[i], &policy->resources[i]);
            }
        }
    } while (wait_for_repeated(policy, deadline_ns, &status));
    dynsel_traced_wait_for_all(policy, since);
    return status;
}

dynsel_status dynsel_in_flight_wait_backend(const dynsel_backend *backend, uint64_t deadline_ns)
{
    const uint64_t since = dynsel_traced_now();
    dynsel_status status = dynsel_pending_wait(NULL, backend, deadline_ns);
    const uint32_t open = dynsel_slots_open();
    for (uint32_t number = 1; status == DYNSEL_OK && number <= open; number++) {
        dynsel_slot *slot = dynsel_slot_at(number);
        if (!dynsel_slot_ref(slot, DYNSEL_SLOT_LISTED)) {
            continue;
        }
        if (slot->work.where->backend == backend) {
            status = dynsel_wait_until(slot, deadline_ns);
            dynsel_queue_reap(dynsel_queue_of(slot), slot);
            if (status == DYNSEL_OK) {
                dynsel_queue_synchronize(dynsel_queue_of(slot), slot->work.where);
            }
        }
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    }
    dynsel_traced_wait_for_all(NULL, since);
    return status;
}

/* Waits for other threads, which may hold a reference to the slot for a moment. */
static void wait_for_others(const dynsel_slot *slot)
{
    uint32_t word = dynsel_word_load_acquire(&slot->word);
    for (uint32_t round = 0; (word & DYNSEL_SLOT_REFS) != DYNSEL_SLOT_REF; round++) {
        dynsel_pause(round);
        word = dynsel_word_load_acquire(&slot->word);
    }
}

/* Takes a reference if the slot is in use; waits while another thread is freeing it. */
static bool ref_or_see_free(dynsel_slot *slot)
{
    for (uint32_t round = 0; !dynsel_slot_ref(slot, 0); round++) {
        const uint32_t word = dynsel_word_load_acquire(&slot->word);
        if (dynsel_slot_state(word) <= DYNSEL_SLOT_CLAIMED) {
            return false;
        }
        dynsel_pause(round);
    }
    return true;
}

/* Whether the slot holds work of this policy. If not, no thread reads the policy through it
 * afterwards. */
static bool is_held_by(dynsel_slot *slot, const dynsel_policy *policy)
{
    if (!ref_or_see_free(slot)) {
        return false;
    }
    bool held = false;
    if (slot->selection.policy == policy) {
        const uint32_t word = dynsel_word_load_acquire(&slot->word);
        held = (word & (DYNSEL_SLOT_HANDLE | DYNSEL_SLOT_LISTED)) != 0 ||
               dynsel_slot_is_pending(word) || dynsel_slot_is_abandoned(word);
        if (!held) {
            wait_for_others(slot);
        }
    }
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return held;
}

uint32_t dynsel_in_flight_retire(dynsel_policy *policy)
{
    if (!dynsel_policy_outlives(policy) && !CONFIG_DYNSEL_COMMAND_GROUPS) {
        return 0;
    }
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        dynsel_queue_reap_after_others(&policy->queues[i]);
    }
#if CONFIG_DYNSEL_TIME_LIMITS
    dynsel_slots_sweep_abandoned();
#endif
    uint32_t held = 0;
    const uint32_t open = dynsel_slots_open();
    for (uint32_t number = 1; number <= open; number++) {
        held += is_held_by(dynsel_slot_at(number), policy) ? 1 : 0;
    }
    for (uint32_t i = 0; held == 0 && i < dynsel_policy_count(policy); i++) {
        dynsel_queue_synchronize(&policy->queues[i], &policy->resources[i]);
    }
    if (held == 0) {
#if CONFIG_DYNSEL_RESERVED_SLOTS
        dynsel_slots_unreserve(dynsel_word_load_relaxed(&policy->life),
                               CONFIG_DYNSEL_MAX_IN_FLIGHT);
#endif
        dynsel_pending_leave(policy);
    }
    return held;
}
