/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto_tune in little code, for one thread: what the seed says, without exploration. Every run is
 * timed, and every selection looks at what is known of all resources.
 */
#include <dynsel/auto_tune.h>

#include "base/fail.h"
#include "policy/policy.h"

enum {
    LEARNED_AT = offsetof(dynsel_auto_tune_policy, untracked),
    TURNS = 2, /* the first of which does not count */
    NO_RESOURCE = UINT32_MAX,
    FRESH = NO_RESOURCE - 1, /* as the best: the entry is another kind's */
    GIVE_UP_ONE_IN = 16,
    STEP_SHIFT = 8,                   /* times are in steps of 256 ns */
    LONGEST_TIME = (uint32_t)1 << 28, /* so that a sum has room for some */
    /* dynsel_selection.notes[0]: 1 + the number of the entry, and what kind of run it is; notes[1]:
       the round */
    NOTE_ENTRY = 0xffff,
    NOTE_TURN_SHIFT = 16, /* which turn it has, 1 or 2; 0: none */
    WARM_UP = 1
};

_Static_assert(CONFIG_DYNSEL_MAX_TUNED_TASKS < NOTE_ENTRY, "notes hold an entry's number");
_Static_assert(CONFIG_DYNSEL_AUTO_TUNE_EXPLORE_PERCENT == 0, "nothing is explored here");

static void begin_round(dynsel_tuned_task *entry)
{
    (void)__builtin_memset(entry->resources, 0, sizeof entry->resources);
    entry->best = NO_RESOURCE;
    entry->round++;
    entry->started_ns = dynsel_now_ns();
}

static bool is_over(const dynsel_auto_tune_policy *policy, const dynsel_tuned_task *entry)
{
    return policy->resample_interval_ns != DYNSEL_NEVER_RESAMPLE &&
           dynsel_now_ns() - entry->started_ns >= policy->resample_interval_ns;
}

/* The function that tells a task without an id from others. */
static dynsel_task_fn function_of(const dynsel_task *task)
{
    if (task->id != 0) {
        return NULL;
    }
    return task->form_count != 0 && task->forms[0].function != NULL ? task->forms[0].function
                                                                    : task->function;
}

/* What tells kinds of task apart. */
static void fill_in_key(dynsel_tuned_task *entry, const dynsel_task *task)
{
    entry->id = task->id;
    entry->function = function_of(task);
#if CONFIG_DYNSEL_ASPECTS
    entry->aspects = task->aspects;
#endif
    entry->key_word_count = (uint32_t)task->key_word_count;
    for (size_t i = 0; CONFIG_DYNSEL_MAX_KEY_WORDS > 0 && i < task->key_word_count; i++) {
        entry->key_words[i] = task->key_words[i];
    }
}

static bool is_of_kind(const dynsel_tuned_task *entry, const dynsel_task *task)
{
    if (entry->id != task->id || entry->function != function_of(task) ||
        entry->key_word_count != task->key_word_count) {
        return false;
    }
#if CONFIG_DYNSEL_ASPECTS
    if (entry->aspects != task->aspects) {
        return false;
    }
#endif
    for (size_t i = 0; CONFIG_DYNSEL_MAX_KEY_WORDS > 0 && i < task->key_word_count; i++) {
        if (entry->key_words[i] != task->key_words[i]) {
            return false;
        }
    }
    return true;
}

/* The entry of the task's kind, which is made in the place of one that nobody used, or for one
 * selection in some, of the one that was used least lately. (Which that is may be told wrongly for
 * a while after 2^32 runs.) NULL: there is none. */
static dynsel_tuned_task *find(dynsel_auto_tune_policy *policy, const dynsel_task *task,
                               uint32_t *place)
{
    *place = 0;
    dynsel_tuned_task *least = policy->tasks;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_TUNED_TASKS; i++) {
        dynsel_tuned_task *entry = &policy->tasks[i];
        if (is_of_kind(entry, task)) {
            *place = i;
            return entry;
        }
        if (entry->used < least->used) {
            least = entry;
            *place = i;
        }
    }
    if (least->used != 0) {
        if (policy->untracked.value % GIVE_UP_ONE_IN != 1) {
            return NULL;
        }
        policy->untracked.value++;
    }
    fill_in_key(least, task);
    least->used = 0;
    least->best = FRESH;
    return least;
}

