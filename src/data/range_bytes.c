/* SPDX-License-Identifier: Apache-2.0 */
/* What ranges made move. */
#include <dynsel/statistics.h>

#include "base/fail.h"
#include "data/lock.h"
#include "groups/group.h"
#include "policy/policy.h"
#include "submission/handle.h"
#include "submission/in_flight.h"

dynsel_status dynsel_submission_range_bytes(const dynsel_submission *submission,
                                            dynsel_range_bytes *bytes)
{
    const uint32_t place = submission != NULL ? dynsel_word_load_acquire(&submission->slot)
                                              : (uint32_t)DYNSEL_SUBMISSION_NONE;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (place == DYNSEL_SUBMISSION_NONE || bytes == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID,
                           "bytes or the submission is NULL, or it was never submitted");
    }
    *bytes = (dynsel_range_bytes){.staged_in = 0};
    if (place < DYNSEL_SUBMISSION_IN_SLOT) {
        return place == DYNSEL_SUBMISSION_COMPLETE
                   ? DYNSEL_OK
                   : DYNSEL_FAIL(DYNSEL_E_STALE,
                                 "the submission was waited for or released before");
    }
    dynsel_slot *const slot = dynsel_in_flight_pin(submission, DYNSEL_TEXT(__func__));
    if (slot == NULL) {
        return DYNSEL_E_STALE;
    }
    if (dynsel_slot_is_deferred(slot)) {
        dynsel_brief_lock_acquire(&dynsel_memory_lock);
        *bytes = dynsel_group_of(slot)->bytes;
        dynsel_brief_lock_release(&dynsel_memory_lock);
    }
    dynsel_slot_drop(slot, DYNSEL_SLOT_PIN);
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_STATISTICS
static dynsel_range_bytes bytes_of(const dynsel_policy *policy)
{
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    const dynsel_range_bytes bytes = policy->range_bytes;
    dynsel_brief_lock_release(&dynsel_memory_lock);
    return bytes;
}
#else
static dynsel_range_bytes bytes_of(const dynsel_policy *policy)
{
    (void)policy;
    return (dynsel_range_bytes){.staged_in = 0};
}
#endif

dynsel_status dynsel_get_range_statistics(const dynsel_policy *policy, dynsel_range_bytes *bytes)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, DYNSEL_TEXT(__func__));
    }
    if (bytes == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "bytes is NULL");
    }
    if (!CONFIG_DYNSEL_STATISTICS) {
        return DYNSEL_FAIL(DYNSEL_E_UNSUPPORTED, "set CONFIG_DYNSEL_STATISTICS");
    }
    *bytes = bytes_of(policy);
    return DYNSEL_OK;
}
