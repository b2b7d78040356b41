/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/slot.h"

#include "base/fail.h"
#include "policy/policy.h"
#include "port/assert.h"
#include "port/pause.h"
#include "port/thread.h"
#include "port/wake.h"
#include "submission/call_task.h"
#include "submission/failed_work.h"
#include "submission/finish.h"
#include "submission/shadow_check.h"

#if CONFIG_DYNSEL_STATISTICS
dynsel_word dynsel_slots_in_use;
#endif
dynsel_word dynsel_most_in_use;

void dynsel_slot_raise_most(uint32_t in_use)
{
    uint32_t most = dynsel_word_load_relaxed(&dynsel_most_in_use);
    while (most < in_use && !dynsel_word_swap(&dynsel_most_in_use, &most, in_use)) {
    }
}

/* Only for the owner of the slot; word: any of its generation. */
static inline void make_free(dynsel_slot *slot, uint32_t word)
{
    const uint32_t generation = dynsel_slot_generation(word) + 1;
    dynsel_occupancy_end(&slot->selection, &slot->work);
    dynsel_slot_note_free();
    dynsel_word_store_release(&slot->word,
                              generation << DYNSEL_SLOT_GENERATION_SHIFT | DYNSEL_SLOT_FREE);
}

DYNSEL_RARE static uint32_t wait_until_marked(const dynsel_slot *slot)
{
    uint32_t word = dynsel_word_load_acquire(&slot->word);
    for (uint32_t round = 0; (word & DYNSEL_SLOT_MARKING) != 0; round++) {
        dynsel_pause(round);
        word = dynsel_word_load_acquire(&slot->word);
    }
    return word;
}

/* The slot's word while no end is being marked. A backend may mark an end by mistake, and that must
 * not reach the next use of the slot. */
static inline uint32_t unmarked(const dynsel_slot *slot)
{
    const uint32_t word = dynsel_word_load_acquire(&slot->word);
    return DYNSEL_LIKELY((word & DYNSEL_SLOT_MARKING) == 0) ? word : wait_until_marked(slot);
}

void dynsel_slot_unclaim(dynsel_slot *slot)
{
    uint32_t word = 0;
    do {
        word = unmarked(slot);
    } while (!dynsel_marked_swap(&slot->word, &word,
                                 (word & ~(uint32_t)DYNSEL_SLOT_STATE) | DYNSEL_SLOT_LEAVING));
    make_free(slot, word);
}

#define ANY_GENERATION  0u
#define THIS_GENERATION (UINT32_MAX << DYNSEL_SLOT_GENERATION_SHIFT)

/* Waits while the count of references is at its limit. which: ANY_GENERATION or THIS_GENERATION;
 * reserve: references that are not for this caller. */
static bool ref(dynsel_slot *slot, uint32_t needed, uint32_t which, uint32_t generation,
                uint32_t reserve)
{
    uint32_t word = dynsel_word_load_acquire(&slot->word);
    for (uint32_t round = 0;;) {
        const uint32_t state = dynsel_slot_state(word);
        if (state < DYNSEL_SLOT_WAITING || state > DYNSEL_SLOT_FINISHED ||
            (needed != 0 && (word & needed) == 0) ||
            ((word ^ generation << DYNSEL_SLOT_GENERATION_SHIFT) & which) != 0) {
            return false;
        }
        if ((word & DYNSEL_SLOT_REFS) >= DYNSEL_SLOT_REFS - reserve) {
            dynsel_pause(round++);
            word = dynsel_word_load_acquire(&slot->word);
        } else if (dynsel_marked_swap(&slot->word, &word, word + DYNSEL_SLOT_REF)) {
            return true;
        }
    }
}

enum { RESERVE = CONFIG_DYNSEL_COMMAND_GROUPS ? DYNSEL_SLOT_REF : 0 };

bool dynsel_slot_ref(dynsel_slot *slot, uint32_t needed)
{
    return ref(slot, needed, ANY_GENERATION, 0, RESERVE);
}

