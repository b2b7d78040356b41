/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of kinds of task: open addressing. An entry is claimed by writing its tag; who finds
 * the own tag on an entry that is not filled in yet does not wait. An entry never becomes free
 * again: a kind that is given up leaves its place to another at once, so that a search may end at
 * the first place that is free.
 *
 * A kind is given up for one that was never used at any time, and else only for one run in
 * GIVE_UP_ONE_IN that finds no place: when a few kinds too many take turns, the one that was used
 * least lately is just the one that comes next, and nothing would ever be learned.
 */
#include "policies/auto_tune_parts.h"
#include "policy/after_fork.h"

enum {
#if CONFIG_DYNSEL_MAX_TUNED_TASKS < 32
    MOST_PROBES = CONFIG_DYNSEL_MAX_TUNED_TASKS,
#else
    MOST_PROBES = 32,
#endif
    FREE = 0,
    FIRST_ROUND = 0,
    GIVE_UP_ONE_IN = 16
};

static uint32_t next_place(uint32_t at)
{
    return at + 1 < CONFIG_DYNSEL_MAX_TUNED_TASKS ? at + 1 : 0;
}

static bool is_filled_in(const dynsel_tuned_task *entry)
{
    return dynsel_tuned_state(dynsel_word_load_acquire(&entry->word)) != 0;
}

/* No other thread uses the entry. */
static void fill_in(const dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                    const dynsel_task *task, dynsel_task_key key, uint32_t round)
{
    dynsel_kind_fill_in(&entry->kind, task, key);
    dynsel_word_store_relaxed(&entry->used, DYNSEL_TUNED_NEVER_USED);
    entry->born = round % DYNSEL_TUNED_ROUNDS;
    (void)__builtin_memset(entry->resources, 0, sizeof entry->resources);
    dynsel_tuned_begin(policy, entry, round);
}

typedef enum found { IT, BUSY, ANOTHER } found;

/* Claims the entry if it is free. BUSY: another thread is filling it in, maybe for this very kind.
 */
static found look_at_entry(const dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                           const dynsel_task *task, dynsel_task_key key, uint32_t tag)
{
    uint32_t seen = dynsel_word_load_relaxed(&entry->tag);
    if (seen == FREE && dynsel_word_swap(&entry->tag, &seen, tag)) {
        dynsel_tuned_lock(entry);
        fill_in(policy, entry, task, key, FIRST_ROUND);
        dynsel_tuned_unlock(entry);
        return IT;
    }
    if (seen != tag) {
        return ANOTHER;
    }
    if (CONFIG_DYNSEL_CONTEXT_THREADS && !is_filled_in(entry)) {
        return BUSY;
    }
    return dynsel_kind_is(&entry->kind, task, key) ? IT : ANOTHER;
}

/* NULL: it has none, and no place is free; or BUSY. */
static dynsel_tuned_task *look_through(dynsel_auto_tune_policy *policy, const dynsel_task *task,
                                       dynsel_task_key key, uint32_t hash, found *what)
{
    uint32_t at = dynsel_tuned_first(hash);
    for (uint32_t probe = 0; probe < MOST_PROBES; probe++) {
        dynsel_tuned_task *entry = &policy->tasks[at];
        *what = look_at_entry(policy, entry, task, key, hash | 1u);
        if (*what != ANOTHER) {
            return *what == IT ? entry : NULL;
        }
        at = next_place(at);
    }
    return NULL;
}

/* How long ago the entry was used; UINT32_MAX: it never was. */
static uint32_t age_of(const dynsel_auto_tune_policy *policy, const dynsel_tuned_task *entry)
{
    const uint32_t used = dynsel_word_load_relaxed(&entry->used);
    return used == DYNSEL_TUNED_NEVER_USED ? UINT32_MAX
                                           : dynsel_word_load_relaxed(&policy->clock) - used;
}

static dynsel_tuned_task *used_least_lately(dynsel_auto_tune_policy *policy, uint32_t hash)
{
    uint32_t at = dynsel_tuned_first(hash);
    dynsel_tuned_task *least = &policy->tasks[at];
    for (uint32_t probe = 1; probe < MOST_PROBES; probe++) {
        at = next_place(at);
        if (age_of(policy, &policy->tasks[at]) > age_of(policy, least)) {
            least = &policy->tasks[at];
        }
    }
    return least;
}

