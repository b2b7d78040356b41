/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run times of a kind of task on one resource, at some amounts of work.
 *
 * The estimate at an amount is the median of the newest three times there, so that neither a spike
 * nor a lucky run decides alone. The first time at an amount may contain a compilation or the
 * allocation of memory: the second replaces it.
 */
#include "policies/earliest_finish_parts.h"

enum {
    POINTS = CONFIG_DYNSEL_EARLIEST_FINISH_POINTS,
    NEAR = DYNSEL_LOG2_ONE / 4, /* amounts about a fifth apart: nearer ones share a point */
    FAR = 4 * DYNSEL_LOG2_ONE,  /* 16 times: what else a time depends on counts more then */
    ERROR_WEIGHT = 4,
    MOST_ERROR = DYNSEL_LOG2_ONE,
    MOST_READBACK_RUNS = 256 /* their sum and count are halved then */
};

static uint64_t amount_of(uint32_t compact)
{
    return dynsel_expand(compact - 1);
}

static uint64_t proportional(uint64_t time_ns, uint32_t to, uint32_t from)
{
    return dynsel_in_proportion(time_ns, amount_of(to), amount_of(from), DYNSEL_FINISH_LONGEST_NS);
}

/* What a choice reads of a point. */
typedef struct place {
    uint32_t amount; /* 0: there is none */
    uint64_t time_ns;
} place;

/* The points around an amount: the nearest, and the ones behind them. */
typedef struct places {
    place below;
    place second_below;
    place above;
    place second_above;
} places;

static void sort_in(places *near, place it, uint32_t amount)
{
    if (it.amount <= amount) {
        if (near->below.amount == 0 || it.amount > near->below.amount) {
            near->second_below = near->below;
            near->below = it;
        } else if (near->second_below.amount == 0 || it.amount > near->second_below.amount) {
            near->second_below = it;
        }
    } else if (near->above.amount == 0 || it.amount < near->above.amount) {
        near->second_above = near->above;
        near->above = it;
    } else if (near->second_above.amount == 0 || it.amount < near->second_above.amount) {
        near->second_above = it;
    }
}

/* On the straight line through two points, of which `low` has the smaller amount. */
static uint64_t on_line(place low, place high, uint32_t amount)
{
    const uint64_t base = amount_of(low.amount);
    const uint64_t width = amount_of(high.amount) - base;
    const uint64_t at = amount_of(amount);
    const uint64_t rise =
        high.time_ns > low.time_ns ? high.time_ns - low.time_ns : low.time_ns - high.time_ns;
    const bool is_behind = at < base;
    const uint64_t step = dynsel_in_proportion(rise, is_behind ? base - at : at - base, width,
                                               DYNSEL_FINISH_LONGEST_NS);
    if ((high.time_ns > low.time_ns) == is_behind) {
        return low.time_ns > step ? low.time_ns - step : 0;
    }
    return dynsel_finish_lower(low.time_ns + step, DYNSEL_FINISH_LONGEST_NS);
}

/* From one point, where what exceeds the shortest time of all work grows with the amount. */
static uint64_t from_one(place it, uint32_t amount, uint64_t shortest_ns)
{
    const uint64_t fixed_ns = dynsel_finish_lower(shortest_ns, it.time_ns);
    return dynsel_finish_lower(fixed_ns + proportional(it.time_ns - fixed_ns, amount, it.amount),
                               DYNSEL_FINISH_LONGEST_NS);
}

static uint64_t between(const places *near, uint32_t amount, uint64_t shortest_ns)
{
    if (near->below.amount != 0 && near->above.amount != 0) {
        return on_line(near->below, near->above, amount);
    }
    const bool is_beyond = near->below.amount != 0;
    const place nearest = is_beyond ? near->below : near->above;
    const place second = is_beyond ? near->second_below : near->second_above;
    if (nearest.amount == 0) {
        return 0;
    }
    if (second.amount == 0) {
        return from_one(nearest, amount, shortest_ns);
    }
    /* Where more work took less time, the line says nothing about more or less still. */
    const bool grows = (nearest.time_ns > second.time_ns) == is_beyond;
    if (!grows) {
        return nearest.time_ns;
    }
    return is_beyond ? on_line(second, nearest, amount) : on_line(nearest, second, amount);
}

