/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/limits.h"

#include "policy/policy.h"
#include "port/wake.h"
#include "submission/abandon.h"

/* Set in limit_ns of work that has exceeded it; larger limits than this are none. */
static const uint64_t EXCEEDED = (uint64_t)1 << 63;

static const uint64_t GIVE_UP_AFTER_NS = (uint64_t)CONFIG_DYNSEL_GIVE_UP_AFTER_MS * 1000000;

void dynsel_limits_begin(dynsel_slot *slot)
{
    if (slot->limit_ns >= EXCEEDED) {
        slot->limit_ns = 0;
        return;
    }
    slot->limited_from_ns = dynsel_now_ns();
    if (dynsel_word_add_synchronized(&dynsel_limited_count, 1) == 0) {
        dynsel_wake_all(); /* those who sleep for longer than a limit may be */
    }
}

void dynsel_limits_end(const dynsel_slot *slot)
{
    (void)dynsel_word_add_synchronized(&dynsel_limited_count, (uint32_t)-1);
    if ((slot->limit_ns & EXCEEDED) != 0) {
        dynsel_health_recover(slot->selection.policy, slot->selection.index);
    }
}

bool dynsel_limits_give_up(dynsel_queue *queue, dynsel_policy *policy, uint32_t index)
{
    dynsel_backend *const backend = policy->resources[index].backend;
    if (backend->ops->give_up == NULL && !backend->ops->marks_completion) {
        return false;
    }
    if (backend->ops->give_up != NULL) {
        backend->ops->give_up(backend, queue->own);
    }
    dynsel_health_retire(policy, index, DYNSEL_E_GIVEN_UP);
    uint32_t number = dynsel_word_load_acquire(&queue->head);
    while (number != DYNSEL_NO_SLOT) {
        dynsel_slot *const slot = dynsel_slot_at(number);
        number = dynsel_word_load_acquire(&slot->next);
        dynsel_slot_abandon(slot);
    }
    dynsel_wake_all();
    return true;
}

void dynsel_limits_restart(const dynsel_queue *queue)
{
    const uint32_t number = dynsel_word_load_acquire(&queue->head);
    if (number != DYNSEL_NO_SLOT) {
        dynsel_slot_at(number)->limited_from_ns = dynsel_now_ns();
    }
}

bool dynsel_limits_look(dynsel_queue *queue)
{
    const uint32_t number = dynsel_word_load_acquire(&queue->head);
    if (number == DYNSEL_NO_SLOT) {
        return false;
    }
    dynsel_slot *const slot = dynsel_slot_at(number);
    if (dynsel_slot_has_failed(slot)) {
        return false;
    }
    const uint64_t now = dynsel_now_ns();
    const uint64_t limit_ns = slot->limit_ns & ~EXCEEDED;
    const uint64_t took_ns = now > slot->limited_from_ns ? now - slot->limited_from_ns : 0;
    if (limit_ns == 0 || took_ns < limit_ns) {
        return false;
    }
    if (dynsel_slot_poll(slot)) {
        return true; /* it ended before this thread read the clock */
    }
    dynsel_policy *const policy = slot->selection.policy;
    const uint32_t index = slot->selection.index;
    slot->limit_ns |= EXCEEDED;
    dynsel_health_suspect(policy, index);
    return took_ns - limit_ns >= GIVE_UP_AFTER_NS && dynsel_limits_give_up(queue, policy, index);
}
