/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/slot_table.h"

#include "base/fail.h"
#include "policy/policy.h"
#include "port/pause.h"
#include "submission/finish.h"
#include "submission/handle.h"
#include "submission/limits.h"
#include "submission/pending_ops.h"
#include "submission/queue.h"
#include "submission/slot.h"
#include "submission/wait_until.h"

static void reap_policy(dynsel_policy *policy)
{
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        dynsel_queue_reap(&policy->queues[i], NULL);
    }
}

void dynsel_in_flight_reap_policy(dynsel_policy *policy)
{
    if (dynsel_policy_outlives(policy)) {
        reap_policy(policy);
    }
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
void dynsel_in_flight_look_at(dynsel_policy *policy)
{
    if (!dynsel_policy_outlives(policy)) {
        return;
    }
    if (policy->ops->predicts_ends) {
        const uint32_t count = dynsel_policy_is_settled(policy) ? 0 : dynsel_policy_count(policy);
        for (uint32_t i = 0; i < count; i++) {
            dynsel_queue_look(&policy->queues[i], policy->resources[i].backend);
        }
        return;
    }
    reap_policy(policy);
}
#endif

void dynsel_in_flight_reap(void)
{
    (void)dynsel_queue_reap_all();
    (void)dynsel_pending_progress();
}

/* Only the program can free it: it holds an uncollected result, or work that waits for this
 * thread; or a resource that was given up still uses it. */
static bool is_stuck(dynsel_slot *slot)
{
    const uint32_t word = dynsel_word_load_relaxed(&slot->word);
    if (dynsel_slot_state(word) == DYNSEL_SLOT_FINISHED) {
        return (word & (DYNSEL_SLOT_REFS | DYNSEL_SLOT_HANDLE)) == DYNSEL_SLOT_HANDLE ||
               dynsel_slot_is_abandoned(word);
    }
    return dynsel_pending_is_stuck(slot);
}

/* The slots that this policy does not get while the thread waits, with those of the command groups
 * that the thread is recording. */
static uint32_t count_stuck(const dynsel_policy *policy)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    uint32_t count = dynsel_this_thread()->recordings;
#else
    uint32_t count = 0;
#endif
    for (uint32_t number = 1; number <= CONFIG_DYNSEL_MAX_IN_FLIGHT; number++) {
        count +=
            dynsel_slot_is_anothers(number - 1, policy) || is_stuck(dynsel_slot_at(number)) ? 1 : 0;
    }
    return count;
}

#if CONFIG_DYNSEL_REPEAT
bool dynsel_in_flight_can_free(const dynsel_policy *policy, uint32_t count)
{
    return count_stuck(policy) + count <= CONFIG_DYNSEL_MAX_IN_FLIGHT;
}
#endif

/* In waits for room, parts of the work that can be in flight are asked about, or waited for,
 * together. A question takes as long as a fifth of a small command group on an NVIDIA H200, so it
 * is for as many as possible; while one part is waited for, the device needs work from the rest. */
static uint32_t asked_part(void)
{
    return dynsel_slots_open() / 2;
}

static uint32_t waited_part(void)
{
    return dynsel_slots_open() / 4;
}

/* Reaps the own policy first, opens more slots if that frees none, and reaps all policies only if
 * there are no more. */
static dynsel_slot *claim_after_reaping(dynsel_policy *policy)
{
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        dynsel_queue_reap_many(&policy->queues[i], asked_part(), waited_part());
    }
    dynsel_slot *slot = dynsel_slot_claim(policy);
    if (slot == NULL) {
        dynsel_in_flight_reap();
        slot = dynsel_slot_claim(policy);
    }
    return slot;
}

/* Whether waiting for a slot makes sense: DYNSEL_OK, or why not. */
static dynsel_status may_wait_for_slot(const dynsel_request *request)
{
    const uint32_t stuck = count_stuck(request->policy);
    if (request->options->deadline_ns == DYNSEL_DO_NOT_WAIT ||
        dynsel_this_thread()->task_depth != 0 || stuck == CONFIG_DYNSEL_MAX_IN_FLIGHT) {
        return DYNSEL_FAIL_IN(
            request->options->function, DYNSEL_E_FULL,
            DYNSEL_OPTION(MAX_IN_FLIGHT,
                          "no slot is free, and {} hold finished work that nobody has collected, "
                          "or what waits for this thread, or are reserved for other policies or in "
                          "use by resources that were given up: wait for submissions or release "
                          "them, or set it to more than will be in use"),
            stuck);
    }
    if (dynsel_deadline_passed(request->options->deadline_ns)) {
        return DYNSEL_FAIL_IN(request->options->function, DYNSEL_E_TIMEOUT,
                              "no slot was free in time", 0);
    }
    return DYNSEL_OK;
}

/* The only one of the policy's queues with work; NULL: there are several, or none. */
static dynsel_queue *only_busy_queue(dynsel_policy *policy)
{
    dynsel_queue *busy = NULL;
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        if (!dynsel_queue_is_empty(&policy->queues[i])) {
            if (busy != NULL) {
                return NULL;
            }
            busy = &policy->queues[i];
        }
    }
    return busy;
}