DYNSEL_ASIDE static uint64_t interpolate(const dynsel_finish_times *times, uint32_t amount,
                                         uint64_t shortest_ns)
{
    places near = {.below = {.amount = 0}};
    for (uint32_t i = 0; i < POINTS; i++) {
        const place it = {
            .amount = dynsel_word_load_relaxed(&times->points[i].amount),
            .time_ns = dynsel_expand(dynsel_word_load_relaxed(&times->points[i].time)),
        };
        if (it.amount == 0) {
            break;
        }
        if (it.time_ns != 0) {
            sort_in(&near, it, amount);
        }
    }
    const uint64_t time_ns = between(&near, amount, shortest_ns);
    return time_ns > shortest_ns || near.below.amount + near.above.amount == 0 ? time_ns
                                                                               : shortest_ns;
}

uint64_t dynsel_finish_predict(const dynsel_finish_times *times, uint32_t amount,
                               uint64_t shortest_ns)
{
    const uint64_t time_ns = dynsel_finish_time_at(times, amount);
    return time_ns != 0 ? time_ns : interpolate(times, amount, shortest_ns);
}

bool dynsel_finish_reaches(const dynsel_finish_times *times, uint32_t amount)
{
    bool is_above = false;
    bool is_below = false;
    for (uint32_t i = 0; i < POINTS; i++) {
        const uint32_t known = dynsel_word_load_relaxed(&times->points[i].amount);
        if (known == 0) {
            break;
        }
        if (known == amount || dynsel_finish_apart(known, amount) <= FAR) {
            return true;
        }
        is_above = is_above || known < amount;
        is_below = is_below || known > amount;
    }
    return is_above && is_below;
}

static uint32_t median(const uint32_t *times)
{
    const uint32_t low = times[0] < times[1] ? times[0] : times[1];
    const uint32_t high = times[0] < times[1] ? times[1] : times[0];
    const uint32_t third = times[2] < high ? times[2] : high;
    return third > low ? third : low;
}

static void add(dynsel_finish_point *point, uint64_t time_ns)
{
    const uint32_t time = dynsel_compact(time_ns);
    if (point->samples < 2) {
        for (uint32_t i = 0; i < DYNSEL_FINISH_WINDOW; i++) {
            point->window[i] = time;
        }
    } else {
        point->window[point->samples % DYNSEL_FINISH_WINDOW] = time;
    }
    point->samples = point->samples < DYNSEL_FINISH_MOST_SAMPLES
                         ? point->samples + 1
                         : DYNSEL_FINISH_MOST_SAMPLES - DYNSEL_FINISH_WINDOW + 1;
    dynsel_word_store_relaxed(&point->time, median(point->window));
}

static void begin(dynsel_finish_point *point, uint32_t amount, uint64_t time_ns)
{
    dynsel_word_store_relaxed(&point->time, 0);
    dynsel_word_store_relaxed(&point->amount, amount);
    point->samples = 0;
    add(point, time_ns);
}

/* Adds the time of another amount, brought to that of the point along the line that is known so
 * far; but a time does not fall with the amount, nor grow more than it. */
static void add_from(dynsel_finish_times *times, dynsel_finish_point *point, uint32_t amount,
                     uint64_t time_ns)
{
    const uint64_t scaled_ns = proportional(time_ns, point->amount.value, amount);
    const uint64_t least_ns = dynsel_finish_lower(time_ns, scaled_ns);
    const uint64_t most_ns = time_ns > scaled_ns ? time_ns : scaled_ns;
    const uint64_t line_ns =
        dynsel_in_proportion(time_ns, dynsel_expand(point->time.value),
                             dynsel_finish_predict(times, amount, 1), DYNSEL_FINISH_LONGEST_NS);
    const uint64_t here_ns = line_ns > least_ns ? dynsel_finish_lower(line_ns, most_ns) : least_ns;
    add(point, here_ns != 0 ? here_ns : 1);
}

/* The point nearest to an amount, other than `but`; NULL: there is none. */
static dynsel_finish_point *nearest_to(dynsel_finish_times *times, uint32_t amount,
                                       const dynsel_finish_point *but)
{
    dynsel_finish_point *nearest = NULL;
    for (uint32_t i = 0; i < POINTS; i++) {
        dynsel_finish_point *point = &times->points[i];
        if (point != but && point->amount.value != 0 &&
            (nearest == NULL || dynsel_finish_apart(point->amount.value, amount) <
                                    dynsel_finish_apart(nearest->amount.value, amount))) {
            nearest = point;
        }
    }
    return nearest;
}

/* Whether there are points with smaller and with larger amounts. */
static bool is_between(const dynsel_finish_times *times, uint32_t amount)
{
    bool is_above = false;
    bool is_below = false;
    for (uint32_t i = 0; i < POINTS; i++) {
        is_above = is_above || times->points[i].amount.value < amount;
        is_below = is_below || times->points[i].amount.value > amount;
    }
    return is_above && is_below;
}

