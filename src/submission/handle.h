/* SPDX-License-Identifier: Apache-2.0 */
/* The handle of a submission, which is the caller's memory: what its `slot` says, and filling it
 * in. */
#ifndef DYNSEL_SUBMISSION_HANDLE_H
#define DYNSEL_SUBMISSION_HANDLE_H

#include <dynsel/backend.h>
#include <dynsel/submission.h>

#include "base/fail.h"
#include "port/atomic.h"

enum {
    DYNSEL_SUBMISSION_NONE = 0, /* zeroed: never submitted */
    DYNSEL_SUBMISSION_COMPLETE =
        1, /* complete when the submit returned, the result is in the handle */
    DYNSEL_SUBMISSION_COLLECTED = 2, /* waited for; what the task function left is in the handle */
    DYNSEL_SUBMISSION_RELEASED = 3,  /* given up, and was complete when the submit returned */
    DYNSEL_SUBMISSION_IN_SLOT = 4    /* this and above: the work has a slot */
};

enum {
    /* added to the number of a slot, which counts from 1 */
    DYNSEL_SUBMISSION_SLOT_BASE = DYNSEL_SUBMISSION_IN_SLOT - 1
};

/* Fills in a handle; `done` and `error` only belong to complete work. word: its `slot`, which with
 * static slots is a token, and there is no generation. */
static inline void dynsel_handle_publish(dynsel_submission *submission, dynsel_policy *policy,
                                         uint32_t index, uint32_t reason, uint32_t generation,
                                         uint32_t word)
{
    submission->policy = policy;
    submission->index = index;
    submission->reason = (dynsel_reason)reason;
    if (!CONFIG_DYNSEL_IN_FLIGHT_SMALL) {
        submission->generation = generation;
    }
    dynsel_word_store_relaxed(&submission->slot, word);
}

/* The errors of submissions without a result. */
static inline dynsel_status dynsel_refuse_unsubmitted(const char *function)
{
    return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                          "the submission is NULL or was never submitted", 0);
}

static inline dynsel_status dynsel_refuse_stale(const char *function)
{
    return DYNSEL_FAIL_IN(function, DYNSEL_E_STALE,
                          "the submission was waited for or released before", 0);
}

static inline dynsel_status dynsel_refuse_unfinished(const char *function)
{
    return DYNSEL_FAIL_IN(function, DYNSEL_E_TIMEOUT, "the work was not complete in time", 0);
}

#if CONFIG_DYNSEL_SUBMISSION_CONTROL
static inline dynsel_status dynsel_refuse_to_cancel(const char *function)
{
    return DYNSEL_FAIL_IN(function, DYNSEL_E_BUSY,
                          "the work has started, or is complete: wait for it", 0);
}
#endif

/* Of work that is complete and has no slot: gives the result to the handle; without one, a failure
 * goes to the group. */
void dynsel_handle_publish_result(dynsel_submission *submission, const dynsel_selection *chosen,
                                  const dynsel_event *done, const dynsel_kept_error *error);

/* The error of a task function that left an event with a backend that waits for none. */
#if CONFIG_DYNSEL_ERROR_DETAILS
dynsel_kept_error dynsel_event_refused(void);
#else
static inline dynsel_kept_error dynsel_event_refused(void)
{
    return (dynsel_kept_error){.status = DYNSEL_E_INVALID};
}
#endif

/* With a backend that waits for none: work that left an event has failed. */
static inline void dynsel_refuse_event(dynsel_work *work)
{
    if (work->done.native != NULL) {
        work->done.native = NULL;
        if (work->error.status == DYNSEL_OK) {
            work->error = dynsel_event_refused();
        }
    }
}

#endif
