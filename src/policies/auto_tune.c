/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/auto_tune.h>

#include "base/fail.h"
#include "policies/auto_tune_parts.h"
#include "port/sampling.h"

_Static_assert(CONFIG_DYNSEL_MAX_TUNED_TASKS < DYNSEL_NOTE_ENTRY, "notes hold an entry's number");
_Static_assert(CONFIG_DYNSEL_MAX_RESOURCES <= DYNSEL_TUNED_BEST + 1, "its word holds the best");

/* The entry that the selection is about; NULL: it had none. */
static dynsel_tuned_task *entry_of(dynsel_auto_tune_policy *policy,
                                   const dynsel_selection *selection)
{
    const uint32_t number = selection->notes[0] & DYNSEL_NOTE_ENTRY;
    return number != 0 && number <= CONFIG_DYNSEL_MAX_TUNED_TASKS ? &policy->tasks[number - 1]
                                                                  : NULL;
}

static bool is_of_this_round(const dynsel_tuned_task *entry, const dynsel_selection *selection)
{
    return selection->notes[1] % DYNSEL_TUNED_ROUNDS ==
           dynsel_tuned_round(dynsel_word_load_relaxed(&entry->word));
}

/* Work is submitted: what its choice uses up is taken, if that is still its round, and it counts as
 * unfinished, if its kind still has the entry. */
static void begin_run(dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                      const dynsel_selection *selection)
{
    (void)dynsel_word_add_relaxed(&policy->loads[selection->index], 1);
    if (entry == NULL) {
        if ((selection->notes[0] & DYNSEL_NOTE_NO_PLACE) != 0) {
            dynsel_tuned_count_untracked(policy);
        }
        return;
    }
    if (!dynsel_tuned_is_of_this_life(entry, selection)) {
        return;
    }
    dynsel_tuned_resource *times = &entry->resources[selection->index];
    times->unfinished = (uint16_t)(times->unfinished + (times->unfinished != UINT16_MAX ? 1 : 0));
    dynsel_tuned_note_use(policy, entry);
    if (is_of_this_round(entry, selection)) {
        dynsel_tuned_take(entry, selection);
    }
}

static void end_run(dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                    const dynsel_selection *selection)
{
    (void)dynsel_word_subtract(&policy->loads[selection->index], 1);
    if (entry != NULL && dynsel_tuned_is_of_this_life(entry, selection) &&
        entry->resources[selection->index].unfinished != 0) {
        entry->resources[selection->index].unfinished--;
    }
}

/* A run that did not take place had no turn. */
static void give_back_turn(dynsel_tuned_task *entry, const dynsel_selection *selection)
{
    dynsel_tuned_resource *times = &entry->resources[selection->index];
    if ((selection->notes[0] & DYNSEL_NOTE_TURN) != 0 && times->turns != 0) {
        times->turns--;
    }
    if (DYNSEL_TUNED_EXPLORES && times->runs != 0 && entry->runs != 0) {
        times->runs--;
        entry->runs--;
    }
}

/* A first run may have compiled, so it is no sample, but it bounds what the work itself needs. */
static void learn_warm_up(dynsel_tuned_resource *times, const dynsel_selection *selection,
                          dynsel_tuned_time time)
{
    for (uint32_t i = times->samples; times->samples < 2 && i < DYNSEL_TUNED_WINDOW; i++) {
        dynsel_tuned_note(times, i, selection, time);
    }
}

static void learn_in_window(dynsel_tuned_resource *times, const dynsel_selection *selection,
                            dynsel_tuned_time time)
{
    dynsel_tuned_note(times, times->samples % DYNSEL_TUNED_WINDOW, selection, time);
    times->samples = (uint8_t)(times->samples < 2 * DYNSEL_TUNED_WINDOW - 1 ? times->samples + 1
                                                                            : DYNSEL_TUNED_WINDOW);
    times->turns = 2;
}

