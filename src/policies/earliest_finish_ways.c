/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether one resource alone is faster than all together, or all are without those that use all
 * processors of the host. Costs that nobody can predict decide that: what drivers take of the
 * program's processor, how long the system lets their threads wait for one, and how much a device
 * on all processors slows down the threads beside it. So the program's own speed is measured, in
 * windows of some work, and a way that may be faster is tried for a window now and then. The faster
 * way stays.
 */
#include "policies/earliest_finish_sight.h"

/* A window ends where the program comes back from a pause, after FEW_PIECES, or after LEAST_PIECES
 * and FEW_UNITS; after up to 2^MOST_WIDTH times as many where windows differ by a WIDER_SHARE. Of a
 * program that has not paused for FLOW_PIECES it ends after MANY_PIECES and MANY_UNITS, or else
 * after LONG_UNITS, if less than a GROWTH_SHARE of its work is in flight in addition. */
enum {
    FEW_PIECES = 32,
    LEAST_PIECES = 8,
    FEW_UNITS = 1 << 16, /* 1 ms */
    MOST_WIDTH = 5,
    WIDER_SHARE = 4,
    NARROWER_SHARE = 16,
    FLOW_PIECES = 4096,
    MANY_PIECES = 256,
    MANY_UNITS = 1 << 17, /* 2 ms */
    LONG_UNITS = 1 << 27, /* 2 s */
    GROWTH_SHARE = 8,
    DOUBTFUL_SHARE = 2,   /* less than a half */
    PAUSE_UNITS = 1 << 8, /* 4 us */
    LEAD = 64             /* pieces in no window, while the last way's work is in flight */
};

enum {
    RATE_ONE = 1024, /* the rate of work that takes as long as was known first */
    MOST_RATE = INT32_MAX,
    MOST_LEARNING = 12, /* windows before a try, while resources get first trial runs */
    FIRST_PAUSE = 8,    /* windows until a way is tried again */
    MOST_PAUSE = 512,
    LOSS_SHARE = 32,  /* a try that took as long as two windows is repeated after so many */
    GAIN_SHARE = 8,   /* a resource is tried if it should take less than 7 / 8 of the time, */
    DOUBT_SHARE = 2,  /* or than half of it, if another one gets all work, */
    MARGIN_SHARE = 20 /* and taken if it is better by 1 / 20 */
};

/* A resource that gets this part of the work anyway is tried if it should take less than 31 / 32 of
 * the time, and taken if it is not worse by that: a choice among several takes longer. */
enum { MOSTLY = 15, OF_MOSTLY = 16, NEARLY_SHARE = 32 };

/* What a resource needs for the work of a window, where that is no time in units: some runs are not
 * known, or all are, and some longer than windows can measure. */
#define NOT_KNOWN UINT32_MAX
#define TOO_LONG  (UINT32_MAX - 1)

/* Of the clock in units of 16 ns, which wraps after 68 s. */
static uint32_t units(uint64_t ns)
{
    return (uint32_t)(ns >> DYNSEL_FINISH_UNIT_SHIFT);
}

/* What windows cannot measure, and programs need not save. */
static bool is_long(uint64_t run_ns)
{
    return run_ns >= DYNSEL_FINISH_LONGEST_UNITS_NS;
}

/* Of a duration: 1 s at most. */
static uint32_t short_units(uint64_t ns)
{
    return units(dynsel_finish_lower(ns, DYNSEL_FINISH_LONGEST_UNITS_NS));
}

/* Counts of threads that choose at the same time may be lost; a window is measured wrong then. */
static void add(dynsel_word *word, uint32_t more)
{
    const uint32_t before = dynsel_word_load_relaxed(word);
    dynsel_word_store_relaxed(word, more < UINT32_MAX - before ? before + more : UINT32_MAX);
}

