/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/pending.h"

#include "base/fail.h"
#include "policy/policy.h"
#include "policy/report.h"
#include "port/pause.h"
#include "port/wake.h"
#include "submission/finish.h"
#include "submission/handle.h"
#include "submission/limits.h"
#include "submission/queue.h"
#include "submission/slot_table.h"
#include "submission/start.h"

dynsel_status dynsel_pending_claim(dynsel_policy *policy, const dynsel_submit_options *options,
                                   dynsel_slot **slot)
{
    const dynsel_request request = {.options = options, .policy = policy};
    const dynsel_status status = dynsel_in_flight_claim(&request, slot);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return status;
    }
    (*slot)->can_be_pending = true;
    (*slot)->work.quiet = false;
    (*slot)->work.done = (dynsel_event){.native = NULL};
    return DYNSEL_OK;
}

/* Asks the policy for a choice. A failure has no effect. */
static inline dynsel_status choose(const dynsel_request *request, dynsel_selection *chosen,
                                   dynsel_task_fn *function)
{
    const dynsel_status status =
        dynsel_choose(request->options, request->policy, request->task, chosen, true);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return status;
    }
    *function = dynsel_function_at(request->policy, chosen->index, request->task);
    return DYNSEL_LIKELY(*function != NULL)
               ? DYNSEL_OK
               : dynsel_refuse_form(request->policy, request->task, chosen);
}

/* The slot's selection is made. */
static void follow_choice(dynsel_slot *slot, dynsel_task_fn function)
{
    dynsel_selection *const chosen = &slot->selection;
    const dynsel_policy *const policy = chosen->policy;
    slot->work.where = &policy->resources[chosen->index];
    slot->work.own = policy->queues[chosen->index].own;
    slot->work.function = function;
    slot->work.wants = chosen->wants;
    dynsel_word_store_relaxed(&slot->choice, dynsel_choice(chosen->index, chosen->reason));
    if (chosen->wants != 0) {
        dynsel_tell_submission(chosen);
    }
}

static inline void enter_choice(const dynsel_request *request, dynsel_slot *slot,
                                dynsel_task_fn function)
{
    slot->work.args = request->task->args;
    slot->work.error.status = DYNSEL_OK;
    dynsel_limits_set(slot, request->task);
    follow_choice(slot, function);
}

dynsel_status dynsel_pending_choose(const dynsel_request *request, dynsel_slot *slot)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_task_fn function = NULL;
    dynsel_status status = choose(request, &slot->selection, &function);
    for (uint32_t round = 0; !DYNSEL_LIKELY(status != DYNSEL_E_AGAIN); round++) {
        status = dynsel_wait_for_resource(request->options, round);
        if (status != DYNSEL_OK) {
            break;
        }
        status = choose(request, &slot->selection, &function);
    }
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return dynsel_pass_on(request->options, status, failures_before);
    }
    enter_choice(request, slot, function);
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_REPEAT
dynsel_status dynsel_pending_choose_now(const dynsel_request *request, dynsel_slot *slot)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_task_fn function = NULL;
    const dynsel_status status = choose(request, &slot->selection, &function);
    if (status != DYNSEL_OK) {
        return dynsel_pass_on(request->options, status, failures_before);
    }
    enter_choice(request, slot, function);
    return DYNSEL_OK;
}
#endif

void dynsel_pending_withdraw(dynsel_slot *slot)
{
    dynsel_tell_withdrawal(&slot->selection);
}

/* Work is pending now. */
static inline void tell_progress_thread(void)
{
#if CONFIG_DYNSEL_PROGRESS_THREAD
    dynsel_wake_all();
#endif
}

static void enter_pending(dynsel_slot *slot)
{
    slot->counted = true;
    (void)dynsel_word_add_synchronized(&dynsel_pending_count, 1);
}

static void leave_pending(bool counted)
{
    if (!DYNSEL_LIKELY(!counted)) {
        (void)dynsel_word_add_synchronized(&dynsel_pending_count, (uint32_t)-1);
    }
}

void dynsel_pending_publish(dynsel_slot *slot, uint32_t references, dynsel_initial_state initial)
{
    slot->counted = false;
    if (DYNSEL_LIKELY(initial == DYNSEL_INITIAL_STARTING)) {
        dynsel_slot_publish_unstarted(slot, DYNSEL_SLOT_STARTING | references);
        return;
    }
    enter_pending(slot);
    dynsel_slot_publish(
        slot, (initial == DYNSEL_INITIAL_WAITING ? DYNSEL_SLOT_WAITING : DYNSEL_SLOT_STARTING) |
                  references);
    if (initial == DYNSEL_INITIAL_WAITING) {
        tell_progress_thread();
    }
}

