/* SPDX-License-Identifier: Apache-2.0 */
/* From repeatable work to its second run; see submission/repeat_table.h. */
#ifndef DYNSEL_SUBMISSION_REPEAT_H
#define DYNSEL_SUBMISSION_REPEAT_H

#include "port/likely.h"
#include "submission/request.h"
#include "submission/slot_table.h"

#if CONFIG_DYNSEL_REPEAT

/* Claims both slots of a repeatable task, and keeps its input; otherwise as
 * dynsel_in_flight_claim(). */
DYNSEL_RARE dynsel_status dynsel_repeat_claim_both(const dynsel_request *request,
                                                   dynsel_slot **slot);

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Makes the work of a claimed slot repeatable: claims a second slot and so many blocks. False: they
 * are not free. */
bool dynsel_repeat_arm(dynsel_slot *slot, const dynsel_policy *policy, uint32_t block_count);

/* What dynsel_repeat_arm() took for the slot. */
dynsel_kept_blocks dynsel_repeat_kept(const dynsel_slot *slot);
#endif

/* Gives back a claimed slot, with what a second run would have needed. */
static inline void dynsel_repeat_unclaim(dynsel_slot *slot)
{
    dynsel_slot_run_once(slot);
    dynsel_slot_unclaim(slot);
}

/* Claims what a task needs. */
static inline dynsel_status dynsel_repeat_claim(const dynsel_request *request, dynsel_slot **slot)
{
    return DYNSEL_LIKELY(request->task->repeat == NULL) ? dynsel_in_flight_claim(request, slot)
                                                        : dynsel_repeat_claim_both(request, slot);
}

#else

static inline void dynsel_repeat_unclaim(dynsel_slot *slot)
{
    dynsel_slot_unclaim(slot);
}

static inline dynsel_status dynsel_repeat_claim(const dynsel_request *request, dynsel_slot **slot)
{
    return dynsel_in_flight_claim(request, slot);
}

#endif

#endif
