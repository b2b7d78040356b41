/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of one kind of task.
 *
 * With exploration the estimate is the median of the last three times, so that neither a spike nor
 * a lucky run decides alone; of two the lower, because times are far more often too long than too
 * short. Without exploration it is the mean, as in the seed.
 */
#include "policies/auto_tune_parts.h"
#include "policy/after_fork.h"
#include "port/pause.h"

/* Of all together, beyond which the counts are halved: after months of runs of a microsecond. */
#define MOST_COUNTED ((uint32_t)1 << 31)

#if CONFIG_DYNSEL_CONTEXT_THREADS

void dynsel_tuned_lock(dynsel_tuned_task *entry)
{
    for (uint32_t round = 0; !dynsel_tuned_try_lock(entry); round++) {
        dynsel_pause(round);
    }
}

/* A lock that was taken before a fork() is free in the child: its holder stayed with the parent,
 * and at most one time is lost. Zero: free. */
bool dynsel_tuned_try_lock(dynsel_tuned_task *entry)
{
    const uint32_t process = dynsel_fork_depth() + 1;
    uint32_t holder = dynsel_word_load_relaxed(&entry->lock);
    return holder != process && dynsel_word_swap(&entry->lock, &holder, process);
}

void dynsel_tuned_unlock(dynsel_tuned_task *entry)
{
    dynsel_word_store_release(&entry->lock, 0);
}

#endif

static void publish(dynsel_tuned_task *entry, uint32_t round, uint32_t state)
{
    const uint32_t best = entry->best == DYNSEL_TUNED_NO_RESOURCE ? 0 : entry->best;
    dynsel_word_store_release(&entry->word, round << DYNSEL_TUNED_ROUND_SHIFT |
                                                best << DYNSEL_TUNED_BEST_SHIFT | state);
}

void dynsel_tuned_publish(dynsel_tuned_task *entry, uint32_t state)
{
    publish(entry, dynsel_tuned_round(dynsel_word_load_relaxed(&entry->word)), state);
}

static void note_the_time(const dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry)
{
    if (policy->resample_interval_ns != DYNSEL_NEVER_RESAMPLE) {
        const uint64_t now = dynsel_traced_clock(&policy->policy);
        dynsel_word_store_relaxed(&entry->started[0], (uint32_t)now);
        dynsel_word_store_relaxed(&entry->started[1], (uint32_t)(now >> 32));
    }
}

void dynsel_tuned_begin(const dynsel_auto_tune_policy *policy, dynsel_tuned_task *entry,
                        uint32_t round)
{
    const uint32_t count = CONFIG_DYNSEL_RESOURCE_SETS ? (uint32_t)CONFIG_DYNSEL_MAX_RESOURCES
                                                       : dynsel_policy_count(&policy->policy);
    for (uint32_t i = 0; i < count; i++) { /* those that are added later, too */
        const uint16_t unfinished = entry->resources[i].unfinished;
        entry->resources[i] = (dynsel_tuned_resource){.unfinished = unfinished};
        for (uint32_t k = 0; k < DYNSEL_TUNED_WINDOW && DYNSEL_TUNED_EXPLORES; k++) {
            entry->resources[i].times[k] = DYNSEL_TUNED_UNKNOWN;
        }
    }
    entry->best = DYNSEL_TUNED_NO_RESOURCE;
    entry->tuned = false;
    entry->wait = 1;
    entry->pause = DYNSEL_TUNED_FIRST_PAUSE;
    entry->runs = 0;
    note_the_time(policy, entry);
    publish(entry, round, DYNSEL_TUNED_OPEN);
}

/* Without the lock the two halves may be of different rounds: who acts on it asks again with it. */
bool dynsel_tuned_is_over(const dynsel_auto_tune_policy *policy, const dynsel_tuned_task *entry)
{
    if (policy->resample_interval_ns == DYNSEL_NEVER_RESAMPLE) {
        return false;
    }
    const uint64_t started = dynsel_word_load_relaxed(&entry->started[0]) |
                             (uint64_t)dynsel_word_load_relaxed(&entry->started[1]) << 32;
    return dynsel_traced_clock(&policy->policy) - started >= policy->resample_interval_ns;
}

