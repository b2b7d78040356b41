/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/round_robin.h>

#include "core/fail.h"
#include "core/policy.h"

enum {
    LONGEST_COUNT =
        1u << 30 /* far below the word's end, so that threads that are late do not reach it */
};

/* Exactly one caller draws the turn `wrap`; it is a multiple of the number of resources, so no turn
 * is lost or doubled. */
static uint32_t take_turn(dynsel_round_robin_policy *policy)
{
    const uint32_t turn = dynsel_word_add_relaxed(&policy->turn, 1);
    if (turn == policy->wrap) {
        (void)dynsel_word_add_relaxed(&policy->turn, 0u - policy->wrap);
    }
    return turn;
}

static uint32_t count_candidates(const dynsel_policy *base, const dynsel_task *task)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < base->count; i++) {
        count += dynsel_is_candidate(base, i, task) ? 1 : 0;
    }
    return count;
}

static uint32_t nth_candidate(const dynsel_policy *base, const dynsel_task *task, uint32_t nth)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < base->count; i++) {
        if (dynsel_is_candidate(base, i, task)) {
            last = i;
            if (nth-- == 0) {
                break;
            }
        }
    }
    return last; /* a resource may have gone out of service since they were counted */
}

static dynsel_status select_among_candidates(dynsel_policy *base, const dynsel_task *task,
                                             dynsel_selection *selection)
{
    const uint32_t count = count_candidates(base, task);
    if (count == 0) {
        return dynsel_policy_refuse_task(base, 0, base->count, task);
    }
    const uint32_t turn = take_turn((dynsel_round_robin_policy *)base);
    selection->index = nth_candidate(base, task, turn % count);
    selection->reason = count == 1 ? DYNSEL_REASON_ONLY_CANDIDATE : DYNSEL_REASON_TURN;
    return DYNSEL_OK;
}

static dynsel_status try_select(dynsel_policy *base, const dynsel_task *task,
                                dynsel_selection *selection)
{
    if (task->form_count != 0 || dynsel_policy_is_impaired(base)) {
        return select_among_candidates(base, task, selection);
    }
    selection->index = take_turn((dynsel_round_robin_policy *)base) % base->count;
    selection->reason = DYNSEL_REASON_TURN;
    return DYNSEL_OK;
}

static const dynsel_policy_ops ops = {.name = "round_robin", .try_select = try_select};

dynsel_status dynsel_round_robin_init(dynsel_round_robin_policy *policy,
                                      const dynsel_options *options, size_t offset)
{
    if (policy == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the policy is NULL");
    }
    const dynsel_status status = dynsel_policy_init_at(&policy->policy, &ops, options, offset);
    if (status == DYNSEL_OK) {
        policy->turn.value = (uint32_t)offset;
        policy->wrap = LONGEST_COUNT - LONGEST_COUNT % policy->policy.count;
    }
    return status;
}
