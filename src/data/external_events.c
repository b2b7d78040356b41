/* SPDX-License-Identifier: Apache-2.0 */
#include "data/external_events.h"

#include "data/domains.h"

/* What preserves its inputs starts when all that it depends on is over. */
static bool joins(const dynsel_external_event *event, const dynsel_uses *uses)
{
    return event->ops->joins != NULL && uses->domain != DYNSEL_HOST_DOMAIN &&
           !dynsel_uses_are_preserved(uses) &&
           event->ops->joins(event, dynsel_domains[uses->domain - 1].backend, uses->own);
}

/* Looks at all, so that a failure is found although another event is not complete. */
dynsel_status dynsel_external_events_look(dynsel_uses *uses, dynsel_error *error)
{
    dynsel_status result = DYNSEL_OK;
    uses->obstacle = 0;
    for (uint32_t i = 0; i < uses->external_count; i++) {
        dynsel_external_event *const event = &uses->external[i];
        const uint32_t failures_before = dynsel_this_thread()->failure_count;
        const dynsel_status status = event->ops->poll(event);
        event->joined = status == DYNSEL_E_AGAIN && joins(event, uses);
        if (status == DYNSEL_E_AGAIN && !event->joined) {
            result = status;
        } else if (status != DYNSEL_OK && status != DYNSEL_E_AGAIN) {
            *error = dynsel_details_of(status, failures_before);
            return status;
        }
    }
    return result;
}

uint32_t dynsel_external_events_list(const dynsel_uses *uses, dynsel_event *events)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < uses->external_count; i++) {
        if (uses->external[i].joined) {
            events[count++] = (dynsel_event){.native = uses->external[i].event.native};
        }
    }
    return count;
}

void dynsel_external_events_explain(dynsel_uses *uses, dynsel_kept_error *error)
{
    for (uint32_t i = 0; i < uses->external_count && error->status == DYNSEL_E_DEPENDENCY; i++) {
        const uint32_t failures_before = dynsel_this_thread()->failure_count;
        const dynsel_status status = uses->external[i].ops->poll(&uses->external[i]);
        if (status == DYNSEL_E_DEPENDENCY) {
            *error = dynsel_details_of(status, failures_before);
            return;
        }
    }
}

void dynsel_external_events_release_now(dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->external_count; i++) {
        uses->external[i].ops->release(&uses->external[i]);
    }
    uses->external_count = 0;
}
