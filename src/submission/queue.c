/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/queue.h"

#include "policy/traced.h"
#include "port/pause.h"
#include "submission/abandon.h"
#include "submission/finish.h"

void dynsel_queue_append(dynsel_queue *queue, dynsel_slot *slot)
{
    const uint32_t number = dynsel_slot_number(slot);
    dynsel_word_store_relaxed(&slot->next, DYNSEL_NO_SLOT);
    const uint32_t before = dynsel_word_exchange(&queue->tail, slot->work.token + 1);
    slot->overtaken = before != slot->work.queue_tail;
    if (dynsel_tail_is_over(before)) {
        dynsel_word_store_release(&queue->head, number);
    } else {
        dynsel_slot *last = dynsel_queue_last(before); /* it stays listed until `next` is set */
        dynsel_word_store_release(&last->next, number);
    }
}

/* The tail after this slot was removed. */
static uint32_t tail_after(const dynsel_slot *slot)
{
    return (slot->work.token | (uint32_t)DYNSEL_TAIL_IS_OVER) + 1;
}

/* Reaper only. False: another thread is appending behind the head; the next reap removes it. */
static bool take_head(dynsel_queue *queue, dynsel_slot *head)
{
    uint32_t next = dynsel_word_load_acquire(&head->next);
    if (next == DYNSEL_NO_SLOT) {
        uint32_t expected = head->work.token + 1;
        /* before the tail, because the next append sets it */
        dynsel_word_store_release(&queue->head, DYNSEL_NO_SLOT);
        if (dynsel_word_swap(&queue->tail, &expected, tail_after(head))) {
            return true;
        }
        next = dynsel_word_load_acquire(&head->next);
        if (next == DYNSEL_NO_SLOT) {
            dynsel_word_store_release(&queue->head, dynsel_slot_number(head));
            return false;
        }
    }
    dynsel_word_store_release(&queue->head, next);
    return true;
}

static void release_unsynchronized(dynsel_queue *queue, const dynsel_resource *resource)
{
    if (queue->unsynchronized != NULL) {
        dynsel_work work = {
            .where = resource, .own = queue->own, .done = {.native = queue->unsynchronized}};
        queue->unsynchronized = NULL;
        resource->backend->ops->release(resource->backend, &work);
    }
}

static void wait_for_unsynchronized(const dynsel_queue *queue, const dynsel_resource *resource)
{
    if (queue->unsynchronized != NULL) {
        const dynsel_work work = {
            .where = resource, .own = queue->own, .done = {.native = queue->unsynchronized}};
        /* its failure was reported when it was polled */
        (void)resource->backend->ops->wait(resource->backend, &work);
    }
}

/*
 * Keeps the event of detached work that was only polled until a group wait. It replaces the
 * previous event, because a wait for the newest covers all. If other threads hold references they
 * may be using the event; then this function waits for it.
 */
static void keep_event(dynsel_queue *queue, dynsel_slot *slot, uint32_t own_refs)
{
    const uint32_t word = dynsel_word_load_acquire(&slot->word);
    if ((word & DYNSEL_SLOT_POLLED) == 0 || (word & DYNSEL_SLOT_HANDLE) != 0) {
        return; /* a handle's owner synchronizes */
    }
    if ((word & DYNSEL_SLOT_REFS) != own_refs) {
        dynsel_slot_synchronize(slot);
        return;
    }
    if (slot->overtaken) {
        wait_for_unsynchronized(queue, slot->work.where);
    }
    /* the one before it is released when the slot is freed */
    void *const before = queue->unsynchronized;
    queue->unsynchronized = slot->work.done.native;
    slot->work.done.native = before;
}

/*
 * The run time of the work: from the later of its ready time and the end of the previous work on
 * the resource. Work behind work with an unknown end cannot be timed.
 */
