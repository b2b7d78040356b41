/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of auto_tune: the table of kinds of task (auto_tune_table.c), what is known of one kind
 * (auto_tune_times.c, auto_tune_readback.c), and the choice for it (auto_tune_choice.c).
 *
 * All that selecting needs once a kind of task is settled is one word of its entry, which is read
 * without a lock:
 *
 *     bits 0 and 1   0: not filled in yet; what else is a DYNSEL_TUNED_*
 *     bits 2 to 7    the best resource
 *     bits 8 to 31   the round, which counts how often the measuring began again, also for another
 *                    kind of task
 *
 * Everything else of an entry is changed under its lock. What tells its kind is in words, because
 * an entry may be given to another kind while somebody compares them without the lock. Whoever then
 * takes the one kind for the other finds a resource that exists, and the time of that run is of a
 * round that is over.
 *
 * Choosing changes what is known at most in the way that the next choice would. What a choice uses
 * up (a turn, a try, a place in the table) is taken when its work is submitted.
 */
#ifndef DYNSEL_POLICIES_AUTO_TUNE_PARTS_H
#define DYNSEL_POLICIES_AUTO_TUNE_PARTS_H

#include <dynsel/auto_tune.h>

#include "policies/task_kind.h"
#include "policy/policy.h"
#include "port/atomic.h"

enum {
    DYNSEL_TUNED_OPEN = 1,    /* each selection looks closely */
    DYNSEL_TUNED_SETTLED = 2, /* the best is known */
    DYNSEL_TUNED_ONLY = 3,    /* there is no other */
    DYNSEL_TUNED_STATE = 3,
    DYNSEL_TUNED_BEST_SHIFT = 2,
    DYNSEL_TUNED_BEST = 63,
    DYNSEL_TUNED_ROUND_SHIFT = 8,
    DYNSEL_TUNED_TIMED_BITS = 4,
    DYNSEL_TUNED_TIMED_ONE_IN = 1 << DYNSEL_TUNED_TIMED_BITS,
    DYNSEL_TUNED_UNHEARD = 12,    /* timed runs without a time, from which on they come in pairs */
    DYNSEL_TUNED_WINDOW = 3,      /* times that are kept of a resource */
    DYNSEL_TUNED_FIRST_PAUSE = 1, /* between tries of others, as a power of two of timed runs */
    DYNSEL_TUNED_NO_RESOURCE = 255, /* no resource */
    DYNSEL_TUNED_ROUNDS = 1 << 24,  /* after which their count begins at 0 */
    DYNSEL_TUNED_NEVER_USED = 0     /* in dynsel_tuned_task.used */
};

/* Longer times count as the longest. The sum of two of them is less than DYNSEL_TUNED_UNKNOWN;
 * where a mean needs the sum of all, so is that. */
#if CONFIG_DYNSEL_AUTO_TUNE_SHORT_TIMES
enum { DYNSEL_TUNED_STEP_SHIFT = 4 }; /* steps of 16 ns */
#define DYNSEL_TUNED_LONGEST ((dynsel_tuned_time)INT32_MAX)
#else
enum { DYNSEL_TUNED_STEP_SHIFT = 0 };
#define DYNSEL_TUNED_LONGEST ((dynsel_tuned_time)1 << 46)
#endif

#define DYNSEL_TUNED_UNKNOWN ((dynsel_tuned_time)-1)

/* dynsel_selection.notes[0]: 1 + the number of the entry, what kind of run it is, and its number
 * among those that are timed, to find its time again; notes[1]: the round, and of one timed run of
 * many, for how many it stands. */
enum {
    DYNSEL_NOTE_ENTRY = 0xffff,
    DYNSEL_NOTE_WARM_UP = 1 << 16,  /* the first on its resource, which may compile */
    DYNSEL_NOTE_TURN = 1 << 17,     /* it had a turn because its time was not known */
    DYNSEL_NOTE_TICK = 1 << 18,     /* one timed run of many on the best */
    DYNSEL_NOTE_NO_PLACE = 1 << 18, /* without an entry: the table is full */
    DYNSEL_NOTE_RUN_SHIFT = 19,
    DYNSEL_NOTE_RUNS_SHIFT = 24 /* in notes[1] */
};

