/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of kinds of task: open addressing. An entry never becomes free again: a kind that is
 * given up leaves its place to another at once, so that a search may end at the first free place.
 * The life of an entry is odd while it is filled in; work that was chosen in an earlier life is not
 * learned from.
 *
 * A kind is given up only for one search in GIVE_UP_ONE_IN that finds no place: when a few kinds
 * too many take turns, the one that was used least lately is just the one that comes next.
 */
#include "policies/earliest_finish_parts.h"
#include "policy/after_fork.h"

enum {
    KINDS = CONFIG_DYNSEL_EARLIEST_FINISH_KINDS,
#if CONFIG_DYNSEL_EARLIEST_FINISH_KINDS < 32
    MOST_PROBES = CONFIG_DYNSEL_EARLIEST_FINISH_KINDS,
#else
    MOST_PROBES = 32,
#endif
    FREE = 0,
    GIVE_UP_ONE_IN = 16,
    FIRST_CREDIT_NS = 128000
};

/* A lock that was taken before a fork() is free in the child. */
bool dynsel_finish_try_lock(dynsel_finish_kind *kind)
{
#if CONFIG_DYNSEL_CONTEXT_THREADS
    const uint32_t process = dynsel_fork_depth() + 1;
    uint32_t holder = dynsel_word_load_relaxed(&kind->lock);
    return holder != process && dynsel_word_swap(&kind->lock, &holder, process);
#else
    (void)kind;
    return true;
#endif
}

void dynsel_finish_unlock(dynsel_finish_kind *kind)
{
#if CONFIG_DYNSEL_CONTEXT_THREADS
    dynsel_word_store_release(&kind->lock, 0);
#else
    (void)kind;
#endif
}

static uint32_t first_place(uint32_t hash)
{
    return (uint32_t)(((uint64_t)hash * KINDS) >> 32);
}

static uint32_t next_place(uint32_t at)
{
    return at + 1 < KINDS ? at + 1 : 0;
}

static bool is_filled_in(const dynsel_finish_kind *entry)
{
    const uint32_t life = dynsel_word_load_acquire(&entry->life);
    return life != 0 && life % 2 == 0;
}

/* Words one by one, because choices may be reading them. What is unfinished becomes 0 behind the
 * new kind: who counts a run here after that sees that this is no longer its root. */
static void forget(dynsel_finish_times *times)
{
    dynsel_word_store_release(&times->unfinished, 0);
    dynsel_word_store_relaxed(&times->samples, 0);
    dynsel_word_store_relaxed(&times->runs, 0);
    dynsel_word_store_relaxed(&times->trials, 0);
    dynsel_word_store_relaxed(&times->spent, 0);
    dynsel_word_store_relaxed(&times->error, 0);
    dynsel_word_store_relaxed(&times->readback, 0);
    times->readback_from = 0;
    times->readback_ns = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_EARLIEST_FINISH_POINTS; i++) {
        dynsel_word_store_relaxed(&times->points[i].amount, 0);
        dynsel_word_store_relaxed(&times->points[i].time, 0);
        times->points[i].samples = 0;
    }
}

/* For the thread that made its life odd. */
static void fill_in(dynsel_finish_kind *entry, const dynsel_task *task, dynsel_task_key key)
{
    dynsel_kind_fill_in(&entry->kind, task, key);
    /* where kinds take turns in the table, none earns what it would lose again and again */
    const bool is_first = dynsel_word_load_relaxed(&entry->life) == 1;
    dynsel_word_store_relaxed(&entry->credit, is_first ? dynsel_finish_ticks(FIRST_CREDIT_NS) : 0);
    dynsel_word_store_relaxed(&entry->smallest, UINT32_MAX);
    dynsel_word_store_relaxed(&entry->earned, 0);
    dynsel_word_store_relaxed(&entry->runs, 0);
    dynsel_word_store_relaxed(&entry->root, 0);
    dynsel_word_store_relaxed(&entry->work, 0);
    dynsel_word_store_relaxed(&entry->work_amount, 0);
    dynsel_word_store_relaxed(&entry->used, 0);
#if CONFIG_DYNSEL_LEARNED_TABLES
    dynsel_word_store_relaxed(&entry->cold[0], 0);
    dynsel_word_store_relaxed(&entry->cold[1], 0);
#endif
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        forget(&entry->resources[i]);
    }
    dynsel_word_store_release(&entry->life, dynsel_word_load_relaxed(&entry->life) + 1);
}

typedef enum found { IT, BUSY, ANOTHER, NONE } found;

static found look_at(const dynsel_finish_kind *entry, const dynsel_task *task, dynsel_task_key key,
                     uint32_t tag)
{
    const uint32_t seen = dynsel_word_load_relaxed(&entry->tag);
    if (seen != tag) {
        return seen == FREE ? NONE : ANOTHER;
    }
    if (!is_filled_in(entry)) {
        return BUSY;
    }
    return dynsel_kind_is(&entry->kind, task, key) ? IT : ANOTHER;
}

/* entry: out, where the search ended. */
static found look_through(dynsel_earliest_finish_policy *policy, const dynsel_task *task,
                          dynsel_task_key key, uint32_t hash, dynsel_finish_kind **entry)
{
    uint32_t at = first_place(hash);
    for (uint32_t probe = 0; probe < MOST_PROBES; probe++) {
        *entry = &policy->kinds[at];
        const found what = look_at(*entry, task, key, hash | 1u);
        if (what != ANOTHER) {
            return what;
        }
        at = next_place(at);
    }
    return ANOTHER;
}

