/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/deferred.h"

#include "base/fail.h"
#include "policy/policy.h"
#include "policy/report.h"
#include "port/pause.h"
#include "port/wake.h"
#include "submission/finish.h"
#include "submission/handle.h"
#include "submission/in_flight.h"
#include "submission/lane.h"

enum { REASON_SHIFT = 16 }; /* in dynsel_slot.choice */

_Static_assert(CONFIG_DYNSEL_MAX_RESOURCES <= 1 << REASON_SHIFT, "a choice fits into one word");

static const dynsel_deferral *known; /* visible to who sees that something is pending */
static dynsel_word registered;       /* or this */

dynsel_word dynsel_deferred_pending;

void dynsel_deferral_register(const dynsel_deferral *deferral)
{
    if (known == NULL) {
        known = deferral;
        dynsel_word_store_release(&registered, 1);
    }
}

static inline dynsel_stage stage_in(uint32_t word, uint32_t token)
{
    if (dynsel_slot_generation(word) != dynsel_slot_generation(token)) {
        return DYNSEL_STAGE_OVER;
    }
    const uint32_t state = dynsel_slot_state(word);
    if (state == DYNSEL_SLOT_CLAIMED || dynsel_slot_is_pending(word)) {
        return DYNSEL_STAGE_ACCEPTED;
    }
    return state == DYNSEL_SLOT_RUNNING || state == DYNSEL_SLOT_COMPLETING ? DYNSEL_STAGE_STARTED
                                                                           : DYNSEL_STAGE_OVER;
}

dynsel_stage dynsel_stage_of(uint32_t token)
{
    const dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(token));
    return stage_in(dynsel_word_load_acquire(&slot->word), token);
}

/* All changes of the word have one order. Who changes the stage after this has seen what was
 * written before this, and looks at the watchers then. */
dynsel_stage dynsel_stage_of_watched(uint32_t token)
{
    dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(token));
    return stage_in(dynsel_marked_add(&slot->word, 0), token);
}

dynsel_status dynsel_deferred_claim(dynsel_policy *policy, const dynsel_manner *manner,
                                    dynsel_slot **slot)
{
    const dynsel_request request = {.manner = manner, .policy = policy};
    const dynsel_status status = dynsel_in_flight_claim(&request, slot);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return status;
    }
    (*slot)->deferred = true;
    (*slot)->work.done = (dynsel_event){.native = NULL};
    return DYNSEL_OK;
}

/* It cannot run there. */
DYNSEL_RARE static dynsel_status withdraw(const dynsel_request *request,
                                          const dynsel_selection *chosen)
{
    dynsel_tell_withdrawal(chosen);
    return dynsel_policy_refuse_task(request->policy, chosen->index, chosen->index + 1,
                                     request->task);
}

/* What the policy chooses now. Nothing is changed on failure. */
static inline dynsel_status choose(const dynsel_request *request, dynsel_selection *chosen,
                                   dynsel_task_fn *function)
{
    const dynsel_status status =
        dynsel_choose(request->manner, request->policy, request->task, chosen, true);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return status;
    }
    *function = dynsel_function_at(request->policy, chosen->index, request->task);
    return DYNSEL_LIKELY(*function != NULL) ? DYNSEL_OK : withdraw(request, chosen);
}

/* The slot's selection is made. */
static void follow_choice(dynsel_slot *slot, dynsel_task_fn function)
{
    dynsel_selection *const chosen = &slot->selection;
    const dynsel_policy *const policy = chosen->policy;
    slot->work.where = &policy->resources[chosen->index];
    slot->work.own = policy->lanes[chosen->index].own;
    slot->work.function = function;
    slot->work.wants = chosen->wants;
    dynsel_word_store_relaxed(&slot->choice,
                              (uint32_t)chosen->reason << REASON_SHIFT | chosen->index);
    if (chosen->wants != 0) {
        dynsel_tell_submission(chosen);
    }
}

