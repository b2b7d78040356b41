/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice for a kind of task that is not settled, or whose best cannot be had. All under the
 * lock of its entry.
 */
#include "base/fail.h"
#include "policies/auto_tune_parts.h"
#include "policies/device_class.h"

enum {
    WARM_UPS = 1,
    FIRST_TURNS = 2,
    MOST_TURNS = DYNSEL_TUNED_EXPLORES ? 4 : 2, /* in a row for a resource whose runs fail */
    MARGIN_SHIFT = 5,
    LONGEST_PAUSE = 5,   /* as a power of two: 32 timed runs, 512 of all */
    CONFIRMED_SHARE = 2, /* as a power of two: who has lost for certain gets a quarter */
    SHARE_SHIFT = 10,
    ROBUST_SAMPLES = 3, /* times, from which on one wrong time does not change the estimate */
    LEAST_TIMES = 50,   /* what timing takes, work must take in the meantime: at most 2 percent */
    MOST_RARITY = 3     /* one in 128 */
};

/* The result of a look at all resources. */
typedef struct sight {
    dynsel_auto_tune_policy *policy;
    dynsel_tuned_task *entry;
    const dynsel_task *task;
    uint32_t candidates;
    uint32_t any;    /* the last candidate */
    uint32_t turn;   /* whose turn it is */
    uint32_t best;   /* the fastest known candidate */
    bool is_waiting; /* some time is not known yet, but will be */
} sight;

static bool is_candidate(const sight *s, uint32_t index)
{
    return dynsel_is_candidate(&s->policy->policy, index, s->task);
}

static dynsel_tuned_time estimate(const sight *s, uint32_t index)
{
    return dynsel_tuned_estimate(&s->entry->resources[index]);
}

/* Whether `time` is less by the margin; before the first result, less at all. */
static bool is_less(const sight *s, dynsel_tuned_time time, dynsel_tuned_time than)
{
    if (DYNSEL_TUNED_EXPLORES && s->entry->tuned) {
        time += time >> MARGIN_SHIFT;
    }
    return time < than;
}

/* It has turns left while its time is not known: two, then one at a time when a run brought none.
 */
static bool needs_turn(const dynsel_tuned_resource *times)
{
    return times->turns < FIRST_TURNS ||
           (times->samples == 0 && times->unfinished == 0 && times->turns < MOST_TURNS);
}

/* The turn goes to the resource with the fewest turns, from the lowest index on: two rounds, unless
 * resources come and go. */
static void look_at(sight *s, uint32_t index, dynsel_tuned_time *least)
{
    const dynsel_tuned_resource *times = &s->entry->resources[index];
    s->candidates++;
    s->any = index;
    if (needs_turn(times) && (s->turn == DYNSEL_TUNED_NO_RESOURCE ||
                              times->turns < s->entry->resources[s->turn].turns)) {
        s->turn = index;
    }
    s->is_waiting |= times->samples == 0 && times->unfinished != 0;
    const dynsel_tuned_time time = estimate(s, index);
    if (time < *least) {
        *least = time;
        s->best = index;
    }
}

static dynsel_tuned_time incumbent_time(const sight *s, uint32_t index)
{
    return dynsel_tuned_incumbent_time(&s->entry->resources[index]);
}

/* Runs on the best while it was the best do not count as exploration. */
static void forgive_runs(dynsel_tuned_task *entry, uint32_t index)
{
    if (DYNSEL_TUNED_EXPLORES && entry->tuned) {
        entry->runs -= entry->resources[index].runs;
        entry->resources[index].runs = 0;
    }
}

/* The lowest estimate of the resources other than `index`: of candidates, or of all. */
static dynsel_tuned_time lowest_of_others(const sight *s, uint32_t index, bool only_candidates)
{
    dynsel_tuned_time low = DYNSEL_TUNED_UNKNOWN;
    for (uint32_t i = 0; i < dynsel_policy_count(&s->policy->policy); i++) {
        if (i != index && (!only_candidates || is_candidate(s, i))) {
            low = dynsel_lower(low, estimate(s, i));
        }
    }
    return low;
}

/* Resets the times of an incumbent that has become much slower, if another resource may be faster.
 * In any case the others are tried soon. */
