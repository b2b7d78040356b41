/* SPDX-License-Identifier: Apache-2.0 */
/* The handle of a submission, which is the caller's memory: what its `slot` says, and filling it
 * in. */
#ifndef DYNSEL_SUBMISSION_HANDLE_H
#define DYNSEL_SUBMISSION_HANDLE_H

#include <dynsel/submission.h>

#include "port/atomic.h"

enum {
    DYNSEL_SUBMISSION_NONE = 0, /* zeroed: never submitted */
    DYNSEL_SUBMISSION_COMPLETE =
        1, /* complete when the submit returned, the result is in the handle */
    DYNSEL_SUBMISSION_COLLECTED = 2, /* waited for; what the task function left is in the handle */
    DYNSEL_SUBMISSION_RELEASED = 3,  /* given up, and was complete when the submit returned */
    DYNSEL_SUBMISSION_IN_SLOT = 4    /* this and above: 3 + the number of the slot */
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

#endif
