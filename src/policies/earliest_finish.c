/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/earliest_finish.h>

#include "base/fail.h"
#include "policies/earliest_finish_parts.h"

enum {
    RECENTLY = 1 << 18, /* 67 ms, in ticks: longer than reports of ends are late, as a rule */
    LIKELY_WEIGHT = 8   /* what is likely of one run counts so much less than what is known */
};

/* The entry that the selection is about, if it is still of the same kind; else NULL. */
static dynsel_finish_kind *kind_of(dynsel_earliest_finish_policy *policy,
                                   const dynsel_selection *selection)
{
    const uint32_t number = selection->notes[0] & DYNSEL_FINISH_NOTE_ENTRY;
    if (number == 0 || number > CONFIG_DYNSEL_EARLIEST_FINISH_KINDS) {
        return NULL;
    }
    dynsel_finish_kind *kind = &policy->kinds[number - 1];
    const uint32_t life = dynsel_word_load_acquire(&kind->life);
    const uint32_t chosen_in = selection->notes[0] >> DYNSEL_FINISH_NOTE_LIFE_SHIFT;
    const uint32_t differ = (life / 2 ^ chosen_in) & (UINT32_MAX >> DYNSEL_FINISH_NOTE_LIFE_SHIFT);
    return life % 2 == 0 && differ == 0 ? kind : NULL;
}

static void add_credit(dynsel_finish_kind *kind, int64_t ticks)
{
    const int64_t most = DYNSEL_FINISH_MOST_TICKS;
    int64_t credit = (int32_t)dynsel_word_load_relaxed(&kind->credit) + ticks;
    credit = credit > most ? most : credit < -most ? -most : credit;
    dynsel_word_store_relaxed(&kind->credit, (uint32_t)(int32_t)credit);
}

static int64_t predicted_run(const dynsel_selection *selection)
{
    return (int64_t)selection->notes[2] - (int64_t)dynsel_finish_copies_in(selection);
}

/* A count that threads spoil makes a sample or a trial come earlier or later. */
static void count_run(dynsel_finish_kind *kind, uint32_t index)
{
    dynsel_word *runs = &kind->resources[index].runs;
    dynsel_word_store_relaxed(runs, dynsel_word_load_relaxed(runs) + 1);
    dynsel_word_store_relaxed(&kind->runs, dynsel_word_load_relaxed(&kind->runs) + 1);
}

/* Counts a run that is timed. An entry that was given to another kind meanwhile may have been
 * counted in after its counts were taken back: then nobody else would do that. */
static void begin_timed(dynsel_earliest_finish_policy *policy, const dynsel_selection *selection,
                        dynsel_finish_kind *kind, dynsel_finish_kind *root)
{
    dynsel_word *own = &kind->resources[selection->index].unfinished;
    dynsel_word *all = &root->resources[selection->index].unfinished;
    (void)dynsel_word_add_synchronized(all, 1); /* before the looks at whose entries they are */
    if (own != all) {
        (void)dynsel_word_add_synchronized(own, 1);
    }
    const bool is_given = kind_of(policy, selection) != kind;
    if (is_given || dynsel_finish_root_of(policy, kind) != root) {
        (void)dynsel_word_subtract(all, 1);
    }
    if (is_given && own != all) {
        (void)dynsel_word_subtract(own, 1);
    }
}

/* Work is submitted, and in the queue of its resource. */
static void begin_run(dynsel_earliest_finish_policy *policy, const dynsel_selection *selection)
{
    dynsel_finish_kind *kind = kind_of(policy, selection);
    if (kind == NULL) {
        return;
    }
    dynsel_finish_kind *root = dynsel_finish_root_of(policy, kind);
    dynsel_finish_times *times = &root->resources[selection->index];
    count_run(kind, selection->index);
    if (root != kind) {
        count_run(root, selection->index);
    }
    dynsel_finish_warm_up(root, selection->index);
    dynsel_finish_warm_up(kind, selection->index); /* it may become its own root */
    dynsel_word_store_relaxed(&kind->used, dynsel_word_load_relaxed(&policy->clock));
    dynsel_word_store_relaxed(&root->used, dynsel_word_load_relaxed(&policy->clock));
    if (selection->notes[1] < dynsel_word_load_relaxed(&root->smallest)) {
        dynsel_word_store_relaxed(&root->smallest, selection->notes[1]);
    }
    if ((selection->wants & DYNSEL_TASK_TIME) != 0) {
        begin_timed(policy, selection, kind, root);
    }
    if ((selection->notes[0] & DYNSEL_FINISH_NOTE_TRIAL) != 0) {
        dynsel_word_store_relaxed(&times->trials, dynsel_word_load_relaxed(&times->trials) + 1);
        add_credit(kind, -predicted_run(selection));
    }
}