static dynsel_tuned_time lowest(const dynsel_tuned_time *times)
{
    return dynsel_lower(dynsel_lower(times[0], times[1]), times[2]);
}

static dynsel_tuned_time median(const dynsel_tuned_time *times)
{
    const dynsel_tuned_time low = dynsel_lower(times[0], times[1]);
    const dynsel_tuned_time high = times[0] < times[1] ? times[1] : times[0];
    return times[2] < low ? low : dynsel_lower(high, times[2]);
}

/* By at most DYNSEL_TUNED_MOST_RUNS, in four digits of 16 bits: machines of 32 bits have no 64-bit
 * division. */
static dynsel_tuned_time divided(uint64_t time, uint32_t runs)
{
    uint64_t quotient = 0;
    uint32_t rest = 0;
    for (unsigned digit = 4; digit-- > 0;) {
        const uint32_t part = rest << 16 | (uint32_t)(time >> 16 * digit & 0xffff);
        quotient = quotient << 16 | part / runs;
        rest = part % runs;
    }
    return (dynsel_tuned_time)quotient;
}

dynsel_tuned_time dynsel_tuned_estimate(const dynsel_tuned_resource *times)
{
    if (times->samples == 0) {
        return DYNSEL_TUNED_UNKNOWN;
    }
    if (!DYNSEL_TUNED_EXPLORES) {
        return divided(times->times[0], times->runs);
    }
    if (times->samples < DYNSEL_TUNED_WINDOW) {
        return times->samples == 1 ? times->times[0]
                                   : dynsel_lower(times->times[0], times->times[1]);
    }
    return median(times->times);
}

dynsel_tuned_time dynsel_tuned_price(const dynsel_tuned_resource *times)
{
    const dynsel_tuned_time low = lowest(times->times);
    if (times->samples < DYNSEL_TUNED_WINDOW) {
        return low;
    }
    const dynsel_tuned_time middle = median(times->times);
    return middle / 2 <= low ? middle : low;
}

dynsel_tuned_time dynsel_tuned_incumbent_time(const dynsel_tuned_resource *times)
{
    return DYNSEL_TUNED_EXPLORES && times->samples >= DYNSEL_TUNED_WINDOW
               ? dynsel_tuned_price(times)
               : dynsel_tuned_estimate(times);
}

dynsel_tuned_time dynsel_tuned_candidate_time(const dynsel_tuned_resource *times)
{
    return times->samples < DYNSEL_TUNED_WINDOW
               ? lowest(times->times)
               : times->times[(times->samples + 2u) % DYNSEL_TUNED_WINDOW];
}

/* Rounded up, so that no expensive run is ever forgotten: it would be affordable again. */
static void halve_counts(dynsel_tuned_task *entry)
{
    entry->runs = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        entry->resources[i].runs -= entry->resources[i].runs / 2;
        entry->runs += entry->resources[i].runs;
    }
}

void dynsel_tuned_count_runs(dynsel_tuned_task *entry, uint32_t index, uint32_t runs)
{
    entry->resources[index].runs += runs;
    entry->runs += runs;
    if (entry->runs > MOST_COUNTED) {
        halve_counts(entry);
    }
}

void dynsel_tuned_reset(dynsel_tuned_resource *times)
{
    times->times[0] = 0;
    times->times[1] = 0;
    times->times[2] = DYNSEL_TUNED_UNKNOWN;
    times->samples = 0;
    dynsel_tuned_forget_runs(times);
}

/* Whether the time of a run is a reason to look closely again. */
static bool is_remarkable(const dynsel_tuned_task *entry, uint32_t index, dynsel_tuned_time time)
{
    const dynsel_tuned_time estimate = dynsel_tuned_incumbent_time(&entry->resources[index]);
    return index != entry->best || estimate > entry->bar ||
           (DYNSEL_TUNED_EXPLORES && (entry->wait == 0 || time / 2 > estimate));
}

void dynsel_tuned_look_again(dynsel_tuned_task *entry, uint32_t index, dynsel_tuned_time time)
{
    const uint32_t word = dynsel_word_load_relaxed(&entry->word);
    if (dynsel_tuned_state(word) == DYNSEL_TUNED_SETTLED && is_remarkable(entry, index, time)) {
        dynsel_tuned_publish(entry, DYNSEL_TUNED_OPEN);
    }
}
