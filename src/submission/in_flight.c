/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/in_flight.h"

#include "base/fail.h"
#include "policy/policy.h"
#include "policy/report.h"
#include "port/pause.h"
#include "submission/finish.h"
#include "submission/handle.h"
#include "submission/pending_ops.h"
#include "submission/queue.h"
#include "submission/slot.h"
#include "submission/wait_until.h"
#include "submission/work.h"

enum {
    FIRST_IN_SLOT = DYNSEL_SUBMISSION_IN_SLOT - 1 /* slots count from 1 */
};

/* Of a slot that is started. */
static dynsel_queue *queue_of(const dynsel_slot *slot)
{
    return &slot->selection.policy->queues[slot->selection.index];
}

static void reap_policy(dynsel_policy *policy)
{
    for (uint32_t i = 0; i < policy->count; i++) {
        dynsel_queue_reap(&policy->queues[i], NULL);
    }
}

void dynsel_in_flight_reap_policy(dynsel_policy *policy)
{
    if (dynsel_policy_outlives(policy)) {
        reap_policy(policy);
    }
}

void dynsel_in_flight_reap(void)
{
    dynsel_queue_reap_all();
    dynsel_pending_progress();
}

/* Only the program can free it: it holds an uncollected result, or work that waits for this
 * thread. */
static bool is_stuck(dynsel_slot *slot)
{
    const uint32_t word = dynsel_word_load_relaxed(&slot->word);
    if (dynsel_slot_state(word) == DYNSEL_SLOT_FINISHED) {
        return (word & (DYNSEL_SLOT_REFS | DYNSEL_SLOT_HANDLE)) == DYNSEL_SLOT_HANDLE;
    }
    return dynsel_pending_is_stuck(slot);
}

/* Including the command groups that this thread is recording. */
static uint32_t count_stuck(void)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    uint32_t count = dynsel_this_thread()->recordings;
#else
    uint32_t count = 0;
#endif
    for (uint32_t number = 1; number <= CONFIG_DYNSEL_MAX_IN_FLIGHT; number++) {
        count += is_stuck(dynsel_slot_at(number)) ? 1 : 0;
    }
    return count;
}

static dynsel_status refuse_full(const dynsel_request *request, uint32_t stuck)
{
    return DYNSEL_FAIL_IN(
        request->options->function, DYNSEL_E_FULL,
        "no slot is free, {} hold finished work that nobody has collected, or what waits for this "
        "thread: wait for submissions or release them, or raise CONFIG_DYNSEL_MAX_IN_FLIGHT",
        stuck);
}

/* Reaps the own policy first, and all policies only if that frees no slot. */
static dynsel_slot *claim_after_reaping(dynsel_policy *policy)
{
    reap_policy(policy);
    dynsel_slot *slot = dynsel_slot_claim();
    if (slot == NULL) {
        dynsel_in_flight_reap();
        slot = dynsel_slot_claim();
    }
    return slot;
}

