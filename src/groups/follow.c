/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/follow.h"

#include "base/fail.h"
#include "submission/work_by_token.h"

/* The first cause stays in `number`. */
dynsel_error dynsel_follow_error(const dynsel_handler *group)
{
    const dynsel_cause *const cause = &group->followed.cause;
    const bool has_cause = cause->status == DYNSEL_E_DEPENDENCY && (int32_t)cause->number < 0;
    return (dynsel_error){
        .status = DYNSEL_E_DEPENDENCY,
        .code = cause->code,
        .number = has_cause ? cause->number : (uint32_t)cause->status,
        .function = DYNSEL_TEXT("dynsel_depends_on"),
        .detail = DYNSEL_TEXT("it depends on work that failed: {status}"),
    };
}

/* A handle keeps the slot. Where there is none any more, a wait has made the results visible. */
void dynsel_follow_synchronize(const dynsel_handler *group)
{
    for (uint32_t i = 0; i < group->followed.count; i++) {
        const uint32_t token = group->followed.tokens[i];
        dynsel_slot *const slot = dynsel_slot_of_token(token);
        if (dynsel_slot_ref_handle(slot, dynsel_slot_generation(token))) {
            if (dynsel_stage_of(token) == DYNSEL_STAGE_OVER) {
                dynsel_slot_synchronize(slot);
            }
            dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
        }
    }
}

/* Unless it did not begin, its command ran: also where only a queue ordered it behind the other. */
void dynsel_follow_end(dynsel_handler *group, dynsel_kept_error *error)
{
    if (dynsel_follows_failure(group)) {
        group->ran = group->ran || error->status != DYNSEL_E_DEPENDENCY;
        *error = dynsel_follow_error(group);
    }
}
