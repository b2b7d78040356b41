/* SPDX-License-Identifier: Apache-2.0 */
/* What the holder of a submission can do with it. */
#include <dynsel/submission.h>

#include "base/fail.h"
#include "policy/policy.h"
#include "port/atomic.h"
#include "submission/finish.h"
#include "submission/handle.h"
#include "submission/request.h"
#include "submission/slot_table.h"

/* The submission's word; NULL counts as never submitted. */
static uint32_t word_of(const dynsel_submission *submission)
{
    return submission != NULL ? dynsel_word_load_acquire(&submission->slot)
                              : (uint32_t)DYNSEL_SUBMISSION_NONE;
}

/* The error for a submission without a result, by its word. */
static dynsel_status refuse(uint32_t slot, const char *function)
{
    return slot == DYNSEL_SUBMISSION_NONE ? dynsel_refuse_unsubmitted(function)
                                          : dynsel_refuse_stale(function);
}

/* Takes the result that a handle itself holds. after: the new word; DYNSEL_E_STALE for the second
 * caller. */
static dynsel_status take_result(dynsel_submission *submission, uint32_t slot, uint32_t after,
                                 const char *function)
{
    return slot == DYNSEL_SUBMISSION_COMPLETE && dynsel_word_swap(&submission->slot, &slot, after)
               ? DYNSEL_OK
               : refuse(slot, function);
}

static bool is_in_slot(uint32_t slot)
{
    return CONFIG_DYNSEL_IN_FLIGHT && slot >= DYNSEL_SUBMISSION_IN_SLOT;
}

#if CONFIG_DYNSEL_TRACE
/* The work was complete at once. Its policy may not exist any more. */
static void trace_wait(const dynsel_submission *submission, dynsel_status status)
{
    if (status == DYNSEL_OK && submission->piece != 0 && dynsel_trace_is_on()) {
        dynsel_trace_put(
            DYNSEL_TRACE_WAIT,
            (dynsel_trace_place){.piece = submission->piece, .resource = DYNSEL_TRACE_NO_RESOURCE},
            dynsel_trace_ticks(), 0);
    }
}
#else
static void trace_wait(const dynsel_submission *submission, dynsel_status status)
{
    (void)submission;
    (void)status;
}
#endif

/* done: out, what the task function left, for the caller to keep; or NULL. */
static dynsel_status wait_until(dynsel_submission *submission, const char *function,
                                uint64_t deadline_ns, dynsel_event *done)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(function,
                                     "the work that is waited for might wait for this function");
    }
    const uint32_t slot = word_of(submission);
    if (is_in_slot(slot)) {
        return dynsel_in_flight_collect(submission, function, deadline_ns, done);
    }
    const dynsel_status status =
        take_result(submission, slot, DYNSEL_SUBMISSION_COLLECTED, function);
    trace_wait(submission, status);
    if (status == DYNSEL_OK && done != NULL) {
        *done = submission->done;
    }
    if (status == DYNSEL_OK && submission->error.status != DYNSEL_OK) {
        return dynsel_fail_again(&submission->error);
    }
    return status;
}

dynsel_status dynsel_wait(dynsel_submission *submission)
{
    return wait_until(submission, DYNSEL_TEXT(__func__), DYNSEL_WAIT_FOREVER, NULL);
}

dynsel_status dynsel_wait_and_unwrap(dynsel_submission *submission, dynsel_event *done)
{
    return done != NULL ? wait_until(submission, DYNSEL_TEXT(__func__), DYNSEL_WAIT_FOREVER, done)
                        : DYNSEL_FAIL(DYNSEL_E_INVALID, "done is NULL");
}

dynsel_status dynsel_wait_for(dynsel_submission *submission, uint64_t timeout_ns)
{
    return wait_until(submission, DYNSEL_TEXT(__func__),
                      CONFIG_DYNSEL_IN_FLIGHT ? dynsel_deadline_after(timeout_ns) : timeout_ns,
                      NULL);
}

#if CONFIG_DYNSEL_SUBMISSION_CONTROL
dynsel_status dynsel_submission_poll(const dynsel_submission *submission)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    const uint32_t slot = word_of(submission);
    if (is_in_slot(slot)) {
        return dynsel_in_flight_poll(submission);
    }
    return slot == DYNSEL_SUBMISSION_COMPLETE ? DYNSEL_OK : refuse(slot, DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_cancel(dynsel_submission *submission)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    const uint32_t slot = word_of(submission);
    if (is_in_slot(slot)) {
        return dynsel_in_flight_cancel(submission);
    }
    return slot == DYNSEL_SUBMISSION_COMPLETE ? dynsel_refuse_to_cancel(DYNSEL_TEXT(__func__))
                                              : refuse(slot, DYNSEL_TEXT(__func__));
}
#endif

dynsel_status dynsel_submission_release(dynsel_submission *submission)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    const char *const function = DYNSEL_TEXT(__func__);
    const uint32_t slot = word_of(submission);
    if (is_in_slot(slot)) {
        return dynsel_in_flight_release(submission);
    }
    const dynsel_status status =
        take_result(submission, slot, DYNSEL_SUBMISSION_RELEASED, function);
    if (status == DYNSEL_OK && submission->error.status != DYNSEL_OK &&
        dynsel_policy_is_usable(submission->policy) &&
        (!DYNSEL_SUBMISSIONS_KNOW_LIFE ||
         dynsel_policy_is_of_life(submission->policy, submission->generation))) {
        dynsel_submission_group_note_failure(submission->policy, &submission->error);
    }
    return status;
}

dynsel_status dynsel_submission_unwrap(const dynsel_submission *submission, dynsel_event *done)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    const uint32_t slot = word_of(submission);
    if (slot != DYNSEL_SUBMISSION_COMPLETE && slot != DYNSEL_SUBMISSION_COLLECTED &&
        !is_in_slot(slot)) {
        return refuse(slot, DYNSEL_TEXT(__func__));
    }
    if (done == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "done is NULL");
    }
    if (is_in_slot(slot)) {
        return dynsel_in_flight_unwrap(submission, done);
    }
    *done = submission->done;
    return DYNSEL_OK;
}
