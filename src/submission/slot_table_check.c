/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics and invariants of the table of slots. */
#include "submission/queue.h"
#include "submission/slot_table.h"

dynsel_in_flight_statistics dynsel_in_flight_look_at_table(void)
{
    const uint32_t in_use = dynsel_slot_count_in_use();
    dynsel_slot_raise_most(in_use);
    return (dynsel_in_flight_statistics){
        .capacity = CONFIG_DYNSEL_MAX_IN_FLIGHT,
        .in_use = in_use,
        .most_in_use = dynsel_word_load_relaxed(&dynsel_most_in_use),
        .refusals = dynsel_word_load_relaxed(&dynsel_slot_refusals),
    };
}

/* Set aside for a second run, or between two runs, or in its second. */
static bool is_for_repeat(const dynsel_slot *slot, uint32_t word)
{
#if CONFIG_DYNSEL_REPEAT
    return (dynsel_slot_state(word) == DYNSEL_SLOT_CLAIMED &&
            slot->work.run == DYNSEL_SECOND_RUN) ||
           (dynsel_slot_state(word) == DYNSEL_SLOT_COMPLETING &&
            (word & DYNSEL_SLOT_REFS) == DYNSEL_SLOT_REF &&
            dynsel_slot_repeat_stage(slot) >= DYNSEL_REPEAT_FAILED);
#else
    (void)slot;
    (void)word;
    return false;
#endif
}

/* Outside of library calls there are no references of threads, and a slot is free, waits, runs or
 * is finished; an open host accessor is in STARTING. A given-up resource keeps one reference. */
static bool slot_is_whole(const dynsel_slot *slot, uint32_t word)
{
    if (is_for_repeat(slot, word)) {
        return true;
    }
    if (dynsel_slot_is_abandoned(word)) {
        return (word & DYNSEL_SLOT_REFS) == DYNSEL_SLOT_REF;
    }
    const uint32_t kept = word & (DYNSEL_SLOT_HANDLE | DYNSEL_SLOT_LISTED);
    if ((word & (DYNSEL_SLOT_REFS | DYNSEL_SLOT_MARKING)) != 0) {
        return false;
    }
    switch (dynsel_slot_state(word)) {
    case DYNSEL_SLOT_FREE:
        return kept == 0;
    case DYNSEL_SLOT_WAITING:
    case DYNSEL_SLOT_STARTING:
        return CONFIG_DYNSEL_COMMAND_GROUPS && (kept & DYNSEL_SLOT_LISTED) == 0;
    case DYNSEL_SLOT_RUNNING:
        return (kept & DYNSEL_SLOT_LISTED) != 0;
    case DYNSEL_SLOT_FINISHED:
        return kept != 0;
    default:
        return false;
    }
}

static uint32_t count_of_abandoned(void)
{
#if CONFIG_DYNSEL_TIME_LIMITS
    return dynsel_word_load_relaxed(&dynsel_slots_abandoned);
#else
    return 0;
#endif
}

bool dynsel_in_flight_table_is_whole(void)
{
    uint32_t abandoned = 0;
    for (uint32_t number = 1; number <= CONFIG_DYNSEL_MAX_IN_FLIGHT; number++) {
        const dynsel_slot *const slot = dynsel_slot_at(number);
        const uint32_t word = dynsel_word_load_acquire(&slot->word);
        abandoned += dynsel_slot_is_abandoned(word) ? 1 : 0;
        if (!slot_is_whole(slot, word)) {
            return false;
        }
    }
    return abandoned == count_of_abandoned();
}

/* Slots that are marked as listed in this queue; those that its list lacks would be lost. */
static uint32_t count_listed(const dynsel_policy *policy, uint32_t index)
{
    uint32_t count = 0;
    for (uint32_t number = 1; number <= CONFIG_DYNSEL_MAX_IN_FLIGHT; number++) {
        const dynsel_slot *slot = dynsel_slot_at(number);
        const uint32_t word = dynsel_word_load_acquire(&slot->word);
        count += (word & DYNSEL_SLOT_LISTED) != 0 && slot->selection.policy == policy &&
                         slot->selection.index == index
                     ? 1
                     : 0;
    }
    return count;
}

bool dynsel_in_flight_queue_is_whole(const dynsel_policy *policy, uint32_t index)
{
    const dynsel_queue *queue = &policy->queues[index];
    uint32_t number = dynsel_word_load_acquire(&queue->head);
    uint32_t last = DYNSEL_NO_SLOT;
    uint32_t steps = 0;
    for (; number != DYNSEL_NO_SLOT; steps++) {
        if (number > CONFIG_DYNSEL_MAX_IN_FLIGHT || steps == CONFIG_DYNSEL_MAX_IN_FLIGHT) {
            return false;
        }
        const dynsel_slot *slot = dynsel_slot_at(number);
        if ((dynsel_word_load_acquire(&slot->word) & DYNSEL_SLOT_LISTED) == 0 ||
            slot->selection.policy != policy || slot->selection.index != index) {
            return false;
        }
        last = number;
        number = dynsel_word_load_acquire(&slot->next);
    }
    const uint32_t tail = dynsel_word_load_acquire(&queue->tail);
    const uint32_t end = dynsel_tail_is_over(tail) ? (uint32_t)DYNSEL_NO_SLOT
                                                   : dynsel_slot_number(dynsel_queue_last(tail));
    return last == end && steps == count_listed(policy, index) &&
           dynsel_word_load_acquire(&queue->reaper) == 0;
}