static void add_needs(dynsel_word *needs, uint32_t more)
{
    const uint32_t before = dynsel_word_load_relaxed(needs);
    const uint32_t larger = before > more ? before : more;
    const uint32_t sum = dynsel_finish_sum(before, more);
    const uint32_t time = sum < TOO_LONG ? sum : TOO_LONG;
    dynsel_word_store_relaxed(needs, larger < TOO_LONG ? time : larger);
}

/* Of a point; of the amount 0 as of 1. */
static uint64_t amount_at(uint32_t compact)
{
    return compact > 1 ? dynsel_expand(compact - 1) : 1;
}

/* How much work it is: the run that was first known of its kind, in proportion to the amount. Later
 * times of the kind depend on what else runs. 0: none is known. */
static uint32_t work_of(const dynsel_finish_sight *s, uint64_t run_ns)
{
    dynsel_finish_kind *const kind = s->kinds->own;
    const uint32_t work = dynsel_word_load_relaxed(&kind->work);
    const uint32_t amount = dynsel_word_load_relaxed(&kind->work_amount);
    if (work == 0 && run_ns != 0) {
        const uint32_t first = short_units(run_ns);
        dynsel_word_store_relaxed(&kind->work_amount, s->amount);
        dynsel_word_store_relaxed(&kind->work, first + 1);
        return first + 1;
    }
    return amount == s->amount ? work
                               : (uint32_t)dynsel_in_proportion(work, amount_at(s->amount),
                                                                amount_at(amount), LONG_UNITS);
}

/*
 * The ways: way 0 shares the work among all resources, way i gives all of it to resource i - 1, and
 * the last one shares it among those that are not on all processors of the host.
 */

enum { TOGETHER = DYNSEL_FINISH_TOGETHER, WITHOUT_PROCESSORS = DYNSEL_FINISH_WITHOUT_PROCESSORS };

static uint32_t rate_of(const dynsel_earliest_finish_policy *policy, uint32_t way)
{
    return dynsel_word_load_relaxed(&policy->ways[way].rate);
}

/* Where the windows of a program differ, they are made wider, and narrower again. The rate of a way
 * that is tried may have been another one long ago. */
static void learn_rate(dynsel_earliest_finish_policy *policy, uint32_t way, uint32_t rate)
{
    dynsel_finish_window *const window = &policy->window;
    const uint32_t before = rate_of(policy, way);
    const uint32_t apart = rate > before ? rate - before : before - rate;
    const uint32_t width = dynsel_word_load_relaxed(&window->width);
    const bool is_first = before == 0 || dynsel_word_load_relaxed(&window->learned) == 0;
    if (is_first || dynsel_word_load_relaxed(&policy->tries_from) != 0) {
        dynsel_word_store_relaxed(&policy->ways[way].rate, rate);
        return;
    }
    if (apart > before / WIDER_SHARE && width < MOST_WIDTH) {
        dynsel_word_store_relaxed(&window->width, width + 1);
    }
    if (apart < before / NARROWER_SHARE && width != 0) {
        dynsel_word_store_relaxed(&window->width, width - 1);
    }
    dynsel_word_store_relaxed(&policy->ways[way].rate, before / 2 + (rate + 1) / 2);
}

/* Whether the choice gives nearly all work to the resource of a way anyway. */
static bool has_most_anyway(const dynsel_earliest_finish_policy *policy, uint32_t way)
{
    return way != TOGETHER && dynsel_word_load_relaxed(&policy->mostly) == way;
}

/* Whether a way that is tried, with a rate, is better than the one before. */
static bool is_better(const dynsel_earliest_finish_policy *policy, uint32_t way, uint64_t rate,
                      uint32_t before)
{
    const uint64_t rate_before = rate_of(policy, before);
    if (before == TOGETHER && has_most_anyway(policy, way)) {
        return rate + rate / NEARLY_SHARE >= rate_before;
    }
    return rate > rate_before + rate_before / MARGIN_SHARE;
}

