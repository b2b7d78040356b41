/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_CORE_WORK_H
#define DYNSEL_CORE_WORK_H

#include <dynsel/backend.h>

#include "core/fail.h"

/* dynsel_work_call() without a call, for the backends inside the library. */
static inline void dynsel_call(dynsel_work *work)
{
    dynsel_thread *thread = dynsel_this_thread();
    const uint32_t failures_before = thread->failure_count;
    thread->task_depth++;
    const dynsel_status status = work->function(work->where, work->args, &work->done);
    thread->task_depth--;
    work->error.status = status;
    if (status != DYNSEL_OK) {
        work->error = dynsel_details_of(status, failures_before);
    }
}

#endif
