/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trial runs: of resources whose time for a kind of task is not known, or known from a learned
 * table alone where something is compiled first; and now and then of those that have lost. They
 * cost no more than the kind has earned.
 */
#include "policies/earliest_finish_sight.h"

enum {
    MOST_TRIALS = 4 /* in a row that brought no time */
};

/* The smallest amounts first, where amounts tell the time: what is too slow there shows it for the
 * least price. */
static bool is_small(const dynsel_finish_sight *s)
{
    if (!dynsel_sight_amounts_tell(&s->kinds->root->resources[s->best])) {
        return true;
    }
    const uint32_t smallest = dynsel_word_load_relaxed(&s->kinds->root->smallest);
    return s->amount < smallest || dynsel_finish_apart(s->amount, smallest) < DYNSEL_LOG2_ONE / 2;
}

static bool may_be_tried(const dynsel_finish_sight *s, uint32_t index)
{
    const dynsel_finish_times *times = &s->kinds->root->resources[index];
    return dynsel_finish_is_in(s->candidates | s->cold, index) &&
           dynsel_word_load_relaxed(&times->unfinished) == 0 &&
           dynsel_word_load_relaxed(&times->trials) < MOST_TRIALS;
}

/* A run whose time is not known, rather too long than too short, unless the backend knows it. What
 * other tasks of the id took there counts as much as the speed of the resource, even if amounts do
 * not tell the time. */
DYNSEL_RARE static uint64_t guessed_run_ns(const dynsel_finish_sight *s, uint32_t index)
{
    const uint64_t predicted_ns =
        dynsel_word_load_relaxed(&s->kinds->own->resources[index].samples) == 0
            ? dynsel_sight_predicted_by_backend(s, index)
            : 0;
    if (predicted_ns != 0) {
        return predicted_ns;
    }
    const dynsel_finish_times *root = &s->kinds->root->resources[index];
    const uint64_t guess_ns = dynsel_finish_guess(s->policy, index, s->fastest, s->fastest_ns,
                                                  dynsel_sight_work_items(s));
    const uint64_t first_ns = dynsel_sight_known_run_ns(s, index, true);
    if (dynsel_word_load_relaxed(&s->kinds->own->resources[index].samples) != 0) {
        return dynsel_finish_lower(first_ns, guess_ns);
    }
    if (first_ns == 0) {
        return guess_ns;
    }
    const int32_t error = (int32_t)dynsel_word_load_relaxed(&root->error);
    const int32_t mean = (dynsel_log2(guess_ns) + dynsel_log2(first_ns) + 2 * error) / 2;
    return dynsel_times_power(1, mean, DYNSEL_FINISH_LONGEST_NS);
}

/* What a trial run costs more than the best choice. Data come back afterwards. The best run may be
 * known from a first time, which is longer than what its cost was estimated with. */
DYNSEL_RARE static uint64_t loss_ns(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns)
{
    const uint64_t later_ns = dynsel_sight_ahead_ns(s, s->best, s->best_run_ns);
    const uint64_t best_ns = (s->best_cost_ns > later_ns ? s->best_cost_ns - later_ns : 0) +
                             dynsel_finish_start_ns(s->policy, s->best);
    const uint64_t end_ns =
        dynsel_sight_end_ns(s, index, run_ns, dynsel_sight_whole_ns(s, index, run_ns)) +
        dynsel_sight_copy_ns(s, index) + dynsel_finish_start_ns(s->policy, index);
    return end_ns > best_ns ? end_ns - best_ns : 0;
}

static uint64_t credit_ns(const dynsel_finish_sight *s)
{
    const int32_t credit = (int32_t)dynsel_word_load_relaxed(&s->kinds->own->credit);
    return credit > 0 ? dynsel_finish_ns((uint32_t)credit) : 0;
}

/* What all runs of the kind would have taken less on a resource that is guessed to be faster. */
DYNSEL_RARE static uint64_t missed_ns(const dynsel_finish_sight *s, uint64_t guess_ns)
{
    const uint64_t runs_ns = dynsel_finish_ns(dynsel_word_load_relaxed(&s->kinds->own->earned)) *
                             DYNSEL_FINISH_EARNED_SHARE;
    return guess_ns < s->fastest_ns
               ? dynsel_in_proportion(runs_ns, s->fastest_ns - guess_ns, s->fastest_ns, UINT64_MAX)
               : 0;
}

/* The cheapest resource without a time, with a first one that is doubted, or that is left out
 * because it would compile, whose trial run the credit allows; what does not compile comes first. A
 * resource that never ran anything as short as the best run is out, and so is, for large amounts,
 * one that has not run small ones; but not where the work before runs, which saves a hand-over. */
DYNSEL_RARE uint32_t dynsel_sight_find_first_trial(const dynsel_finish_sight *s, uint64_t *run_ns)
{
    const uint64_t credit = credit_ns(s);
    const bool small = is_small(s);
    uint32_t found = DYNSEL_FINISH_NO_RESOURCE;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t known_ns = dynsel_sight_known_run_ns(s, i, false);
        if (i == s->best || !may_be_tried(s, i) ||
            (known_ns != 0 && !dynsel_finish_is_in(s->cold | s->doubted, i))) {
            continue;
        }
        const bool is_too_short = dynsel_finish_shortest_ns(&s->policy->states[i]) > s->fastest_ns;
        const bool is_too_large =
            !small && dynsel_word_load_relaxed(&s->kinds->root->resources[i].samples) < 2;
        if ((is_too_short || is_too_large) && i != s->ready_on &&
            !dynsel_finish_is_in(s->doubted, i)) {
            continue;
        }
        const bool is_told = known_ns != 0 && !dynsel_finish_is_in(s->doubted, i);
        const uint64_t guess_ns = is_told ? known_ns : guessed_run_ns(s, i);
        const uint64_t loss =
            loss_ns(s, i, guess_ns) + dynsel_word_load_relaxed(&s->policy->first_starts[i]);
        const uint64_t rank = dynsel_sight_compiles(s, i) ? loss + DYNSEL_FINISH_LONGEST_NS : loss;
        if (((credit != 0 && loss <= credit) || loss < missed_ns(s, guess_ns)) && rank < least) {
            least = rank;
            found = i;
            *run_ns = guess_ns;
        }
    }
    return found;
}

/* A resource with a time, if a part of its share allows another run. */
DYNSEL_RARE uint32_t dynsel_sight_find_further_trial(const dynsel_finish_sight *s, uint64_t *run_ns)
{
    const uint64_t credit = credit_ns(s);
    for (uint32_t i = 0; credit != 0 && i < s->count; i++) {
        if (i == s->best || !may_be_tried(s, i) || dynsel_finish_is_in(s->cold, i)) {
            continue;
        }
        const uint64_t time_ns = dynsel_sight_known_run_ns(s, i, false);
        const uint32_t price =
            dynsel_finish_price(dynsel_word_load_relaxed(&s->kinds->own->resources[i].samples));
        const uint64_t share = dynsel_finish_ns(dynsel_finish_unspent(s->kinds->own, i)) / s->count;
        if (time_ns != 0 && loss_ns(s, i, time_ns) <= dynsel_finish_lower(credit, share) / price) {
            *run_ns = time_ns;
            return i;
        }
    }
    return DYNSEL_FINISH_NO_RESOURCE;
}