/* Others may be looking at selection.policy meanwhile, which stays the same. */
static void take_choice(dynsel_slot *slot, const dynsel_selection *chosen, dynsel_task_fn function)
{
    slot->selection.index = chosen->index;
    slot->selection.reason = chosen->reason;
    slot->selection.wants = chosen->wants;
    slot->selection.reported = chosen->reported;
    slot->selection.claims = chosen->claims;
    slot->selection.notes[0] = chosen->notes[0];
    slot->selection.notes[1] = chosen->notes[1];
    follow_choice(slot, function);
}

dynsel_status dynsel_deferred_choose(const dynsel_request *request, dynsel_slot *slot)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_task_fn function = NULL;
    dynsel_status status = choose(request, &slot->selection, &function);
    for (uint32_t round = 0; !DYNSEL_LIKELY(status != DYNSEL_E_AGAIN); round++) {
        status = dynsel_wait_for_resource(request->manner, round);
        if (status != DYNSEL_OK) {
            break;
        }
        status = choose(request, &slot->selection, &function);
    }
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return dynsel_pass_on(request->manner, status, failures_before);
    }
    slot->work.args = request->task->args;
    slot->work.error.status = DYNSEL_OK;
    follow_choice(slot, function);
    return DYNSEL_OK;
}

void dynsel_deferred_withdraw(dynsel_slot *slot)
{
    dynsel_tell_withdrawal(&slot->selection);
}

/* Something waits now. */
static inline void tell_progress_thread(void)
{
#if CONFIG_DYNSEL_PROGRESS_THREAD
    dynsel_wake_all();
#endif
}

static void enter_pending(dynsel_slot *slot)
{
    slot->counted = true;
    (void)dynsel_word_add_synchronized(&dynsel_deferred_pending, 1);
}

static void leave_pending(bool counted)
{
    if (!DYNSEL_LIKELY(!counted)) {
        (void)dynsel_word_add_synchronized(&dynsel_deferred_pending, (uint32_t)-1);
    }
}

void dynsel_deferred_publish(dynsel_slot *slot, uint32_t keepers, dynsel_course course)
{
    slot->counted = false;
    if (course != DYNSEL_COURSE_STARTS) {
        enter_pending(slot);
    }
    dynsel_slot_publish(
        slot,
        (course == DYNSEL_COURSE_WAITS ? DYNSEL_SLOT_WAITING : DYNSEL_SLOT_STARTING) | keepers);
    if (course == DYNSEL_COURSE_WAITS) {
        tell_progress_thread();
    }
}

void dynsel_deferred_hand_over(const dynsel_slot *slot, dynsel_submission *submission)
{
    const uint32_t choice = dynsel_word_load_relaxed(&slot->choice);
    const uint32_t generation = dynsel_slot_generation(dynsel_word_load_relaxed(&slot->word));
    dynsel_handle_publish(submission, slot->selection.policy, choice & ((1u << REASON_SHIFT) - 1),
                          choice >> REASON_SHIFT, generation,
                          DYNSEL_SUBMISSION_IN_SLOT - 1 + dynsel_slot_number(slot));
}

void dynsel_deferred_take(dynsel_slot *slot)
{
    (void)dynsel_marked_add(&slot->word, DYNSEL_SLOT_STARTING - DYNSEL_SLOT_WAITING);
}

void dynsel_deferred_put_back(dynsel_slot *slot)
{
    if (!slot->counted) {
        enter_pending(slot);
    }
    (void)dynsel_marked_add(&slot->word,
                            (uint32_t)DYNSEL_SLOT_WAITING - (uint32_t)DYNSEL_SLOT_STARTING);
    tell_progress_thread();
}

void dynsel_deferred_tell_end(dynsel_slot *slot)
{
    known->ended(slot);
}

void dynsel_deferred_tell_run(dynsel_slot *slot)
{
    known->ended(slot);
    dynsel_lane_note_result(slot->selection.policy, slot->selection.index, slot->work.error.status);
}

void dynsel_deferred_tell_watchers(dynsel_slot *slot)
{
    known->moved(slot);
}

void dynsel_deferred_leave(const dynsel_policy *policy)
{
    if (dynsel_word_load_acquire(&registered) != 0) {
        known->leave(policy);
    }
}