enum {
    DYNSEL_TUNED_MOST_RUNS = 1 << 16, /* of a mean; beyond it, its count and sum are halved */
    DYNSEL_TUNED_EXPLORES = CONFIG_DYNSEL_AUTO_TUNE_EXPLORE_PERCENT > 0,
    /* In 1024ths, and a sixteenth less than asked for, because what is compared with it is
       uncertain. */
    DYNSEL_TUNED_SHARE = CONFIG_DYNSEL_AUTO_TUNE_EXPLORE_PERCENT * 960 / 100,
    /* The reports of a timed run; only command groups copy data back. */
    DYNSEL_TUNED_TIMES =
        DYNSEL_TASK_TIME | (CONFIG_DYNSEL_COMMAND_GROUPS ? DYNSEL_TASK_READBACK_TIME : 0)
};

static inline uint32_t dynsel_tuned_state(uint32_t word)
{
    return word & DYNSEL_TUNED_STATE;
}

static inline uint32_t dynsel_tuned_best(uint32_t word)
{
    return (word >> DYNSEL_TUNED_BEST_SHIFT) & DYNSEL_TUNED_BEST;
}

static inline uint32_t dynsel_tuned_round(uint32_t word)
{
    return word >> DYNSEL_TUNED_ROUND_SHIFT;
}

/* Where an entry with this hash is looked for first. */
static inline uint32_t dynsel_tuned_first(uint32_t hash)
{
    return (uint32_t)(((uint64_t)hash * CONFIG_DYNSEL_MAX_TUNED_TASKS) >> 32);
}

static inline dynsel_tuned_time dynsel_lower(dynsel_tuned_time a, dynsel_tuned_time b)
{
    return a < b ? a : b;
}

static inline dynsel_tuned_time dynsel_tuned_time_of(uint64_t time_ns)
{
    const uint64_t time = time_ns >> DYNSEL_TUNED_STEP_SHIFT;
    return time < DYNSEL_TUNED_LONGEST ? (dynsel_tuned_time)time : DYNSEL_TUNED_LONGEST;
}

/* The entry of a task's kind, which is made where there is room for it: in a free place, or in that
 * of a kind that was never used. NULL: there is none; reason: out, why. */
dynsel_tuned_task *dynsel_tuned_find(dynsel_auto_tune_policy *policy, const dynsel_task *task,
                                     dynsel_reason *reason);

/* A run of a kind that has no place is about to be submitted: counts it, and one such run in some
 * allows the next search to give up the kind that was used least lately. */
void dynsel_tuned_count_untracked(dynsel_auto_tune_policy *policy);

/* Work of the entry's kind was submitted. Under its lock. */
void dynsel_tuned_note_use(dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry);

/* One run of many of a settled kind has ended. Under its lock. */
void dynsel_tuned_note_tick(const dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry);

/* Whether a selection was made since the entry is of its kind. Under its lock. */
static inline bool dynsel_tuned_is_of_this_life(const dynsel_tuned_task *entry,
                                                const dynsel_selection *selection)
{
    const uint32_t rounds = (selection->notes[1] - entry->born) % DYNSEL_TUNED_ROUNDS;
    return rounds < DYNSEL_TUNED_ROUNDS / 2;
}

/* Forgets all times and begins a round. For who holds the lock, or fills the entry in. */
void dynsel_tuned_begin(const dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                        uint32_t round);

/* Whether the round has lasted for the resample interval, if there is one. */
bool dynsel_tuned_is_over(const dynsel_auto_tune_policy *policy, const dynsel_tuned_task *entry);

/* Interrupts never come here, so only threads keep each other out. */
#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_tuned_lock(dynsel_tuned_task *entry);
bool dynsel_tuned_try_lock(dynsel_tuned_task *entry);
void dynsel_tuned_unlock(dynsel_tuned_task *entry);
#else
static inline void dynsel_tuned_lock(dynsel_tuned_task *entry)
{
    (void)entry;
}