static void learn_mean(dynsel_tuned_resource *times, dynsel_tuned_time time)
{
    if (times->runs == DYNSEL_TUNED_MOST_RUNS) {
        times->runs /= 2;
        times->times[0] /= 2;
    }
    times->times[0] += time;
    times->runs++;
    times->samples = 1;
}

/* Notes how long a run took. */
static void learn(dynsel_tuned_task *entry, const dynsel_selection *selection, uint64_t time_ns)
{
    dynsel_tuned_resource *times = &entry->resources[selection->index];
    const bool is_tick = (selection->notes[0] & DYNSEL_NOTE_TICK) != 0;
    const dynsel_tuned_time time = dynsel_tuned_time_of(time_ns);
    if ((selection->notes[0] & DYNSEL_NOTE_WARM_UP) != 0) {
        if (DYNSEL_TUNED_EXPLORES) {
            learn_warm_up(times, selection, time);
        }
    } else if (!DYNSEL_TUNED_EXPLORES) {
        learn_mean(times, time);
    } else {
        learn_in_window(times, selection, time);
        if (is_tick) {
            dynsel_tuned_count_runs(entry, selection->index,
                                    selection->notes[1] >> DYNSEL_NOTE_RUNS_SHIFT);
            entry->wait = (uint8_t)(entry->wait != 0 ? entry->wait - 1 : 0);
        }
    }
    dynsel_tuned_look_again(entry, selection->index, time);
}

#if CONFIG_DYNSEL_CUSTOM_BACKENDS && !CONFIG_DYNSEL_IN_FLIGHT_SMALL
/*
 * Work that is queued behind work whose end is not known has no time, and some backends tell no
 * ends of work that is not timed: with several pieces in flight no time ever comes then. Of two
 * timed runs in a row the second has one.
 */
static void time_in_pairs(dynsel_tuned_task *entry)
{
    const uint32_t unheard = dynsel_word_load_relaxed(&entry->unheard);
    dynsel_word_store_relaxed(&entry->unheard, unheard + 1);
    if (unheard >= DYNSEL_TUNED_UNHEARD && unheard % 2 == 0) {
        dynsel_sampling_again();
    }
}

/* Where pairs were needed they will be again, and sooner. */
static void hear(dynsel_tuned_task *entry)
{
    const uint32_t unheard = dynsel_word_load_relaxed(&entry->unheard);
    dynsel_word_store_relaxed(&entry->unheard,
                              unheard > DYNSEL_TUNED_UNHEARD ? DYNSEL_TUNED_UNHEARD / 2 : 0);
}
#else
static void hear(dynsel_tuned_task *entry)
{
    (void)entry;
}
#endif

static void report_locked(dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                          const dynsel_selection *selection, dynsel_execution_info info,
                          uint64_t value)
{
    switch (info) {
    case DYNSEL_TASK_SUBMISSION:
        begin_run(policy, entry, selection);
        break;
    case DYNSEL_TASK_WITHDRAWN:
        if (entry != NULL && is_of_this_round(entry, selection)) {
            give_back_turn(entry, selection);
        }
        end_run(policy, entry, selection);
        break;
    case DYNSEL_TASK_COMPLETION:
        end_run(policy, entry, selection);
        break;
    case DYNSEL_TASK_TIME:
        if (entry != NULL && is_of_this_round(entry, selection)) {
            learn(entry, selection, value);
            hear(entry);
            dynsel_tuned_note_tick(policy, entry);
        }
        break;
    case DYNSEL_TASK_READBACK_TIME:
        if (entry != NULL && is_of_this_round(entry, selection)) {
            dynsel_tuned_add(entry, selection, value);
        }
        break;
    case DYNSEL_TASK_START_TIME:
    case DYNSEL_TASK_WITHOUT_COPIES:
        break; /* it requests none */
    }
}

/* Once settled one time more or less does not matter, so nobody waits to report it; but one that is
 * there is to be whole. */
