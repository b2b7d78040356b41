/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/round_robin.h>

#include "base/fail.h"
#include "policy/policy.h"

enum {
    /* far below the word's end, so that threads that are late do not reach it */
    LONGEST_COUNT = 1u << 30,
    EARLIEST_WRAP = LONGEST_COUNT - CONFIG_DYNSEL_MAX_RESOURCES,
    /* The turns of a set that is not all of them: above the count stands which set it is. */
    SET_SHIFT = 20,
    SET_COUNT = 1 << SET_SHIFT,
    LONGEST_SET_COUNT = SET_COUNT / 2
};

/* The turn at which counting starts anew: a multiple, so no turn is lost or doubled. */
static uint32_t wrap_of(uint32_t longest, uint32_t count)
{
    return longest - longest % count;
}

/* Exactly one caller draws the turn at which counting starts anew. */
DYNSEL_RARE static void start_anew(dynsel_word *turn, uint32_t mine, uint32_t count)
{
    const uint32_t wrap = wrap_of(LONGEST_COUNT, count);
    if (mine == wrap) {
        (void)dynsel_word_add_relaxed(turn, 0u - wrap);
    }
}

/* Touches nothing else that is near the word: other threads want it. */
static inline uint32_t take_turn(dynsel_word *turn, uint32_t count)
{
    const uint32_t mine = dynsel_word_add_relaxed(turn, 1);
    if (mine > EARLIEST_WRAP) {
        start_anew(turn, mine, count);
    }
    return mine % count;
}

typedef struct candidates {
    uint32_t set; /* a number for which they are: sets that differ seldom have the same */
    uint32_t count;
} candidates;

static candidates find_candidates(const dynsel_policy *base, const dynsel_task *task)
{
    candidates found = {.count = 0};
    for (uint32_t i = 0; i < dynsel_policy_count(base); i++) {
        if (dynsel_is_candidate(base, i, task)) {
            found.set = (found.set ^ found.set >> 15 ^ (i + 1)) * 0x9e3779b1u;
            found.count++;
        }
    }
    return found;
}

/* The turns of a set: the first place from where it belongs that is its own or free; where all are
 * others', it shares one. */
static dynsel_word *turns_of(dynsel_round_robin_policy *policy, uint32_t set)
{
    const uint32_t places = CONFIG_DYNSEL_MAX_RESOURCES;
    const uint32_t name = (set | 1u) << SET_SHIFT;
    const uint32_t first = (uint32_t)((uint64_t)set * places >> 32);
    for (uint32_t k = 0; k < places; k++) {
        dynsel_word *word = &policy->partial_turns[(first + k) % places];
        uint32_t seen = dynsel_word_load_relaxed(word);
        if ((seen == 0 && dynsel_word_swap(word, &seen, name)) ||
            seen >> SET_SHIFT == name >> SET_SHIFT) {
            return word;
        }
    }
    return &policy->partial_turns[first];
}

static uint32_t take_turn_of_set(dynsel_word *turn, uint32_t count)
{
    const uint32_t mine = dynsel_word_add_relaxed(turn, 1) % SET_COUNT;
    const uint32_t wrap = wrap_of(LONGEST_SET_COUNT, count);
    if (mine == wrap) {
        (void)dynsel_word_add_relaxed(turn, 0u - wrap);
    }
    return mine % count;
}

/* Tasks that may use everything take turns together; others with those that may use the same: if
 * sets that overlap shared their turns, one could always get the odd ones. */
static uint32_t take_turn_among(dynsel_round_robin_policy *policy, candidates among)
{
    if (among.count == 1) {
        return 0;
    }
    if (among.count == dynsel_policy_count(&policy->policy)) {
        return take_turn(&policy->turn, among.count);
    }
    return take_turn_of_set(turns_of(policy, among.set), among.count);
}

/* False: a resource has gone out of service since they were counted. */
static bool find_nth(const dynsel_policy *base, const dynsel_task *task, uint32_t nth,
                     uint32_t *index)
{
    for (uint32_t i = 0; i < dynsel_policy_count(base); i++) {
        if (dynsel_is_candidate(base, i, task) && nth-- == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

DYNSEL_ASIDE static dynsel_status
select_among_candidates(dynsel_policy *base, const dynsel_task *task, dynsel_selection *selection)
{
    for (;;) {
        const candidates among = find_candidates(base, task);
        if (among.count == 0) {
            return dynsel_policy_refuse(base, task);
        }
        const uint32_t turn = take_turn_among((dynsel_round_robin_policy *)base, among);
        if (find_nth(base, task, turn, &selection->index)) {
            selection->reason =
                (uint8_t)(among.count == 1
                              ? dynsel_policy_reason_of_only(base, selection->index, task)
                              : DYNSEL_REASON_TURN);
            return DYNSEL_OK;
        }
    }
}

static dynsel_status try_select(dynsel_policy *base, const dynsel_task *task,
                                dynsel_selection *selection)
{
    if (!dynsel_all_are_candidates(base, task)) {
        return select_among_candidates(base, task, selection);
    }
    dynsel_round_robin_policy *policy = (dynsel_round_robin_policy *)base;
    selection->index = take_turn(&policy->turn, dynsel_policy_count(base));
    selection->reason = DYNSEL_REASON_TURN;
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_TRACE
static bool is_new(const dynsel_policy *base)
{
    const dynsel_round_robin_policy *policy = (const dynsel_round_robin_policy *)base;
    bool changed = dynsel_word_load_relaxed(&policy->turn) != (uint32_t)base->trace_option;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        changed = changed || dynsel_word_load_relaxed(&policy->partial_turns[i]) != 0;
    }
    return !changed;
}
#endif

#if CONFIG_DYNSEL_RESOURCE_SETS
/* The sets that take turns are others now, and need the places of the old ones. */
static void forget_sets(dynsel_policy *base, uint32_t index)
{
    (void)index;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        dynsel_word_store_relaxed(&((dynsel_round_robin_policy *)base)->partial_turns[i], 0);
    }
}
#endif

static const dynsel_policy_ops ops = {.name = DYNSEL_POLICY_NAME("round_robin"),
#if CONFIG_DYNSEL_TRACE
                                      .is_new = is_new,
#endif
#if CONFIG_DYNSEL_RESOURCE_SETS
                                      .resource_added = forget_sets,
                                      .resource_removed = forget_sets,
#endif
                                      .try_select = try_select,
                                      DYNSEL_TAKES_ANY_RESOURCE DYNSEL_LEAVES_OUT_CALLER};

dynsel_status dynsel_round_robin_init(dynsel_round_robin_policy *policy,
                                      const dynsel_options *options, size_t offset)
{
    if (CONFIG_DYNSEL_ERROR_TEXTS && policy == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the policy is NULL");
    }
    const dynsel_status status =
        dynsel_policy_init_at((dynsel_policy *)policy, &ops, options, offset);
    if (status == DYNSEL_OK) {
        policy->turn.value = (uint32_t)offset;
        dynsel_traced_option(&policy->policy, offset);
        for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
            policy->partial_turns[i].value = 0;
        }
    }
    return status;
}
