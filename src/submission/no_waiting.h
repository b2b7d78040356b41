/* SPDX-License-Identifier: Apache-2.0 */
/* Task functions and group functions must not wait: what they wait for might wait for them. */
#ifndef DYNSEL_SUBMISSION_NO_WAITING_H
#define DYNSEL_SUBMISSION_NO_WAITING_H

#include <stdbool.h>

#include "base/fail.h"

/* Whether this thread is in one. */
static inline bool dynsel_must_not_wait(void)
{
    const dynsel_thread *thread = dynsel_this_thread();
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return (thread->task_depth | thread->recordings) != 0;
#else
    return thread->task_depth != 0;
#endif
}

/* Fails with DYNSEL_E_IN_TASK. detail: for task functions. */
#if CONFIG_DYNSEL_COMMAND_GROUPS
dynsel_status dynsel_refuse_to_wait(const char *function, const char *detail);
#define DYNSEL_REFUSE_TO_WAIT(function_, detail_)                                                  \
    dynsel_refuse_to_wait(function_, DYNSEL_TEXT(detail_))
#else
#define DYNSEL_REFUSE_TO_WAIT(function_, detail_)                                                  \
    DYNSEL_FAIL_IN(function_, DYNSEL_E_IN_TASK, detail_, 0)
#endif

#endif