/* Whether a window was so slow that something else may have taken the time, and the next one tells:
 * a compilation for a trial run of the window before; or the threads of a device on all processors,
 * which wait actively for a while after its last work, where a try leaves it out. */
static bool is_doubtful(dynsel_earliest_finish_policy *policy, uint32_t way, uint64_t rate)
{
    dynsel_word *const doubted = &policy->window.doubted;
    const uint32_t from = dynsel_word_load_relaxed(&policy->tries_from);
    const bool is_slow = from == 0
                             ? rate < rate_of(policy, way) / DOUBTFUL_SHARE
                             : way == WITHOUT_PROCESSORS && !is_better(policy, way, rate, from - 1);
    const bool doubts = is_slow && dynsel_word_load_relaxed(doubted) == 0;
    dynsel_word_store_relaxed(doubted, doubts ? 1 : 0);
    return doubts;
}

/* A way was slower than another: it is tried again after twice as many windows as last time, and
 * after more if it lost much. What is predicted of like resources is as wrong. */
static void rest(dynsel_earliest_finish_policy *policy, uint32_t slower, uint32_t better)
{
    dynsel_finish_way *const way = &policy->ways[slower];
    const uint32_t pause = dynsel_word_load_relaxed(&way->pause);
    const uint32_t rate = rate_of(policy, slower);
    const uint32_t next = pause == 0 ? FIRST_PAUSE : pause < MOST_PAUSE ? 2 * pause : MOST_PAUSE;
    /* such a try has two windows if it is lost */
    const uint64_t share =
        slower == WITHOUT_PROCESSORS ? (uint64_t)2 * LOSS_SHARE : (uint64_t)LOSS_SHARE;
    const uint64_t times = rate_of(policy, better) * share / (rate != 0 ? rate : 1);
    const uint64_t lost = times > share ? times - share : 0;
    const uint32_t windows = lost > next ? (uint32_t)dynsel_finish_lower(lost, MOST_PAUSE) : next;
    dynsel_word_store_relaxed(&way->pause, next);
    dynsel_word_store_relaxed(&way->rest, windows);
    const uint32_t count =
        dynsel_finish_is_one_alone(slower) ? dynsel_policy_count(&policy->policy) : 0;
    for (uint32_t i = 1; i <= count; i++) {
        const bool is_like = dynsel_word_load_relaxed(&policy->states[i - 1].is.place) ==
                             dynsel_word_load_relaxed(&policy->states[slower - 1].is.place);
        if (is_like && i != better && dynsel_word_load_relaxed(&policy->ways[i].rest) < windows) {
            dynsel_word_store_relaxed(&policy->ways[i].rest, windows);
        }
    }
}

/* What one resource gets alone is chosen for without a look at what is expected of data. */
static void go(dynsel_earliest_finish_policy *policy, uint32_t way, uint32_t from)
{
    const uint32_t before = dynsel_word_load_relaxed(&policy->way);
    for (uint32_t i = 0; i < dynsel_policy_count(&policy->policy) && way != before; i++) {
        if (dynsel_finish_is_one_alone(way) || dynsel_finish_is_one_alone(before)) {
            dynsel_word_store_relaxed(&policy->states[i].is.expected, 0);
        }
    }
    dynsel_word_store_relaxed(&policy->window.doubted, 0);
    dynsel_word_store_relaxed(&policy->tries_from, from);
    dynsel_word_store_relaxed(&policy->way, way);
}

/* A window with all resources is over: those on all processors may be left out if their work takes
 * the others that are in service little time, as far as is known. */