void dynsel_pending_publish_handle(const dynsel_slot *slot, dynsel_submission *submission)
{
    const uint32_t choice = dynsel_word_load_relaxed(&slot->choice);
    const uint32_t generation = dynsel_slot_generation(dynsel_word_load_relaxed(&slot->word));
    dynsel_handle_publish(submission, slot->selection.policy, dynsel_choice_index(choice),
                          dynsel_choice_reason(choice), generation,
                          DYNSEL_SUBMISSION_SLOT_BASE + dynsel_slot_number(slot));
}

void dynsel_pending_take(dynsel_slot *slot)
{
    (void)dynsel_marked_add(&slot->word, DYNSEL_SLOT_STARTING - DYNSEL_SLOT_WAITING);
}

void dynsel_pending_put_back(dynsel_slot *slot)
{
    if (!slot->counted) {
        enter_pending(slot);
    }
    (void)dynsel_marked_add(&slot->word,
                            (uint32_t)DYNSEL_SLOT_WAITING - (uint32_t)DYNSEL_SLOT_STARTING);
    tell_progress_thread();
}

static void end(dynsel_slot *slot, bool ran)
{
    const bool counted = slot->counted;
    dynsel_queue_end_outside(slot, ran);
    leave_pending(counted);
}

static void prepare(dynsel_slot *slot, const dynsel_queue *queue)
{
    slot->work.queue_tail = dynsel_queue_tail(queue);
    slot->work.ended_ns = 0;
    slot->work.over = false;
    if ((slot->work.wants & DYNSEL_TASK_TIME) != 0) {
        slot->work.began = false;
        slot->work.ready_ns = dynsel_now_ns();
    }
}

/* Appends the work before its start is visible, so that the queue's order is that of the starts.
 * Until then it is not reaped. */
static inline void enter_queue(dynsel_queue *queue, dynsel_slot *slot)
{
    const bool counted = slot->counted;
    slot->queued = !dynsel_queue_is_empty(queue);
    dynsel_limits_enter(slot);
    dynsel_queue_append(queue, slot);
    (void)dynsel_marked_add(&slot->word,
                            DYNSEL_SLOT_LISTED + DYNSEL_SLOT_RUNNING - DYNSEL_SLOT_STARTING);
    dynsel_pending_moved(slot);
    leave_pending(counted);
}

/* Whether work whose start failed must not end yet. Its failure is counted now, or when its event
 * ends. */
DYNSEL_RARE static bool is_held(dynsel_slot *slot)
{
    const bool held = dynsel_pending_operations->holds(slot);
    if (held && slot->work.done.native == NULL) {
        dynsel_health_note_result(slot->selection.policy, &slot->selection,
                                  slot->work.error.status);
    }
    return held;
}

/* Starts work on the chosen resource; it may be over then. A failure had no effect. Inlined: a call
 * costs each short command group 17 instructions of 2,200. */
__attribute__((always_inline)) static inline dynsel_status
start_chosen(dynsel_slot *slot, dynsel_policy *policy, uint32_t index)
{
    dynsel_backend *const backend = policy->resources[index].backend;
    dynsel_status status = dynsel_health_enter(policy, &slot->selection, &slot->work);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return status;
    }
    prepare(slot, &policy->queues[index]);
    const uint64_t since = dynsel_traced_now();
    const uint64_t since_ns = dynsel_clock_of_start(&slot->selection);
    status = backend->ops->start(backend, &slot->work);
    if (status != DYNSEL_OK) {
        dynsel_health_note_refusal(policy, &slot->selection, &slot->work, status);
        return status;
    }
    dynsel_traced_start(&slot->selection, backend, since);
    if (dynsel_outlives_submit(backend)) {
        dynsel_tell_start(&slot->selection, since_ns);
    }
    dynsel_count_submission(policy, index);
    if (!backend->ops->outlives_submit) {
        dynsel_refuse_event(&slot->work);
    }
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_REPEAT
dynsel_status dynsel_pending_start_second(dynsel_slot *second)
{
    second->work.done = (dynsel_event){.native = NULL};
    return start_chosen(second, second->selection.policy, second->selection.index);
}

/* The start has failed with its device, and left no event: the work runs again, elsewhere. */
DYNSEL_RARE static void await_second_run(dynsel_slot *slot)
{
    const bool counted = slot->counted;
    dynsel_finish(slot->selection.policy, &slot->selection, slot->work.error.status,
                  dynsel_direct_time(&slot->work));
    dynsel_slot_begin_end(slot);
    (void)dynsel_marked_add(&slot->word, DYNSEL_SLOT_LISTED);
    dynsel_slot_leave_failed(slot);
    leave_pending(counted);
}

