/* SPDX-License-Identifier: Apache-2.0 */
/* Work that is complete when the submitting call returns, and was never in a slot. */
#ifndef DYNSEL_CORE_AT_ONCE_H
#define DYNSEL_CORE_AT_ONCE_H

#include <dynsel/submission.h>

#include "core/start.h"

/* Gives the result to the submission; without one, a failure goes to the group. */
void dynsel_deliver(dynsel_submission *submission, const dynsel_selection *chosen,
                    const dynsel_event *done, const dynsel_error *error);

/* The error of a task function that left an event with a backend that waits for none. */
dynsel_error dynsel_event_refused(void);

/*
 * The shortest way of a submit, where every backend of the policy only calls the task function: the
 * core does it itself.
 */
dynsel_status dynsel_submit_in_caller(dynsel_policy *policy, const dynsel_task *task,
                                      dynsel_submission *submission, const dynsel_manner *manner);

/* Goes on after the policy chose nothing there: waits, if it may. */
DYNSEL_RARE dynsel_status dynsel_submit_unchosen(const dynsel_request *request,
                                                 dynsel_submission *submission,
                                                 dynsel_status status, uint32_t failures_before);

#endif