static uint64_t time_of(const dynsel_queue *queue, const dynsel_slot *slot)
{
    const dynsel_work *work = &slot->work;
    const bool timed = (work->wants & DYNSEL_TASK_TIME) != 0;
    if (!timed || work->ended_ns == 0 ||
        (slot->queued && !work->began && queue->last_end_ns == 0)) {
        return 0;
    }
    const uint64_t begin =
        queue->last_end_ns > work->ready_ns && !work->began ? queue->last_end_ns : work->ready_ns;
    return work->ended_ns > begin ? work->ended_ns - begin : 1;
}

#if CONFIG_DYNSEL_RESOURCE_STATES
void dynsel_queue_note_drained(dynsel_policy *policy, uint32_t index)
{
    const dynsel_queue *const queue = &policy->queues[index];
    uint32_t seen = dynsel_health_of(queue);
    while ((seen & DYNSEL_HEALTH_DRAINING) != 0 && dynsel_queue_is_empty(queue)) {
        if (dynsel_health_change(policy, index, &seen, DYNSEL_HEALTH_OUT, DYNSEL_OK)) {
            return;
        }
    }
}
#endif

static bool become_reaper(dynsel_queue *queue)
{
    uint32_t expected = 0;
    return dynsel_word_swap(&queue->reaper, &expected, 1);
}

static void wait_to_be_reaper(dynsel_queue *queue)
{
    for (uint32_t round = 0; !become_reaper(queue); round++) {
        dynsel_pause(round);
    }
}

/* Reaper only: the work behind `count` others; NULL: the queue is shorter. */
static dynsel_slot *slot_behind(const dynsel_queue *queue, uint32_t count)
{
    uint32_t number = dynsel_word_load_acquire(&queue->head);
    for (uint32_t i = 0; i < count && number != DYNSEL_NO_SLOT; i++) {
        number = dynsel_word_load_acquire(&dynsel_slot_at(number)->next);
    }
    return number != DYNSEL_NO_SLOT ? dynsel_slot_at(number) : NULL;
}

/* Reaper only: the second half of the end of work that was taken off the list. own_refs: the
 * caller's reference, or 0. */
static void tell_and_leave(dynsel_queue *queue, dynsel_slot *slot, uint32_t own_refs)
{
    dynsel_traced_device(&slot->selection, &slot->work);
    dynsel_finish_told(&slot->selection, slot->work.error.status, time_of(queue, slot));
    queue->last_end_ns = slot->work.ended_ns; /* of untimed work, too: dynsel_complete() */
    keep_event(queue, slot, own_refs);
    dynsel_limits_leave(slot);
    if (!DYNSEL_LIKELY(!dynsel_slot_has_failed(slot))) {
        dynsel_slot_leave_failed(slot);
    } else {
        dynsel_slot_unref(slot, DYNSEL_SLOT_LISTED);
    }
}

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* Whether the backend can be asked about this work together with other work. A timed end has to be
 * seen for itself. */
static bool is_asked_with_others(const dynsel_slot *slot)
{
    return dynsel_slot_state(dynsel_word_load_acquire(&slot->word)) == DYNSEL_SLOT_RUNNING &&
           dynsel_slot_can_be_pending(slot) && (slot->work.wants & DYNSEL_TASK_TIME) == 0;
}

/* Reaper only: whether this work, which has ended, is still in the list, and its backend answers
 * for the work before it. */
static bool is_asked_for_others(const dynsel_queue *queue, const dynsel_slot *ended)
{
    if (ended->work.where->backend->ops->poll_ended == NULL) {
        return false;
    }
    uint32_t number = dynsel_word_load_acquire(&queue->head);
    while (number != DYNSEL_NO_SLOT && dynsel_slot_at(number) != ended) {
        number = dynsel_word_load_acquire(&dynsel_slot_at(number)->next);
    }
    return number != DYNSEL_NO_SLOT;
}

/*
 * Reaper only. Asks about work from `first` on, in the list before `ended` or that itself, as far
 * as one question can. Returns how many pieces of work have succeeded. ended: in and out; NULL from
 * now on if there is no more to ask together: work has failed, or `first` is `ended`.
 */