/* The known run of this amount on the other resource that needs the least for it, with what the
 * program spends beside it. Returns 0: none is known. */
static uint64_t fastest_other(const dynsel_earliest_finish_policy *policy,
                              const dynsel_finish_kind *kind, const dynsel_selection *selection,
                              uint32_t *index)
{
    uint64_t fastest_ns = 0;
    uint64_t least_ns = UINT64_MAX;
    for (uint32_t i = 0; i < dynsel_policy_count(&policy->policy); i++) {
        const dynsel_finish_times *times = &kind->resources[i];
        const uint64_t time_ns =
            i != selection->index && dynsel_word_load_relaxed(&times->samples) != 0
                ? dynsel_finish_predict(times, selection->notes[1], 1)
                : 0;
        const uint64_t whole_ns = time_ns + dynsel_finish_beside_ns(policy, kind, i);
        if (time_ns != 0 && whole_ns < least_ns) {
            least_ns = whole_ns;
            fastest_ns = time_ns;
            *index = i;
        }
    }
    return fastest_ns;
}

/* How fast the selected resource is for the kind, compared with the fastest, with what the program
 * spends beside the runs; 0: it is that, or not known. */
static int32_t speed_of_selected(dynsel_earliest_finish_policy *policy,
                                 const dynsel_selection *selection)
{
    uint32_t other = 0;
    const dynsel_finish_kind *kind = kind_of(policy, selection);
    const uint64_t other_ns = kind != NULL ? fastest_other(policy, kind, selection, &other) : 0;
    if (other_ns == 0) {
        return 0;
    }
    const uint64_t whole_ns = dynsel_finish_ns((uint32_t)predicted_run(selection)) +
                              dynsel_finish_program_ns(policy, kind, selection->index);
    const uint64_t other_whole_ns = other_ns + dynsel_finish_program_ns(policy, kind, other);
    return other_whole_ns < whole_ns ? dynsel_log2(other_whole_ns) - dynsel_log2(whole_ns) : 0;
}

/* What a trial run that lost so much costs. */
static int64_t price_of(const dynsel_earliest_finish_policy *policy,
                        const dynsel_selection *selection, uint32_t samples, int64_t loss)
{
    const bool is_first =
        (selection->notes[0] & DYNSEL_FINISH_NOTE_FIRST_TRIAL) == DYNSEL_FINISH_NOTE_FIRST_TRIAL;
    const bool may_compile =
        (samples == 1 || is_first) && !dynsel_finish_is_thread(policy, selection->index);
    const int64_t predicted = predicted_run(selection);
    if (may_compile) {
        return loss > predicted ? predicted : loss; /* further runs do not compile */
    }
    return is_first ? loss : loss * dynsel_finish_price(samples - 1); /* as when it was chosen */
}

/* Under the lock. A trial run costs what it took more than one on the fastest resource. */
DYNSEL_RARE static void pay_for_trial(dynsel_earliest_finish_policy *policy,
                                      dynsel_finish_kind *kind, const dynsel_selection *selection,
                                      uint64_t trial_ns, uint64_t instead_ns)
{
    dynsel_finish_times *times = &kind->resources[selection->index];
    const uint32_t samples = dynsel_word_load_relaxed(&times->samples);
    const int64_t loss = dynsel_finish_ticks(trial_ns > instead_ns ? trial_ns - instead_ns : 0);
    const int64_t price = price_of(policy, selection, samples, loss);
    add_credit(kind, predicted_run(selection) - price);
    const int64_t of_all = price * (int64_t)dynsel_policy_count(&policy->policy);
    const uint32_t unspent = dynsel_finish_unspent(kind, selection->index);
    (void)dynsel_word_add_relaxed(&times->spent,
                                  of_all < (int64_t)unspent ? (uint32_t)of_all : unspent);
}