static void reset_incumbent(sight *s)
{
    dynsel_tuned_task *entry = s->entry;
    if (!DYNSEL_TUNED_EXPLORES || !entry->tuned || entry->resources[entry->best].samples == 0) {
        return;
    }
    const dynsel_tuned_time now = incumbent_time(s, entry->best);
    if (now <= entry->best_time + entry->best_time / 2) {
        return;
    }
    entry->best_time = now;
    if (lowest_of_others(s, entry->best, true) < now) {
        dynsel_tuned_reset(&entry->resources[entry->best]);
        entry->best_time = DYNSEL_TUNED_LONGEST;
    }
    entry->wait = 1;
    entry->pause = DYNSEL_TUNED_FIRST_PAUSE;
}

/* The incumbent stays unless the fastest is better by the margin. */
static void keep_incumbent(sight *s, dynsel_tuned_time least)
{
    const uint32_t before = s->entry->best;
    if (s->best == DYNSEL_TUNED_NO_RESOURCE || s->best == before) {
        return;
    }
    if (before != DYNSEL_TUNED_NO_RESOURCE && is_candidate(s, before)) {
        const dynsel_tuned_time held = incumbent_time(s, before);
        if (held != DYNSEL_TUNED_UNKNOWN && !is_less(s, least, held)) {
            s->best = before;
            return;
        }
        forgive_runs(s->entry, before);
    }
    s->entry->best = (uint8_t)s->best;
}

static void look(sight *s)
{
    dynsel_tuned_time least = DYNSEL_TUNED_UNKNOWN;
    s->candidates = 0;
    s->turn = DYNSEL_TUNED_NO_RESOURCE;
    s->best = DYNSEL_TUNED_NO_RESOURCE;
    s->is_waiting = false;
    reset_incumbent(s);
    for (uint32_t i = 0; i < dynsel_policy_count(&s->policy->policy); i++) {
        if (is_candidate(s, i)) {
            look_at(s, i, &least);
        }
    }
    keep_incumbent(s, least);
}

/* The time of `runs` runs; UINT64_MAX: it overflows. Short times never do: a kind of task has at
 * most 2^31 runs, so the sum for all resources has at most 62 bits. */
static uint64_t times_runs(dynsel_tuned_time time, uint32_t runs)
{
    if (CONFIG_DYNSEL_AUTO_TUNE_SHORT_TIMES) {
        return (uint64_t)time * runs;
    }
    const uint64_t upper = ((uint64_t)time >> 32) * runs;
    const uint64_t lower = (time & UINT32_MAX) * (uint64_t)runs;
    const uint64_t middle = upper + (lower >> 32);
    return middle <= UINT32_MAX ? middle << 32 | (lower & UINT32_MAX) : UINT64_MAX;
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
    return CONFIG_DYNSEL_AUTO_TUNE_SHORT_TIMES || a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* The time spent so far on exploration, and the allowed time. */
static uint64_t spent(const sight *s, dynsel_tuned_time best_time)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < dynsel_policy_count(&s->policy->policy); i++) {
        const dynsel_tuned_resource *times = &s->entry->resources[i];
        const dynsel_tuned_time price = dynsel_tuned_price(times);
        if (price != DYNSEL_TUNED_UNKNOWN && price > best_time) {
            sum = sum_of(sum, times_runs(price - best_time, times->runs));
        }
    }
    return sum;
}

static uint64_t allowance(const sight *s, dynsel_tuned_time best_time)
{
    return (times_runs(best_time, s->entry->runs) >> SHARE_SHIFT) * DYNSEL_TUNED_SHARE;
}

static bool is_affordable(const sight *s, const dynsel_tuned_resource *times,
                          dynsel_tuned_time best_time)
{
    const dynsel_tuned_time price = dynsel_tuned_price(times);
    const dynsel_tuned_time extra = price > best_time ? price - best_time : 0;
    uint64_t allowed = allowance(s, best_time);
    if (times->samples >= ROBUST_SAMPLES) {
        allowed >>= CONFIRMED_SHARE;
    }
    return sum_of(spent(s, best_time), extra) <= allowed;
}

static bool may_try(const sight *s, uint32_t index, dynsel_tuned_time best_time)
{
    const dynsel_tuned_resource *times = &s->entry->resources[index];
    if (index == s->best || times->samples == 0 || times->unfinished != 0 ||
        times->turns >= MOST_TURNS || !is_candidate(s, index)) {
        return false;
    }
    return is_less(s, dynsel_tuned_candidate_time(times), best_time) ||
           (s->entry->wait == 0 && is_affordable(s, times, best_time));
}

