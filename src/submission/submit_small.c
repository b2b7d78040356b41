/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submitting where every piece of work has a slot of the small table.
 *
 * A flow of its own: submit.c and start.c take 1,788 bytes with static slots, before the table has
 * claimed or published anything, and this takes 826; a program that only submits would keep 800
 * bytes more than its 1,536 (mps2_an385+tiny_in_flight).
 */
#include <dynsel/submission.h>

#include "base/fail.h"
#include "policy/policy.h"
#include "policy/report.h"
#include "submission/handle.h"
#include "submission/slot_table_small.h"
#include "submission/start.h"

#define NOT_ZERO ((uint32_t)1 << 31) /* in tokens */

/* Claims a free slot, which is zeroed but for its new token; NULL: all are in use. */
static dynsel_slot *claim(void)
{
    for (uint32_t left = CONFIG_DYNSEL_MAX_IN_FLIGHT; left != 0; left--) {
        dynsel_in_flight.last_token = (dynsel_in_flight.last_token + 1) | NOT_ZERO;
        dynsel_slot *slot = dynsel_slot_of(dynsel_in_flight.last_token);
        if (slot->state == DYNSEL_SLOT_FREE) {
            (void)__builtin_memset(slot, 0, sizeof *slot);
            slot->work.token = dynsel_in_flight.last_token;
            return slot;
        }
    }
    return NULL;
}

/* The parameters of a submitting call, beside policy, task and submission. */
typedef struct terms {
    /* Chooses the resource. A pointer, so that a program links only what it uses. */
    dynsel_status (*choose)(const struct terms *asked, const dynsel_task *task,
                            dynsel_selection *chosen);
    const dynsel_selection *given; /* for take_given */
    const dynsel_wait_policy *wait_policy;
} terms;

static dynsel_status let_policy_choose(const terms *asked, const dynsel_task *task,
                                       dynsel_selection *chosen)
{
    (void)asked;
    const dynsel_policy_ops *ops = chosen->policy->ops;
    chosen->wants = (uint8_t)ops->needs;
    chosen->claims = 1;
    return ops->try_select(chosen->policy, task, chosen);
}

static dynsel_status take_given(const terms *asked, const dynsel_task *task,
                                dynsel_selection *chosen)
{
    (void)task;
    const char *const function = DYNSEL_TEXT("dynsel_submit_selection");
    *chosen = *asked->given;
    const dynsel_status status = dynsel_selection_check(asked->given, function);
    return status == DYNSEL_OK ? dynsel_check_given(chosen->policy, chosen, function) : status;
}

static dynsel_status refuse_task(const dynsel_policy *policy, uint32_t index,
                                 const dynsel_task *task)
{
    return CONFIG_DYNSEL_ONLY_FORMS_DECIDE && !CONFIG_DYNSEL_ERROR_DETAILS
               ? DYNSEL_E_UNSUPPORTED /* nothing else of a failure is kept */
               : dynsel_policy_refuse_task(policy, index, index + 1, task);
}

/* Starts the work on the chosen resource. Its end may be marked before the backend returns. */
DYNSEL_ASIDE static dynsel_status start(dynsel_slot *slot, const dynsel_task *task)
{
    dynsel_policy *policy = slot->selection.policy;
    const uint32_t index = slot->selection.index;
    dynsel_work *work = &slot->work;
    work->function = dynsel_function_at(policy, index, task);
    if (work->function == NULL || !dynsel_health_in_service(&policy->queues[index])) {
        return refuse_task(policy, index, task);
    }
    work->where = &policy->resources[index];
    work->own = policy->queues[index].own;
    work->args = task->args;
    work->wants = slot->selection.wants;
    dynsel_slot_note_step(slot);
    dynsel_slot_begin_use(slot);
    dynsel_backend *backend = work->where->backend;
    const bool marks = backend->ops->marks_completion;
    dynsel_word_store_release(&slot->open, marks ? 1 : 0);
    const dynsel_status status = backend->ops->start(backend, work);
    if (status != DYNSEL_OK) {
        dynsel_word_store_release(&slot->open, 0);
        dynsel_slot_note_step(slot);
        dynsel_slot_end_use(slot);
        if (CONFIG_DYNSEL_LOSES_RESOURCES && status == DYNSEL_E_OUT_OF_SERVICE) {
            dynsel_health_retire(policy, index, status);
        }
        return status;
    }
    if (!marks) {
        dynsel_refuse_event(work);
    }
    slot->state = DYNSEL_SLOT_RUNNING;
    dynsel_in_flight.running++;
    if (dynsel_word_load_relaxed(&slot->open) == 0) {
        dynsel_word_store_relaxed(&dynsel_in_flight.ended, 1);
    }
    dynsel_count_submission(policy, index);
    return DYNSEL_OK;
}