/* Under the lock. Accounts for a run: a trial run is paid for, others earn. */
static void settle(dynsel_earliest_finish_policy *policy, dynsel_finish_kind *kind,
                   const dynsel_selection *selection, uint64_t time_ns)
{
    uint32_t other = 0;
    const uint64_t all_ns = time_ns + dynsel_finish_beside_ns(policy, kind, selection->index);
    const uint64_t other_ns = fastest_other(policy, kind, selection, &other);
    const dynsel_finish_times *times = &kind->resources[selection->index];
    if (other_ns != 0 && dynsel_word_load_relaxed(&times->samples) <= 2) {
        dynsel_finish_learn_speed(policy, selection->index, time_ns, other, other_ns);
    }
    if ((selection->notes[0] & DYNSEL_FINISH_NOTE_TRIAL) != 0) {
        pay_for_trial(policy, kind, selection,
                      time_ns + dynsel_finish_program_ns(policy, kind, selection->index),
                      other_ns + dynsel_finish_program_ns(policy, kind, other));
        return;
    }
    const uint64_t earned = dynsel_finish_ticks(all_ns) *
                            (uint64_t)dynsel_finish_stands_for(selection) /
                            DYNSEL_FINISH_EARNED_SHARE;
    add_credit(kind, (int64_t)earned);
    (void)dynsel_word_add_relaxed(&kind->earned, (uint32_t)earned);
}

static bool times_runs_alone(const dynsel_earliest_finish_policy *policy, uint32_t index)
{
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    return policy->policy.resources[index].backend->ops->times_runs_alone;
#else
    (void)policy;
    (void)index;
    return true;
#endif
}

/* The run without its copies, and what the copies took more or less than predicted. A time that is
 * about that of a run alone, where that is known, contains no copies. */
static uint64_t without_copies(dynsel_earliest_finish_policy *policy,
                               const dynsel_selection *selection, bool is_known, uint64_t time_ns)
{
    const uint64_t copies_ns = dynsel_finish_ns(dynsel_finish_copies_in(selection));
    const uint64_t run_ns = dynsel_finish_ns((uint32_t)predicted_run(selection));
    if (copies_ns == 0 || times_runs_alone(policy, selection->index) ||
        (is_known && time_ns <= run_ns + run_ns / 8)) {
        return time_ns;
    }
    dynsel_finish_resource *resource = &policy->states[selection->index];
    if (time_ns > copies_ns + copies_ns / 8) {
        return time_ns - copies_ns;
    }
    dynsel_finish_learn_copy(resource, copies_ns, time_ns / 2);
    return time_ns / 2 + 1;
}

/* Corrects the queue's end by what a run took more or less than predicted, with its copies if the
 * time contains them, for the runs that it stands for. */
static void correct_queue(dynsel_earliest_finish_policy *policy, const dynsel_selection *selection,
                          uint64_t time_ns)
{
    const int64_t predicted = times_runs_alone(policy, selection->index)
                                  ? predicted_run(selection)
                                  : (int64_t)selection->notes[2];
    const int64_t error = (int64_t)dynsel_finish_ticks(time_ns) - predicted;
    const int64_t all = error * (int64_t)dynsel_finish_stands_for(selection);
    const int64_t most = DYNSEL_FINISH_MOST_TICKS / 4;
    const int64_t within = all > most ? most : all < -most ? -most : all;
    (void)dynsel_word_add_relaxed(&policy->states[selection->index].is.free_at,
                                  (uint32_t)(int32_t)within);
}

/* How many processors of the host a run and what ran beside it kept busy: as far as is known, and
 * at most. */
typedef struct crowd {
    uint32_t likely;
    uint32_t most;
} crowd;

/* Adds a resource beside a run that took so many ticks. Reports may come late and all at once, so
 * one that has nothing left to do may have been busy until its last report. */
static void add_to_crowd(crowd *all, const dynsel_finish_resource *resource, uint32_t processors,
                         uint32_t now, uint32_t ticks)
{
    const bool is_busy = dynsel_word_load_relaxed(&resource->is.unfinished) != 0;
    const uint32_t free_at = dynsel_word_load_relaxed(&resource->is.free_at);
    const uint32_t drained_at = dynsel_word_load_relaxed(&resource->is.drained_at);
    /* an age, because the clock wraps: what ended minutes ago would seem to be to come */
    const uint32_t idle = drained_at != 0 ? now - drained_at : UINT32_MAX;
    const bool was_likely = is_busy ? (int32_t)(free_at - (now - ticks / 2)) > 0 : idle < ticks / 2;
    all->likely += was_likely ? processors : 0;
    all->most += was_likely || is_busy || idle < RECENTLY ? processors : 0;
}