/* The resource that gets a trial run instead of the best, if any. */
static uint32_t find_trial(const sight *s, dynsel_tuned_time best_time)
{
    const uint32_t count = dynsel_policy_count(&s->policy->policy);
    for (uint32_t k = 1; DYNSEL_TUNED_EXPLORES && k <= count; k++) {
        const uint32_t index = (s->entry->explored + k) % count;
        if (may_try(s, index, best_time)) {
            return index;
        }
    }
    return DYNSEL_TUNED_NO_RESOURCE;
}

/* The lowest time of the others, past which a change pays. Resources out of service count too, so
 * that a reinstated one is noticed. */
static dynsel_tuned_time bar(const sight *s)
{
    const dynsel_tuned_time low = lowest_of_others(s, s->best, false);
    return low == DYNSEL_TUNED_UNKNOWN || !DYNSEL_TUNED_EXPLORES ? low
                                                                 : low + (low >> MARGIN_SHIFT);
}

/* How rarely the settled kind is timed, where that takes long beside its work. */
static void choose_rarity(const sight *s, dynsel_tuned_time best_time)
{
#if CONFIG_DYNSEL_CUSTOM_BACKENDS && !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    const uint64_t timing_ns = s->policy->policy.resources[s->best].backend->ops->timing_ns;
    const uint64_t least_ns = timing_ns * LEAST_TIMES >> DYNSEL_TUNED_TIMED_BITS;
    const uint64_t time_ns = (uint64_t)best_time << DYNSEL_TUNED_STEP_SHIFT;
    uint32_t rarity = 0;
    while (rarity < MOST_RARITY && least_ns >> rarity > time_ns) {
        rarity++;
    }
    dynsel_tuned_task *const entry = s->entry;
    dynsel_word_store_relaxed(&entry->rarity, rarity);
#else
    (void)s;
    (void)best_time;
#endif
}

/* Publishes the result: settled, if all times are known and the best is confirmed. */
static void settle(const sight *s, dynsel_tuned_time best_time)
{
    dynsel_tuned_task *entry = s->entry;
    const dynsel_tuned_resource *times = &entry->resources[s->best];
    uint32_t state = DYNSEL_TUNED_OPEN;
    if (!s->is_waiting &&
        (!DYNSEL_TUNED_EXPLORES || (times->samples >= ROBUST_SAMPLES &&
                                    dynsel_tuned_candidate_time(times) / 2 <= best_time))) {
        entry->tuned = true;
        entry->best_time = best_time;
        entry->bar = bar(s);
        choose_rarity(s, best_time);
        state = DYNSEL_TUNED_SETTLED;
    }
    dynsel_tuned_publish(entry, state);
}

static void give_turn(const sight *s, dynsel_selection *selection)
{
    const dynsel_tuned_resource *times = &s->entry->resources[s->turn];
    selection->notes[0] |= DYNSEL_NOTE_TURN;
    selection->notes[0] |= times->turns < WARM_UPS ? DYNSEL_NOTE_WARM_UP : 0u;
    selection->index = s->turn;
    selection->reason = DYNSEL_REASON_PROFILING;
}

/* After a full look, the next try comes after a longer pause. */
static void take_look(dynsel_tuned_task *entry)
{
    if (entry->wait == 0) {
        entry->wait = (uint8_t)(1u << entry->pause);
        entry->pause = (uint8_t)(entry->pause < LONGEST_PAUSE ? entry->pause + 1 : LONGEST_PAUSE);
    }
}

/* Of several selections for the same first turn only one counts. */
static void take_turn(dynsel_tuned_resource *times, bool is_warm_up)
{
    if (times->turns != UINT8_MAX && (!is_warm_up || times->turns < WARM_UPS)) {
        times->turns++;
    }
}

void dynsel_tuned_take(dynsel_tuned_task *entry, const dynsel_selection *selection)
{
    if ((selection->notes[0] & DYNSEL_NOTE_TURN) != 0) {
        take_turn(&entry->resources[selection->index],
                  (selection->notes[0] & DYNSEL_NOTE_WARM_UP) != 0);
    }
    if (!DYNSEL_TUNED_EXPLORES) {
        return;
    }
    if (selection->reason != DYNSEL_REASON_PROFILING) {
        take_look(entry);
    }
    if (selection->reason == DYNSEL_REASON_EXPLORING) {
        entry->explored = (uint8_t)selection->index;
    }
    dynsel_tuned_count_runs(entry, selection->index, 1);
}