/* Whether waiting for a slot makes sense: DYNSEL_OK, or why not. */
static dynsel_status may_wait_for_slot(const dynsel_request *request)
{
    const uint32_t stuck = count_stuck();
    if (request->options->deadline_ns == DYNSEL_DO_NOT_WAIT ||
        dynsel_this_thread()->task_depth != 0 || stuck == CONFIG_DYNSEL_MAX_IN_FLIGHT) {
        return refuse_full(request, stuck);
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
    for (uint32_t i = 0; i < policy->count; i++) {
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
 * If all work is on one resource, sleeps until a quarter of it is complete: polling or waking for
 * each piece would take time from a device that runs on the host. False: several resources are
 * busy.
 */
static bool wait_while_busy(const dynsel_request *request)
{
    enum { GOOD_PART = CONFIG_DYNSEL_MAX_IN_FLIGHT / 4 };
    if (request->options->deadline_ns != DYNSEL_WAIT_FOREVER ||
        !dynsel_policy_outlives(request->policy)) {
        return false;
    }
    dynsel_queue *queue = only_busy_queue(request->policy);
    dynsel_slot *slot = queue != NULL ? dynsel_queue_ref_behind(queue, GOOD_PART) : NULL;
    if (slot == NULL) {
        return false;
    }
    (void)dynsel_wait_until(slot, DYNSEL_WAIT_FOREVER);
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return true;
}

/* When no slot is free. */
DYNSEL_ASIDE static dynsel_status make_room(const dynsel_request *request, dynsel_slot **slot)
{
    for (uint32_t round = 0;; round++) {
        *slot = claim_after_reaping(request->policy);
        if (*slot != NULL) {
            return DYNSEL_OK;
        }
        dynsel_slot_raise_most(dynsel_slot_count_in_use());
        const dynsel_status status = may_wait_for_slot(request);
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
    *slot = dynsel_slot_claim();
    return DYNSEL_LIKELY(*slot != NULL) ? DYNSEL_OK : make_room(request, slot);
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
bool dynsel_in_flight_is_busy(const dynsel_backend *backend, const void *own)
{
    bool busy = false;
    for (uint32_t number = 1; number <= CONFIG_DYNSEL_MAX_IN_FLIGHT && !busy; number++) {
        dynsel_slot *slot = dynsel_slot_at(number);
        if (!dynsel_slot_ref(slot, DYNSEL_SLOT_LISTED)) {
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
                              FIRST_IN_SLOT + dynsel_slot_number(slot));
        references = DYNSEL_SLOT_HANDLE | (awaits ? (uint32_t)DYNSEL_SLOT_REF : 0u);
    }
    if (!over) {
        dynsel_queue *queue = queue_of(slot);
        slot->queued = !dynsel_queue_is_empty(queue);
        dynsel_slot_publish(slot, DYNSEL_SLOT_RUNNING | DYNSEL_SLOT_LISTED | references);
        dynsel_queue_append(queue, slot);
    } else if (references != 0) {
        dynsel_slot_publish(slot, DYNSEL_SLOT_FINISHED | references);
    } else {
        if (slot->work.error.status != DYNSEL_OK) {
            dynsel_group_note_failure(slot->selection.policy, &slot->work.error);
        }
        dynsel_slot_unclaim(slot);
    }
}

dynsel_slot *dynsel_in_flight_ref(const dynsel_submission *submission, const char *function)
{
    const uint32_t number = dynsel_word_load_relaxed(&submission->slot) - FIRST_IN_SLOT;
    if (number - 1 < CONFIG_DYNSEL_MAX_IN_FLIGHT) {
        dynsel_slot *slot = dynsel_slot_at(number);
        if (dynsel_slot_ref_handle(slot, submission->generation)) {
            return slot;
        }
    }
    (void)dynsel_refuse_stale(function);
    return NULL;
}

/* The task function's event and value, without an event that the backend releases. */
static dynsel_event after_release(const dynsel_work *work)
{
    dynsel_event left = work->done;
    if (work->where->backend->ops->release != NULL) {
        left.native = NULL;
    }
    return left;
}

/* The same with a retained event for the caller, if the backend can retain it. The work is
 * complete, and its event is not released meanwhile. */
DYNSEL_ASIDE static dynsel_event retained(const dynsel_work *work)
{
    dynsel_backend *backend = work->where->backend;
    dynsel_event left = after_release(work);
    if (left.native != work->done.native && backend->ops->retain != NULL &&
        backend->ops->retain(backend, work)) {
        left.native = work->done.native;
    }
    return left;
}

/* Stores the task function's event and value in the handle. */
static void keep_result(dynsel_submission *submission, const dynsel_work *work)
{
    submission->done = after_release(work);
    dynsel_word_store_release(&submission->slot, DYNSEL_SUBMISSION_COLLECTED);
}

dynsel_status dynsel_in_flight_collect(dynsel_submission *submission, const char *function,
                                       uint64_t deadline_ns, dynsel_event *done)
{
    dynsel_slot *slot = dynsel_in_flight_ref(submission, function);
    if (slot == NULL) {
        return DYNSEL_E_STALE;
    }
    const dynsel_status status = dynsel_wait_until(slot, deadline_ns);
    if (status != DYNSEL_OK) {
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
        return status == DYNSEL_E_TIMEOUT ? dynsel_refuse_unfinished(function) : status;
    }
    dynsel_slot_synchronize(slot);
    const dynsel_kept_error error = slot->work.error;
    if (done != NULL) {
        *done = retained(&slot->work);
    }
    if (dynsel_slot_take_handle(slot)) { /* else another waiting thread has it */
        keep_result(submission, &slot->work);
    }
    dynsel_queue_reap(queue_of(slot), slot);
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return error.status == DYNSEL_OK ? DYNSEL_OK : dynsel_fail_again(&error);
}

void dynsel_in_flight_unref(uint32_t slot)
{
    if (slot >= DYNSEL_SUBMISSION_IN_SLOT) {
        dynsel_slot_unref(dynsel_slot_at(slot - FIRST_IN_SLOT), DYNSEL_SLOT_REF);
    }
}

/* Makes the results of polled work visible, because no wait follows. */
dynsel_status dynsel_in_flight_release(const dynsel_submission *submission)
{
    dynsel_slot *slot = dynsel_in_flight_ref(submission, DYNSEL_TEXT("dynsel_submission_release"));
    if (slot == NULL) {
        return DYNSEL_E_STALE;
    }
    const bool detached = dynsel_slot_detach(slot);
    if (!dynsel_slot_is_pending(dynsel_word_load_acquire(&slot->word))) {
        dynsel_queue_reap(queue_of(slot), slot);
    }
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return detached ? DYNSEL_OK : dynsel_refuse_stale(DYNSEL_TEXT("dynsel_submission_release"));
}

/* With a backend that marks ends, the task function may be writing its event in another thread
 * until the mark. */
static bool has_left_event(const dynsel_slot *slot)
{
    const uint32_t word = dynsel_word_load_acquire(&slot->word);
    if (dynsel_slot_is_pending(word)) {
        return false;
    }
    return !slot->work.where->backend->ops->marks_completion || (word & DYNSEL_SLOT_MARKED) != 0 ||
           dynsel_slot_state(word) == DYNSEL_SLOT_FINISHED;
}

dynsel_status dynsel_in_flight_unwrap(const dynsel_submission *submission, dynsel_event *done)
{
    dynsel_slot *slot = dynsel_in_flight_ref(submission, DYNSEL_TEXT("dynsel_submission_unwrap"));
    if (slot == NULL) {
        return DYNSEL_E_STALE;
    }
    *done = has_left_event(slot) ? slot->work.done : (dynsel_event){.native = NULL};
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return DYNSEL_OK;
}

/* Takes a reference to the slot if its work is in this queue. */
static dynsel_slot *ref_in_queue(const dynsel_queue *queue, dynsel_slot *slot)
{
    if (slot == NULL || !dynsel_slot_ref(slot, DYNSEL_SLOT_LISTED)) {
        return NULL;
    }
    if (queue_of(slot) == queue) {
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

static bool is_listed(const dynsel_slot *slot)
{
    return (dynsel_word_load_acquire(&slot->word) & DYNSEL_SLOT_LISTED) != 0;
}

/* Waits for the newest work first: on an in-order resource the older work is done then too. */
static void drain(dynsel_queue *queue)
{
    dynsel_slot *newest = ref_in_queue(queue, last_of(queue));
    if (newest == NULL) {
        return;
    }
    (void)dynsel_wait_until(newest, DYNSEL_WAIT_FOREVER);
    dynsel_queue_reap(queue, newest);
    for (uint32_t round = 0; is_listed(newest); round++) {
        dynsel_slot *oldest = ref_in_queue(queue, first_of(queue));
        if (oldest != NULL) {
            (void)dynsel_wait_until(oldest, DYNSEL_WAIT_FOREVER);
            dynsel_slot_unref(oldest, DYNSEL_SLOT_REF);
        }
        dynsel_queue_reap(queue, newest);
        if (is_listed(newest)) {
            dynsel_pause(round);
        }
    }
    dynsel_slot_unref(newest, DYNSEL_SLOT_REF);
}

dynsel_status dynsel_in_flight_wait(dynsel_policy *policy)
{
    const dynsel_status status = dynsel_pending_wait(policy, NULL);
    if (status != DYNSEL_OK || !dynsel_policy_outlives(policy)) {
        return status;
    }
    for (uint32_t i = 0; i < policy->count; i++) {
        drain(&policy->queues[i]);
        dynsel_queue_synchronize(&policy->queues[i], &policy->resources[i]);
    }
    return DYNSEL_OK;
}

dynsel_status dynsel_in_flight_wait_backend(const dynsel_backend *backend)
{
    const dynsel_status status = dynsel_pending_wait(NULL, backend);
    if (status != DYNSEL_OK) {
        return status;
    }
    for (uint32_t number = 1; number <= CONFIG_DYNSEL_MAX_IN_FLIGHT; number++) {
        dynsel_slot *slot = dynsel_slot_at(number);
        if (!dynsel_slot_ref(slot, DYNSEL_SLOT_LISTED)) {
            continue;
        }
        if (slot->work.where->backend == backend) {
            (void)dynsel_wait_until(slot, DYNSEL_WAIT_FOREVER);
            dynsel_queue_reap(queue_of(slot), slot);
            dynsel_queue_synchronize(queue_of(slot), slot->work.where);
        }
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    }
    return DYNSEL_OK;
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
        held =
            (word & (DYNSEL_SLOT_HANDLE | DYNSEL_SLOT_LISTED)) != 0 || dynsel_slot_is_pending(word);
        if (!held) {
            wait_for_others(slot);
        }
    }
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return held;
}

static uint32_t count_held_by(const dynsel_policy *policy)
{
    uint32_t count = 0;
    for (uint32_t number = 1; number <= CONFIG_DYNSEL_MAX_IN_FLIGHT; number++) {
        count += is_held_by(dynsel_slot_at(number), policy) ? 1 : 0;
    }
    return count;
}

uint32_t dynsel_in_flight_retire(dynsel_policy *policy)
{
    if (!dynsel_policy_outlives(policy) && !CONFIG_DYNSEL_COMMAND_GROUPS) {
        return 0;
    }
    for (uint32_t i = 0; i < policy->count; i++) {
        dynsel_queue_reap_after_others(&policy->queues[i]);
    }
    const uint32_t held = count_held_by(policy);
    for (uint32_t i = 0; held == 0 && i < policy->count; i++) {
        dynsel_queue_synchronize(&policy->queues[i], &policy->resources[i]);
    }
    if (held == 0) {
        dynsel_pending_leave(policy);
    }
    return held;
}