static void report(dynsel_policy *base, const dynsel_selection *selection,
                   dynsel_execution_info info, uint64_t value)
{
    dynsel_auto_tune_policy *policy = (dynsel_auto_tune_policy *)base;
    dynsel_tuned_task *entry = entry_of(policy, selection);
    if (entry == NULL) {
        report_locked(policy, NULL, selection, info, value);
        return;
    }
    if ((selection->notes[0] & DYNSEL_NOTE_TICK) == 0 || info == DYNSEL_TASK_READBACK_TIME) {
        dynsel_tuned_lock(entry);
    } else if (!dynsel_tuned_try_lock(entry)) {
        return;
    }
    report_locked(policy, entry, selection, info, value);
    dynsel_tuned_unlock(entry);
}

/* Inside a submit the choice counts at once, so that what is chosen beside it spreads. */
static void claim(dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                  dynsel_selection *selection)
{
    if (selection->claims && (selection->wants & DYNSEL_TASK_SUBMISSION) != 0) {
        begin_run(policy, entry, selection);
        selection->reported |= DYNSEL_TASK_SUBMISSION;
    }
}

/* The kind has no entry: the least loaded resource, equal ones in turn. */
static dynsel_status select_untracked(dynsel_auto_tune_policy *policy, const dynsel_task *task,
                                      dynsel_reason reason, dynsel_selection *selection)
{
    uint32_t candidates = 0;
    const uint32_t first =
        dynsel_word_load_relaxed(&policy->untracked) % dynsel_policy_count(&policy->policy);
    selection->index = dynsel_tuned_least_loaded(policy, task, first, &candidates);
    if (candidates == 0) {
        return dynsel_policy_refuse(&policy->policy, task);
    }
    selection->reason = (uint8_t)reason;
    if (reason == DYNSEL_REASON_UNTRACKED && candidates > 1) {
        selection->notes[0] = DYNSEL_NOTE_NO_PLACE;
    }
    selection->wants &= (uint8_t)~DYNSEL_TUNED_TIMES;
    claim(policy, NULL, selection);
    return DYNSEL_OK;
}

static dynsel_status select_closely(dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                                    const dynsel_task *task, dynsel_selection *selection)
{
    dynsel_tuned_lock(entry);
    if (CONFIG_DYNSEL_CONTEXT_THREADS &&
        !dynsel_kind_is(&entry->kind, task, dynsel_task_key_of(task))) {
        dynsel_tuned_unlock(entry); /* the entry was just given to another kind */
        return select_untracked(policy, task, DYNSEL_REASON_LEAST_LOADED, selection);
    }
    selection->notes[0] = (uint32_t)(entry - policy->tasks) + 1;
    const dynsel_status status = dynsel_tuned_choose(policy, entry, task, selection);
    if (status == DYNSEL_OK) {
        claim(policy, entry, selection);
    }
    dynsel_sampling_begin(entry, DYNSEL_TUNED_TIMED_BITS); /* in case it is settled now */
    dynsel_tuned_unlock(entry);
    return status;
}

/*
 * One thread at a time is the keeper, whose runs are timed; another thread takes over after that
 * many turns, in case the keeper stopped. So data that reports change rarely move between
 * processors.
 */
static bool is_keeper(dynsel_tuned_task *entry)
{
    if (!CONFIG_DYNSEL_CONTEXT_THREADS) {
        return true;
    }
    dynsel_thread *thread = dynsel_this_thread();
    const uint32_t me = (uint32_t)((uintptr_t)thread / sizeof(void *));
    const uint32_t keeper = dynsel_word_load_relaxed(&entry->keeper);
    if (keeper == me) {
        return true;
    }
    thread->turns_missed++;
    if (keeper != 0 && thread->turns_missed % DYNSEL_TUNED_TIMED_ONE_IN != 0) {
        return false;
    }
    dynsel_word_store_relaxed(&entry->keeper, me);
    return true;
}