static uint32_t ask_together(const dynsel_slot *first, const dynsel_slot **ended)
{
    const dynsel_work *works[DYNSEL_MOST_ENDED];
    dynsel_backend *const backend = (*ended)->work.where->backend;
    const dynsel_slot *slot = first;
    uint32_t count = 0;
    while (count < DYNSEL_MOST_ENDED && slot != NULL && is_asked_with_others(slot)) {
        works[count] = &slot->work;
        count++;
        slot = slot != *ended ? dynsel_slot_at(dynsel_word_load_acquire(&slot->next)) : NULL;
    }
    const bool asked = count > 1;
    const bool succeeded = asked && backend->ops->poll_ended(backend, works, count) == DYNSEL_OK;
    if (first == *ended || asked != succeeded) {
        *ended = NULL;
    }
    return succeeded ? count : 0;
}

/* Of untimed work that has succeeded and is in no list any more, and whose slot is the caller's. */
static inline void tell_alone(dynsel_slot *slot)
{
    dynsel_finish_counted(slot->selection.policy, &slot->selection, DYNSEL_OK);
    dynsel_pending_moved(slot);
    dynsel_traced_device(&slot->selection, &slot->work);
    dynsel_finish_told(&slot->selection, DYNSEL_OK, 0);
}

/* Reaper only: ends work that has succeeded and was taken off the list, with one change of its word
 * if nobody else has a reference. own: the caller's references, which go with the slot. True: the
 * slot is free; false: they are still there. */
DYNSEL_ASIDE static bool end_alone(dynsel_queue *queue, dynsel_slot *slot, uint32_t own)
{
    if (DYNSEL_LIKELY(
            dynsel_slot_leave_alone(slot, DYNSEL_SLOT_RUNNING | DYNSEL_SLOT_LISTED | own))) {
        tell_alone(slot);
        queue->last_end_ns = slot->work.ended_ns;
        dynsel_limits_leave(slot);
        dynsel_slot_free(slot);
        return true;
    }
    /* another thread took a reference meanwhile, and may just be completing it */
    for (uint32_t round = 0; !dynsel_slot_complete_ended(slot); round++) {
        dynsel_pause(round);
    }
    tell_and_leave(queue, slot, own & (uint32_t)DYNSEL_SLOT_REFS);
    return false;
}

/* Reaper only: ends the head, which has succeeded, if that is nobody else's affair, as most work of
 * a stream. False: it is somebody's, or another thread is appending behind it, and nothing was
 * changed. */
static inline bool take_off_alone(dynsel_queue *queue, dynsel_slot *head)
{
    if (!dynsel_slot_is_alone(head) || !take_head(queue, head)) {
        return false;
    }
    (void)end_alone(queue, head, 0);
    return true;
}

/* Reaper only. succeeded: it is known to have. */
static inline bool has_finished(dynsel_slot *slot, bool succeeded)
{
    return succeeded ? dynsel_slot_complete_ended(slot) : dynsel_slot_poll(slot);
}

#else

static uint32_t ask_together(const dynsel_slot *first, const dynsel_slot **ended)
{
    (void)first;
    *ended = NULL;
    return 0;
}

static bool take_off_alone(const dynsel_queue *queue, const dynsel_slot *head)
{
    (void)queue;
    (void)head;
    return false;
}

static inline bool has_finished(dynsel_slot *slot, bool succeeded)
{
    (void)succeeded;
    return dynsel_slot_poll(slot);
}

#endif

/* Reaper only: takes the head off the list if it has finished. succeeded: it is known to have. */
static inline bool take_off(dynsel_queue *queue, dynsel_slot *head, bool succeeded,
                            const dynsel_slot *referenced)
{
    if (succeeded && DYNSEL_LIKELY(take_off_alone(queue, head))) {
        return true;
    }
    if ((!has_finished(head, succeeded) && !dynsel_slot_has_failed(head)) ||
        !take_head(queue, head)) {
        return false;
    }
    tell_and_leave(queue, head, head == referenced ? DYNSEL_SLOT_REF : 0);
    return true;
}