/* The result of a look at all resources. */
typedef struct sight {
    uint32_t candidates;
    uint32_t least_loaded;
    uint32_t turn; /* whose it is: of those who had the fewest, the lowest index */
    uint32_t best;
} sight;

static uint32_t mean(const dynsel_tuned_resource *known)
{
    return known->runs != 0 ? known->sum / known->runs : UINT32_MAX;
}

/* entry: NULL when the kind of task has none. The best keeps its place unless another is faster.
 * Returns whether a round is to begin: one that has begun is finished first. */
static bool look(const dynsel_auto_tune_policy *policy, const dynsel_tuned_task *entry,
                 const dynsel_task *task, sight *out)
{
    sight seen = {.turn = NO_RESOURCE, .best = NO_RESOURCE};
    uint32_t least_load = UINT32_MAX;
    uint32_t fewest = TURNS;
    uint32_t fastest = UINT32_MAX;
    for (uint32_t i = 0; i < dynsel_policy_count(&policy->policy); i++) {
        if (!dynsel_is_candidate(&policy->policy, i, task)) {
            continue;
        }
        seen.candidates++;
        if (policy->loads[i].value < least_load) {
            least_load = policy->loads[i].value;
            seen.least_loaded = i;
        }
        if (entry == NULL) {
            continue;
        }
        if (entry->resources[i].turns < fewest) {
            fewest = entry->resources[i].turns;
            seen.turn = i;
        }
        const uint32_t time = mean(&entry->resources[i]);
        if (time < fastest || (time == fastest && time != UINT32_MAX && i == entry->best)) {
            fastest = time;
            seen.best = i;
        }
    }
    *out = seen;
    return entry != NULL &&
           (entry->best == FRESH ||
            (seen.turn == NO_RESOURCE && seen.candidates != 0 && is_over(policy, entry)));
}

/* For one of several candidates. */
static dynsel_reason choose(dynsel_tuned_task *entry, uint32_t place, const sight *seen,
                            dynsel_selection *selection)
{
    selection->index = seen->least_loaded;
    if (entry == NULL) {
        selection->wants &= (uint8_t)~DYNSEL_TASK_TIME;
        return DYNSEL_REASON_UNTRACKED;
    }
    selection->notes[0] = place + 1;
    selection->notes[1] = entry->round;
    entry->best = seen->best;
    if (seen->turn != NO_RESOURCE) {
        selection->index = seen->turn;
        selection->notes[0] |= (entry->resources[seen->turn].turns + 1u) << NOTE_TURN_SHIFT;
        return DYNSEL_REASON_PROFILING;
    }
    if (seen->best == NO_RESOURCE) {
        return DYNSEL_REASON_PROFILING;
    }
    selection->index = seen->best;
    return DYNSEL_REASON_BEST_KNOWN;
}

/* The entry that the selection is about; NULL: it had none, or its round is over. */
static dynsel_tuned_task *entry_of(dynsel_auto_tune_policy *policy,
                                   const dynsel_selection *selection)
{
    const uint32_t place = (selection->notes[0] & NOTE_ENTRY) - 1;
    return place < CONFIG_DYNSEL_MAX_TUNED_TASKS &&
                   policy->tasks[place].round == selection->notes[1]
               ? &policy->tasks[place]
               : NULL;
}

static dynsel_status refuse_key(void)
{
    return DYNSEL_FAIL_IN(DYNSEL_TEXT("auto_tune"), DYNSEL_E_INVALID,
                          "the task's key words are NULL, or more than CONFIG_DYNSEL_MAX_KEY_WORDS",
                          0);
}

