/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/work_by_token.h"

#include "submission/slot.h"

static inline dynsel_stage stage_in(uint32_t word, uint32_t token)
{
    if (dynsel_slot_generation(word) != dynsel_slot_generation(token)) {
        return DYNSEL_STAGE_OVER;
    }
    const uint32_t state = dynsel_slot_state(word);
    if (state == DYNSEL_SLOT_CLAIMED || dynsel_slot_is_pending(word)) {
        return DYNSEL_STAGE_ACCEPTED;
    }
    return state == DYNSEL_SLOT_RUNNING || state == DYNSEL_SLOT_COMPLETING ? DYNSEL_STAGE_STARTED
                                                                           : DYNSEL_STAGE_OVER;
}

dynsel_stage dynsel_stage_of(uint32_t token)
{
    const dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(token));
    return stage_in(dynsel_word_load_acquire(&slot->word), token);
}

/* All changes of the word have one order. A thread that changes the stage after this sees all that
 * was written before, and reads the watchers. */
dynsel_stage dynsel_stage_of_watched(uint32_t token)
{
    dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(token));
    return stage_in(dynsel_marked_add(&slot->word, 0), token);
}

/* The event of finished work may have been moved, but is not needed. */
static bool keep(dynsel_slot *slot, uint32_t token)
{
    if (dynsel_stage_of(token) == DYNSEL_STAGE_OVER) {
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
        return false;
    }
    return true;
}

bool dynsel_pending_ref(uint32_t token)
{
    dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(token));
    return dynsel_slot_ref_generation(slot, dynsel_slot_generation(token)) && keep(slot, token);
}

bool dynsel_pending_ref_reserved(uint32_t token)
{
    dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(token));
    return dynsel_slot_ref_reserved(slot, dynsel_slot_generation(token)) && keep(slot, token);
}

void dynsel_pending_finish(uint32_t token)
{
    if (dynsel_pending_ref(token)) {
        dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(token));
        dynsel_slot_finish_if_marked(slot);
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    }
}
