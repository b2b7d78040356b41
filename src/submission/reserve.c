/* SPDX-License-Identifier: Apache-2.0 */
/* Slots that no other policy gets. */
#include <dynsel/submission.h>

#include "base/fail.h"
#include "policy/policy.h"
#include "port/likely.h"
#include "submission/slot.h"

dynsel_word dynsel_slot_owners[CONFIG_DYNSEL_MAX_IN_FLIGHT];

void dynsel_slots_unreserve(uint32_t life, uint32_t count)
{
    uint32_t left = life != 0 ? count : 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT && left > 0; i++) {
        if (dynsel_word_load_relaxed(&dynsel_slot_owners[i]) == life) {
            dynsel_word_store_relaxed(&dynsel_slot_owners[i], 0);
            left--;
        }
    }
}

/* Reserves up to `wanted` slots that are free and for all; returns how many. */
static uint32_t reserve(uint32_t life, uint32_t wanted)
{
    uint32_t count = 0;
    for (; count < wanted; count++) {
        dynsel_slot *const slot = dynsel_slot_claim(NULL);
        if (slot == NULL) {
            break;
        }
        dynsel_word_store_relaxed(&dynsel_slot_owners[dynsel_slot_number(slot) - 1], life);
        dynsel_slot_unclaim(slot);
    }
    return count;
}

/* Holds one slot that is for all meanwhile: it stays so. */
static dynsel_status reserve_more(uint32_t life, uint32_t wanted)
{
    dynsel_slot *const kept = dynsel_slot_claim(NULL);
    const uint32_t count = kept != NULL ? reserve(life, wanted) : 0;
    if (kept != NULL) {
        dynsel_slot_unclaim(kept);
    }
    if (count == wanted && kept != NULL) {
        return DYNSEL_OK;
    }
    dynsel_slots_unreserve(life, count);
    return DYNSEL_FAIL_IN(
        DYNSEL_TEXT("dynsel_policy_reserve_slots"), DYNSEL_E_FULL,
        DYNSEL_OPTION(MAX_IN_FLIGHT,
                      "and {} more slots would be needed, with one for all policies: reserve fewer "
                      "or earlier, or set it so much higher"),
        wanted - count + (kept == NULL ? 1 : 0));
}

DYNSEL_RARE dynsel_status dynsel_policy_reserve_slots(dynsel_policy *policy, uint32_t count)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, DYNSEL_TEXT(__func__));
    }
    if (!dynsel_policy_outlives(policy) && !CONFIG_DYNSEL_COMMAND_GROUPS) {
        return DYNSEL_FAIL(DYNSEL_E_UNSUPPORTED, "no work of this policy needs a slot");
    }
    const uint32_t life = dynsel_policy_life(policy);
    uint32_t reserved = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        reserved += dynsel_word_load_relaxed(&dynsel_slot_owners[i]) == life ? 1 : 0;
    }
    if (count > reserved) {
        return reserve_more(life, count - reserved);
    }
    dynsel_slots_unreserve(life, reserved - count);
    return DYNSEL_OK;
}