bool dynsel_slot_ref_handle(dynsel_slot *slot, uint32_t generation)
{
    return ref(slot, DYNSEL_SLOT_HANDLE, THIS_GENERATION, generation, RESERVE);
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
bool dynsel_slot_ref_generation(dynsel_slot *slot, uint32_t generation)
{
    return ref(slot, 0, THIS_GENERATION, generation, RESERVE);
}

bool dynsel_slot_ref_reserved(dynsel_slot *slot, uint32_t generation)
{
    return ref(slot, 0, THIS_GENERATION, generation, 0);
}
#endif

/* The end of work may come as soon as its start. */
static inline bool may_be_marked(uint32_t word)
{
    const uint32_t state = dynsel_slot_state(word);
#if CONFIG_DYNSEL_COMMAND_GROUPS
    if (state == DYNSEL_SLOT_STARTING) {
        return true;
    }
#endif
    return state == DYNSEL_SLOT_CLAIMED || state == DYNSEL_SLOT_RUNNING;
}

/* Only in its own generation, only while the work goes on, and only once. */
static bool begin_marking(dynsel_slot *slot, uint32_t generation)
{
    uint32_t word = dynsel_word_load_acquire(&slot->word);
    for (;;) {
        if (dynsel_slot_generation(word) != generation || !may_be_marked(word) ||
            (word & (DYNSEL_SLOT_MARKING | DYNSEL_SLOT_MARKED)) != 0) {
            return false;
        }
        if (dynsel_marked_swap(&slot->word, &word, word | DYNSEL_SLOT_MARKING)) {
            return true;
        }
    }
}

static bool has_slot(uint32_t token)
{
    return dynsel_slot_number_in(token) <= CONFIG_DYNSEL_MAX_IN_FLIGHT;
}

static inline bool enter_result(uint32_t token)
{
    return has_slot(token) && begin_marking(dynsel_slot_at(dynsel_slot_number_in(token)),
                                            dynsel_slot_generation(token));
}

static inline void mark(uint32_t token, dynsel_status status, uint64_t end_ns)
{
    dynsel_slot *const slot = dynsel_slot_at(dynsel_slot_number_in(token));
    slot->marked = status;
    slot->work.ended_ns = end_ns;
    (void)dynsel_marked_add(&slot->word, DYNSEL_SLOT_MARKED - DYNSEL_SLOT_MARKING);
    dynsel_wake_all();
}

#if CONFIG_DYNSEL_TIME_LIMITS
dynsel_word dynsel_limited_count;
dynsel_word dynsel_slots_abandoned;

/* The backend will not use the slot of abandoned work any more. This may be an interrupt, so a
 * sweep frees the slot. */
static void let_go(uint32_t token)
{
    if (!has_slot(token)) {
        return;
    }
    dynsel_slot *const slot = dynsel_slot_at(dynsel_slot_number_in(token));
    uint32_t word = dynsel_word_load_acquire(&slot->word);
    while (dynsel_slot_generation(word) == dynsel_slot_generation(token) &&
           (word & DYNSEL_SLOT_ABANDONED) == DYNSEL_SLOT_ABANDONED &&
           !dynsel_marked_swap(&slot->word, &word, word & ~(uint32_t)DYNSEL_SLOT_MARKED)) {
    }
}
#else
static void let_go(uint32_t token)
{
    (void)token;
}
#endif

dynsel_status dynsel_complete(uint32_t token, dynsel_status status, uint64_t end_ns)
{
    if (!enter_result(token)) {
        let_go(token);
        return DYNSEL_E_STALE;
    }
    mark(token, status, end_ns);
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_BACKEND_THREADS
bool dynsel_slot_enter_result(uint32_t token)
{
    return enter_result(token);
}

void dynsel_slot_mark(uint32_t token, dynsel_status status, uint64_t end_ns)
{
    mark(token, status, end_ns);
}
#endif

static dynsel_status ask_to_wait(const dynsel_slot *slot)
{
    dynsel_backend *backend = slot->work.where->backend;
    return backend->ops->wait(backend, &slot->work);
}

void dynsel_slot_release_event(dynsel_slot *slot)
{
    dynsel_backend *backend = slot->work.where->backend;
    if (slot->work.done.native != NULL && backend->ops->release != NULL) {
        backend->ops->release(backend, &slot->work);
    }
}

/* All references to a slot. */
enum { REFERENCES = DYNSEL_SLOT_HANDLE | DYNSEL_SLOT_LISTED | DYNSEL_SLOT_REFS };

void dynsel_slot_unref(dynsel_slot *slot, uint32_t what)
{
    uint32_t word = dynsel_word_load_acquire(&slot->word);
    uint32_t left = 0;
    bool last = false;
    do {
        DYNSEL_ASSERT((word & (what == DYNSEL_SLOT_REF ? (uint32_t)DYNSEL_SLOT_REFS : what)) != 0);
        left = word - what;
        last = dynsel_slot_state(left) == DYNSEL_SLOT_FINISHED && (left & REFERENCES) == 0;
        if (last) {
            left = (left & ~(uint32_t)DYNSEL_SLOT_STATE) | DYNSEL_SLOT_LEAVING;
        }
    } while (!dynsel_marked_swap(&slot->word, &word, left));
    if (last) {
        dynsel_slot_release_event(slot);
        make_free(slot, word);
    }
}

bool dynsel_slot_take_handle(dynsel_slot *slot)
{
    uint32_t word = dynsel_word_load_acquire(&slot->word);
    while ((word & DYNSEL_SLOT_HANDLE) != 0) {
        if (dynsel_marked_swap(&slot->word, &word, word & ~(uint32_t)DYNSEL_SLOT_HANDLE)) {
            return true;
        }
    }
    return false;
}

/*
 * A failure of detached work is reported to the group by the function that sees it both finished
 * and detached: this one, or the one that completes the work.
 */
bool dynsel_slot_detach(dynsel_slot *slot)
{
    uint32_t word = dynsel_word_load_acquire(&slot->word);
    do {
        if ((word & DYNSEL_SLOT_HANDLE) == 0) {
            return false;
        }
    } while (!dynsel_marked_swap(&slot->word, &word, word & ~(uint32_t)DYNSEL_SLOT_HANDLE));
    if (dynsel_slot_state(word) == DYNSEL_SLOT_FINISHED) {
        dynsel_slot_synchronize(slot);
        if (slot->work.error.status != DYNSEL_OK) {
            dynsel_submission_group_note_failure(slot->selection.policy, &slot->work.error);
        }
    }
    return true;
}

static inline bool try_to_begin_completion(dynsel_slot *slot, uint32_t *word)
{
    return (*word & (DYNSEL_SLOT_STATE | DYNSEL_SLOT_MARKING)) == DYNSEL_SLOT_RUNNING &&
           dynsel_marked_swap(&slot->word, word,
                              *word + (DYNSEL_SLOT_COMPLETING - DYNSEL_SLOT_RUNNING));
}

DYNSEL_ASIDE static bool begin_completion_after_others(dynsel_slot *slot, uint32_t word)
{
    for (uint32_t round = 0; dynsel_slot_state(word) == DYNSEL_SLOT_RUNNING;) {
        if ((word & DYNSEL_SLOT_MARKING) != 0) {
            dynsel_pause(round++);
            word = dynsel_word_load_acquire(&slot->word);
        } else if (try_to_begin_completion(slot, &word)) {
            return true;
        }
    }
    return false;
}

/* True for one caller, which writes the result; waits while the end is being marked. */
static inline bool begin_completion(dynsel_slot *slot, uint32_t word)
{
    return DYNSEL_LIKELY(try_to_begin_completion(slot, &word)) ||
           begin_completion_after_others(slot, word);
}

static bool is_second_run(const dynsel_slot *slot)
{
#if CONFIG_DYNSEL_REPEAT
    return slot->work.run == DYNSEL_SECOND_RUN;
#else
    (void)slot;
    return false;
#endif
}

/* A failure of detached work reaches the group before the work is seen as finished; a detached
 * handle stays detached. */
DYNSEL_RARE static void end_failed_completion(dynsel_slot *slot, uint32_t flags)
{
    const uint32_t end = DYNSEL_SLOT_FINISHED - DYNSEL_SLOT_COMPLETING + flags;
    uint32_t word = dynsel_word_load_acquire(&slot->word);
    dynsel_failed_work_note(dynsel_slot_number(slot), slot->work.token, &slot->work.error);
    while ((word & DYNSEL_SLOT_HANDLE) != 0) {
        if (dynsel_marked_swap(&slot->word, &word, word + end)) {
            return;
        }
    }
    if (!is_second_run(slot)) { /* whose failure is that of the first */
        dynsel_submission_group_note_failure(slot->selection.policy, &slot->work.error);
    }
    (void)dynsel_marked_add(&slot->word, end);
}

/* An addition, because other threads take references meanwhile; the flags are not set yet. */
static inline void end_completion(dynsel_slot *slot, uint32_t flags)
{
    if (DYNSEL_LIKELY(slot->work.error.status == DYNSEL_OK)) {
        (void)dynsel_marked_add(&slot->word, DYNSEL_SLOT_FINISHED - DYNSEL_SLOT_COMPLETING + flags);
    } else {
        end_failed_completion(slot, flags);
    }
}

#if CONFIG_DYNSEL_REPEAT

void dynsel_slot_disarm(dynsel_slot *first)
{
    const uint32_t number = dynsel_slot_number(first);
    dynsel_slot_unclaim(dynsel_slot_at(dynsel_repeat_other(number)));
    dynsel_repeat_end(number, DYNSEL_REPEAT_UNARMED);
}

/* While the first is in STARTED, the slot that its record names holds its second run. */
dynsel_slot *dynsel_slot_ref_second(const dynsel_slot *first)
{
    const uint32_t number = dynsel_slot_number(first);
    dynsel_slot *const second = dynsel_slot_at(dynsel_repeat_other(number));
    if (!dynsel_slot_ref(second, DYNSEL_SLOT_LISTED)) {
        return NULL;
    }
    if (dynsel_repeat_stage(number) != DYNSEL_REPEAT_STARTED) {
        dynsel_slot_unref(second, DYNSEL_SLOT_REF);
        return NULL;
    }
    return second;
}

void dynsel_slot_leave_failed(dynsel_slot *slot)
{
    (void)dynsel_marked_add(&slot->word, (uint32_t)DYNSEL_SLOT_REF - (uint32_t)DYNSEL_SLOT_LISTED);
    dynsel_repeat_enter(dynsel_slot_number(slot), DYNSEL_REPEAT_READY);
}

/* The work has ended as that of its first slot. */
static void end_repeated(dynsel_slot *first)
{
    dynsel_repeat_end(dynsel_slot_number(first), DYNSEL_REPEAT_OVER);
    if (dynsel_slot_can_be_pending(first)) {
        dynsel_pending_end(first);
    }
    end_completion(first, 0);
    dynsel_pending_moved(first);
    dynsel_slot_unref(first, DYNSEL_SLOT_REF);
}

#if CONFIG_DYNSEL_SHADOW_CHECK

/* After a run of work whose first run succeeded. ran: it did, and with this value; otherwise it
 * failed, or no other resource may run it. */
static void end_check(dynsel_slot *first, bool ran, uintptr_t value)
{
    const uint32_t number = dynsel_slot_number(first);
    dynsel_repeat_record *const record = &dynsel_repeats[number - 1];
    switch (dynsel_shadow_judge(record, &first->selection, ran)) {
    case DYNSEL_THIRD_DECIDES:
        record->second_value = value;
        dynsel_word_store_relaxed(&record->other, number);
        dynsel_repeat_enter(number, DYNSEL_REPEAT_READY);
        return;
    case DYNSEL_SECOND_COUNTS:
        first->work.done.value = record->second_value;
        break;
    case DYNSEL_UNDECIDED:
        first->work.error =
            DYNSEL_KEPT_ERROR(DYNSEL_E_DEVICE, "the shadow check",
                              "two resources computed different results, and no third run agrees "
                              "with one of them: the results are those of the first");
        break;
    case DYNSEL_FIRST_COUNTS:
    default:
        break;
    }
    end_repeated(first);
}

static bool is_checked(const dynsel_slot *first)
{
    return first->work.error.status == DYNSEL_OK;
}

#else

static void end_check(const dynsel_slot *first, bool ran, uintptr_t value)
{
    (void)first;
    (void)ran;
    (void)value;
}

static bool is_checked(const dynsel_slot *first)
{
    (void)first;
    return false;
}

#endif

void dynsel_slot_end_second(dynsel_slot *second)
{
    dynsel_slot *const first = dynsel_slot_at(dynsel_repeat_other(dynsel_slot_number(second)));
    if (is_checked(first)) {
        end_check(first, second->work.error.status == DYNSEL_OK, second->work.done.value);
        return;
    }
    first->work.error = second->work.error;
    first->work.done.value = second->work.done.value;
    if (second->work.error.status != DYNSEL_OK) {
        (void)dynsel_word_add_relaxed(&dynsel_repeats_failed, 1);
    }
    end_repeated(first);
}

void dynsel_slot_end_nowhere(dynsel_slot *first)
{
    if (is_checked(first)) {
        end_check(first, false, 0);
        return;
    }
    (void)dynsel_word_add_relaxed(&dynsel_repeats_nowhere, 1);
    end_repeated(first);
}

/* The end of one of two runs. False: it is not yet the end of the work. */
DYNSEL_RARE static bool end_run(dynsel_slot *slot, uint32_t *flags)
{
    if (slot->work.run == DYNSEL_SECOND_RUN) {
        if (*flags != 0) {
            (void)ask_to_wait(slot); /* nobody waits for results of this slot */
            *flags = 0;
        }
        dynsel_slot_end_second(slot);
        return true;
    }
    if (!dynsel_slot_runs_again(slot)) {
        dynsel_slot_run_once(slot);
        return true;
    }
    if (*flags != 0 && slot->work.error.status == DYNSEL_OK) {
        (void)ask_to_wait(slot); /* its results are compared */
    }
    dynsel_finish_counted(slot->selection.policy, &slot->selection, slot->work.error.status);
    dynsel_repeat_enter(dynsel_slot_number(slot), DYNSEL_REPEAT_FAILED);
    return false;
}

static inline bool ends_run(dynsel_slot *slot, uint32_t *flags)
{
    return DYNSEL_LIKELY(slot->work.run == DYNSEL_ONLY_RUN) || end_run(slot, flags);
}

#else

static inline bool ends_run(dynsel_slot *slot, const uint32_t *flags)
{
    (void)slot;
    (void)flags;
    return true;
}

#endif

bool dynsel_slot_finish_completion(dynsel_slot *slot, uint32_t flags)
{
    if (!ends_run(slot, &flags)) {
        return false;
    }
    if (dynsel_slot_can_be_pending(slot)) {
        dynsel_pending_end(slot);
    }
    dynsel_finish_counted(slot->selection.policy, &slot->selection, slot->work.error.status);
    end_completion(slot, flags);
    dynsel_pending_moved(slot);
    return true;
}

/* The backend may know better how long it took. */
static void measure(dynsel_slot *slot)
{
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    dynsel_backend *const backend = slot->work.where->backend;
    if (backend->ops->measure != NULL) {
        backend->ops->measure(backend, &slot->work);
    }
#else
    (void)slot;
#endif
}

/*
 * True when the slot is finished now. word: as it was last seen; status, failures_before: how the
 * work ended, and what tells its details from older ones; flags: of the slot from now on;
 * end_ns: when, if it was seen at once; what was marked is better, and what was measured best.
 */
static bool complete(dynsel_slot *slot, uint32_t word, dynsel_status status,
                     uint32_t failures_before, uint32_t flags, uint64_t end_ns)
{
    if (!DYNSEL_LIKELY(begin_completion(slot, word))) {
        return dynsel_slot_state(dynsel_word_load_acquire(&slot->word)) == DYNSEL_SLOT_FINISHED;
    }
    if (status != DYNSEL_OK && slot->work.error.status == DYNSEL_OK) {
        /* what the function itself returned comes first */
        dynsel_note_failure(&slot->work, status, failures_before);
        if (status == DYNSEL_E_GIVEN_UP &&
            !dynsel_slot_is_apart(slot)) { /* through another policy */
            dynsel_slot_run_once(slot);
        }
    }
    if (end_ns != 0 && slot->work.ended_ns == 0) {
        slot->work.ended_ns = end_ns;
    }
    if ((slot->work.wants & DYNSEL_TASK_TIME) != 0) {
        measure(slot);
    }
    return dynsel_slot_finish_completion(slot, flags);
}

/* Completes work whose end was marked. */
DYNSEL_ASIDE static bool complete_if_marked(dynsel_slot *slot, uint32_t word)
{
    return (word & DYNSEL_SLOT_MARKED) != 0 &&
           complete(slot, word, slot->marked, dynsel_this_thread()->failure_count, 0, 0);
}

/* Whether a wait in the backend has seen it succeed, and has made its results visible: the backend
 * need not be asked again. */
static inline bool was_waited_for(const dynsel_slot *slot, uint32_t word)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return (word & DYNSEL_SLOT_MARKED) != 0 && slot->work.waited;
#else
    (void)slot;
    (void)word;
    return false;
#endif
}

bool dynsel_slot_poll(dynsel_slot *slot)
{
    const uint32_t word = dynsel_word_load_acquire(&slot->word);
    if (!DYNSEL_LIKELY(dynsel_slot_state(word) == DYNSEL_SLOT_RUNNING)) {
        return dynsel_slot_state(word) == DYNSEL_SLOT_FINISHED;
    }
    dynsel_backend *backend = slot->work.where->backend;
    const dynsel_backend_ops *ops = backend->ops;
    if (ops->marks_completion && (ops->poll == NULL || (word & DYNSEL_SLOT_MARKED) == 0)) {
        return complete_if_marked(slot, word);
    }
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    if (was_waited_for(slot, word)) {
        return complete(slot, word, DYNSEL_OK, failures_before, 0, 0);
    }
    const dynsel_status status = ops->poll(backend, &slot->work);
    return status != DYNSEL_E_AGAIN && complete(slot, word, status, failures_before,
                                                ops->poll_synchronizes ? 0 : DYNSEL_SLOT_POLLED, 0);
}

void dynsel_slot_synchronize(dynsel_slot *slot)
{
    if ((dynsel_word_load_acquire(&slot->word) & DYNSEL_SLOT_POLLED) != 0) {
        (void)ask_to_wait(slot);
    }
}

/* Of failed work only the backend knows the details, so it is asked for these again. */
static void mark_waited(dynsel_slot *slot, dynsel_status status, uint64_t end_ns)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    if (enter_result(slot->work.token)) {
        slot->work.waited = status == DYNSEL_OK;
        mark(slot->work.token, status, end_ns);
    }
#else
    (void)slot;
    (void)status;
    (void)end_ns;
#endif
}