/* Reaper only: work of this policy was taken off. */
static inline void note_taken_off(dynsel_queue *queue, dynsel_policy *policy)
{
    if (dynsel_limits_exist()) {
        dynsel_limits_restart(queue);
    }
    if (CONFIG_DYNSEL_RESOURCE_STATES && dynsel_policy_impairment(policy) != 0) {
        dynsel_queue_note_drained(policy, (uint32_t)(queue - policy->queues));
    }
}

/* Reaper only, so the reports of a queue are sequential. ended: work in the list that has ended and
 * whose backend can be asked about it together with the work before it; what is behind it stays.
 * NULL: none. The end of overtaken work says nothing about the work before it. */
static void take_off_finished(dynsel_queue *queue, const dynsel_slot *referenced,
                              const dynsel_slot *ended)
{
    dynsel_policy *policy = NULL;
    uint32_t number = dynsel_word_load_acquire(&queue->head);
    const dynsel_slot *asked_to = ended != NULL && !ended->overtaken ? ended : NULL;
    uint32_t succeeded = 0; /* so many, the first, are known to have */
    while (number != DYNSEL_NO_SLOT) {
        dynsel_slot *slot = dynsel_slot_at(number);
        dynsel_policy *const its = slot->selection.policy;
        if (succeeded == 0 && asked_to != NULL) {
            succeeded = ask_together(slot, &asked_to);
        }
        if (!take_off(queue, slot, succeeded != 0, referenced)) {
            break;
        }
        policy = its;
        succeeded -= succeeded != 0 ? 1 : 0;
        number = slot != ended ? dynsel_word_load_acquire(&queue->head) : (uint32_t)DYNSEL_NO_SLOT;
    }
    if (policy != NULL) {
        note_taken_off(queue, policy);
    }
}

/* Reaper only. */
static void reap(dynsel_queue *queue, const dynsel_slot *referenced, const dynsel_slot *ended)
{
    take_off_finished(queue, referenced, ended);
    if (dynsel_limits_exist() && dynsel_limits_look(queue)) {
        take_off_finished(queue, referenced, NULL);
    }
}

