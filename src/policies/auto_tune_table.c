/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of kinds of task: open addressing, entries are never given back. An entry is claimed by
 * writing its tag; who finds the own tag on an entry that is not filled in yet does not wait.
 */
#include "policies/auto_tune_parts.h"

enum {
#if CONFIG_DYNSEL_MAX_TUNED_TASKS < 32
    MOST_PROBES = CONFIG_DYNSEL_MAX_TUNED_TASKS,
#else
    MOST_PROBES = 32,
#endif
    FREE = 0,
    NOT_FILLED_IN = 0,
    FIRST_ROUND = 0
};

static void fill_in(const dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                    const dynsel_task *task, dynsel_task_fn function)
{
    entry->id = task->id;
    entry->function = function;
    entry->key_word_count = (uint32_t)task->key_word_count;
#if CONFIG_DYNSEL_ASPECTS
    entry->aspects = task->aspects;
#endif
    for (size_t i = 0; i < task->key_word_count; i++) {
        entry->key_words[i] = task->key_words[i];
    }
    dynsel_tuned_begin(policy, entry, FIRST_ROUND);
}

typedef enum found { IT, BUSY, ANOTHER } found;

/* Claims the entry if it is free. BUSY: another thread is filling it in, maybe for this very kind.
 */
static found look_at_entry(const dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                           const dynsel_task *task, dynsel_task_fn function, uint32_t tag)
{
    uint32_t seen = dynsel_word_load_relaxed(&entry->tag);
    if (seen == FREE && dynsel_word_swap(&entry->tag, &seen, tag)) {
        fill_in(policy, entry, task, function);
        return IT;
    }
    if (seen != tag) {
        return ANOTHER;
    }
    if (dynsel_word_load_acquire(&entry->word) == NOT_FILLED_IN) {
        return BUSY;
    }
    return dynsel_tuned_is_of_kind(entry, task, function) ? IT : ANOTHER;
}

dynsel_tuned_task *dynsel_tuned_find(dynsel_auto_tune_policy *policy, const dynsel_task *task,
                                     dynsel_reason *reason)
{
    const dynsel_task_fn function = dynsel_tuned_function(task);
    const uint32_t hash = dynsel_tuned_hash(task, function);
    uint32_t at = dynsel_tuned_first(hash);
    for (uint32_t probe = 0; probe < MOST_PROBES; probe++) {
        dynsel_tuned_task *entry = &policy->tasks[at];
        const found what = look_at_entry(policy, entry, task, function, hash | 1u);
        if (what == IT) {
            return entry;
        }
        if (what == BUSY) {
            *reason = DYNSEL_REASON_LEAST_LOADED;
            return NULL;
        }
        at = at + 1 < CONFIG_DYNSEL_MAX_TUNED_TASKS ? at + 1 : 0;
    }
    (void)dynsel_word_add_relaxed(&policy->untracked, 1);
    *reason = DYNSEL_REASON_UNTRACKED;
    return NULL;
}
