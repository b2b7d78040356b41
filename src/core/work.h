/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_CORE_WORK_H
#define DYNSEL_CORE_WORK_H

#include <dynsel/backend.h>

#include "core/fail.h"

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

/* dynsel_work_call() without a call, for the backends inside the library. */
static inline void dynsel_call(dynsel_work *work)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    const dynsel_status status =
        dynsel_call_function(work->function, work->where, work->args, &work->done);
    work->error.status = status;
    if (status != DYNSEL_OK) {
        work->error = dynsel_details_of(status, failures_before);
    }
}

#endif