/* The point whose loss says least: not that of the smallest or largest amount; of those that are
 * closest to another one that with the fewest times. */
static dynsel_finish_point *least_telling(dynsel_finish_times *times, uint32_t *least)
{
    dynsel_finish_point *found = &times->points[0];
    *least = UINT32_MAX;
    for (uint32_t i = 0; i < POINTS; i++) {
        dynsel_finish_point *point = &times->points[i];
        const dynsel_finish_point *other = nearest_to(times, point->amount.value, point);
        if (other == NULL || (POINTS > 2 && !is_between(times, point->amount.value))) {
            continue;
        }
        const uint32_t apart = dynsel_finish_apart(point->amount.value, other->amount.value);
        if (apart < *least || (apart == *least && point->samples < found->samples)) {
            *least = apart;
            found = point;
        }
    }
    return found;
}

static dynsel_finish_point *find_free(dynsel_finish_times *times)
{
    for (uint32_t i = 0; i < POINTS; i++) {
        if (times->points[i].amount.value == 0) {
            return &times->points[i];
        }
    }
    return NULL;
}

static void learn_at(dynsel_finish_times *times, uint32_t amount, uint64_t time_ns)
{
    dynsel_finish_point *nearest = nearest_to(times, amount, NULL);
    const uint32_t apart =
        nearest != NULL ? dynsel_finish_apart(nearest->amount.value, amount) : UINT32_MAX;
    if (apart < NEAR) {
        add_from(times, nearest, amount, time_ns);
        return;
    }
    dynsel_finish_point *point = find_free(times);
    if (point == NULL) {
        uint32_t least = 0;
        point = least_telling(times, &least);
        if (apart <= least && (POINTS <= 2 || is_between(times, amount))) {
            /* theirs say as much */
            add_from(times, nearest, amount, time_ns);
            return;
        }
    }
    begin(point, amount, time_ns);
}

/* The first time may contain a compilation, so it says nothing about predictions. */
static void learn_error(dynsel_finish_times *times, uint32_t amount, uint64_t time_ns)
{
    if (dynsel_word_load_relaxed(&times->samples) < 2) {
        return;
    }
    const int32_t error =
        dynsel_log2(time_ns) - dynsel_log2(dynsel_finish_predict(times, amount, 1));
    const int32_t distance = error < 0 ? -error : error;
    const int32_t size = distance < MOST_ERROR ? distance : MOST_ERROR; /* a spike is one error */
    const int32_t mean = (int32_t)dynsel_word_load_relaxed(&times->error);
    dynsel_word_store_relaxed(&times->error, (uint32_t)(mean + (size - mean) / ERROR_WEIGHT));
}

#if CONFIG_DYNSEL_LEARNED_TABLES
/* Points without samples are estimates from another driver. */
static void drop_estimates(dynsel_finish_times *times)
{
    for (uint32_t i = 0; i < POINTS; i++) {
        if (times->points[i].samples == 0) {
            dynsel_word_store_relaxed(&times->points[i].time, 0);
        }
    }
}
#endif

void dynsel_finish_learn(dynsel_finish_times *times, uint32_t amount, uint64_t time_ns)
{
    const uint64_t least_ns = time_ns != 0 ? time_ns : 1;
#if CONFIG_DYNSEL_LEARNED_TABLES
    if (dynsel_word_load_relaxed(&times->samples) == 0) {
        drop_estimates(times);
    }
#endif
    learn_error(times, amount, least_ns);
    learn_at(times, amount, dynsel_finish_lower(least_ns, DYNSEL_FINISH_LONGEST_NS));
    const uint32_t samples = dynsel_word_load_relaxed(&times->samples);
    if (samples < DYNSEL_FINISH_MOST_SAMPLES) {
        dynsel_word_store_relaxed(&times->samples, samples + 1);
    }
    dynsel_word_store_relaxed(&times->trials, 0);
}

void dynsel_finish_learn_readback(dynsel_finish_times *times, uint64_t readback_ns)
{
    uint32_t runs = dynsel_word_load_relaxed(&times->runs) - times->readback_from;
    times->readback_ns = dynsel_finish_lower(times->readback_ns, DYNSEL_FINISH_LONGEST_NS) +
                         dynsel_finish_lower(readback_ns, DYNSEL_FINISH_LONGEST_NS);
    if (runs > MOST_READBACK_RUNS) {
        times->readback_from += runs / 2;
        times->readback_ns /= 2;
        runs -= runs / 2;
    }
    dynsel_word_store_relaxed(&times->readback,
                              dynsel_compact(times->readback_ns / (runs != 0 ? runs : 1)));
}
