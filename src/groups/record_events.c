/* SPDX-License-Identifier: Apache-2.0 */
/* Records the external events on which a command group depends. */
#include <dynsel/command_group.h>
#include <dynsel/memory.h>

#include "groups/recording.h"

dynsel_status dynsel_depend_on_external(dynsel_handler *handler,
                                        const dynsel_external_event_ops *ops, dynsel_event event)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    dynsel_status status = dynsel_call_begin(&call, ops != NULL);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (ops->take == NULL || ops->poll == NULL || ops->release == NULL) {
        return DYNSEL_REFUSE(&call, DYNSEL_E_INVALID,
                             "the event lacks operations: take, poll and release are needed");
    }
    dynsel_uses *const uses = handler->uses;
    if (uses->external_count == CONFIG_DYNSEL_EXTERNAL_EVENTS) {
        return DYNSEL_REFUSE_NUMBER(
            &call, DYNSEL_E_FULL,
            DYNSEL_OPTION(
                EXTERNAL_EVENTS,
                "and this command group depends on more external events: set it to {} or more"),
            CONFIG_DYNSEL_EXTERNAL_EVENTS + 1);
    }
    dynsel_external_event *const taken = &uses->external[uses->external_count];
    *taken = (dynsel_external_event){.ops = ops, .event = event};
    const dynsel_thread *const thread = dynsel_this_thread();
    const uint32_t failures_before = thread->failure_count;
    status = ops->take(taken);
    if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
        uses->external_count++;
        return status;
    }
    if (thread->failure_count == failures_before || thread->last_error.status != status) {
        return DYNSEL_REFUSE(&call, status, "the event refused, and did not say why");
    }
    dynsel_call_note_failure(&call);
    return status;
}