/* Ends work that needs no lane. started: the resource has run it. */
static void end(dynsel_slot *slot, bool started)
{
    const bool counted = slot->counted;
    dynsel_slot_begin_end(slot);
    known->ended(slot);
    if (started) {
        dynsel_finish(slot->selection.policy, &slot->selection, slot->work.error.status,
                      dynsel_time_at_once(&slot->work));
    } else {
        dynsel_tell_end(&slot->selection, slot->work.error.status, 0);
    }
    dynsel_slot_end(slot);
    dynsel_deferred_moved(slot);
    leave_pending(counted);
}

static void prepare(dynsel_slot *slot, const dynsel_lane *lane)
{
    slot->work.lane_tail = dynsel_lane_tail(lane);
    if ((slot->work.wants & DYNSEL_TASK_TIME) != 0) {
        slot->work.began = false;
        slot->work.ended_ns = 0;
        slot->work.ready_ns = dynsel_now_ns();
    }
}

/* It has its place in the lane before others can see that it is started and start what comes
 * after it: the lane's order is that of the starts then. Until then nobody takes it off. */
static inline void enter_lane(dynsel_lane *lane, dynsel_slot *slot)
{
    const bool counted = slot->counted;
    slot->queued = !dynsel_lane_is_empty(lane);
    dynsel_lane_append(lane, slot);
    (void)dynsel_marked_add(&slot->word,
                            DYNSEL_SLOT_LISTED + DYNSEL_SLOT_RUNNING - DYNSEL_SLOT_STARTING);
    dynsel_deferred_moved(slot);
    leave_pending(counted);
}

enum { LOOKS_LEFT_OUT = 31 };

/* Some resources run work in the caller: then it is over by now, and best ends while all that it
 * used is near. Where that is not so, it is not tried for a while. */
static inline bool pass(dynsel_lane *lane, dynsel_slot *slot)
{
    dynsel_thread *const thread = dynsel_this_thread();
    if (!dynsel_lane_is_empty(lane) || slot->work.wants != 0 || slot->counted) {
        return false;
    }
    if (thread->looks_left_out != 0) {
        thread->looks_left_out--;
        return false;
    }
    const bool passed = dynsel_lane_pass(lane, slot);
    thread->looks_left_out = passed ? 0 : LOOKS_LEFT_OUT;
    return passed;
}

/* Whether work whose start failed may not end yet. Its failure is counted now, or, where it left an
 * event, at the end of that. */
DYNSEL_RARE static bool is_held(dynsel_slot *slot)
{
    const bool held = known->holds(slot);
    if (held && slot->work.done.native == NULL) {
        dynsel_lane_note_result(slot->selection.policy, slot->selection.index,
                                slot->work.error.status);
    }
    return held;
}

dynsel_status dynsel_deferred_start(dynsel_slot *slot)
{
    dynsel_policy *policy = slot->selection.policy;
    const uint32_t index = slot->selection.index;
    dynsel_backend *backend = policy->resources[index].backend;
    const dynsel_backend_ops *ops = backend->ops;
    prepare(slot, &policy->lanes[index]);
    const dynsel_status status = ops->start(backend, &slot->work);
    if (status != DYNSEL_OK) {
        return status;
    }
    dynsel_count_submission(policy, index);
    if (!ops->outlives_submit && slot->work.done.native != NULL) {
        slot->work.done.native = NULL;
        if (slot->work.error.status == DYNSEL_OK) {
            slot->work.error = dynsel_event_refused();
        }
    }
    if (!ops->marks_completion && !DYNSEL_LIKELY(slot->work.error.status == DYNSEL_OK) &&
        is_held(slot)) {
        return slot->work.error.status;
    }
    if (ops->marks_completion || slot->work.done.native != NULL) {
        dynsel_lane *const lane = &policy->lanes[index];
        if (ops->marks_completion || !pass(lane, slot)) {
            enter_lane(lane, slot);
        }
        return DYNSEL_OK;
    }
    end(slot, true);
    return DYNSEL_OK;
}

/* The old choice is taken back only when there is another. */
dynsel_status dynsel_deferred_choose_again(const dynsel_request *request, dynsel_slot *slot)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_lane_retire(request->policy, slot->selection.index);
    dynsel_selection chosen;
    dynsel_task_fn function = NULL;
    const dynsel_status status = choose(request, &chosen, &function);
    if (status != DYNSEL_OK) {
        return dynsel_pass_on(request->manner, status, failures_before);
    }
    dynsel_tell_withdrawal(&slot->selection);
    take_choice(slot, &chosen, function);
    return DYNSEL_OK;
}

