/* SPDX-License-Identifier: Apache-2.0 */
/* What the holder of a submission can do with it. */
#include <dynsel/submission.h>

#include "core/fail.h"
#include "core/group.h"
#include "core/in_flight.h"
#include "core/policy.h"
#include "core/submission.h"
#include "port/atomic.h"

static dynsel_status refuse_stale(const char *function)
{
    return DYNSEL_FAIL_IN(function, DYNSEL_E_STALE,
                          "the submission was waited for or released before", 0);
}

/* DYNSEL_OK when the submission was made by a submitting call; `slot` is what its word says. */
static dynsel_status look_at(const dynsel_submission *submission, const char *function,
                             uint32_t *slot)
{
    if (submission != NULL) {
        *slot = dynsel_word_load_acquire(&submission->slot);
    }
    if (submission == NULL || *slot == DYNSEL_SUBMISSION_NONE) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "the submission is NULL or was never submitted", 0);
    }
    return *slot == DYNSEL_SUBMISSION_COLLECTED ? refuse_stale(function) : DYNSEL_OK;
}

/* Takes the result out of a handle that holds it itself; DYNSEL_E_STALE for who comes second. */
static dynsel_status take_result(dynsel_submission *submission, const char *function)
{
    uint32_t expected = DYNSEL_SUBMISSION_COMPLETE;
    return dynsel_word_swap(&submission->slot, &expected, DYNSEL_SUBMISSION_COLLECTED)
               ? DYNSEL_OK
               : refuse_stale(function);
}

static dynsel_status wait_until(dynsel_submission *submission, const char *function,
                                uint64_t deadline_ns)
{
    if (dynsel_this_thread()->task_depth != 0) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_IN_TASK,
                              "the work that is waited for might wait for this function", 0);
    }
    uint32_t slot = DYNSEL_SUBMISSION_NONE;
    dynsel_status status = look_at(submission, function, &slot);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (slot >= DYNSEL_SUBMISSION_IN_SLOT) {
        return dynsel_in_flight_collect(submission, function, deadline_ns);
    }
    status = take_result(submission, function);
    if (status == DYNSEL_OK && submission->error.status != DYNSEL_OK) {
        return dynsel_fail(&submission->error);
    }
    return status;
}

dynsel_status dynsel_wait(dynsel_submission *submission)
{
    return wait_until(submission, DYNSEL_TEXT(__func__), DYNSEL_WAIT_FOREVER);
}

dynsel_status dynsel_wait_for(dynsel_submission *submission, uint64_t timeout_ns)
{
    return wait_until(submission, DYNSEL_TEXT(__func__), dynsel_deadline_after(timeout_ns));
}

dynsel_status dynsel_submission_release(dynsel_submission *submission)
{
    const char *const function = DYNSEL_TEXT(__func__);
    uint32_t slot = DYNSEL_SUBMISSION_NONE;
    dynsel_status status = look_at(submission, function, &slot);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (slot >= DYNSEL_SUBMISSION_IN_SLOT) {
        return dynsel_in_flight_release(submission);
    }
    status = take_result(submission, function);
    if (status == DYNSEL_OK && submission->error.status != DYNSEL_OK) {
        dynsel_group_note_failure(submission->policy, &submission->error);
    }
    return status;
}

dynsel_status dynsel_submission_unwrap(const dynsel_submission *submission, dynsel_event *done)
{
    uint32_t slot = DYNSEL_SUBMISSION_NONE;
    const dynsel_status status = look_at(submission, DYNSEL_TEXT(__func__), &slot);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (done == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "done is NULL");
    }
    if (slot >= DYNSEL_SUBMISSION_IN_SLOT) {
        return dynsel_in_flight_unwrap(submission, done);
    }
    *done = submission->done;
    return DYNSEL_OK;
}

dynsel_policy *dynsel_submission_policy(const dynsel_submission *submission)
{
    return submission != NULL ? submission->policy : NULL;
}

const dynsel_resource *dynsel_submission_resource(const dynsel_submission *submission)
{
    const dynsel_policy *policy = dynsel_submission_policy(submission);
    return dynsel_policy_is_usable(policy) && submission->index < policy->count
               ? &policy->resources[submission->index]
               : NULL;
}

dynsel_reason dynsel_submission_reason(const dynsel_submission *submission)
{
    return submission != NULL ? submission->reason : DYNSEL_REASON_UNKNOWN;
}
