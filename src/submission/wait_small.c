/* SPDX-License-Identifier: Apache-2.0 */
/* What the holder of a submission can do with it, where each has a slot of the small table. */
#include <dynsel/submission.h>

#include "base/fail.h"
#include "port/context.h"
#include "port/thread.h"
#include "submission/handle.h"
#include "submission/in_flight_small.h"
#include "submission/start.h"

/* A submission's word is its slot's token. slot: out, only on DYNSEL_OK. A part of dynsel_wait(),
 * because most programs need it for nothing else. */
__attribute__((always_inline)) static inline dynsel_status
find(const dynsel_submission *submission, dynsel_slot **slot, const char *function)
{
    if (submission == NULL || submission->slot.value == 0) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "the submission is NULL or was never submitted", 0);
    }
    *slot = dynsel_slot_of(submission->slot.value);
    return (*slot)->work.token == submission->slot.value && (*slot)->asked
               ? DYNSEL_OK
               : DYNSEL_FAIL_IN(function, DYNSEL_E_STALE,
                                "the submission was waited for or released before", 0);
}

DYNSEL_ASIDE static dynsel_status find_aside(const dynsel_submission *submission,
                                             dynsel_slot **slot, const char *function)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    return find(submission, slot, function);
}

static dynsel_status wait_with(const dynsel_patience *patience, dynsel_submission *submission,
                               const char *function)
{
    if (dynsel_this_thread()->task_depth != 0) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_IN_TASK,
                              "the work that is waited for might wait for this function", 0);
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
        if (!patience->rest(patience)) {
            return DYNSEL_FAIL_IN(function, DYNSEL_E_TIMEOUT, "the work was not complete in time",
                                  0);
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
    return wait_with(&dynsel_endless, submission, DYNSEL_TEXT(__func__));
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
            (void)dynsel_endless.rest(&dynsel_endless);
        }
        *done = slot->work.done;
        slot->work.done.native = NULL; /* it is the caller's */
    }
    return dynsel_wait(submission);
}

dynsel_status dynsel_wait_for(dynsel_submission *submission, uint64_t timeout_ns)
{
    const dynsel_bounded_patience bounded = {.patience = {.rest = dynsel_rest_until},
                                             .deadline_ns = dynsel_deadline_after(timeout_ns)};
    return wait_with(&bounded.patience, submission, DYNSEL_TEXT(__func__));
}

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