static void note_who_may_be_left_out(const dynsel_finish_sight *s, uint32_t took)
{
    dynsel_earliest_finish_policy *const policy = s->policy;
    dynsel_finish_way *const way = &policy->ways[WITHOUT_PROCESSORS];
    const uint32_t needs = dynsel_word_load_relaxed(&way->needs);
    const dynsel_finish_set beside = s->all & dynsel_finish_beside(policy);
    uint32_t others = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        others += dynsel_finish_is_in(beside, i) ? 1 : 0;
    }
    const bool may_be =
        others > 1 && needs != 0 && needs < TOO_LONG && needs / others < took / GAIN_SHARE;
    dynsel_word_store_relaxed(&way->could, may_be ? MOST_RATE : 0);
}

/* The same: what each could do alone. Returns whether that is known of all. */
static bool note_what_could_be(dynsel_earliest_finish_policy *policy, uint64_t work)
{
    uint32_t mostly = TOGETHER;
    bool all_known = true;
    for (uint32_t i = 1; i <= dynsel_policy_count(&policy->policy); i++) {
        dynsel_finish_way *const way = &policy->ways[i];
        const uint64_t needs = dynsel_word_load_relaxed(&way->needs);
        const uint64_t rate = work * RATE_ONE / (needs != 0 ? needs : 1);
        dynsel_word_store_relaxed(&way->could, needs != 0 && needs < TOO_LONG
                                                   ? (uint32_t)dynsel_finish_lower(rate, MOST_RATE)
                                                   : 0);
        all_known = all_known &&
                    (needs != NOT_KNOWN || dynsel_health_is_removed(&policy->policy.queues[i - 1]));
        if ((uint64_t)dynsel_word_load_relaxed(&way->given) * OF_MOSTLY >= work * MOSTLY) {
            mostly = i;
        }
    }
    dynsel_word_store_relaxed(&policy->mostly, mostly);
    const bool doubts = dynsel_word_load_relaxed(&policy->window.doubts) != 0;
    dynsel_word_store_relaxed(&policy->strangers, all_known && !doubts ? 0 : 1);
    return all_known;
}

/* Which part of the time a resource must save to be tried: less where the choice gives it nearly
 * all work anyway, more where another one was faster than all together: known runs are the least
 * that it takes. */
static uint32_t least_gain(const dynsel_earliest_finish_policy *policy, uint32_t way, uint32_t now)
{
    if (dynsel_finish_is_one_alone(now) && !has_most_anyway(policy, now)) {
        return DOUBT_SHARE;
    }
    return has_most_anyway(policy, way) ? NEARLY_SHARE : GAIN_SHARE;
}

/* Whether a resource that got all work for the first time is slower than all were together: then
 * it was faster in a window with other work, or by chance. */
static bool was_overrated(const dynsel_earliest_finish_policy *policy, uint32_t way)
{
    const uint64_t rate = rate_of(policy, way);
    return way != TOGETHER &&
           dynsel_word_load_relaxed(&policy->ways[TOGETHER].pause) <= FIRST_PAUSE &&
           rate + rate / GAIN_SHARE < rate_of(policy, TOGETHER);
}

/* The way that is tried next, with the present one if none: that of all resources when it has
 * rested, else that without some of them, else that of a resource that should be much faster
 * alone. */
static uint32_t next_way(dynsel_earliest_finish_policy *policy, uint32_t now)
{
    const uint32_t resources = dynsel_policy_count(&policy->policy);
    uint32_t found = now;
    uint32_t most = 0;
    if (was_overrated(policy, now)) {
        dynsel_word_store_relaxed(&policy->ways[TOGETHER].rest, 0);
    }
    for (uint32_t i = 0; i <= WITHOUT_PROCESSORS; i = i == resources ? WITHOUT_PROCESSORS : i + 1) {
        dynsel_finish_way *const way = &policy->ways[i];
        const uint32_t left = dynsel_word_load_relaxed(&way->rest);
        const uint32_t could = i == TOGETHER ? MOST_RATE : dynsel_word_load_relaxed(&way->could);
        const uint32_t hoped = could - could / least_gain(policy, i, now);
        if (left != 0) {
            dynsel_word_store_relaxed(&way->rest, left - 1);
        }
        const bool fits = i != WITHOUT_PROCESSORS || now == TOGETHER;
        if (left == 0 && i != now && fits && could > most && hoped > rate_of(policy, now)) {
            most = could;
            found = i;
        }
    }
    return found;
}