void dynsel_queue_reap(dynsel_queue *queue, const dynsel_slot *referenced)
{
    if (dynsel_word_load_relaxed(&queue->head) != DYNSEL_NO_SLOT && become_reaper(queue)) {
        reap(queue, referenced, NULL);
        dynsel_word_store_release(&queue->reaper, 0);
    }
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
bool dynsel_queue_end_awaited(dynsel_queue *queue, dynsel_slot *slot)
{
    const uint32_t own = (uint32_t)DYNSEL_SLOT_HANDLE + (uint32_t)DYNSEL_SLOT_REF;
    const uint32_t number = dynsel_slot_number(slot);
    dynsel_policy *const policy = slot->selection.policy;
    if (dynsel_word_load_relaxed(&queue->head) != number || !become_reaper(queue)) {
        return false;
    }
    bool ended = false;
    if (dynsel_word_load_acquire(&queue->head) == number &&
        dynsel_word_load_acquire(&slot->word) ==
            dynsel_slot_word_alone(slot, DYNSEL_SLOT_RUNNING | DYNSEL_SLOT_LISTED | own) &&
        take_head(queue, slot)) {
        ended = end_alone(queue, slot, own);
        note_taken_off(queue, policy);
    }
    dynsel_word_store_release(&queue->reaper, 0);
    return ended;
}

/* Reaper only: the last of the first `count` command groups, if it has ended and its backend can be
 * asked about them together. */
static dynsel_slot *find_ended_of(const dynsel_queue *queue, uint32_t count)
{
    dynsel_slot *const slot = count != 0 ? slot_behind(queue, count - 1) : NULL;
    const bool has_ended = slot != NULL && dynsel_slot_can_be_pending(slot) &&
                           slot->work.where->backend->ops->poll_ended != NULL &&
                           !dynsel_slot_goes_on(slot);
    return has_ended ? slot : NULL;
}

void dynsel_queue_reap_many(dynsel_queue *queue, uint32_t most, uint32_t least)
{
    if (dynsel_word_load_relaxed(&queue->head) != DYNSEL_NO_SLOT && become_reaper(queue)) {
        const dynsel_slot *ended = NULL;
        for (uint32_t count = most; ended == NULL && count >= least && count != 0; count /= 2) {
            ended = find_ended_of(queue, count);
        }
        reap(queue, NULL, ended);
        dynsel_word_store_release(&queue->reaper, 0);
    }
}
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS
enum {
    LEFT_OUT = 15,        /* a question takes 1.4 us on an NVIDIA H100, a submit 5 to 14 */
    LEFT_OUT_PENDING = 7, /* while work is pending that may wait for an end */
    LEFT_OUT_BITS = 8,
    MOST_LOOKED_AHEAD = 32
};

/* Reaper only: so many pieces of work, or three quarters of a shorter queue. */
static uint32_t reachable(const dynsel_queue *queue, uint32_t count)
{
    uint32_t number = dynsel_word_load_acquire(&queue->head);
    uint32_t length = 0;
    while (number != DYNSEL_NO_SLOT && length < count) {
        number = dynsel_word_load_acquire(&dynsel_slot_at(number)->next);
        length++;
    }
    return number != DYNSEL_NO_SLOT ? length : (3 * length + 3) / 4;
}

/* Reaper only: asks about one piece of work, as far behind the head as it is likely to have ended;
 * about another where it has, and was near. count: how far; returns how far the next time. */
static uint32_t look_for_end(dynsel_queue *queue, uint32_t count)
{
    uint32_t next = count != 0 ? count : MOST_LOOKED_AHEAD;
    for (uint32_t place = 0; place < LEFT_OUT;) {
        place = reachable(queue, next);
        dynsel_slot *const slot = place != 0 ? slot_behind(queue, place - 1) : NULL;
        if (slot == NULL || dynsel_slot_goes_on(slot)) {
            return place > 1 ? place / 2 : 1;
        }
        const uint32_t head = dynsel_word_load_relaxed(&queue->head);
        reap(queue, NULL, slot);
        if (dynsel_word_load_relaxed(&queue->head) == head) {
            return place; /* work without an order ended before the head, or the head is ending */
        }
        next = place < MOST_LOOKED_AHEAD / 2 ? 2 * place : MOST_LOOKED_AHEAD;
    }
    return next;
}

void dynsel_queue_look(dynsel_queue *queue, const dynsel_backend *backend)
{
    if (dynsel_word_load_relaxed(&queue->head) == DYNSEL_NO_SLOT) {
        return;
    }
    if (backend->ops->marks_completion) {
        dynsel_queue_reap(queue, NULL);
        return;
    }
    const uint32_t looks = dynsel_word_load_relaxed(&queue->looks);
    uint32_t next = looks - 1;
    if (looks % (1u << LEFT_OUT_BITS) == 0) {
        uint32_t count = looks >> LEFT_OUT_BITS;
        if (become_reaper(queue)) {
            if (backend->ops->poll_ended != NULL) {
                count = look_for_end(queue, count);
            } else {
                reap(queue, NULL, NULL);
            }
            dynsel_word_store_release(&queue->reaper, 0);
        }
        const bool is_pending = dynsel_word_load_relaxed(&dynsel_pending_count) != 0;
        next =
            count << LEFT_OUT_BITS | (is_pending ? (uint32_t)LEFT_OUT_PENDING : (uint32_t)LEFT_OUT);
    }
    dynsel_word_store_relaxed(&queue->looks, next);
}
#endif

/* A reference keeps the work, and so its policy. Most slots are free and cost one load. */
bool dynsel_queue_reap_all(void)
{
    bool goes_on = false;
#if CONFIG_DYNSEL_TIME_LIMITS
    if (dynsel_word_load_relaxed(&dynsel_slots_abandoned) != 0) {
        dynsel_slots_sweep_abandoned();
    }
#endif
    const uint32_t open = dynsel_slots_open();
    for (uint32_t number = 1; number <= open; number++) {
        dynsel_slot *slot = dynsel_slot_at(number);
        if ((dynsel_word_load_relaxed(&slot->word) & DYNSEL_SLOT_LISTED) == 0 ||
            !dynsel_slot_ref(slot, DYNSEL_SLOT_LISTED)) {
            continue;
        }
        dynsel_queue *queue = dynsel_queue_of(slot);
        if (dynsel_word_load_relaxed(&queue->head) == number) {
            dynsel_queue_reap(queue, slot);
            goes_on = goes_on || (CONFIG_DYNSEL_COMMAND_GROUPS &&
                                  !slot->work.where->backend->ops->marks_completion &&
                                  !dynsel_queue_is_empty(queue));
        }
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    }
    if (dynsel_repeats_exist()) {
        dynsel_repeat_start_ready();
    }
    return goes_on;
}

/* Taking a reference may wait for others, which the reaper must not do. */
static bool is_crowded(const dynsel_slot *slot)
{
    return (dynsel_word_load_relaxed(&slot->word) & DYNSEL_SLOT_REFS) > DYNSEL_SLOT_REFS / 2;
}

dynsel_slot *dynsel_queue_ref_behind(dynsel_queue *queue, uint32_t count)
{
    if (!become_reaper(queue)) {
        return NULL;
    }
    dynsel_slot *const slot = slot_behind(queue, count);
    const bool referenced =
        slot != NULL && !is_crowded(slot) && dynsel_slot_ref(slot, DYNSEL_SLOT_LISTED);
    dynsel_word_store_release(&queue->reaper, 0);
    return referenced ? slot : NULL;
}

void dynsel_queue_reap_after_others(dynsel_queue *queue)
{
    wait_to_be_reaper(queue);
    reap(queue, NULL, NULL);
    dynsel_word_store_release(&queue->reaper, 0);
}

#if CONFIG_DYNSEL_TIME_LIMITS
bool dynsel_queue_give_up(dynsel_policy *policy, uint32_t index)
{
    dynsel_queue *const queue = &policy->queues[index];
    wait_to_be_reaper(queue);
    take_off_finished(queue, NULL, NULL);
    const bool given_up = dynsel_limits_give_up(queue, policy, index);
    take_off_finished(queue, NULL, NULL);
    dynsel_word_store_release(&queue->reaper, 0);
    return given_up;
}
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS
void dynsel_queue_end_outside(dynsel_slot *slot, bool ran)
{
    const bool timed = (slot->work.wants & DYNSEL_TASK_TIME) != 0;
    if (ran && !timed && dynsel_work_runs_once(&slot->work) && dynsel_pending_ends_quietly(slot) &&
        dynsel_slot_leave_alone(slot, DYNSEL_SLOT_STARTING)) {
        tell_alone(slot);
        dynsel_slot_free(slot);
        return;
    }
    dynsel_slot_begin_end(slot);
    const uint64_t took_ns = ran ? dynsel_direct_time(&slot->work) : 0;
    dynsel_slot_run_once(slot);
    dynsel_pending_end(slot);
    if (ran) {
        dynsel_finish_counted(slot->selection.policy, &slot->selection, slot->work.error.status);
    }
    dynsel_traced_device(&slot->selection, &slot->work);
    dynsel_finish_told(&slot->selection, slot->work.error.status, took_ns);
    if (dynsel_slot_end(slot)) {
        dynsel_slot_free(slot);
    }
    dynsel_pending_moved(slot);
}

bool dynsel_queue_reap_to_running(dynsel_queue *queue, const dynsel_slot *ended)
{
    wait_to_be_reaper(queue);
    reap(queue, NULL, is_asked_for_others(queue, ended) ? ended : NULL);
    const uint32_t number = dynsel_word_load_acquire(&queue->head);
    const bool running = number != DYNSEL_NO_SLOT && dynsel_slot_goes_on(dynsel_slot_at(number));
    dynsel_word_store_release(&queue->reaper, 0);
    return running;
}
#endif

void dynsel_queue_synchronize(dynsel_queue *queue, const dynsel_resource *resource)
{
    wait_to_be_reaper(queue);
    reap(queue, NULL, NULL);
    wait_for_unsynchronized(queue, resource);
    release_unsynchronized(queue, resource);
    dynsel_word_store_release(&queue->reaper, 0);
}
