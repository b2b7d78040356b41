/* SPDX-License-Identifier: Apache-2.0 */
/* The slots, and how work gets one. */
#include "policy/after_fork.h"
#include "port/likely.h"
#include "port/thread.h"
#include "submission/failed_work.h"
#include "submission/slot.h"

dynsel_slot dynsel_slots[CONFIG_DYNSEL_MAX_IN_FLIGHT];

#if DYNSEL_OPENS_MORE_SLOTS
dynsel_word dynsel_slots_opened;
#endif
dynsel_word dynsel_slot_refusals;

uint32_t dynsel_slot_count_in_use(void)
{
    uint32_t count = 0;
    const uint32_t open = dynsel_slots_open();
    for (uint32_t number = 1; number <= open; number++) {
        const uint32_t word = dynsel_word_load_relaxed(&dynsel_slot_at(number)->word);
        count += dynsel_slot_state(word) != DYNSEL_SLOT_FREE ? 1 : 0;
    }
    return count;
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork() no slot is in use, and no token of the parent leads to one. */
static void forget(void)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        const uint32_t word = dynsel_word_load_relaxed(&dynsel_slots[i].word);
        dynsel_word_store_relaxed(&dynsel_slots[i].word, (dynsel_slot_generation(word) + 1)
                                                             << DYNSEL_SLOT_GENERATION_SHIFT);
        dynsel_word_store_relaxed(&dynsel_slots[i].next, DYNSEL_NO_SLOT);
#if CONFIG_DYNSEL_COMMAND_GROUPS
        dynsel_word_store_relaxed(&dynsel_slots[i].watchers, DYNSEL_NO_SLOT);
#endif
#if CONFIG_DYNSEL_RESERVED_SLOTS
        dynsel_word_store_relaxed(&dynsel_slot_owners[i], 0);
#endif
    }
#if CONFIG_DYNSEL_STATISTICS
    dynsel_word_store_relaxed(&dynsel_slots_in_use, 0);
#endif
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_word_store_relaxed(&dynsel_pending_count, 0);
    dynsel_failed_work_forget_all();
#endif
#if CONFIG_DYNSEL_REPEAT
    dynsel_repeats_forget();
#endif
#if CONFIG_DYNSEL_TIME_LIMITS
    dynsel_word_store_relaxed(&dynsel_limited_count, 0);
    dynsel_word_store_relaxed(&dynsel_slots_abandoned, 0);
#endif
}

void (*const dynsel_fork_slots)(void) = forget;
#endif

static inline bool try_claim(dynsel_slot *slot, uint32_t index, const dynsel_policy *policy)
{
    uint32_t word = dynsel_word_load_acquire(&slot->word); /* before its owner */
    if (dynsel_slot_state(word) != DYNSEL_SLOT_FREE || dynsel_slot_is_anothers(index, policy) ||
        !dynsel_marked_swap(&slot->word, &word, word | DYNSEL_SLOT_CLAIMED)) {
        return false;
    }
    slot->work.token = dynsel_slot_generation(word) << DYNSEL_SLOT_GENERATION_SHIFT | index;
#if CONFIG_DYNSEL_COMMAND_GROUPS
    slot->can_be_pending = false;
    slot->work.waited = false;
#endif
#if CONFIG_DYNSEL_REPEAT
    slot->work.run = DYNSEL_ONLY_RUN;
#endif
    return true;
}

dynsel_slot *dynsel_slot_claim_open(const dynsel_policy *policy)
{
    dynsel_thread *thread = dynsel_this_thread();
    const uint32_t open = dynsel_slots_open();
    uint32_t index = thread->slot_cursor;
    for (uint32_t looked_at = 0; looked_at < open; looked_at++) {
        index = index < open ? index : 0;
        if (DYNSEL_LIKELY(try_claim(&dynsel_slots[index], index, policy))) {
            thread->slot_cursor = index + 1;
            dynsel_slot_note_claim();
            return &dynsel_slots[index];
        }
        index++;
    }
    return NULL;
}

/* Doubles the open slots; another thread may do so at the same time. False: all are open. */
static bool open_more(void)
{
#if DYNSEL_OPENS_MORE_SLOTS
    uint32_t opened = dynsel_word_load_relaxed(&dynsel_slots_opened);
    const uint32_t open = DYNSEL_OPEN_AT_FIRST + opened;
    const uint32_t left = CONFIG_DYNSEL_MAX_IN_FLIGHT - open;
    if (left != 0) {
        (void)dynsel_word_swap(&dynsel_slots_opened, &opened, opened + (left < open ? left : open));
    }
    return left != 0;
#else
    return false;
#endif
}

dynsel_slot *dynsel_slot_claim(const dynsel_policy *policy)
{
    dynsel_slot *slot = dynsel_slot_claim_open(policy);
    while (slot == NULL && open_more()) {
        slot = dynsel_slot_claim_open(policy);
    }
    return slot;
}