/* A window is over whose rate is learned: the way of the next one. */
static void choose_way(dynsel_earliest_finish_policy *policy, uint32_t way)
{
    const uint32_t from = dynsel_word_load_relaxed(&policy->tries_from);
    const uint32_t pause = dynsel_word_load_relaxed(&policy->ways[way].pause);
    if (from != 0 && is_better(policy, way, rate_of(policy, way), from - 1)) {
        rest(policy, from - 1, way);
        dynsel_word_store_relaxed(&policy->ways[way].pause, pause / 2);
        go(policy, way, 0);
    } else if (from != 0) {
        rest(policy, way, from - 1);
        go(policy, from - 1, 0);
    } else {
        const uint32_t next = next_way(policy, way);
        go(policy, next, next != way ? way + 1 : 0);
    }
}

/*
 * The window.
 */

static void begin_window(dynsel_earliest_finish_policy *policy)
{
    dynsel_finish_window *const window = &policy->window;
    for (uint32_t i = 0; i < dynsel_policy_count(&policy->policy); i++) {
        dynsel_word_store_relaxed(&policy->ways[i + 1].needs, 0);
        dynsel_word_store_relaxed(&policy->ways[i + 1].given, 0);
    }
    dynsel_word_store_relaxed(&policy->ways[WITHOUT_PROCESSORS].needs, 0);
    dynsel_word_store_relaxed(&window->pieces, 0);
    dynsel_word_store_relaxed(&window->learns, 0);
    dynsel_word_store_relaxed(&window->tries, 0);
    dynsel_word_store_relaxed(&window->doubts, 0);
    dynsel_word_store_relaxed(&window->strays, 0);
    dynsel_word_store_relaxed(&window->work, 0);
    dynsel_word_store_relaxed(&window->took, 0);
    dynsel_word_store_relaxed(&window->ticks, 0);
}

/* The first window of a program is not its speed yet; and while resources that its kinds have not
 * run get trial runs, they may turn out to be faster. */
static bool has_learned(dynsel_finish_window *window, bool all_known)
{
    const uint32_t learned = dynsel_word_load_relaxed(&window->learned);
    const bool is_trying = !all_known && dynsel_word_load_relaxed(&window->tries) != 0;
    const uint32_t one_more = learned + (learned < MOST_LEARNING ? 1 : 0);
    dynsel_word_store_relaxed(&window->learned, all_known ? 1 : one_more);
    return learned >= (is_trying ? (uint32_t)MOST_LEARNING : 1u);
}

/* Whether more resources are not simply in service than at the end of the window before. */
static bool loses_resources(const dynsel_finish_sight *s)
{
    dynsel_word *const impaired = &s->policy->window.impaired;
    const uint32_t before = dynsel_word_load_relaxed(impaired);
    const uint32_t now = dynsel_policy_impairment(&s->policy->policy);
    dynsel_sight_trace_impairment(s, now);
    dynsel_word_store_relaxed(impaired, now);
    return now > before;
}