static dynsel_finish_kind *used_least_lately(dynsel_earliest_finish_policy *policy, uint32_t hash)
{
    const uint32_t now = dynsel_word_load_relaxed(&policy->clock);
    uint32_t at = first_place(hash);
    dynsel_finish_kind *least = &policy->kinds[at];
    for (uint32_t probe = 1; probe < MOST_PROBES; probe++) {
        at = next_place(at);
        dynsel_finish_kind *entry = &policy->kinds[at];
        if (now - dynsel_word_load_relaxed(&entry->used) >
            now - dynsel_word_load_relaxed(&least->used)) {
            least = entry;
        }
    }
    return least;
}

/* An entry is given to another kind: the ends of its timed runs will not be counted, so its root
 * does not wait for them. For the thread that made its life odd. */
DYNSEL_RARE static void leave_root(dynsel_earliest_finish_policy *policy, dynsel_finish_kind *kind)
{
    dynsel_finish_kind *root = dynsel_finish_root_of(policy, kind);
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        const uint32_t timed = dynsel_word_exchange(&kind->resources[i].unfinished, 0);
        if (root != kind && timed != 0) {
            (void)dynsel_word_subtract(&root->resources[i].unfinished, timed);
        }
    }
}

/* For the thread that keeps others from changing the table. NULL: no kind is given up now. */
static dynsel_finish_kind *make_locked(dynsel_earliest_finish_policy *policy,
                                       const dynsel_task *task, dynsel_task_key key, uint32_t hash)
{
    dynsel_finish_kind *entry = NULL;
    found what = look_through(policy, task, key, hash, &entry);
    if (what == IT) {
        return entry; /* another thread was faster */
    }
    if (what == ANOTHER) {
        if (dynsel_word_add_relaxed(&policy->untracked, 1) % GIVE_UP_ONE_IN != 0) {
            return NULL;
        }
        entry = used_least_lately(policy, hash);
    }
    if (!dynsel_finish_try_lock(entry)) {
        return NULL;
    }
    /* odd, also if a parent's thread was filling it in when the process forked */
    dynsel_word_store_release(&entry->life, (dynsel_word_load_relaxed(&entry->life) + 1) | 1u);
    leave_root(policy, entry);
    dynsel_word_store_release(&entry->tag, hash | 1u);
    fill_in(entry, task, key);
    dynsel_finish_unlock(entry);
    return entry;
}

DYNSEL_RARE static dynsel_finish_kind *make(dynsel_earliest_finish_policy *policy,
                                            const dynsel_task *task, dynsel_task_key key,
                                            uint32_t hash)
{
    if (!CONFIG_DYNSEL_CONTEXT_THREADS) {
        return make_locked(policy, task, key, hash);
    }
    const uint32_t process = dynsel_fork_depth() + 1;
    uint32_t holder = dynsel_word_load_relaxed(&policy->replacing);
    if (holder == process || !dynsel_word_swap(&policy->replacing, &holder, process)) {
        return NULL;
    }
    dynsel_finish_kind *entry = make_locked(policy, task, key, hash);
    dynsel_word_store_release(&policy->replacing, 0);
    return entry;
}

static dynsel_finish_kind *find(dynsel_earliest_finish_policy *policy, const dynsel_task *task,
                                dynsel_task_key key)
{
    const uint32_t hash = dynsel_task_key_hash(task, key);
    dynsel_finish_kind *entry = NULL;
    const found what = look_through(policy, task, key, hash, &entry);
    if (DYNSEL_LIKELY(what == IT)) {
        return entry;
    }
    return what == BUSY ? NULL : make(policy, task, key, hash);
}

#if CONFIG_DYNSEL_LEARNED_TABLES
DYNSEL_RARE dynsel_finish_kind *dynsel_finish_add(dynsel_earliest_finish_policy *policy,
                                                  const dynsel_task *task)
{
    const dynsel_task_key key = dynsel_task_key_of(task);
    const uint32_t hash = dynsel_task_key_hash(task, key);
    dynsel_finish_kind *entry = NULL;
    const found what = look_through(policy, task, key, hash, &entry);
    if (what == IT) {
        return entry;
    }
    return what == NONE ? make(policy, task, key, hash) : NULL;
}
#endif

/* The entry of the same task without key words, before its kind knows it. NULL: there is none. */
DYNSEL_RARE static dynsel_finish_kind *find_root(dynsel_earliest_finish_policy *policy,
                                                 const dynsel_task *task, dynsel_task_key key)
{
    dynsel_task root = *task;
    root.key_word_count = 0;
    return find(policy, &root, key);
}

dynsel_finish_kind *dynsel_finish_root_of(dynsel_earliest_finish_policy *policy,
                                          dynsel_finish_kind *kind)
{
    const uint32_t number = dynsel_word_load_relaxed(&kind->root);
    dynsel_finish_kind *root = number != 0 ? &policy->kinds[number - 1] : kind;
    return dynsel_kind_is_root(&root->kind, &kind->kind) ? root : kind;
}

dynsel_finish_kinds dynsel_finish_find(dynsel_earliest_finish_policy *policy,
                                       const dynsel_task *task)
{
    const dynsel_task_key key = dynsel_task_key_of(task);
    dynsel_finish_kinds kinds = {.own = find(policy, task, key)};
    kinds.root = kinds.own;
    if (kinds.own == NULL || task->key_word_count == 0) {
        return kinds;
    }
    kinds.root = dynsel_finish_root_of(policy, kinds.own);
    if (kinds.root == kinds.own) {
        dynsel_finish_kind *root = find_root(policy, task, key);
        if (root != NULL) {
            dynsel_word_store_relaxed(&kinds.own->root, (uint32_t)(root - policy->kinds) + 1);
            kinds.root = root;
        }
    }
    return kinds;
}