static crowd crowd_in(const dynsel_earliest_finish_policy *policy, uint32_t index, uint32_t ticks)
{
    const uint32_t of_host = dynsel_word_load_relaxed(&policy->processors);
    const uint32_t now =
        (uint32_t)(dynsel_traced_clock(&policy->policy) >> DYNSEL_FINISH_TICK_SHIFT);
    const uint32_t own = dynsel_finish_processors(&policy->states[index], of_host);
    crowd all = {.likely = own, .most = own};
    for (uint32_t i = 0; i < dynsel_policy_count(&policy->policy); i++) {
        const dynsel_finish_resource *resource = &policy->states[i];
        const uint32_t its = dynsel_finish_processors(resource, of_host);
        if (i != index && its != 0) {
            add_to_crowd(&all, resource, its, now, ticks);
        }
    }
    return all;
}

/* A run alone, if so many processors were busy meanwhile. */
static uint64_t outside_crowd(uint64_t time_ns, uint32_t busy, uint32_t of_host)
{
    return busy > of_host ? time_ns * of_host / busy : time_ns;
}

/*
 * A run as if no other resource had used processors of the host meanwhile: otherwise what is tried
 * beside others that are busy seems to be slow, and is not chosen. How long others ran beside it is
 * known roughly, but not how they could have made it longer than they do, nor shorter than it is:
 * between these limits what is known of earlier runs counts most, some of which ran alone and some
 * in a crowd.
 */
static uint64_t without_others(const dynsel_earliest_finish_policy *policy,
                               const dynsel_finish_times *times, const dynsel_selection *selection,
                               uint64_t time_ns)
{
    const uint32_t of_host = dynsel_word_load_relaxed(&policy->processors);
    if (dynsel_finish_processors(&policy->states[selection->index], of_host) == 0) {
        return time_ns;
    }
    const crowd busy = crowd_in(policy, selection->index, dynsel_finish_ticks(time_ns));
    const uint64_t within_ns = dynsel_finish_lower(time_ns, DYNSEL_FINISH_LONGEST_NS);
    const uint64_t likely_ns = outside_crowd(within_ns, busy.likely, of_host);
    if (dynsel_word_load_relaxed(&times->samples) == 0) {
        return likely_ns;
    }
    const uint64_t least_ns = outside_crowd(within_ns, busy.most, of_host);
    const uint64_t known_ns = dynsel_finish_predict(times, selection->notes[1], 1);
    const uint64_t near_ns =
        known_ns < least_ns ? least_ns : dynsel_finish_lower(known_ns, within_ns);
    return near_ns - near_ns / LIKELY_WEIGHT + likely_ns / LIKELY_WEIGHT;
}

static void note_shortest(dynsel_finish_resource *resource, uint64_t time_ns)
{
    if (time_ns < dynsel_word_load_relaxed(&resource->is.shortest_ns)) {
        dynsel_word_store_relaxed(&resource->is.shortest_ns, time_ns != 0 ? (uint32_t)time_ns : 1);
    }
}

/* A time is known. One that cannot be learned at once is dropped. */
static void learn(dynsel_earliest_finish_policy *policy, const dynsel_selection *selection,
                  uint64_t time_ns)
{
    dynsel_finish_kind *kind = kind_of(policy, selection);
    if (kind == NULL || !dynsel_finish_try_lock(kind)) {
        return;
    }
    const bool is_known = dynsel_word_load_relaxed(&kind->resources[selection->index].samples) >=
                          DYNSEL_FINISH_ENOUGH_SAMPLES;
    const uint64_t run_ns = without_others(policy, &kind->resources[selection->index], selection,
                                           without_copies(policy, selection, is_known, time_ns));
    dynsel_finish_kind *root = dynsel_finish_root_of(policy, kind);
    dynsel_finish_learn(&kind->resources[selection->index], selection->notes[1], run_ns);
    settle(policy, kind, selection, run_ns);
    dynsel_finish_unlock(kind);
    note_shortest(&policy->states[selection->index], run_ns);
    if (root != kind && dynsel_finish_try_lock(root)) {
        dynsel_finish_learn(&root->resources[selection->index], selection->notes[1], run_ns);
        dynsel_finish_unlock(root);
    }
    correct_queue(policy, selection, time_ns);
}