static dynsel_status try_select(dynsel_policy *base, const dynsel_task *task,
                                dynsel_selection *selection)
{
    dynsel_auto_tune_policy *policy = (dynsel_auto_tune_policy *)base;
    if (task->key_word_count != 0 &&
        (task->key_words == NULL || task->key_word_count > CONFIG_DYNSEL_MAX_KEY_WORDS)) {
        return refuse_key();
    }
    uint32_t place;
    dynsel_tuned_task *entry = find(policy, task, &place);
    sight seen;
    while (look(policy, entry, task, &seen)) {
        begin_round(entry); /* so that there are turns */
    }
    if (seen.candidates == 0) {
        return dynsel_policy_refuse(base, task);
    }
    if (seen.candidates == 1) { /* nothing is to be learned where there is no choice */
        selection->index = seen.least_loaded;
        selection->reason = (uint8_t)dynsel_policy_reason_of_only(base, seen.least_loaded, task);
        selection->wants = 0;
        return DYNSEL_OK;
    }
    selection->reason = (uint8_t)choose(entry, place, &seen, selection);
    return DYNSEL_OK;
}

static void learn(dynsel_tuned_resource *known, uint64_t time_ns)
{
    const uint64_t steps = time_ns >> STEP_SHIFT;
    const uint32_t time = steps < LONGEST_TIME ? (uint32_t)steps : LONGEST_TIME;
    if (known->runs == UINT16_MAX || known->sum > UINT32_MAX - time) {
        known->runs /= 2;
        known->sum /= 2;
    }
    known->runs++;
    known->sum += time;
}

/* What the choice uses up is taken when its work is submitted, so that a selection that is dropped
 * leaves no trace. Of several that were made for the same turn only one has it. */
static void learn_of(dynsel_tuned_resource *known, uint32_t turn, dynsel_execution_info info,
                     uint64_t value)
{
    if (info == DYNSEL_TASK_TIME) {
        if (turn != WARM_UP) {
            learn(known, value);
        }
    } else if (info == DYNSEL_TASK_SUBMISSION) {
        known->turns = (uint8_t)(known->turns + (known->turns + 1u == turn ? 1 : 0));
    } else if (info == DYNSEL_TASK_WITHDRAWN && turn != 0 && turn == known->turns) {
        known->turns--; /* a run that did not take place had no turn */
    }
}

static void report(dynsel_policy *base, const dynsel_selection *selection,
                   dynsel_execution_info info, uint64_t value)
{
    dynsel_auto_tune_policy *policy = (dynsel_auto_tune_policy *)base;
    const uint32_t index = selection->index;
    uint32_t *load = &policy->loads[index].value;
    if (info == DYNSEL_TASK_SUBMISSION) {
        (*load)++;
        policy->untracked.value += selection->notes[0] == 0 ? 1 : 0;
    } else if (info != DYNSEL_TASK_TIME && *load != 0) {
        (*load)--;
    }
    dynsel_tuned_task *entry = entry_of(policy, selection);
    if (entry != NULL) {
        entry->used = ++policy->clock;
        learn_of(&entry->resources[index], selection->notes[0] >> NOTE_TURN_SHIFT, info, value);
    }
}

static const dynsel_policy_ops ops = {.name = DYNSEL_POLICY_NAME("auto_tune"),
                                      .needs = DYNSEL_AUTO_TUNE_NEEDS,
                                      .try_select = try_select,
                                      .report = report,
                                      DYNSEL_HEARS_TIMES};

dynsel_status dynsel_auto_tune_init(dynsel_auto_tune_policy *policy, const dynsel_options *options,
                                    uint64_t resample_interval_ns)
{
    if (CONFIG_DYNSEL_ERROR_TEXTS && policy == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the policy is NULL");
    }
    const dynsel_status status = dynsel_policy_init_at((dynsel_policy *)policy, &ops, options, 0);
    if (status == DYNSEL_OK) {
        policy->resample_interval_ns = resample_interval_ns;
        (void)__builtin_memset((char *)policy + LEARNED_AT, 0, sizeof *policy - LEARNED_AT);
    }
    return status;
}

uint32_t dynsel_auto_tune_untracked(const dynsel_auto_tune_policy *policy)
{
    return policy != NULL ? policy->untracked.value : 0;
}
