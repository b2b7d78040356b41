/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/dynamic_load.h>

#include "base/fail.h"
#include "policy/policy.h"

typedef struct choice {
    uint32_t index;
    uint32_t load;
    uint32_t candidates;
} choice;

static choice least_loaded(const dynsel_dynamic_load_policy *policy, const dynsel_task *task)
{
    choice least = {.load = UINT32_MAX};
    for (uint32_t i = 0; i < dynsel_policy_count(&policy->policy); i++) {
        if (dynsel_is_candidate(&policy->policy, i, task)) {
            const uint32_t load = dynsel_word_load_relaxed(&policy->loads[i].word);
            if (load < least.load) {
                least.index = i;
                least.load = load;
            }
            least.candidates++;
        }
    }
    return least;
}

/* The same where each resource may be used: ends at one without load. */
static inline choice least_loaded_of_all(const dynsel_dynamic_load_policy *policy)
{
    choice least = {.load = UINT32_MAX};
    for (uint32_t i = 0; least.load != 0 && i < dynsel_policy_count(&policy->policy); i++) {
        const uint32_t load = dynsel_word_load_relaxed(&policy->loads[i].word);
        if (load < least.load) {
            least.index = i;
            least.load = load;
        }
    }
    return least;
}

/* False: the load has changed, so it may not be the least any more. */
static inline bool claim(dynsel_dynamic_load_policy *policy, choice least)
{
    return dynsel_word_swap(&policy->loads[least.index].word, &least.load, least.load + 1);
}

static choice claim_least_loaded(dynsel_dynamic_load_policy *policy, const dynsel_task *task)
{
    for (;;) {
        const choice least = least_loaded(policy, task);
        if (least.candidates == 0 || claim(policy, least)) {
            return least;
        }
    }
}

DYNSEL_ASIDE static dynsel_status
select_among_candidates(dynsel_policy *base, const dynsel_task *task, dynsel_selection *selection)
{
    dynsel_dynamic_load_policy *policy = (dynsel_dynamic_load_policy *)base;
    const choice chosen =
        selection->claims ? claim_least_loaded(policy, task) : least_loaded(policy, task);
    if (chosen.candidates == 0) {
        return dynsel_policy_refuse(base, task);
    }
    selection->index = chosen.index;
    selection->reason =
        (uint8_t)(chosen.candidates == 1 ? dynsel_policy_reason_of_only(base, chosen.index, task)
                                         : DYNSEL_REASON_LEAST_LOADED);
    selection->reported |= selection->claims ? DYNSEL_TASK_SUBMISSION : 0;
    return DYNSEL_OK;
}

/* Each resource may be used, in the simple case. */
static dynsel_status try_select(dynsel_policy *base, const dynsel_task *task,
                                dynsel_selection *selection)
{
    if (!dynsel_all_are_candidates(base, task)) {
        return select_among_candidates(base, task, selection);
    }
    dynsel_dynamic_load_policy *policy = (dynsel_dynamic_load_policy *)base;
    choice least;
    do {
        least = least_loaded_of_all(policy);
    } while (selection->claims && !claim(policy, least));
    selection->reported |= selection->claims ? DYNSEL_TASK_SUBMISSION : 0;
    selection->index = least.index;
    selection->reason =
        dynsel_policy_count(base) == 1 ? DYNSEL_REASON_ONLY_CANDIDATE : DYNSEL_REASON_LEAST_LOADED;
    return DYNSEL_OK;
}

static void report(dynsel_policy *base, const dynsel_selection *selection,
                   dynsel_execution_info info, uint64_t value)
{
    (void)value;
    dynsel_word *load = &((dynsel_dynamic_load_policy *)base)->loads[selection->index].word;
    if (info == DYNSEL_TASK_SUBMISSION) {
        (void)dynsel_word_add_relaxed(load, 1);
    } else {
        (void)dynsel_word_subtract(load, 1); /* a program may report an end through two copies */
    }
}

#if CONFIG_DYNSEL_TRACE
/* It remembers nothing of work that is over. */
static bool is_new(const dynsel_policy *base)
{
    const dynsel_dynamic_load_policy *policy = (const dynsel_dynamic_load_policy *)base;
    bool loaded = false;
    for (uint32_t i = 0; i < dynsel_policy_count(base); i++) {
        loaded = loaded || dynsel_word_load_relaxed(&policy->loads[i].word) != 0;
    }
    return !loaded;
}
#endif

static const dynsel_policy_ops ops = {
    .name = DYNSEL_POLICY_NAME("dynamic_load"),
#if CONFIG_DYNSEL_TRACE
    .is_new = is_new,
#endif
    .needs = DYNSEL_DYNAMIC_LOAD_NEEDS,
    .try_select = try_select,
    .report = report,
    DYNSEL_TAKES_ANY_RESOURCE DYNSEL_LEAVES_OUT_CALLER DYNSEL_HEARS_STEPS};

dynsel_status dynsel_dynamic_load_init(dynsel_dynamic_load_policy *policy,
                                       const dynsel_options *options)
{
    if (CONFIG_DYNSEL_ERROR_TEXTS && policy == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the policy is NULL");
    }
    const dynsel_status status = dynsel_policy_init_at((dynsel_policy *)policy, &ops, options, 0);
    if (status == DYNSEL_OK) {
        for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
            policy->loads[i].word.value = 0;
        }
    }
    return status;
}