/* Runs of the former kind that are out belong to a round that is over. */
static void give_to(const dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                    const dynsel_task *task, dynsel_task_key key, uint32_t tag)
{
    const uint32_t round = dynsel_tuned_round(dynsel_word_load_relaxed(&entry->word)) + 1;
    dynsel_word_store_release(&entry->word, round << DYNSEL_TUNED_ROUND_SHIFT);
    dynsel_word_store_release(&entry->tag, tag);
    fill_in(policy, entry, task, key, round);
}

/* For the thread that keeps others from replacing. */
static dynsel_tuned_task *replace_locked(dynsel_auto_tune_policy *policy, const dynsel_task *task,
                                         dynsel_task_key key, uint32_t hash)
{
    if (CONFIG_DYNSEL_CONTEXT_THREADS) {
        found what = ANOTHER;
        dynsel_tuned_task *made = look_through(policy, task, key, hash, &what);
        if (what != ANOTHER) {
            return made; /* another thread was faster */
        }
    }
    dynsel_tuned_task *entry = used_least_lately(policy, hash);
    if (!dynsel_tuned_try_lock(entry)) {
        return NULL;
    }
    const bool is_used = dynsel_word_load_relaxed(&entry->used) != DYNSEL_TUNED_NEVER_USED;
    const bool may = (!CONFIG_DYNSEL_CONTEXT_THREADS || is_filled_in(entry)) &&
                     (!is_used || dynsel_word_load_relaxed(&policy->may_give_up) != 0);
    if (may) {
        if (is_used) {
            dynsel_word_store_relaxed(&policy->may_give_up, 0);
        }
        give_to(policy, entry, task, key, hash | 1u);
    }
    dynsel_tuned_unlock(entry);
    return may ? entry : NULL;
}

/* NULL: the kind gets no place, or another thread replaces at the moment. */
static dynsel_tuned_task *replace(dynsel_auto_tune_policy *policy, const dynsel_task *task,
                                  dynsel_task_key key, uint32_t hash)
{
    if (!CONFIG_DYNSEL_CONTEXT_THREADS) {
        return replace_locked(policy, task, key, hash);
    }
    const uint32_t process = dynsel_fork_depth() + 1; /* what a parent took is free in the child */
    uint32_t holder = dynsel_word_load_relaxed(&policy->replacing);
    if (holder == process || !dynsel_word_swap(&policy->replacing, &holder, process)) {
        return NULL;
    }
    dynsel_tuned_task *entry = replace_locked(policy, task, key, hash);
    dynsel_word_store_release(&policy->replacing, 0);
    return entry;
}

dynsel_tuned_task *dynsel_tuned_find(dynsel_auto_tune_policy *policy, const dynsel_task *task,
                                     dynsel_reason *reason)
{
    const dynsel_task_key key = dynsel_task_key_of(task);
    const uint32_t hash = dynsel_task_key_hash(task, key);
    found what = ANOTHER;
    dynsel_tuned_task *entry = look_through(policy, task, key, hash, &what);
    if (what == ANOTHER) {
        entry = replace(policy, task, key, hash);
    }
    *reason = what == BUSY ? DYNSEL_REASON_LEAST_LOADED : DYNSEL_REASON_UNTRACKED;
    return entry;
}

void dynsel_tuned_count_untracked(dynsel_auto_tune_policy *policy)
{
    if (dynsel_word_add_relaxed(&policy->untracked, 1) % GIVE_UP_ONE_IN == 0) {
        dynsel_word_store_relaxed(&policy->may_give_up, 1);
    }
}

/* The clock stands at odd numbers, which are never DYNSEL_TUNED_NEVER_USED. Threads that note a use
 * at the same time may note the same. */
void dynsel_tuned_note_use(dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry)
{
    const uint32_t now = (dynsel_word_load_relaxed(&policy->clock) + 2) | 1u;
    dynsel_word_store_relaxed(&policy->clock, now);
    dynsel_word_store_relaxed(&entry->used, now);
}

void dynsel_tuned_note_tick(const dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry)
{
    dynsel_word_store_relaxed(&entry->used, dynsel_word_load_relaxed(&policy->clock) | 1u);
}