/* A program reports it of timed runs only, the library of all. */
static void learn_readback(dynsel_earliest_finish_policy *policy, const dynsel_selection *selection,
                           uint64_t readback_ns)
{
    dynsel_finish_kind *kind = kind_of(policy, selection);
    const bool by_program = (selection->reported & DYNSEL_TASK_TIME) != 0;
    if (kind != NULL && dynsel_finish_try_lock(kind)) {
        const uint64_t ns =
            by_program ? dynsel_finish_lower(readback_ns, DYNSEL_FINISH_LONGEST_NS)
                       : dynsel_finish_copy_back_ns(&policy->states[selection->index], readback_ns);
        dynsel_finish_learn_readback(&kind->resources[selection->index],
                                     by_program ? ns * dynsel_finish_stands_for(selection) : ns);
        dynsel_finish_unlock(kind);
        dynsel_finish_measure_readback(policy, ns);
    }
}

/* Nothing else was in flight, so the program saw the end as soon as it could; not of a first run
 * before which something may have been compiled. By how much longer it waits for work with copies
 * is what the copies take. */
DYNSEL_RARE static void learn_turnaround(dynsel_earliest_finish_policy *policy,
                                         const dynsel_selection *selection, uint64_t time_ns)
{
    const dynsel_finish_kind *const kind = kind_of(policy, selection);
    dynsel_finish_resource *const resource = &policy->states[selection->index];
    const uint32_t now =
        (uint32_t)(dynsel_traced_clock(&policy->policy) >> DYNSEL_FINISH_TICK_SHIFT);
    const uint32_t turnaround = now - dynsel_word_load_relaxed(&policy->submitted_at);
    const uint32_t ticks = dynsel_finish_ticks(time_ns);
    const bool may_compile =
        kind == NULL ||
        (dynsel_word_load_relaxed(&kind->resources[selection->index].samples) == 0 &&
         !dynsel_finish_is_thread(policy, selection->index));
    if (may_compile || turnaround >= DYNSEL_FINISH_MOST_TICKS) {
        return;
    }
    const uint32_t beside = turnaround > ticks ? turnaround - ticks : 0;
    const uint32_t copies = dynsel_finish_copies_in(selection);
    const uint32_t latency = dynsel_finish_latency(resource);
    if (copies == 0) {
        dynsel_finish_learn_latency(resource, beside);
        return;
    }
    if (latency != 0 && times_runs_alone(policy, selection->index)) {
        dynsel_finish_learn_copy(resource, dynsel_finish_ns(copies),
                                 dynsel_finish_ns(beside > latency ? beside - latency : 0));
    }
}

/* A resource has nothing left to do. Where the program has one piece of work in flight, nothing
 * runs beside others. */
static void note_drained(dynsel_earliest_finish_policy *policy, dynsel_finish_resource *resource)
{
    if (dynsel_word_load_relaxed(&policy->one_by_one) == 0) {
        const uint64_t now_ns = dynsel_traced_clock(&policy->policy);
        dynsel_word_store_relaxed(&resource->is.drained_at,
                                  (uint32_t)(now_ns >> DYNSEL_FINISH_TICK_SHIFT));
        dynsel_word_store_relaxed(&policy->window.drained_at,
                                  (uint32_t)(now_ns >> DYNSEL_FINISH_UNIT_SHIFT));
    }
}

static void end_run(dynsel_earliest_finish_policy *policy, const dynsel_selection *selection)
{
    dynsel_finish_resource *resource = &policy->states[selection->index];
    if (dynsel_word_subtract(&resource->is.unfinished, selection->notes[2]) == 0) {
        note_drained(policy, resource);
    }
    dynsel_finish_kind *kind = kind_of(policy, selection);
    if (kind != NULL && (selection->wants & DYNSEL_TASK_TIME) != 0) {
        dynsel_finish_kind *root = dynsel_finish_root_of(policy, kind);
        (void)dynsel_word_subtract(&root->resources[selection->index].unfinished, 1);
        if (root != kind) {
            (void)dynsel_word_subtract(&kind->resources[selection->index].unfinished, 1);
        }
    }
}

