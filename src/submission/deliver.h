/* SPDX-License-Identifier: Apache-2.0 */
/* The result of work that is complete when the submitting call returns. */
#ifndef DYNSEL_SUBMISSION_DELIVER_H
#define DYNSEL_SUBMISSION_DELIVER_H

#include <dynsel/submission.h>

/* Gives the result to the submission; without one, a failure goes to the group. */
void dynsel_deliver(dynsel_submission *submission, const dynsel_selection *chosen,
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