/* Without details only the status of a mistake is kept; to fail as with details
 * costs 46 bytes in the smallest program (mps2_an385+tiny_in_flight: 1,575 of 1,536). */
DYNSEL_ASIDE static dynsel_status check(const dynsel_policy *policy, const dynsel_task *task,
                                        const char *function)
{
    if (!CONFIG_DYNSEL_ERROR_DETAILS && policy != NULL && policy->self == NULL) {
        return DYNSEL_E_UNINITIALIZED;
    }
    if (!CONFIG_DYNSEL_ERROR_DETAILS) {
        return dynsel_policy_is_initialized(policy) && dynsel_task_is_valid(task)
                   ? DYNSEL_OK
                   : DYNSEL_E_INVALID;
    }
    return dynsel_policy_is_initialized(policy) && dynsel_task_is_valid(task)
               ? DYNSEL_OK
               : dynsel_refuse_arguments(policy, function);
}

/* Whether it makes sense to wait and to try again. slot: NULL: none was free; runs: work was
 * running then. */
static bool may_wait(const terms *asked, dynsel_status status, const dynsel_slot *slot, bool runs)
{
    return (slot == NULL ? runs : status == DYNSEL_E_AGAIN) && asked->wait_policy != NULL &&
           dynsel_this_thread()->task_depth == 0;
}

#if CONFIG_DYNSEL_STATISTICS
static void note_refusal(const dynsel_slot *slot)
{
    dynsel_in_flight.refusals += slot == NULL ? 1 : 0;
}
#else
static void note_refusal(const dynsel_slot *slot)
{
    (void)slot;
}
#endif

/* Adds a generic text if the backend set none. */
static dynsel_status fail(dynsel_status status, uint32_t failures_before, const char *function)
{
    if (CONFIG_DYNSEL_ERROR_DETAILS && dynsel_this_thread()->failure_count != failures_before &&
        dynsel_this_thread()->last_error.status == status) {
        return status;
    }
    switch (CONFIG_DYNSEL_ERROR_DETAILS ? (int)status : 0) {
    case DYNSEL_E_FULL:
        return DYNSEL_FAIL_IN(
            function, DYNSEL_E_FULL,
            DYNSEL_OPTION(
                MAX_IN_FLIGHT,
                "no slot is free, and {} hold finished work that nobody has collected: wait for "
                "submissions or release them, or set it to more than will be in use"),
            CONFIG_DYNSEL_MAX_IN_FLIGHT - dynsel_in_flight.running);
    case DYNSEL_E_TIMEOUT:
        return DYNSEL_FAIL_IN(function, DYNSEL_E_TIMEOUT,
                              "no slot, or the resource was not free in time", 0);
    default:
        return DYNSEL_FAIL_IN(function, status, "the backend refused", 0);
    }
}