/* A run that did not take place costs nothing, and says nothing. */
static void take_back(dynsel_earliest_finish_policy *policy, const dynsel_selection *selection)
{
    dynsel_finish_kind *kind = kind_of(policy, selection);
    (void)dynsel_word_add_relaxed(&policy->states[selection->index].is.free_at,
                                  0u - selection->notes[2]);
    if (kind != NULL && (selection->notes[0] & DYNSEL_FINISH_NOTE_TRIAL) != 0) {
        add_credit(kind, predicted_run(selection));
        (void)dynsel_word_subtract(
            &dynsel_finish_root_of(policy, kind)->resources[selection->index].trials, 1);
    }
}

/* The start of a first trial run may contain a compilation. The kind pays for it as far as its
 * credit goes: further runs do not compile. */
DYNSEL_RARE static void learn_first_start(dynsel_earliest_finish_policy *policy,
                                          const dynsel_selection *selection, uint64_t took_ns)
{
    dynsel_finish_kind *const kind = kind_of(policy, selection);
    dynsel_finish_learn_first_start(policy, selection->index, took_ns);
    if (kind != NULL) {
        const int64_t credit = (int32_t)dynsel_word_load_relaxed(&kind->credit);
        const int64_t price = dynsel_finish_ticks(took_ns);
        add_credit(kind, credit <= 0 ? 0 : credit < price ? -credit : -price);
    }
}

static void report(dynsel_policy *base, const dynsel_selection *selection,
                   dynsel_execution_info info, uint64_t value)
{
    dynsel_earliest_finish_policy *policy = (dynsel_earliest_finish_policy *)base;
    switch (info) {
    case DYNSEL_TASK_SUBMISSION:
        dynsel_finish_enter(policy, selection, speed_of_selected(policy, selection));
        begin_run(policy, selection);
        break;
    case DYNSEL_TASK_WITHDRAWN:
        take_back(policy, selection);
        end_run(policy, selection);
        break;
    case DYNSEL_TASK_COMPLETION:
        end_run(policy, selection);
        break;
    case DYNSEL_TASK_TIME:
        if ((selection->notes[0] & DYNSEL_FINISH_NOTE_ALONE) != 0) {
            learn_turnaround(policy, selection, value);
        }
        learn(policy, selection, value);
        break;
    case DYNSEL_TASK_READBACK_TIME:
        learn_readback(policy, selection, value);
        break;
    case DYNSEL_TASK_START_TIME:
        if ((selection->notes[0] & DYNSEL_FINISH_NOTE_FIRST_TRIAL) ==
            DYNSEL_FINISH_NOTE_FIRST_TRIAL) {
            learn_first_start(policy, selection, value);
        } else {
            dynsel_finish_learn_start(&policy->states[selection->index], value);
        }
        break;
    case DYNSEL_TASK_WITHOUT_COPIES:
        break;
    }
}