static inline bool is_repeated(dynsel_slot *slot)
{
    if (DYNSEL_LIKELY(!dynsel_slot_runs_again(slot)) || slot->work.done.native != NULL) {
        return false;
    }
    await_second_run(slot);
    return true;
}
#else
static inline bool is_repeated(const dynsel_slot *slot)
{
    (void)slot;
    return false;
}
#endif

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
/* A withdrawn start was none: not of the resource either. */
DYNSEL_RARE static bool is_withdrawn(dynsel_slot *slot)
{
    const bool withdrawn = dynsel_pending_operations->is_withdrawn(slot);
    if (withdrawn) {
        dynsel_policy *const policy = slot->selection.policy;
        dynsel_uncount_submission(policy, slot->selection.index);
        dynsel_health_note_refusal(policy, &slot->selection, &slot->work, DYNSEL_E_AGAIN);
        slot->work.error.status = DYNSEL_OK;
    }
    return withdrawn;
}
#else
static inline bool is_withdrawn(const dynsel_slot *slot)
{
    (void)slot;
    return false;
}
#endif

dynsel_status dynsel_pending_start(dynsel_slot *slot)
{
    dynsel_policy *const policy = slot->selection.policy;
    const uint32_t index = slot->selection.index;
    const dynsel_backend_ops *const ops = policy->resources[index].backend->ops;
    const dynsel_status status = start_chosen(slot, policy, index);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return status;
    }
    if (!ops->marks_completion && !DYNSEL_LIKELY(slot->work.error.status == DYNSEL_OK)) {
        if (is_withdrawn(slot)) {
            return DYNSEL_E_AGAIN;
        }
        if (is_repeated(slot)) {
            return DYNSEL_OK;
        }
        if (is_held(slot)) {
            return slot->work.error.status;
        }
    }
    if (dynsel_work_goes_on(&slot->work)) {
        enter_queue(&policy->queues[index], slot);
        return DYNSEL_OK;
    }
    if (ops->outlives_submit && !dynsel_queue_is_empty(&policy->queues[index])) {
        dynsel_queue_reap_after_others(&policy->queues[index]); /* ends are told in order */
    }
    end(slot, true);
    return DYNSEL_OK;
}

/* The old choice is withdrawn only when there is a new one. selection.policy stays the same,
 * because other threads may read it. */
dynsel_status dynsel_pending_choose_again(const dynsel_request *request, dynsel_slot *slot)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_selection chosen;
    dynsel_task_fn function = NULL;
    const dynsel_status status = choose(request, &chosen, &function);
    if (status != DYNSEL_OK) {
        return dynsel_pass_on(request->options, status, failures_before);
    }
    dynsel_tell_withdrawal(&slot->selection);
    slot->selection.index = chosen.index;
    slot->selection.reason = chosen.reason;
    slot->selection.wants = chosen.wants;
    slot->selection.reported = chosen.reported;
    slot->selection.claims = chosen.claims;
    dynsel_traced_take_over(&slot->selection, &chosen);
    for (uint32_t i = 0; i < DYNSEL_NOTES; i++) {
        slot->selection.notes[i] = chosen.notes[i];
    }
    follow_choice(slot, function);
    return DYNSEL_OK;
}

void dynsel_pending_fail(dynsel_slot *slot, const dynsel_error *error)
{
    slot->work.error = *error;
    if (slot->work.done.native == NULL) {
        end(slot, false);
    } else {
        enter_queue(dynsel_queue_of(slot), slot);
    }
}

#if CONFIG_DYNSEL_PROGRESS_THREAD
bool dynsel_pending_help(uint64_t deadline_ns, uint32_t round)
{
    if (dynsel_word_load_acquire(&dynsel_pending_count) == 0) {
        return false;
    }
    dynsel_in_flight_reap();
    const uint32_t open = dynsel_slots_open();
    for (uint32_t number = 1; number <= open; number++) {
        dynsel_slot *slot = dynsel_slot_at(number);
        if (!dynsel_slot_ref(slot, 0)) {
            continue;
        }
        const uint32_t word = dynsel_word_load_acquire(&slot->word);
        const bool waits = dynsel_slot_state(word) == DYNSEL_SLOT_WAITING;
        if (waits) {
            (void)dynsel_wait_for_dependency(slot, deadline_ns, round);
        }
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
        if (waits) {
            return true;
        }
    }
    return false;
}
#endif