void dynsel_deferred_fail(dynsel_slot *slot, const dynsel_error *error)
{
    slot->work.error = *error;
    if (slot->work.done.native == NULL) {
        end(slot, false);
    } else {
        enter_lane(&slot->selection.policy->lanes[slot->selection.index], slot);
    }
}

/* The event of finished work may be moved away, but then nobody needs it. */
static bool keep(dynsel_slot *slot, uint32_t token)
{
    if (dynsel_stage_of(token) == DYNSEL_STAGE_OVER) {
        dynsel_slot_drop(slot, DYNSEL_SLOT_PIN);
        return false;
    }
    return true;
}

bool dynsel_deferred_pin(uint32_t token)
{
    dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(token));
    return dynsel_slot_pin_generation(slot, dynsel_slot_generation(token)) && keep(slot, token);
}

bool dynsel_deferred_pin_reserved(uint32_t token)
{
    dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(token));
    return dynsel_slot_pin_reserved(slot, dynsel_slot_generation(token)) && keep(slot, token);
}

void dynsel_deferred_finish(uint32_t token)
{
    if (dynsel_deferred_pin(token)) {
        dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(token));
        dynsel_slot_finish_if_marked(slot);
        dynsel_slot_drop(slot, DYNSEL_SLOT_PIN);
    }
}

void dynsel_deferred_progress_now(void)
{
    if (dynsel_this_thread()->task_depth == 0) {
        known->progress();
    }
}

static uint32_t state_of(const dynsel_slot *slot)
{
    return dynsel_slot_state(dynsel_word_load_acquire(&slot->word));
}

/*
 * Within a lane whose work runs in order, who is told of the ends hears of them in that order.
 * First the work itself has to be over, and only then the lane is looked at: the other way round it
 * could end in between, before the work ahead of it was seen to. Behind work that goes on although
 * this one is over there is no order to keep.
 */
static void complete_in_order(dynsel_slot *slot)
{
    if (dynsel_lane_reap_to_running(&slot->selection.policy->lanes[slot->selection.index])) {
        (void)dynsel_slot_poll(slot);
    }
}

static bool settle_started(dynsel_slot *slot, uint64_t deadline_ns)
{
    if (deadline_ns == DYNSEL_WAIT_FOREVER && state_of(slot) == DYNSEL_SLOT_RUNNING) {
        dynsel_slot_wait_in_backend(slot);
    }
    for (uint32_t round = 0;; round++) {
        const uint32_t ticket = dynsel_wake_ticket();
        if (state_of(slot) == DYNSEL_SLOT_FINISHED) {
            return true;
        }
        const bool over = !dynsel_slot_goes_on(slot);
        if (over) {
            complete_in_order(slot);
            if (state_of(slot) == DYNSEL_SLOT_FINISHED) {
                return true;
            }
        }
        if (dynsel_deadline_passed(deadline_ns)) {
            return false;
        }
        if (over) {
            dynsel_pause(round); /* another thread is about it, or about the lane */
        } else {
            dynsel_slot_rest(slot, ticket, deadline_ns, round);
        }
    }
}

/* Waits for what keeps waiting work from its start, if that is known. DYNSEL_OK: look again. */
static dynsel_status wait_for_blocker(const dynsel_slot *slot, uint64_t deadline_ns, uint32_t round)
{
    uint32_t token = 0;
    const dynsel_status status = known->blocker(slot, &token);
    if (status != DYNSEL_OK && status != DYNSEL_E_AGAIN) {
        return status;
    }
    if (status == DYNSEL_E_AGAIN || !dynsel_deferred_pin(token)) {
        dynsel_pause(round);
        return DYNSEL_OK;
    }
    dynsel_slot *blocker = dynsel_slot_at(dynsel_slot_number_in(token));
    (void)settle_started(blocker, deadline_ns);
    dynsel_slot_drop(blocker, DYNSEL_SLOT_PIN);
    return DYNSEL_OK;
}

