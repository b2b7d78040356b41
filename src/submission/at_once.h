/* SPDX-License-Identifier: Apache-2.0 */
/* Work that is complete when the submitting call returns, and was never in a slot. */
#ifndef DYNSEL_SUBMISSION_AT_ONCE_H
#define DYNSEL_SUBMISSION_AT_ONCE_H

#include <dynsel/submission.h>

#include "submission/deliver.h"
#include "submission/start.h"

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