/* Its turn has come to be timed. */
DYNSEL_ASIDE static void want_time(const dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                                   uint32_t word, dynsel_selection *selection)
{
    if (!is_keeper(entry)) {
        return;
    }
    const uint32_t stands_for = dynsel_sampling_interval();
#if CONFIG_DYNSEL_CUSTOM_BACKENDS && !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    const uint32_t rarity = dynsel_word_load_relaxed(&entry->rarity);
    if (rarity != 0) {
        dynsel_sampling_continue(DYNSEL_TUNED_TIMED_BITS + rarity);
    }
    time_in_pairs(entry);
#endif
    selection->wants = DYNSEL_TUNED_TIMES;
    selection->notes[0] =
        ((uint32_t)(entry - policy->tasks) + 1) | DYNSEL_NOTE_TICK | dynsel_tuned_number_run(entry);
    selection->notes[1] = dynsel_tuned_round(word) | stands_for << DYNSEL_NOTE_RUNS_SHIFT;
}

static inline void select_settled(const dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                                  uint32_t word, dynsel_selection *selection)
{
    selection->index = dynsel_tuned_best(word);
    selection->wants = 0;
    if (dynsel_tuned_state(word) == DYNSEL_TUNED_ONLY) {
        selection->reason = DYNSEL_REASON_ONLY_CANDIDATE;
        return;
    }
    selection->reason = DYNSEL_REASON_BEST_KNOWN;
    if (dynsel_sampling_is_due(entry, DYNSEL_TUNED_TIMED_BITS)) {
        want_time(policy, entry, word, selection);
    }
}

DYNSEL_ASIDE static dynsel_status refuse_key(const dynsel_auto_tune_policy *policy,
                                             const dynsel_task *task)
{
    (void)policy; /* only texts name it */
    return task->key_word_count > CONFIG_DYNSEL_MAX_KEY_WORDS
               ? DYNSEL_FAIL_IN(DYNSEL_TEXT(policy->policy.ops->name), DYNSEL_E_INVALID,
                                "the task has {} key words, CONFIG_DYNSEL_MAX_KEY_WORDS is less",
                                task->key_word_count)
               : DYNSEL_FAIL_IN(DYNSEL_TEXT(policy->policy.ops->name), DYNSEL_E_INVALID,
                                "the task's key words are NULL", 0);
}

/* Whatever the state of affairs is. */
DYNSEL_ASIDE static dynsel_status
select_anyhow(dynsel_auto_tune_policy *policy, const dynsel_task *task, dynsel_selection *selection)
{
    dynsel_reason reason = DYNSEL_REASON_UNKNOWN;
    dynsel_tuned_task *entry = dynsel_tuned_find(policy, task, &reason);
    if (entry == NULL) {
        return select_untracked(policy, task, reason, selection);
    }
    const uint32_t word = dynsel_word_load_acquire(&entry->word);
    if (dynsel_tuned_state(word) >= DYNSEL_TUNED_SETTLED &&
        dynsel_is_candidate(&policy->policy, dynsel_tuned_best(word), task) &&
        (dynsel_tuned_state(word) == DYNSEL_TUNED_ONLY || !dynsel_tuned_is_over(policy, entry))) {
        select_settled(policy, entry, word, selection);
        return DYNSEL_OK;
    }
    return select_closely(policy, entry, task, selection);
}

/* Nothing but the entry of its kind has a say in where the task goes. */
static inline bool is_simple(const dynsel_auto_tune_policy *policy, const dynsel_task *task)
{
    return dynsel_all_are_candidates(&policy->policy, task) &&
           policy->resample_interval_ns == DYNSEL_NEVER_RESAMPLE;
}

/* The straight way is that of a settled kind of task with one form, which stands where it is looked
 * for first. */