/*
 * If all work is on one resource, sleeps until a good part of it is complete: polling or waking for
 * each piece would take time from a device that runs on the host. False: several resources are
 * busy, or that part was complete before, and other work is not.
 */
static bool wait_while_busy(const dynsel_request *request)
{
    if (request->options->deadline_ns != DYNSEL_WAIT_FOREVER ||
        !dynsel_policy_outlives(request->policy)) {
        return false;
    }
    dynsel_queue *queue = only_busy_queue(request->policy);
    dynsel_slot *slot = queue != NULL ? dynsel_queue_ref_behind(queue, waited_part()) : NULL;
    if (slot == NULL) {
        return false;
    }
    const bool was_over =
        dynsel_slot_state(dynsel_word_load_acquire(&slot->word)) == DYNSEL_SLOT_FINISHED;
    (void)dynsel_wait_until(slot, DYNSEL_WAIT_FOREVER);
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return !was_over;
}

/* A count of what is stuck takes as long as tens of command groups where hundreds are pending, and
 * most waits are over before: only in rounds 8, 16, 32, ... of a wait. */
static bool counts_stuck(const dynsel_request *request, uint32_t round)
{
    return !CONFIG_DYNSEL_COMMAND_GROUPS || (round >= 8 && (round & (round - 1)) == 0) ||
           request->options->deadline_ns != DYNSEL_WAIT_FOREVER ||
           dynsel_this_thread()->task_depth != 0;
}

/* When no slot is free. */
DYNSEL_ASIDE static dynsel_status make_room(const dynsel_request *request, dynsel_slot **slot)
{
    const uint64_t since = dynsel_traced_now();
    for (uint32_t round = 0;; round++) {
        *slot = claim_after_reaping(request->policy);
        if (*slot != NULL) {
            dynsel_traced_wait_for_slot(request->policy, since);
            return DYNSEL_OK;
        }
        dynsel_slot_raise_most(dynsel_slot_count_in_use());
        const dynsel_status status =
            counts_stuck(request, round) ? may_wait_for_slot(request) : DYNSEL_OK;
        if (status != DYNSEL_OK) {
            (void)dynsel_word_add_relaxed(&dynsel_slot_refusals, 1);
            return status;
        }
        if (!wait_while_busy(request)) {
            dynsel_pause(round);
        }
    }
}

dynsel_status dynsel_in_flight_claim(const dynsel_request *request, dynsel_slot **slot)
{
    dynsel_in_flight_look(request->policy);
    *slot = dynsel_slot_claim_open(request->policy);
    return DYNSEL_LIKELY(*slot != NULL) ? DYNSEL_OK : make_room(request, slot);
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
bool dynsel_in_flight_is_busy(const dynsel_backend *backend, const void *own)
{
    bool busy = false;
    const uint32_t open = dynsel_slots_open();
    for (uint32_t number = 1; number <= open && !busy; number++) {
        dynsel_slot *slot = dynsel_slot_at(number);
        if ((dynsel_word_load_relaxed(&slot->word) & DYNSEL_SLOT_LISTED) == 0 ||
            !dynsel_slot_ref(slot, DYNSEL_SLOT_LISTED)) {
            continue;
        }
        busy = slot->work.where->backend == backend && slot->work.own == own &&
               dynsel_slot_goes_on(slot);
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    }
    return busy;
}
#endif

void dynsel_in_flight_publish(dynsel_slot *slot, bool over, bool awaits,
                              dynsel_submission *submission)
{
    uint32_t references = 0;
    if (submission != NULL) {
        const uint32_t generation = dynsel_slot_generation(dynsel_word_load_relaxed(&slot->word));
        dynsel_handle_publish(submission, slot->selection.policy, slot->selection.index,
                              slot->selection.reason, generation,
                              DYNSEL_SUBMISSION_SLOT_BASE + dynsel_slot_number(slot));
        references = DYNSEL_SLOT_HANDLE | (awaits ? (uint32_t)DYNSEL_SLOT_REF : 0u);
    }
    if (!over) {
        dynsel_queue *queue = dynsel_queue_of(slot);
        slot->queued = !dynsel_queue_is_empty(queue);
        dynsel_limits_enter(slot);
        dynsel_slot_publish(slot, DYNSEL_SLOT_RUNNING | DYNSEL_SLOT_LISTED | references);
        dynsel_queue_append(queue, slot);
        return;
    }
    if (dynsel_slot_runs_again(slot)) {
        dynsel_slot_publish(slot, DYNSEL_SLOT_COMPLETING | DYNSEL_SLOT_LISTED | references);
        dynsel_slot_leave_failed(slot);
        return;
    }
    dynsel_slot_run_once(slot);
    if (references != 0) {
        dynsel_slot_publish(slot, DYNSEL_SLOT_FINISHED | references);
    } else {
        if (slot->work.error.status != DYNSEL_OK) {
            dynsel_submission_group_note_failure(slot->selection.policy, &slot->work.error);
        }
        dynsel_slot_release_event(slot);
        dynsel_slot_unclaim(slot);
    }
}