DYNSEL_RARE static void end_window(const dynsel_finish_sight *s, bool is_idle)
{
    dynsel_earliest_finish_policy *const policy = s->policy;
    dynsel_finish_window *const window = &policy->window;
    const uint32_t way = dynsel_word_load_relaxed(&policy->way);
    const uint64_t work = dynsel_word_load_relaxed(&window->work);
    const uint32_t took = dynsel_word_load_relaxed(&window->took);
    const bool loses = loses_resources(s);
    const bool strays =
        dynsel_word_load_relaxed(&window->strays) > dynsel_word_load_relaxed(&window->pieces) / 2;
    if (way == TOGETHER && dynsel_word_load_relaxed(&policy->tries_from) == 0) {
        dynsel_word_store_relaxed(&window->usual, dynsel_word_load_relaxed(&window->pieces));
    }
    if (took == 0) {
        /* the clock stands */
    } else if (dynsel_word_load_relaxed(&window->learns) == 0 && !strays && !loses) {
        const uint64_t rate = work * RATE_ONE / took;
        if (is_doubtful(policy, way, rate)) {
            begin_window(policy);
            return;
        }
        learn_rate(policy, way, (uint32_t)dynsel_finish_lower(rate + 1, MOST_RATE));
        if (way == TOGETHER) {
            note_who_may_be_left_out(s, took);
        }
        if (way != TOGETHER || has_learned(window, note_what_could_be(policy, work))) {
            choose_way(policy, way);
        }
    } else {
        /* kinds are learned first, runs are long, or a resource is out of service */
        go(policy, TOGETHER, 0);
    }
    const bool is_other = dynsel_word_load_relaxed(&policy->way) != way;
    dynsel_word_store_relaxed(&window->lead, is_other && !is_idle ? LEAD : 0);
    begin_window(policy);
}

/* How long something was in flight. What the program does afterwards does not count, as far as the
 * end was noted: it is not of the first pieces that have nothing beside them. */
static uint32_t busy_until(const dynsel_finish_window *window, uint32_t now)
{
    const uint32_t began = dynsel_word_load_relaxed(&window->began);
    const uint32_t busy = dynsel_word_load_relaxed(&window->drained_at) - began;
    return busy < now - began ? busy : now - began;
}

/* Results that are copied back while nothing is in flight count, too. */
void dynsel_finish_measure_readback(dynsel_earliest_finish_policy *policy, uint64_t readback_ns)
{
    uint32_t unfinished = dynsel_word_load_relaxed(&policy->one_by_one);
    for (uint32_t i = 0; i < dynsel_policy_count(&policy->policy); i++) {
        unfinished |= dynsel_word_load_relaxed(&policy->states[i].is.unfinished);
    }
    if (unfinished == 0) {
        add(&policy->window.took, short_units(readback_ns));
    }
}

/* Whether about as much work is in flight as when it began: the program waits for what it submits.
 */
static bool is_steady(const dynsel_finish_window *window, const dynsel_finish_sight *s)
{
    const uint64_t before = dynsel_word_load_relaxed(&window->backlog);
    const uint64_t share = dynsel_word_load_relaxed(&window->ticks) / GROWTH_SHARE;
    return s->unfinished <= before + share && before <= s->unfinished + share;
}

static bool is_wide_enough(const dynsel_finish_window *window)
{
    const uint32_t width = dynsel_word_load_relaxed(&window->width);
    const uint32_t pieces = dynsel_word_load_relaxed(&window->pieces) >> width;
    const uint32_t took = dynsel_word_load_relaxed(&window->took) >> width;
    return pieces >= FEW_PIECES || (pieces >= LEAST_PIECES && took >= FEW_UNITS);
}

/* Something is in flight from now on. */
static void begin_busy(dynsel_finish_window *window, const dynsel_finish_sight *s)
{
    dynsel_word_store_relaxed(&window->began, units(s->now_ns));
    if (dynsel_word_load_relaxed(&window->ticks) == 0) {
        dynsel_word_store_relaxed(&window->backlog, s->unfinished);
    }
}

/* Whether the program comes back after a pause, such as one in which it looks at results. A device
 * that is faster than the program is idle, too, but its next work comes at once. */
static bool comes_back(const dynsel_finish_sight *s)
{
    const dynsel_earliest_finish_policy *const policy = s->policy;
    const uint32_t drained_at = dynsel_word_load_relaxed(&policy->window.drained_at);
    return s->is_idle && (dynsel_word_load_relaxed(&policy->one_by_one) != 0 ||
                          units(s->now_ns) - drained_at >= PAUSE_UNITS);
}