DYNSEL_RARE static dynsel_status refuse_key(const dynsel_earliest_finish_policy *policy,
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

static dynsel_status try_select(dynsel_policy *base, const dynsel_task *task,
                                dynsel_selection *selection)
{
    dynsel_earliest_finish_policy *policy = (dynsel_earliest_finish_policy *)base;
    if (task->key_word_count != 0 &&
        (task->key_words == NULL || task->key_word_count > CONFIG_DYNSEL_MAX_KEY_WORDS)) {
        return refuse_key(policy, task);
    }
    const dynsel_finish_kinds kinds = dynsel_finish_find(policy, task);
    const dynsel_status status = dynsel_finish_choose(policy, task, &kinds, selection);
    if (status == DYNSEL_OK && selection->claims) {
        begin_run(policy, selection);
        selection->reported |= DYNSEL_TASK_SUBMISSION;
    }
    return status;
}

#if CONFIG_DYNSEL_TRACE
/* A learned table is noted where it is loaded. */
static bool is_new(const dynsel_policy *base)
{
    return dynsel_word_load_relaxed(&((const dynsel_earliest_finish_policy *)base)->clock) == 0;
}
#endif

#if CONFIG_DYNSEL_RESOURCE_SETS
static dynsel_status add_resource(dynsel_policy *base, uint32_t index)
{
    dynsel_finish_assume((dynsel_earliest_finish_policy *)base, index);
    return DYNSEL_OK;
}

/* It uses processors of the host, perhaps again. */
DYNSEL_RARE static void resource_added(dynsel_policy *base, uint32_t index)
{
    dynsel_earliest_finish_policy *const policy = (dynsel_earliest_finish_policy *)base;
    (void)index;
    dynsel_finish_count_processors(policy, dynsel_policy_count(base));
    dynsel_finish_forget_ways(policy);
}

/* It uses none any more, and is no home of data. */
DYNSEL_RARE static void resource_removed(dynsel_policy *base, uint32_t index)
{
    dynsel_earliest_finish_policy *const policy = (dynsel_earliest_finish_policy *)base;
    if (dynsel_word_load_relaxed(&policy->data_home) == index + 1) {
        dynsel_word_store_relaxed(&policy->data_home, 0);
    }
    resource_added(base, index);
}
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS
static bool is_settled(const dynsel_policy *base)
{
    const dynsel_earliest_finish_policy *const policy = (const dynsel_earliest_finish_policy *)base;
    const uint32_t next = dynsel_word_load_relaxed(&policy->clock) + 1;
    return dynsel_finish_is_one_alone(dynsel_finish_way_now(policy)) &&
           !dynsel_finish_may_try(policy, next);
}
#endif

static const dynsel_policy_ops ops = {.name = DYNSEL_POLICY_NAME("earliest_finish"),
#if CONFIG_DYNSEL_TRACE
                                      .is_new = is_new,
#endif
                                      .needs = DYNSEL_EARLIEST_FINISH_NEEDS,
                                      .try_select = try_select,
                                      .report = report,
#if CONFIG_DYNSEL_RESOURCE_SETS
                                      .add_resource = add_resource,
                                      .resource_added = resource_added,
                                      .resource_removed = resource_removed,
#endif
#if CONFIG_DYNSEL_COMMAND_GROUPS
                                      .is_settled = is_settled,
                                      .weighs_data = true,
                                      .predicts_ends = true,
#endif
                                      DYNSEL_HEARS_TIMES};

DYNSEL_RARE dynsel_status dynsel_earliest_finish_init(dynsel_earliest_finish_policy *policy,
                                                      const dynsel_options *options)
{
    if (CONFIG_DYNSEL_ERROR_TEXTS && policy == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the policy is NULL");
    }
    const dynsel_status status = dynsel_policy_init_at((dynsel_policy *)policy, &ops, options, 0);
    if (status == DYNSEL_OK) {
        policy->clock.value = 0;
        policy->replacing.value = 0;
        policy->untracked.value = 0;
        policy->one_by_one.value = 0;
        policy->data_home.value = 0;
        policy->gathers.value = 0;
        policy->submitted_at.value = 0;
        policy->submitted_to.value = 0;
        policy->rival.value = 0;
        policy->rival_saves_ns.value = 0;
        policy->faded_at.value = 0;
        policy->processors.value = 1;
        policy->host_share.value = DYNSEL_FINISH_ALL_PROCESSORS;
        policy->feeds_devices.value = 0;
        policy->sharers.value = 1;
        policy->way.value = 0;
        policy->tries_from.value = 0;
        policy->mostly.value = 0;
        policy->strangers.value = 0;
        (void)__builtin_memset(&policy->window, 0, sizeof policy->window);
        (void)__builtin_memset(policy->ways, 0, sizeof policy->ways);
        (void)__builtin_memset(policy->states, 0, sizeof policy->states);
        (void)__builtin_memset(policy->speeds, 0, sizeof policy->speeds);
        (void)__builtin_memset(policy->kinds, 0, sizeof policy->kinds);
        (void)__builtin_memset(policy->blocking, 0, sizeof policy->blocking);
        (void)__builtin_memset(policy->workers, 0, sizeof policy->workers);
        (void)__builtin_memset(policy->on_all, 0, sizeof policy->on_all);
        for (uint32_t i = 0; i < policy->policy.count; i++) {
            dynsel_finish_assume(policy, i);
        }
    }
    return status;
}

uint32_t dynsel_earliest_finish_untracked(const dynsel_earliest_finish_policy *policy)
{
    return policy != NULL ? dynsel_word_load_relaxed(&policy->untracked) : 0;
}
