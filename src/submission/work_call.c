/* SPDX-License-Identifier: Apache-2.0 */
/* A backend of the program's calls a task function. */
#include <dynsel/backend.h>

#include "submission/call_task.h"
#if CONFIG_DYNSEL_TIME_LIMITS
#include "submission/abandon.h"
#endif

#if CONFIG_DYNSEL_TIME_LIMITS
/* In another thread the work may have been given up meanwhile: then its result is not written. (If
 * that happens just now, the late result replaces it.) */
static void call_and_write_result(dynsel_work *work)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_event done = {.native = NULL};
    const dynsel_status status =
        dynsel_call_function(work->function, work->where, work->args, &done);
    if (dynsel_slot_was_abandoned(work->token)) {
        return;
    }
    work->done = done;
    work->error.status = status;
    if (status != DYNSEL_OK) {
        dynsel_note_failure(work, status, failures_before);
    }
}
#endif

void dynsel_work_call(dynsel_work *work)
{
#if CONFIG_DYNSEL_TIME_LIMITS
    if (work->where->backend->ops->marks_completion) {
        call_and_write_result(work);
        return;
    }
#endif
    dynsel_call_inline(work);
}