static dynsel_status try_select(dynsel_policy *base, const dynsel_task *task,
                                dynsel_selection *selection)
{
    dynsel_auto_tune_policy *policy = (dynsel_auto_tune_policy *)base;
    if (task->key_word_count != 0 &&
        (task->key_words == NULL || task->key_word_count > CONFIG_DYNSEL_MAX_KEY_WORDS)) {
        return refuse_key(policy, task);
    }
    if (CONFIG_DYNSEL_OPTIMIZE_SIZE || !DYNSEL_LIKELY(is_simple(policy, task))) {
        return select_anyhow(policy, task, selection);
    }
    const dynsel_task_key key = dynsel_task_key_of_simple(task);
    dynsel_tuned_task *entry = &policy->tasks[dynsel_tuned_first(dynsel_task_key_hash(task, key))];
    const uint32_t word = dynsel_word_load_acquire(&entry->word);
    if (!DYNSEL_LIKELY(dynsel_tuned_state(word) >= DYNSEL_TUNED_SETTLED &&
                       dynsel_kind_is(&entry->kind, task, key))) {
        return select_anyhow(policy, task, selection);
    }
    select_settled(policy, entry, word, selection);
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_TRACE
static bool is_new(const dynsel_policy *base)
{
    const dynsel_auto_tune_policy *policy = (const dynsel_auto_tune_policy *)base;
    bool changed = dynsel_word_load_relaxed(&policy->untracked) != 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_TUNED_TASKS; i++) {
        changed = changed || dynsel_word_load_relaxed(&policy->tasks[i].tag) != 0;
    }
    for (uint32_t i = 0; i < dynsel_policy_count(base); i++) {
        changed = changed || dynsel_word_load_relaxed(&policy->loads[i]) != 0;
    }
    return !changed;
}
#endif

#if CONFIG_DYNSEL_RESOURCE_SETS
/* Each settled kind of task looks again, also where there was no other resource. */
static void look_again(dynsel_policy *base, uint32_t index)
{
    dynsel_auto_tune_policy *const policy = (dynsel_auto_tune_policy *)base;
    (void)index;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_TUNED_TASKS; i++) {
        dynsel_tuned_task *const entry = &policy->tasks[i];
        dynsel_tuned_lock(entry);
        if (dynsel_tuned_state(dynsel_word_load_relaxed(&entry->word)) >= DYNSEL_TUNED_SETTLED) {
            dynsel_tuned_publish(entry, DYNSEL_TUNED_OPEN);
        }
        dynsel_tuned_unlock(entry);
    }
}
#endif

static const dynsel_policy_ops ops = {.name = DYNSEL_POLICY_NAME("auto_tune"),
#if CONFIG_DYNSEL_TRACE
                                      .is_new = is_new,
#endif
                                      .needs = DYNSEL_AUTO_TUNE_NEEDS,
#if CONFIG_DYNSEL_RESOURCE_SETS
                                      .resource_added = look_again,
#endif
                                      .try_select = try_select,
                                      .report = report,
                                      DYNSEL_TAKES_ANY_RESOURCE DYNSEL_HEARS_TIMES};

dynsel_status dynsel_auto_tune_init(dynsel_auto_tune_policy *policy, const dynsel_options *options,
                                    uint64_t resample_interval_ns)
{
    if (CONFIG_DYNSEL_ERROR_TEXTS && policy == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the policy is NULL");
    }
    const dynsel_status status = dynsel_policy_init_at((dynsel_policy *)policy, &ops, options, 0);
    if (status == DYNSEL_OK) {
        policy->resample_interval_ns = resample_interval_ns;
        dynsel_traced_option(&policy->policy, resample_interval_ns);
        policy->untracked.value = 0;
        policy->clock.value = 0;
        policy->replacing.value = 0;
        policy->may_give_up.value = 0;
        (void)__builtin_memset(policy->loads, 0, sizeof policy->loads);
        (void)__builtin_memset(policy->tasks, 0, sizeof policy->tasks);
    }
    return status;
}

uint32_t dynsel_auto_tune_untracked(const dynsel_auto_tune_policy *policy)
{
    return policy != NULL ? dynsel_word_load_relaxed(&policy->untracked) : 0;
}