/* Work whose end was not marked before the backend stopped waiting has only just ended. Work of a
 * command group is only marked: it is completed in the order of its queue. */
void dynsel_slot_wait_in_backend(dynsel_slot *slot)
{
    if (slot->work.where->backend->ops->wait == NULL) {
        return;
    }
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    const dynsel_status status = ask_to_wait(slot);
    const uint64_t end_ns = (slot->work.wants & DYNSEL_TASK_TIME) != 0 ? dynsel_now_ns() : 0;
    if (dynsel_slot_can_be_pending(slot)) {
        mark_waited(slot, status, end_ns);
    } else {
        (void)complete(slot, dynsel_word_load_acquire(&slot->word), status, failures_before, 0,
                       end_ns);
    }
}

#if CONFIG_DYNSEL_COMMAND_GROUPS

void dynsel_slot_finish_if_marked(dynsel_slot *slot)
{
    const bool asks = slot->work.where->backend->ops->poll != NULL;
    for (uint32_t round = 0;; round++) {
        const uint32_t word = dynsel_word_load_acquire(&slot->word);
        if (dynsel_slot_state(word) == DYNSEL_SLOT_COMPLETING) {
            dynsel_pause(round); /* another thread is writing the result */
        } else if (asks || dynsel_slot_state(word) != DYNSEL_SLOT_RUNNING ||
                   (word & DYNSEL_SLOT_MARKED) == 0) {
            return;
        } else {
            (void)complete_if_marked(slot, word); /* or another thread just began to */
        }
    }
}