/* DYNSEL_OK: it is started, or over. */
static dynsel_status drive(const dynsel_slot *slot, uint64_t deadline_ns)
{
    for (uint32_t round = 0;; round++) {
        dynsel_deferred_progress();
        const uint32_t word = dynsel_word_load_acquire(&slot->word);
        if (!dynsel_slot_is_pending(word)) {
            return DYNSEL_OK;
        }
        if (dynsel_deadline_passed(deadline_ns)) {
            return DYNSEL_E_TIMEOUT;
        }
        if (dynsel_slot_state(word) != DYNSEL_SLOT_WAITING) {
            dynsel_pause(round); /* another thread is about it */
            continue;
        }
        const dynsel_status status = wait_for_blocker(slot, deadline_ns, round);
        if (status != DYNSEL_OK) {
            return status;
        }
    }
}

dynsel_status dynsel_deferred_settle(dynsel_slot *slot, uint64_t deadline_ns)
{
    if (dynsel_slot_is_pending(dynsel_word_load_acquire(&slot->word))) {
        const dynsel_status status = drive(slot, deadline_ns);
        if (status != DYNSEL_OK) {
            return status;
        }
    }
    return settle_started(slot, deadline_ns) ? DYNSEL_OK : DYNSEL_E_TIMEOUT;
}

#if CONFIG_DYNSEL_PROGRESS_THREAD
bool dynsel_deferred_help(uint64_t deadline_ns, uint32_t round)
{
    if (dynsel_word_load_acquire(&dynsel_deferred_pending) == 0) {
        return false;
    }
    dynsel_in_flight_reap();
    for (uint32_t number = 1; number <= CONFIG_DYNSEL_MAX_IN_FLIGHT; number++) {
        dynsel_slot *slot = dynsel_slot_at(number);
        if (!dynsel_slot_pin(slot, 0)) {
            continue;
        }
        const bool waits = state_of(slot) == DYNSEL_SLOT_WAITING;
        if (waits) {
            (void)wait_for_blocker(slot, deadline_ns, round);
        }
        dynsel_slot_drop(slot, DYNSEL_SLOT_PIN);
        if (waits) {
            return true;
        }
    }
    return false;
}
#endif

bool dynsel_deferred_is_stuck(dynsel_slot *slot)
{
    if (!dynsel_slot_is_pending(dynsel_word_load_acquire(&slot->word)) ||
        !dynsel_slot_pin(slot, 0)) {
        return false;
    }
    uint32_t token = 0;
    const bool stuck = dynsel_slot_is_pending(dynsel_word_load_acquire(&slot->word)) &&
                       known->blocker(slot, &token) == DYNSEL_E_BUSY;
    dynsel_slot_drop(slot, DYNSEL_SLOT_PIN);
    return stuck;
}

static bool is_for(const dynsel_slot *slot, const dynsel_policy *policy,
                   const dynsel_backend *backend)
{
    if (!dynsel_slot_is_pending(dynsel_word_load_acquire(&slot->word))) {
        return false;
    }
    if (policy != NULL) {
        return slot->selection.policy == policy;
    }
    const uint32_t index = dynsel_word_load_relaxed(&slot->choice) & ((1u << REASON_SHIFT) - 1);
    return slot->selection.policy->resources[index].backend == backend;
}

dynsel_status dynsel_deferred_wait(const dynsel_policy *policy, const dynsel_backend *backend)
{
    if (dynsel_word_load_acquire(&dynsel_deferred_pending) == 0) {
        return DYNSEL_OK;
    }
    dynsel_status status = DYNSEL_OK;
    for (uint32_t number = 1; status == DYNSEL_OK && number <= CONFIG_DYNSEL_MAX_IN_FLIGHT;
         number++) {
        dynsel_slot *slot = dynsel_slot_at(number);
        if (!dynsel_slot_pin(slot, 0)) {
            continue;
        }
        if (is_for(slot, policy, backend)) {
            status = drive(slot, DYNSEL_WAIT_FOREVER);
        }
        dynsel_slot_drop(slot, DYNSEL_SLOT_PIN);
    }
    return status;
}