static dynsel_status submit(dynsel_policy *policy, const dynsel_task *task,
                            dynsel_submission *submission, const terms *asked, const char *function)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_status status = check(policy, task, function);
    while (status == DYNSEL_OK) {
        status = dynsel_slots_reap();
        if (status != DYNSEL_OK) {
            return status; /* an interrupt has no last error */
        }
        const bool runs = dynsel_in_flight.running != 0;
        const uint32_t impairment = dynsel_policy_impairment(policy);
        dynsel_slot *slot = claim();
        if (slot != NULL) {
            slot->selection.policy = policy;
            status = asked->choose(asked, task, &slot->selection);
            if (status == DYNSEL_OK) {
                status = start(slot, task);
            }
            if (status == DYNSEL_OK) {
                if (submission != NULL) {
                    dynsel_handle_publish(submission, policy, slot->selection.index,
                                          slot->selection.reason, 0, slot->work.token);
                    slot->asked = true;
                }
                (void)dynsel_slots_reap();
                return DYNSEL_OK;
            }
        } else {
            status = DYNSEL_E_FULL;
        }
        if (status == DYNSEL_E_OUT_OF_SERVICE && asked->given == NULL &&
            dynsel_policy_impairment(policy) != impairment) {
            status = DYNSEL_OK; /* the policy chooses among those that are left */
        } else if (may_wait(asked, status, slot, runs)) {
            status = asked->wait_policy->backoff(asked->wait_policy) ? DYNSEL_OK : DYNSEL_E_TIMEOUT;
        } else {
            /* the caller gets the refusal */
        }
        if (status != DYNSEL_OK) {
            note_refusal(slot);
        }
    }
    return fail(status, failures_before, function);
}

dynsel_status dynsel_submit(dynsel_policy *policy, const dynsel_task *task,
                            dynsel_submission *submission)
{
    static const terms asked = {.choose = let_policy_choose, .wait_policy = &dynsel_unbounded_wait};
    return submit(policy, task, submission, &asked, DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_try_submit(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_submission *submission)
{
    static const terms asked = {.choose = let_policy_choose};
    return submit(policy, task, submission, &asked, DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_submit_for(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_submission *submission, uint64_t timeout_ns)
{
    const dynsel_bounded_wait bounded = {.wait_policy = {.backoff = dynsel_backoff_until},
                                         .deadline_ns = dynsel_deadline_after(timeout_ns)};
    const terms asked = {.choose = let_policy_choose, .wait_policy = &bounded.wait_policy};
    return submit(policy, task, submission, &asked, DYNSEL_TEXT(__func__));
}

static dynsel_status submit_selected(dynsel_selection *selection, const dynsel_task *task,
                                     dynsel_submission *submission,
                                     const dynsel_wait_policy *wait_policy, const char *function)
{
    if (selection == NULL || selection->policy == NULL) {
        return dynsel_selection_check(selection, function);
    }
    const terms asked = {.choose = take_given, .given = selection, .wait_policy = wait_policy};
    const dynsel_status status = submit(selection->policy, task, submission, &asked, function);
    if (status == DYNSEL_OK) {
        selection->policy = NULL;
    }
    return status;
}

dynsel_status dynsel_submit_selection(dynsel_selection *selection, const dynsel_task *task,
                                      dynsel_submission *submission)
{
    return submit_selected(selection, task, submission, &dynsel_unbounded_wait,
                           DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_try_submit_selection(dynsel_selection *selection, const dynsel_task *task,
                                          dynsel_submission *submission)
{
    return submit_selected(selection, task, submission, NULL, DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_submit_and_wait(dynsel_policy *policy, const dynsel_task *task)
{
    if (dynsel_must_not_wait()) {
        return dynsel_refuse_to_await(DYNSEL_TEXT(__func__));
    }
    dynsel_submission submission;
    const dynsel_status status = dynsel_submit(policy, task, &submission);
    return status == DYNSEL_OK ? dynsel_wait(&submission) : status;
}

dynsel_status dynsel_submit_selection_and_wait(dynsel_selection *selection, const dynsel_task *task)
{
    if (dynsel_must_not_wait()) {
        return dynsel_refuse_to_await(DYNSEL_TEXT(__func__));
    }
    dynsel_submission submission;
    const dynsel_status status = dynsel_submit_selection(selection, task, &submission);
    return status == DYNSEL_OK ? dynsel_wait(&submission) : status;
}