uint32_t dynsel_tuned_least_loaded(const dynsel_auto_tune_policy *policy, const dynsel_task *task,
                                   uint32_t first, uint32_t *candidates)
{
    uint32_t index = 0;
    uint32_t least = UINT32_MAX;
    *candidates = 0;
    uint32_t i = first;
    for (uint32_t k = 0; k < dynsel_policy_count(&policy->policy); k++) {
        if (dynsel_is_candidate(&policy->policy, i, task)) {
            const uint32_t load = dynsel_word_load_relaxed(&policy->loads[i]);
            if (load < least) {
                least = load;
                index = i;
            }
            (*candidates)++;
        }
        i = i + 1 < dynsel_policy_count(&policy->policy) ? i + 1 : 0;
    }
    return index;
}

/*
 * Where a run goes while no time is known: the first runs everywhere are out, or have failed. Many
 * more at once would wait for the slowest device, so the resources that are assumed to be the
 * fastest share them, by load. A resource whose runs failed comes last.
 */
static uint32_t assumed_fastest(const sight *s)
{
    uint32_t found = s->any;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < dynsel_policy_count(&s->policy->policy); i++) {
        if (!is_candidate(s, i)) {
            continue;
        }
        const uint32_t slowness = s->entry->resources[i].unfinished != 0
                                      ? dynsel_device_class_of(&s->policy->policy, i)
                                      : DYNSEL_CLASSES;
        const uint64_t rank =
            (uint64_t)slowness << 32 | dynsel_word_load_relaxed(&s->policy->loads[i]);
        if (rank < least) {
            least = rank;
            found = i;
        }
    }
    return found;
}

static void choose(sight *s, dynsel_selection *selection)
{
    selection->wants |= DYNSEL_TUNED_TIMES;
    selection->notes[0] |= dynsel_tuned_number_run(s->entry);
    if (s->turn != DYNSEL_TUNED_NO_RESOURCE) {
        give_turn(s, selection);
        return;
    }
    if (s->best == DYNSEL_TUNED_NO_RESOURCE) {
        selection->index = DYNSEL_TUNED_EXPLORES && DYNSEL_KNOWS_CLASSES
                               ? assumed_fastest(s)
                               : dynsel_tuned_least_loaded(s->policy, s->task, 0, &s->candidates);
        selection->reason = DYNSEL_REASON_PROFILING;
        return;
    }
    const dynsel_tuned_time best_time = incumbent_time(s, s->best);
    const uint32_t other = find_trial(s, best_time);
    const bool is_trial = other != DYNSEL_TUNED_NO_RESOURCE;
    selection->index = is_trial ? other : s->best;
    selection->reason = is_trial ? DYNSEL_REASON_EXPLORING : DYNSEL_REASON_BEST_KNOWN;
    selection->notes[0] |= is_trial ? DYNSEL_NOTE_TURN : 0u;
    if (!is_trial || selection->claims) {
        settle(s, best_time); /* else the trial is still offered if this selection is dropped */
    }
}

/* With one candidate nothing is learned. This is final only if the task has no other form, not if
 * other resources are out of service or lack aspects. */
static void choose_only(sight *s, dynsel_selection *selection)
{
    selection->index = s->any;
    selection->reason = (uint8_t)dynsel_policy_reason_of_only(&s->policy->policy, s->any, s->task);
    selection->wants = 0;
    for (uint32_t i = 0; i < dynsel_policy_count(&s->policy->policy); i++) {
        const dynsel_backend *backend = s->policy->policy.resources[i].backend;
        if (i != s->any && dynsel_function_for(s->task, backend) != NULL) {
            return;
        }
    }
    if (s->entry->best == DYNSEL_TUNED_NO_RESOURCE) {
        s->entry->best = (uint8_t)s->any;
        dynsel_tuned_publish(s->entry, DYNSEL_TUNED_ONLY);
    }
}

dynsel_status dynsel_tuned_choose(dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                                  const dynsel_task *task, dynsel_selection *selection)
{
    sight s = {.policy = policy, .entry = entry, .task = task};
    look(&s);
    if (s.turn == DYNSEL_TUNED_NO_RESOURCE && dynsel_tuned_is_over(policy, entry)) {
        const uint32_t round = dynsel_tuned_round(dynsel_word_load_relaxed(&entry->word));
        dynsel_tuned_begin(policy, entry, round + 1);
        look(&s);
    }
    if (s.candidates == 0) {
        return dynsel_policy_refuse(&policy->policy, task);
    }
    if (s.candidates == 1) {
        choose_only(&s, selection);
    } else {
        choose(&s, selection);
    }
    selection->notes[1] = dynsel_tuned_round(dynsel_word_load_relaxed(&entry->word));
    return DYNSEL_OK;
}
