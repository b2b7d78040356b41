/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the holder of a submission can do with it, where each has a slot of the small table.
 *
 * collect.c takes 436 bytes here, before the table has collected, released or unwrapped anything,
 * and this takes 500 with that (mps2_an385+tiny_in_flight).
 */
#include <dynsel/submission.h>

#include "base/fail.h"
#include "port/context.h"
#include "port/thread.h"
#include "submission/handle.h"
#include "submission/slot_table_small.h"
#include "submission/start.h"

/* A submission's word is its slot's token. slot: out, only on DYNSEL_OK. A part of dynsel_wait(),
 * because most programs need it for nothing else. */
__attribute__((always_inline)) static inline dynsel_status
find(const dynsel_submission *submission, dynsel_slot **slot, const char *function)
{
    if (submission == NULL || submission->slot.value == 0) {
        return dynsel_refuse_unsubmitted(function);
    }
    *slot = dynsel_slot_of(submission->slot.value);
    return (*slot)->work.token == submission->slot.value && (*slot)->asked
               ? DYNSEL_OK
               : dynsel_refuse_stale(function);
}

DYNSEL_ASIDE static dynsel_status find_aside(const dynsel_submission *submission,
                                             dynsel_slot **slot, const char *function)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    return find(submission, slot, function);
}

static dynsel_status wait_with(const dynsel_wait_policy *wait_policy, dynsel_submission *submission,
                               const char *function)
{
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(function,
                                     "the work that is waited for might wait for this function");
    }
    dynsel_slot *slot = NULL;
    dynsel_status status = find(submission, &slot, function);
    if (status != DYNSEL_OK) {
        return status;
    }
    for (;;) {
        status = dynsel_slots_reap();
        if (status != DYNSEL_OK) {
            return status;
        }
        if (slot->state == DYNSEL_SLOT_FINISHED) {
            break;
        }
        if (!wait_policy->backoff(wait_policy)) {
            return dynsel_refuse_unfinished(function);
        }
    }
    dynsel_slot_free(slot); /* the result stays there until the next claim */
    submission->done.native = slot->work.done.native;
    submission->done.value = slot->work.done.value;
    submission->slot.value = DYNSEL_SUBMISSION_COLLECTED;
    return slot->work.error.status == DYNSEL_OK ? DYNSEL_OK : dynsel_fail_again(&slot->work.error);
}

dynsel_status dynsel_wait(dynsel_submission *submission)
{
    return wait_with(&dynsel_unbounded_wait, submission, DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_wait_and_unwrap(dynsel_submission *submission, dynsel_event *done)
{
    dynsel_slot *slot = NULL;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (done == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "done is NULL");
    }
    if (dynsel_this_thread()->task_depth == 0 &&
        find_aside(submission, &slot, DYNSEL_TEXT(__func__)) == DYNSEL_OK) {
        while (dynsel_slots_reap() == DYNSEL_OK && slot->state != DYNSEL_SLOT_FINISHED) {
            (void)dynsel_unbounded_wait.backoff(&dynsel_unbounded_wait);
        }
        *done = slot->work.done;
        slot->work.done.native = NULL; /* it is the caller's */
    }
    return dynsel_wait(submission);
}

dynsel_status dynsel_wait_for(dynsel_submission *submission, uint64_t timeout_ns)
{
    const dynsel_bounded_wait bounded = {.wait_policy = {.backoff = dynsel_backoff_until},
                                         .deadline_ns = dynsel_deadline_after(timeout_ns)};
    return wait_with(&bounded.wait_policy, submission, DYNSEL_TEXT(__func__));
}

#if CONFIG_DYNSEL_SUBMISSION_CONTROL
dynsel_status dynsel_submission_poll(const dynsel_submission *submission)
{
    dynsel_slot *slot = NULL;
    const dynsel_status status = find_aside(submission, &slot, DYNSEL_TEXT(__func__));
    if (status != DYNSEL_OK) {
        return status;
    }
    (void)dynsel_slots_reap();
    return slot->state == DYNSEL_SLOT_FINISHED ? DYNSEL_OK : DYNSEL_E_AGAIN;
}

/* Nothing waits in the library, nor in a backend that could be asked. */
dynsel_status dynsel_cancel(dynsel_submission *submission)
{
    dynsel_slot *slot = NULL;
    const dynsel_status status = find_aside(submission, &slot, DYNSEL_TEXT(__func__));
    return status == DYNSEL_OK ? dynsel_refuse_to_cancel(DYNSEL_TEXT(__func__)) : status;
}
#endif

dynsel_status dynsel_submission_release(dynsel_submission *submission)
{
    dynsel_slot *slot = NULL;
    const dynsel_status status = find_aside(submission, &slot, DYNSEL_TEXT(__func__));
    if (status == DYNSEL_OK) {
        dynsel_slot_let_go(slot);
    }
    return status;
}

/* While the work goes on an interrupt may still need what is there. */
dynsel_status dynsel_submission_unwrap(const dynsel_submission *submission, dynsel_event *done)
{
    dynsel_slot *slot = NULL;
    const bool collected =
        submission != NULL && submission->slot.value == DYNSEL_SUBMISSION_COLLECTED;
    const dynsel_status status =
        collected ? DYNSEL_OK : find_aside(submission, &slot, DYNSEL_TEXT(__func__));
    if (status != DYNSEL_OK) {
        return status;
    }
    if (done == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "done is NULL");
    }
    if (collected) {
        *done = submission->done;
        return DYNSEL_OK;
    }
    (void)dynsel_slots_reap();
    *done = slot->state == DYNSEL_SLOT_FINISHED ? slot->work.done : (dynsel_event){.native = NULL};
    return DYNSEL_OK;
}