bool dynsel_slot_goes_on(dynsel_slot *slot)
{
    const uint32_t word = dynsel_word_load_acquire(&slot->word);
    if (dynsel_slot_state(word) != DYNSEL_SLOT_RUNNING) {
        return false;
    }
    dynsel_backend *backend = slot->work.where->backend;
    const dynsel_backend_ops *ops = backend->ops;
    if (ops->marks_completion && (ops->poll == NULL || (word & DYNSEL_SLOT_MARKED) == 0)) {
        return (word & DYNSEL_SLOT_MARKED) == 0;
    }
    return !was_waited_for(slot, word) && ops->poll(backend, &slot->work) == DYNSEL_E_AGAIN;
}

bool dynsel_slot_complete_ended(dynsel_slot *slot)
{
    const uint32_t word = dynsel_word_load_acquire(&slot->word);
    return dynsel_slot_state(word) == DYNSEL_SLOT_RUNNING
               ? complete(slot, word, DYNSEL_OK, dynsel_this_thread()->failure_count, 0, 0)
               : dynsel_slot_state(word) == DYNSEL_SLOT_FINISHED;
}

void dynsel_slot_begin_end(dynsel_slot *slot)
{
    uint32_t word = 0;
    do {
        word = unmarked(slot);
        DYNSEL_ASSERT(dynsel_slot_state(word) == DYNSEL_SLOT_STARTING);
    } while (!dynsel_marked_swap(&slot->word, &word,
                                 word + (DYNSEL_SLOT_COMPLETING - DYNSEL_SLOT_STARTING)));
}

bool dynsel_slot_end(dynsel_slot *slot)
{
    bool to_tell = slot->work.error.status != DYNSEL_OK;
    uint32_t word = 0;
    uint32_t after = 0;
    do {
        word = unmarked(slot);
        if (to_tell && (word & DYNSEL_SLOT_HANDLE) == 0) {
            dynsel_submission_group_note_failure(slot->selection.policy, &slot->work.error);
            to_tell = false;
        }
        after = (word & ~(uint32_t)DYNSEL_SLOT_STATE) |
                ((word & REFERENCES) != 0 ? (uint32_t)DYNSEL_SLOT_FINISHED
                                          : (uint32_t)DYNSEL_SLOT_LEAVING);
    } while (!dynsel_marked_swap(&slot->word, &word, after));
    return dynsel_slot_state(after) == DYNSEL_SLOT_LEAVING;
}

void dynsel_slot_free(dynsel_slot *slot)
{
    dynsel_slot_release_event(slot);
    make_free(slot, dynsel_word_load_relaxed(&slot->word));
}

#endif