/* Whether the program submits without pauses. With one resource alone it may have none although it
 * has some with all. */
static bool flows(const dynsel_earliest_finish_policy *policy)
{
    const dynsel_finish_window *const window = &policy->window;
    const uint32_t pieces = dynsel_word_load_relaxed(&window->pieces);
    const bool is_usual = dynsel_word_load_relaxed(&policy->way) == TOGETHER &&
                          dynsel_word_load_relaxed(&policy->tries_from) == 0;
    return dynsel_word_load_relaxed(&window->flow) >= FLOW_PIECES ||
           (!is_usual && pieces / 2 >= dynsel_word_load_relaxed(&window->usual));
}

/* The program comes back after a pause: the window may be wide enough. */
DYNSEL_RARE static void look_after_pause(const dynsel_finish_sight *s, uint32_t now)
{
    dynsel_earliest_finish_policy *const policy = s->policy;
    dynsel_finish_window *const window = &policy->window;
    dynsel_word_store_relaxed(&window->flow, 0);
    if (dynsel_word_load_relaxed(&window->pieces) != 0) {
        add(&window->took, busy_until(window, now));
    }
    begin_busy(window, s);
    if (is_wide_enough(window)) {
        end_window(s, true);
    }
}

/* A piece of those in no window. False: more of them follow. */
DYNSEL_RARE static bool look_at_lead(const dynsel_finish_sight *s, uint32_t lead, bool is_idle)
{
    dynsel_earliest_finish_policy *const policy = s->policy;
    dynsel_finish_window *const window = &policy->window;
    dynsel_word_store_relaxed(&window->lead, is_idle ? 0 : lead - 1);
    begin_window(policy);
    begin_busy(window, s);
    return is_idle || lead == 1;
}

/* Ends the window in time. False: what is submitted now is in none. */
static bool look_at_window(const dynsel_finish_sight *s)
{
    dynsel_earliest_finish_policy *const policy = s->policy;
    dynsel_finish_window *const window = &policy->window;
    const uint32_t now = units(s->now_ns);
    const bool is_idle = comes_back(s);
    const uint32_t pieces = dynsel_word_load_relaxed(&window->pieces);
    const uint32_t lead = dynsel_word_load_relaxed(&window->lead);
    if (lead != 0) {
        return look_at_lead(s, lead, is_idle);
    }
    if (is_idle) {
        look_after_pause(s, now);
        return true;
    }
    const uint32_t since = now - dynsel_word_load_relaxed(&window->began);
    const uint64_t took = (uint64_t)dynsel_word_load_relaxed(&window->took) + since;
    if (((flows(policy) && pieces >= MANY_PIECES && took >= MANY_UNITS) ||
         (pieces >= LEAST_PIECES && took >= LONG_UNITS)) &&
        is_steady(window, s)) {
        add(&window->took, since);
        end_window(s, false);
        begin_busy(window, s);
        return dynsel_word_load_relaxed(&window->lead) == 0;
    }
    return true;
}

#if CONFIG_DYNSEL_RESOURCE_SETS
DYNSEL_RARE void dynsel_finish_forget_ways(dynsel_earliest_finish_policy *policy)
{
    dynsel_finish_window *const window = &policy->window;
    go(policy, TOGETHER, 0);
    for (uint32_t i = 0; i <= WITHOUT_PROCESSORS; i++) {
        dynsel_finish_way *const way = &policy->ways[i];
        dynsel_word_store_relaxed(&way->rate, 0);
        dynsel_word_store_relaxed(&way->rest, 0);
        dynsel_word_store_relaxed(&way->pause, 0);
        dynsel_word_store_relaxed(&way->could, 0);
    }
    dynsel_word_store_relaxed(&policy->mostly, TOGETHER);
    dynsel_word_store_relaxed(&window->learned, 0);
    dynsel_word_store_relaxed(&window->width, 0);
    dynsel_word_store_relaxed(&window->lead, LEAD);
    dynsel_word_store_relaxed(&window->impaired, dynsel_policy_impairment(&policy->policy));
    begin_window(policy);
}
#endif

