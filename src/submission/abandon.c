/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/abandon.h"

#include "base/fail.h"
#include "port/likely.h"
#include "port/pause.h"

static bool takes_back(dynsel_slot *slot)
{
    dynsel_backend *const backend = slot->work.where->backend;
    return backend->ops->cancel != NULL && backend->ops->cancel(backend, &slot->work);
}

/* From RUNNING to COMPLETING; false: it has just ended. */
static bool begin_abandoning(dynsel_slot *slot, bool is_kept)
{
    const uint32_t kept = is_kept ? DYNSEL_SLOT_ABANDONED + DYNSEL_SLOT_REF : 0;
    uint32_t word = dynsel_word_load_acquire(&slot->word);
    for (uint32_t round = 0;;) {
        if (dynsel_slot_state(word) != DYNSEL_SLOT_RUNNING || (word & DYNSEL_SLOT_MARKED) != 0) {
            return false;
        }
        if ((word & DYNSEL_SLOT_MARKING) != 0 ||
            (word & DYNSEL_SLOT_REFS) == DYNSEL_SLOT_REFS) { /* soon over */
            dynsel_pause(round++);
            word = dynsel_word_load_acquire(&slot->word);
        } else if (dynsel_marked_swap(&slot->word, &word,
                                      word + kept + DYNSEL_SLOT_COMPLETING - DYNSEL_SLOT_RUNNING)) {
            return true;
        }
    }
}

static dynsel_kept_error given_up(const dynsel_slot *slot, bool began)
{
    (void)slot; /* in a library without texts and details */
    (void)began;
    dynsel_kept_error error = DYNSEL_KEPT_ERROR(
        DYNSEL_E_GIVEN_UP, "the time limit",
        began ? "the resource may still use the memory of this work: leave it alone until the "
                "program ends"
              : "the work had not begun");
#if CONFIG_DYNSEL_ERROR_DETAILS
    error.subject = DYNSEL_TEXT(dynsel_resource_name(slot->work.where));
#endif
    return error;
}

DYNSEL_RARE void dynsel_slot_abandon(dynsel_slot *slot)
{
    const bool asked = !slot->work.where->backend->ops->marks_completion;
    const bool began = asked || !takes_back(slot);
    /* Backends that are asked were told to leave it alone; those that mark ends may use it. */
    const bool is_kept = began && !asked;
    if (is_kept) {
        (void)dynsel_word_add_synchronized(&dynsel_slots_abandoned, 1);
    }
    if (!begin_abandoning(slot, is_kept)) {
        if (is_kept) {
            (void)dynsel_word_add_synchronized(&dynsel_slots_abandoned, (uint32_t)-1);
        }
        return;
    }
    slot->work.error = given_up(slot, began);
    if (began && !dynsel_slot_is_apart(slot)) {
        dynsel_slot_run_once(slot); /* both runs would use the same memory */
    }
    (void)dynsel_slot_finish_completion(slot, 0);
}

void dynsel_slots_sweep_abandoned(void)
{
    for (uint32_t number = 1; number <= CONFIG_DYNSEL_MAX_IN_FLIGHT; number++) {
        dynsel_slot *const slot = dynsel_slot_at(number);
        uint32_t word = dynsel_word_load_acquire(&slot->word);
        while (dynsel_slot_is_abandoned(word) && (word & DYNSEL_SLOT_MARKED) == 0) {
            if (dynsel_marked_swap(&slot->word, &word, word & ~(uint32_t)DYNSEL_SLOT_MARKING)) {
                (void)dynsel_word_add_synchronized(&dynsel_slots_abandoned, (uint32_t)-1);
                dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
                break;
            }
        }
    }
}

bool dynsel_slot_was_abandoned(uint32_t token)
{
    const uint32_t word =
        dynsel_word_load_acquire(&dynsel_slot_at(dynsel_slot_number_in(token))->word);
    return dynsel_slot_generation(word) == dynsel_slot_generation(token) &&
           (word & DYNSEL_SLOT_ABANDONED) == DYNSEL_SLOT_ABANDONED;
}

bool dynsel_slot_may_go_on(const dynsel_slot *slot, dynsel_status status)
{
    return status == DYNSEL_E_GIVEN_UP && (!slot->work.where->backend->ops->marks_completion ||
                                           dynsel_slot_was_abandoned(slot->work.token));
}
