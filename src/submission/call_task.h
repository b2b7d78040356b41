/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of task functions, and their failures. */
#ifndef DYNSEL_SUBMISSION_CALL_TASK_H
#define DYNSEL_SUBMISSION_CALL_TASK_H

#include <dynsel/backend.h>

#include "base/fail.h"
#include "port/likely.h"

/* Calls a task function; while it runs, this thread is in a task. */
static inline dynsel_status dynsel_call_function(dynsel_task_fn function,
                                                 const dynsel_resource *where, void *args,
                                                 dynsel_event *done)
{
    dynsel_thread *thread = dynsel_this_thread();
    const uint32_t depth = thread->task_depth;
    thread->task_depth = depth + 1;
    const dynsel_status status = function(where, args, done);
    thread->task_depth = depth;
    return status;
}

/* Stores the details of a failure in the work. */
DYNSEL_RARE void dynsel_note_failure(dynsel_work *work, dynsel_status status,
                                     uint32_t failures_before);

/* dynsel_work_call() in the thread that starts the work, inlined in the backends of the library. */
static inline void dynsel_call_inline(dynsel_work *work)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    const dynsel_status status =
        dynsel_call_function(work->function, work->where, work->args, &work->done);
    if (!CONFIG_DYNSEL_IN_FLIGHT_SMALL || status != DYNSEL_OK) {
        work->error.status = status;
    }
    if (CONFIG_DYNSEL_ERROR_DETAILS && !DYNSEL_LIKELY(status == DYNSEL_OK)) {
        dynsel_note_failure(work, status, failures_before);
    }
}

#endif