/* What a task takes of a resource, as far as is known. */
static inline uint32_t turn_units(const dynsel_finish_sight *s, uint32_t index)
{
    const uint64_t known_ns = dynsel_sight_is_candidate(s, index) ? s->known_ns[index] : 0;
    if (known_ns == 0) {
        return NOT_KNOWN;
    }
    return is_long(known_ns) ? TOO_LONG : short_units(dynsel_sight_turn_ns(s, index, known_ns));
}

/* A device on all processors gets the task: it takes the others so much. */
DYNSEL_RARE static void add_needs_of_others(const dynsel_finish_sight *s)
{
    dynsel_earliest_finish_policy *const policy = s->policy;
    const dynsel_finish_set others = s->all & dynsel_finish_beside(policy);
    uint32_t least = NOT_KNOWN;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint32_t needs = dynsel_finish_is_in(others, i) ? turn_units(s, i) : NOT_KNOWN;
        least = needs < least ? needs : least;
    }
    if (others != 0) { /* else it runs there anyway */
        add_needs(&policy->ways[WITHOUT_PROCESSORS].needs, least);
    }
}

void dynsel_finish_measure(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns,
                           bool is_first)
{
    dynsel_earliest_finish_policy *const policy = s->policy;
    dynsel_finish_window *const window = &policy->window;
    if (dynsel_finish_is_one_by_one(policy)) {
        return;
    }
    const bool counts = look_at_window(s);
    add(&window->flow, 1);
    if (!counts) {
        return;
    }
    /* what one resource alone can run is the same in all ways */
    if (s->kinds->own == NULL || (s->all & (s->all - 1)) == 0) {
        return;
    }
    const bool is_on_all = dynsel_finish_is_in(dynsel_finish_on_all(policy), index);
    const uint32_t way = dynsel_word_load_relaxed(&policy->way);
    const uint32_t work = work_of(s, is_first ? 0 : run_ns);
    add(&window->pieces, 1);
    add(&window->work, work);
    add(&window->ticks, dynsel_finish_ticks(run_ns));
    add(&window->tries, is_first ? 1 : 0);
    if (work == 0 || is_long(run_ns) ||
        (is_first && (dynsel_finish_is_one_alone(way) || dynsel_sight_compiles(s, index)))) {
        dynsel_word_store_relaxed(&window->learns, 1);
    }
    if (way != TOGETHER) {
        const bool is_stray = dynsel_finish_is_one_alone(way) ? index != way - 1 : is_on_all;
        add(&window->strays, is_stray ? 1 : 0);
        return;
    }
    add(&policy->ways[index + 1].given, work);
    if (!s->looked || (s->candidates | s->cold) != s->all) {
        return; /* chosen before the window with all resources began */
    }
    if (!DYNSEL_LIKELY(s->doubted == 0)) {
        dynsel_word_store_relaxed(&window->doubts, 1);
    }
    for (uint32_t i = 0; i < s->count; i++) {
        add_needs(&policy->ways[i + 1].needs, turn_units(s, i));
    }
    if (is_on_all) {
        add_needs_of_others(s);
    }
}

bool dynsel_sight_runs_alone(const dynsel_finish_sight *s, uint32_t *index, uint64_t *run_ns)
{
    const uint32_t way = dynsel_finish_way_now(s->policy);
    if (!dynsel_finish_is_one_alone(way) || !dynsel_sight_is_candidate(s, way - 1)) {
        return false;
    }
    *index = way - 1;
    *run_ns = dynsel_sight_known_run_ns(s, way - 1, false);
    return *run_ns != 0;
}