static inline bool dynsel_tuned_try_lock(dynsel_tuned_task *entry)
{
    (void)entry;
    return true;
}

static inline void dynsel_tuned_unlock(dynsel_tuned_task *entry)
{
    (void)entry;
}
#endif

/* Publishes the entry with what `state` and its best say. */
void dynsel_tuned_publish(dynsel_tuned_task *entry, uint32_t state);

/* What a resource needs for this kind of task; DYNSEL_TUNED_UNKNOWN: not known. */
dynsel_tuned_time dynsel_tuned_estimate(const dynsel_tuned_resource *times);

/* The same in favour of the resource: where times lie far apart, the lowest of them. */
dynsel_tuned_time dynsel_tuned_price(const dynsel_tuned_resource *times);

/* The time with which the incumbent is compared: the estimate, or the price once there are enough
 * times. */
dynsel_tuned_time dynsel_tuned_incumbent_time(const dynsel_tuned_resource *times);

/* The time of a candidate for another run: the newest, or while there are few, the lowest. */
dynsel_tuned_time dynsel_tuned_candidate_time(const dynsel_tuned_resource *times);

/* Looks closely from now on, if the time of a run on the resource is a reason to. */
void dynsel_tuned_look_again(dynsel_tuned_task *entry, uint32_t index, dynsel_tuned_time time);

/* Counts runs on a resource. */
void dynsel_tuned_count_runs(dynsel_tuned_task *entry, uint32_t index, uint32_t runs);

/* Resets the times of a resource, which then gets two runs. */
void dynsel_tuned_reset(dynsel_tuned_resource *times);

/* Chooses for a kind of task that looks closely: fills in the selection but for what is claimed. */
dynsel_status dynsel_tuned_choose(dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                                  const dynsel_task *task, dynsel_selection *selection);

/* Takes what a choice of this round uses up: its work is submitted. */
void dynsel_tuned_take(dynsel_tuned_task *entry, const dynsel_selection *selection);

/* The resource with the least counted unfinished work among those that the task may use, of several
 * the first from `first` on; candidates: out, how many may be used. */
uint32_t dynsel_tuned_least_loaded(const dynsel_auto_tune_policy *policy, const dynsel_task *task,
                                   uint32_t first, uint32_t *candidates);

/*
 * Results are brought back after the run, if at all; see auto_tune_readback.c. Without command
 * groups nothing is.
 */
#if CONFIG_DYNSEL_COMMAND_GROUPS

/* What a run that is to be timed notes besides: its number. Two that are numbered at once may get
 * the same. */
static inline uint32_t dynsel_tuned_number_run(dynsel_tuned_task *entry)
{
    const uint32_t number = dynsel_word_load_relaxed(&entry->timed) + 1;
    dynsel_word_store_relaxed(&entry->timed, number);
    return number << DYNSEL_NOTE_RUN_SHIFT;
}

/* Enters the time of a run in place of another. */
void dynsel_tuned_note(dynsel_tuned_resource *times, uint32_t place,
                       const dynsel_selection *selection, dynsel_tuned_time time);

/* Its times are of no runs. */
static inline void dynsel_tuned_forget_runs(dynsel_tuned_resource *times)
{
    (void)__builtin_memset(times->timed, 0, sizeof times->timed);
}

/* Results of a run were brought back. */
void dynsel_tuned_add(dynsel_tuned_task *entry, const dynsel_selection *selection,
                      uint64_t readback_ns);

#else

static inline uint32_t dynsel_tuned_number_run(dynsel_tuned_task *entry)
{
    (void)entry;
    return 0;
}

static inline void dynsel_tuned_note(dynsel_tuned_resource *times, uint32_t place,
                                     const dynsel_selection *selection, dynsel_tuned_time time)
{
    (void)selection;
    times->times[place] = time;
}

static inline void dynsel_tuned_forget_runs(dynsel_tuned_resource *times)
{
    (void)times;
}

static inline void dynsel_tuned_add(dynsel_tuned_task *entry, const dynsel_selection *selection,
                                    uint64_t readback_ns)
{
    (void)entry;
    (void)selection;
    (void)readback_ns;
}

#endif

#endif
