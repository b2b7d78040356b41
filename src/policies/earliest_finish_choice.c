/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice: the resource of which the cost is the least, or one that gets a trial run.
 */
#include "base/fail.h"
#include "policies/earliest_finish_sight.h"

enum {
    WORTH_MARGIN = 2 * DYNSEL_LOG2_ONE, /* 4 times */
    WORTH_FADES = 8,                    /* for each choice: by a power of two in 32 of them */
    LEAST_TIMES = 100, /* what timing takes, work must take in the meantime: at most 1 percent */
    MOST_RARITY = 4,   /* one in 256 */
    MOST_TIMED = 2 * DYNSEL_FINISH_ROBUST, /* in flight, where not enough times are known */
    NEW_RUNS = 16, /* in which each may be a first trial; later it is one in 2^LATER_BITS */
    LATER_BITS = 3,
    STARTS_BITS = 2,  /* the start of one run in 4 is timed */
    FADING_BITS = 5,  /* latencies fade at one choice in 32 */
    USUAL_BITS = 2,   /* usual runs are learned from one piece of work in 4, */
    USUAL_WEIGHT = 8, /* which counts so much */
    /* Of a work-item on a worker that is as fast as the fastest resource; of one that may take n
     * times as long n times as much, and once more n times after each 16 runs without a time. */
    ITEM_NS = 25,
    OWN_RUNS = 16,
    RUNS_TO_DOUBLE = OWN_RUNS * DYNSEL_LOG2_ONE,
    MOST_DOUBLINGS = 30,
    MOST_FEW_ITEMS = 1 << 16,
    HOME_MARGIN = 8,   /* another home takes less than seven eighths of the time */
    DOUBT_TIMES = 4,   /* a first time may be so much too long */
    MOST_STRANGERS = 4 /* a first trial run is looked for in at least one choice of 128 */
};

/* Makes a resource the best one if its cost is less than that of the best so far. The queue and the
 * run with what the program spends beside it are the least that it can be, except at home. */
static inline void consider(dynsel_finish_sight *s, uint32_t index, uint64_t run_ns,
                            uint64_t whole_ns)
{
    if (dynsel_sight_queue_ns(s, index) + whole_ns >= s->best_cost_ns && index != s->home &&
        !dynsel_sight_is_traced(s)) {
        return;
    }
    const uint64_t cost = dynsel_sight_cost_ns(s, index, run_ns, whole_ns);
    dynsel_sight_trace_estimate(s, index, run_ns, cost);
    if (cost < s->best_cost_ns) {
        s->best_cost_ns = cost;
        s->best = index;
        s->best_run_ns = run_ns;
    }
}

/* A run and what it usually takes of the program's time. */
static inline uint64_t usual_whole_ns(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns)
{
    return run_ns + dynsel_finish_program_ns(s->policy, s->kinds->own, index);
}

/* How fast a resource is for this kind of task, compared with the one that needs the least for all
 * of it; not more than 0. */
static int32_t speed_of(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns)
{
    return dynsel_log2(s->least_whole_ns) - dynsel_log2(usual_whole_ns(s, index, run_ns));
}

/* Whether other kinds make so much better use of a resource that it shall not wait for this one. */
static bool is_worth_more(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns)
{
    const int32_t worth = (int32_t)dynsel_word_load_relaxed(&s->policy->states[index].is.worth);
    return dynsel_sight_queue_ns(s, index) != 0 &&
           speed_of(s, index, run_ns) < worth - WORTH_MARGIN;
}

static uint64_t cost_ns(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns)
{
    return dynsel_sight_cost_ns(s, index, run_ns, dynsel_sight_whole_ns(s, index, run_ns));
}

/* A start on a resource and the copy of results back, in which the program gives nothing to others.
 */
static uint64_t blocks_program_ns(const dynsel_finish_sight *s, uint32_t index)
{
    const dynsel_word *const readback = &s->kinds->own->resources[index].readback;
    return dynsel_finish_start_ns(s->policy, index) +
           dynsel_expand(dynsel_word_load_relaxed(readback));
}

/* Whether a start on a resource takes more of the program's time than the fastest one needs for all
 * of the work, and than the work is over sooner: meanwhile the program gives nothing to others. */
static bool delays_program(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns)
{
    const uint64_t takes_ns = blocks_program_ns(s, index);
    return takes_ns > blocks_program_ns(s, s->least_whole) + s->least_run_ns &&
           cost_ns(s, index, run_ns) + takes_ns > cost_ns(s, s->least_whole, s->least_run_ns);
}

/* The best choice is a resource whose time is worth more to other kinds, or one that delays the
 * program: chooses among those of which that is not so. The fastest is one of them, unless it
 * blocks the caller: then there may be none, and the choice stays. */
DYNSEL_RARE static void choose_among_worthy(dynsel_finish_sight *s)
{
    const uint64_t before_ns = s->best_cost_ns;
    s->best_cost_ns = UINT64_MAX;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t run_ns =
            dynsel_sight_is_candidate(s, i) ? dynsel_sight_known_run_ns(s, i, true) : 0;
        if (run_ns != 0 && !is_worth_more(s, i, run_ns) && !delays_program(s, i, run_ns) &&
            !dynsel_sight_blocks_caller(s, i)) {
            consider(s, i, run_ns, dynsel_sight_whole_ns(s, i, run_ns));
        }
    }
    if (s->best_cost_ns == UINT64_MAX) {
        s->best_cost_ns = before_ns;
    }
}

static void note_worth(dynsel_finish_resource *resource, int32_t speed)
{
    const int32_t before = (int32_t)dynsel_word_load_relaxed(&resource->is.worth);
    const int32_t now = speed > before ? speed : before - WORTH_FADES;
    if (now != before) {
        dynsel_word_store_relaxed(&resource->is.worth, (uint32_t)now);
    }
}

static void weigh_worth(dynsel_finish_sight *s)
{
    s->wanted = DYNSEL_FINISH_NO_RESOURCE;
    if (s->best != s->least_whole && s->best_run_ns != 0) {
        s->wanted = s->best;
        s->wanted_speed = speed_of(s, s->best, s->best_run_ns);
        if (is_worth_more(s, s->best, s->best_run_ns) ||
            delays_program(s, s->best, s->best_run_ns)) {
            choose_among_worthy(s);
        }
    }
}

static bool may_block(const dynsel_finish_sight *s, uint64_t run_ns)
{
    return s->best == DYNSEL_FINISH_NO_RESOURCE || run_ns <= s->shortest_queue_ns ||
           run_ns <= dynsel_sight_submit_ns(s, s->best) || dynsel_finish_is_one_by_one(s->policy);
}

/* A first time is no estimate, but no more than it is needed: so the resource may be the best. */
static uint64_t most_run_ns(const dynsel_finish_sight *s, uint32_t index)
{
    const dynsel_finish_times *own = &s->kinds->own->resources[index];
    return dynsel_word_load_relaxed(&own->samples) != 0
               ? dynsel_sight_known_run_ns(s, index, true)
               : dynsel_sight_predicted_by_backend(s, index);
}

/* Whether a task of the id ran on a resource: otherwise only estimates may be known there. */
static inline bool has_run(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_word_load_relaxed(&s->kinds->own->resources[index].samples) != 0 ||
           dynsel_word_load_relaxed(&s->kinds->root->resources[index].samples) != 0;
}

/* The known run; without a call in the usual cases: a point of the kind has just the amount, or
 * nothing ran. even_first: no time of this kind is better than a first one. */
static inline uint64_t look_for_run(dynsel_finish_sight *s, uint32_t index, bool even_first)
{
    uint64_t run_ns = dynsel_sight_exact_run_ns(s, index);
    if (run_ns == 0 && (even_first || has_run(s, index))) {
        run_ns = dynsel_sight_known_run_ns(s, index, even_first);
    }
    const uint32_t samples = dynsel_word_load_relaxed(&s->kinds->own->resources[index].samples);
    s->unknown += run_ns == 0 ? 1 : 0;
    s->once |= (dynsel_finish_set)(run_ns != 0 && samples == 1 ? 1 : 0) << index;
    s->known_ns[index] = run_ns;
    return run_ns;
}

static inline void note_fastest(dynsel_finish_sight *s, uint32_t index, uint64_t run_ns,
                                uint64_t whole_ns)
{
    if (run_ns < s->fastest_ns) {
        s->fastest_ns = run_ns;
        s->fastest = index;
    }
    if (whole_ns < s->least_whole_ns) {
        s->least_whole_ns = whole_ns;
        s->least_whole = index;
        s->least_run_ns = run_ns;
    }
}

static inline void weigh(dynsel_finish_sight *s, uint32_t index, uint64_t run_ns, bool may_be_best)
{
    const uint64_t beside_ns = dynsel_finish_beside_ns(s->policy, s->kinds->own, index);
    if (may_be_best) {
        consider(s, index, run_ns, run_ns + beside_ns);
    }
    note_fastest(s, index, run_ns,
                 run_ns + dynsel_finish_usually_beside_ns(s->policy, index, beside_ns));
}

/* Candidates that do not block the caller. */
static void look_at_others(dynsel_finish_sight *s, bool even_first)
{
    dynsel_finish_set others = s->candidates & ~dynsel_finish_blocking(s->policy);
    while (others != 0) {
        const uint32_t i = dynsel_finish_take_first(&others);
        s->shortest_queue_ns =
            dynsel_finish_lower(s->shortest_queue_ns, dynsel_sight_queue_ns(s, i));
        const uint64_t known_ns = look_for_run(s, i, even_first);
        const uint64_t run_ns = known_ns != 0 ? known_ns : most_run_ns(s, i);
        if (run_ns != 0) {
            weigh(s, i, run_ns, true);
        }
    }
}

/* Whether the caller may be blocked depends on the others. */
static void look_at_blocking(dynsel_finish_sight *s, bool even_first)
{
    dynsel_finish_set blocking = s->candidates & dynsel_finish_blocking(s->policy);
    while (blocking != 0) {
        const uint32_t i = dynsel_finish_take_first(&blocking);
        const uint64_t run_ns = look_for_run(s, i, even_first);
        if (run_ns != 0) {
            weigh(s, i, run_ns, may_block(s, run_ns));
        }
    }
}

static void look_at_all(dynsel_finish_sight *s, bool even_first)
{
    s->looked = true;
    s->unknown = 0;
    s->once = 0;
    s->best = DYNSEL_FINISH_NO_RESOURCE;
    s->best_cost_ns = UINT64_MAX;
    s->fastest = DYNSEL_FINISH_NO_RESOURCE;
    s->fastest_ns = UINT64_MAX;
    s->least_whole = DYNSEL_FINISH_NO_RESOURCE;
    s->least_whole_ns = UINT64_MAX;
    s->shortest_queue_ns = UINT64_MAX;
    look_at_others(s, even_first);
    look_at_blocking(s, even_first);
}

static void look_at_known(dynsel_finish_sight *s)
{
    look_at_all(s, false);
    if (s->best == DYNSEL_FINISH_NO_RESOURCE && s->unknown != 0) {
        look_at_all(s, true);
    }
}

/* The first run of a thread finds its processor asleep and its caches cold: where others would be
 * better by less than that may take, a second one tells. */
DYNSEL_RARE static void doubt_first_times(dynsel_finish_sight *s)
{
    dynsel_finish_set once = s->once;
    while (once != 0) {
        const uint32_t i = dynsel_finish_take_first(&once);
        if (!dynsel_sight_compiles(s, i) && dynsel_sight_trusts_own(s, i) && i != s->best &&
            i != s->least_whole && s->known_ns[i] / DOUBT_TIMES < s->least_whole_ns &&
            s->known_ns[i] < s->least_whole_ns + DYNSEL_FINISH_WAKE_NS) {
            s->doubted |= (dynsel_finish_set)1 << i;
        }
    }
}

/* The best is a worker that would have to be woken for less time than that takes, while few times
 * are known of the one that is awake, or none: it may well be as fast. The first time of a thread
 * may be too long. */
DYNSEL_RARE static void look_at_awake(dynsel_finish_sight *s)
{
    const dynsel_finish_times *own = &s->kinds->own->resources[s->awake];
    const uint64_t run_ns = s->best_run_ns;
    if (run_ns != 0 && run_ns < DYNSEL_FINISH_WAKE_NS &&
        dynsel_word_load_relaxed(&own->samples) < DYNSEL_FINISH_ROBUST &&
        dynsel_word_load_relaxed(&own->runs) < MOST_TIMED) {
        consider(s, s->awake, run_ns, dynsel_sight_whole_ns(s, s->awake, run_ns));
    }
}

/* It may be known only there. */
DYNSEL_RARE static void look_where_no_work_goes(dynsel_finish_sight *s)
{
    s->candidates = s->all;
    look_at_known(s);
}

/* The resource that is assumed to be the fastest, of equal ones that with the shortest queue. For
 * kinds without an entry, which nothing is learned of, what it computes on decides. */
DYNSEL_RARE static uint32_t assumed_fastest(const dynsel_finish_sight *s)
{
    uint32_t found = DYNSEL_FINISH_NO_RESOURCE;
    int32_t least = INT32_MAX;
    uint32_t least_unfinished = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const dynsel_finish_resource *resource = &s->policy->states[i];
        const int32_t slowness = s->kinds->own != NULL
                                     ? dynsel_finish_slowness(s->policy, i)
                                     : (int32_t)dynsel_word_load_relaxed(&resource->is.place);
        const uint32_t unfinished = dynsel_word_load_relaxed(&resource->is.unfinished);
        if (dynsel_sight_is_candidate(s, i) &&
            (found == DYNSEL_FINISH_NO_RESOURCE || slowness < least ||
             (slowness == least && unfinished < least_unfinished))) {
            least = slowness;
            least_unfinished = unfinished;
            found = i;
        }
    }
    return found;
}

/* What a worker may take for work of so many items: the longer, the slower it can be, and the more
 * was submitted there that has told no time. A nanosecond for each lets equal workers take turns.
 */
DYNSEL_RARE static uint64_t assumed_worker_ns(const dynsel_finish_sight *s, uint32_t index,
                                              uint32_t fastest, uint64_t items)
{
    const uint64_t runs = dynsel_word_load_relaxed(&s->kinds->own->resources[index].runs);
    const int32_t slower =
        dynsel_finish_slowness(s->policy, index) - dynsel_finish_slowness(s->policy, fastest);
    const uint64_t doublings =
        slower > 0 ? (OWN_RUNS + runs) * (uint32_t)slower / RUNS_TO_DOUBLE : 0;
    return (items * ITEM_NS << dynsel_finish_lower(doublings, MOST_DOUBLINGS)) + runs;
}

/* The worker that is assumed to be done first, and when that is. */
DYNSEL_RARE static uint32_t first_worker(const dynsel_finish_sight *s, uint32_t fastest,
                                         uint64_t items, uint64_t *end_ns)
{
    const dynsel_finish_set workers = s->candidates & dynsel_finish_workers(s->policy);
    uint32_t found = DYNSEL_FINISH_NO_RESOURCE;
    *end_ns = UINT64_MAX;
    for (uint32_t i = 0; workers != 0 && i < s->count; i++) {
        const uint64_t its_ns =
            dynsel_sight_queue_ns(s, i) + assumed_worker_ns(s, i, fastest, items);
        if (dynsel_finish_is_in(workers, i) && its_ns < *end_ns) {
            *end_ns = its_ns;
            found = i;
        }
    }
    return found;
}

/* For a kind without times: the resource that is assumed to be the fastest; or a worker, if that is
 * an OpenCL device on processors of the host, and the worker is done with few work-items before the
 * device has compiled the kernel. */
DYNSEL_RARE static uint32_t first_to_run(const dynsel_finish_sight *s)
{
    const uint32_t fastest = assumed_fastest(s);
    const uint64_t items = dynsel_sight_work_items(s);
    if (items == 0 || items > MOST_FEW_ITEMS ||
        !dynsel_finish_is_at(&s->policy->states[fastest], DYNSEL_FINISH_PROCESSORS) ||
        dynsel_word_load_relaxed(&s->kinds->own->resources[fastest].runs) != 0) {
        return fastest;
    }
    uint64_t worker_ns = 0;
    const uint32_t worker = first_worker(s, fastest, items, &worker_ns);
    return worker_ns < dynsel_word_load_relaxed(&s->policy->first_starts[fastest]) ? worker
                                                                                   : fastest;
}

/* Of a set that is not empty. */
static bool is_only_one(dynsel_finish_set set)
{
    return (set & (set - 1)) == 0;
}

/*
 * Filling in the selection.
 */

/* How rarely a run is timed, where timing takes long beside the work. */
static uint32_t timed_bits(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns)
{
    uint32_t rarity = 0;
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    const uint64_t timing_ns = s->policy->policy.resources[index].backend->ops->timing_ns;
    const uint64_t least_ns = timing_ns * LEAST_TIMES >> DYNSEL_FINISH_TIMED_BITS;
    while (rarity < MOST_RARITY && least_ns >> rarity > run_ns) {
        rarity++;
    }
#else
    (void)s;
    (void)index;
    (void)run_ns;
#endif
    return DYNSEL_FINISH_TIMED_BITS + rarity;
}

/* Decides whether the run is timed. */
static void sample(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns,
                   dynsel_reason reason, dynsel_selection *selection)
{
    const dynsel_finish_times *times = &s->kinds->own->resources[index];
    if (dynsel_word_load_relaxed(&times->samples) < DYNSEL_FINISH_ROBUST) {
        const uint32_t timed =
            dynsel_word_load_relaxed(&s->kinds->root->resources[index].unfinished);
        if (timed < MOST_TIMED) {
            selection->wants |= DYNSEL_TASK_TIME;
        }
        return;
    }
    const uint32_t runs = dynsel_word_load_relaxed(&times->runs);
    const bool is_alone = reason == DYNSEL_REASON_FASTEST_ALONE;
    const uint32_t bits =
        timed_bits(s, index, run_ns) + (is_alone ? DYNSEL_FINISH_ALONE_RARITY : 0u);
    if (dynsel_finish_is_turn(runs, bits)) {
        selection->wants |= DYNSEL_TASK_TIME;
        selection->notes[0] |= DYNSEL_FINISH_NOTE_TICK;
        return;
    }
    if (!is_alone && (selection->wants & DYNSEL_TASK_TIME) == 0 &&
        dynsel_finish_is_turn(runs, STARTS_BITS)) {
        selection->wants |= DYNSEL_TASK_START_TIME; /* which timing makes longer */
    }
}

static uint32_t notes_of(const dynsel_finish_sight *s)
{
    const uint32_t life = dynsel_word_load_relaxed(&s->kinds->own->life) / 2;
    return ((uint32_t)(s->kinds->own - s->policy->kinds) + 1) |
           life << DYNSEL_FINISH_NOTE_LIFE_SHIFT;
}

/* Adds a run to the queue of a resource. ready: when it can begin, in ticks from now on. False:
 * another thread changed the queue meanwhile. What is unfinished does not wrap, because a resource
 * with too much work would seem to be idle; what did not fit in counts as complete too early. */
static bool enter_queue(dynsel_finish_resource *resource, uint32_t now, uint32_t ready,
                        uint32_t ticks)
{
    uint32_t free_at = dynsel_word_load_relaxed(&resource->is.free_at);
    const uint32_t queued = dynsel_sight_begin_ticks(
        free_at, dynsel_word_load_relaxed(&resource->is.unfinished), now, ready);
    const uint32_t most = DYNSEL_FINISH_MOST_TICKS - ticks;
    const uint32_t begin = now + (queued < most ? queued : most);
    if (!dynsel_word_swap(&resource->is.free_at, &free_at, begin + ticks)) {
        return false;
    }
    uint32_t before = dynsel_word_load_relaxed(&resource->is.unfinished);
    while (!dynsel_word_swap(&resource->is.unfinished, &before, dynsel_finish_sum(before, ticks))) {
    }
    return true;
}

/* The time since the submit before is what that took, or more. */
static void learn_submit(dynsel_earliest_finish_policy *policy, uint32_t index, uint32_t now,
                         bool is_idle)
{
    const uint32_t before = dynsel_word_load_relaxed(&policy->submitted_to);
    const uint32_t ticks = now - dynsel_word_load_relaxed(&policy->submitted_at);
    /* where nothing is in flight the program has waited */
    if (!is_idle && before != 0 && before <= dynsel_policy_count(&policy->policy) &&
        ticks < DYNSEL_FINISH_MOST_TICKS) {
        dynsel_finish_learn_submit(&policy->states[before - 1], ticks);
    }
    dynsel_word_store_relaxed(&policy->submitted_at, now);
    if (before != index + 1) {
        dynsel_word_store_relaxed(&policy->submitted_to, index + 1);
        dynsel_word_store_relaxed(&policy->rival_saves_ns, 0);
    }
}

static void note_if_alone(dynsel_earliest_finish_policy *policy, uint32_t now_ticks, bool is_idle)
{
    const uint32_t before = dynsel_word_load_relaxed(&policy->one_by_one);
    const uint32_t now = !is_idle ? 0 : before < UINT8_MAX ? before + 1 : before;
    if (now != before) {
        dynsel_word_store_relaxed(&policy->one_by_one, now);
    }
    if (now >= DYNSEL_FINISH_ONE_BY_ONE &&
        dynsel_finish_is_turn(dynsel_word_load_relaxed(&policy->clock), FADING_BITS)) {
        dynsel_finish_fade_latencies(policy, now_ticks);
    }
}

/* A choice of a resource with its predicted run. */
typedef struct choice {
    uint32_t index;
    uint64_t run_ns;
    dynsel_reason reason;
    uint32_t trial; /* a DYNSEL_FINISH_NOTE_*TRIAL; 0: it is none */
    bool in_vain;   /* one resource has all work, and no first trial run was found for another */
} choice;

/* is_chance: another chance for a first trial run comes late. */
static choice choose_known(const dynsel_finish_sight *s, bool is_chance)
{
    const uint32_t runs = dynsel_word_load_relaxed(&s->kinds->own->runs);
    choice made = {
        .index = s->best, .run_ns = s->best_run_ns, .reason = DYNSEL_REASON_EARLIEST_FINISH};
    if (made.run_ns == 0) {
        made.run_ns = dynsel_sight_predicted_by_backend(s, s->best);
    }
    uint64_t run_ns = 0;
    uint32_t other = DYNSEL_FINISH_NO_RESOURCE;
    uint32_t trial = DYNSEL_FINISH_NOTE_FIRST_TRIAL;
    if ((s->unknown != 0 || (s->cold | s->doubted) != 0) &&
        (is_chance || dynsel_finish_is_in(s->to_wake, s->best) || runs < NEW_RUNS ||
         dynsel_finish_is_turn(runs + 1, LATER_BITS))) {
        other = dynsel_sight_find_first_trial(s, &run_ns);
    }
    if (other == DYNSEL_FINISH_NO_RESOURCE &&
        dynsel_finish_is_turn(runs + 1, DYNSEL_FINISH_TIMED_BITS)) {
        other = dynsel_sight_find_further_trial(s, &run_ns);
        trial = DYNSEL_FINISH_NOTE_TRIAL;
    }
    if (other != DYNSEL_FINISH_NO_RESOURCE) {
        made = (choice){
            .index = other, .run_ns = run_ns, .reason = DYNSEL_REASON_EXPLORING, .trial = trial};
    }
    return made;
}

/* Whether none of the workers that would have to be woken can be the best, because others would be
 * done before they are awake; and none shall be tried. */
static bool needs_nobody_woken(dynsel_finish_sight *s)
{
    const uint32_t runs = dynsel_word_load_relaxed(&s->kinds->own->runs);
    if (s->to_wake == 0 || runs < NEW_RUNS || dynsel_finish_is_turn(runs + 1, LATER_BITS)) {
        return false;
    }
    const dynsel_finish_set candidates = s->candidates;
    s->candidates = candidates & ~s->to_wake;
    look_at_known(s);
    const bool needs = s->best == DYNSEL_FINISH_NO_RESOURCE ||
                       s->best_cost_ns > DYNSEL_FINISH_WAKE_NS || s->unknown != 0;
    s->candidates = needs ? candidates : s->candidates;
    return !needs;
}

static choice choose(dynsel_finish_sight *s)
{
    if (is_only_one(s->all)) {
        const uint32_t only = assumed_fastest(s);
        return (choice){.index = only,
                        .reason = dynsel_policy_reason_of_only(&s->policy->policy, only, s->task)};
    }
    choice alone = {.reason = DYNSEL_REASON_FASTEST_ALONE};
    const bool is_alone = dynsel_sight_runs_alone(s, &alone.index, &alone.run_ns);
    if (is_alone &&
        !dynsel_finish_may_try(s->policy, dynsel_word_load_relaxed(&s->policy->clock))) {
        return alone;
    }
    if (!needs_nobody_woken(s)) {
        look_at_known(s);
    }
    if (s->best == DYNSEL_FINISH_NO_RESOURCE && s->candidates != s->all) {
        look_where_no_work_goes(s);
    }
    if (s->best == DYNSEL_FINISH_NO_RESOURCE) {
        return (choice){.index = first_to_run(s), .reason = DYNSEL_REASON_PROFILING};
    }
    if (!dynsel_sight_trusts_own(s, s->best)) {
        s->best_run_ns = dynsel_sight_known_run_ns(s, s->best, true);
    }
    if (dynsel_finish_is_in(s->to_wake, s->best)) {
        look_at_awake(s);
    }
    weigh_worth(s);
    if (!DYNSEL_LIKELY(s->once == 0)) {
        doubt_first_times(s);
    }
    const choice made = choose_known(s, is_alone);
    if (is_alone && made.trial != DYNSEL_FINISH_NOTE_FIRST_TRIAL) {
        alone.in_vain = true;
        return alone;
    }
    return made;
}

/* What a resource and the data learn from the choice. */
static void tell_end(const dynsel_finish_sight *s, const choice *made)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    if (s->task->data != NULL) {
        s->task->data->end_ns = s->now_ns + dynsel_sight_start_ns(s, made->index) +
                                dynsel_sight_copy_ns(s, made->index) + made->run_ns;
    }
#else
    (void)s;
    (void)made;
#endif
}

/* Nothing else is in flight: the latency can be learned, of a thread only if it got the piece
 * before, too; else it may have to be woken. So a latency that has faded is learned from the next
 * run without copies, or of a thread from the second one in a row; not from one before which
 * something is compiled. */
static void look_at_latency(const dynsel_finish_sight *s, uint32_t index,
                            dynsel_selection *selection)
{
    dynsel_finish_resource *const resource = &s->policy->states[index];
    if (!DYNSEL_LIKELY(!dynsel_finish_is_in(dynsel_finish_cold(s->kinds->root), index))) {
        return;
    }
    const bool faded = dynsel_finish_has_faded(resource);
    const bool is_awake = !dynsel_finish_is_thread(s->policy, index) ||
                          dynsel_word_load_relaxed(&s->policy->submitted_to) == index + 1;
    if (is_awake) {
        selection->notes[0] |= DYNSEL_FINISH_NOTE_ALONE;
        selection->wants |= faded && dynsel_sight_copy_ns(s, index) == 0 ? DYNSEL_TASK_TIME : 0;
    }
    if (!is_awake && faded) {
        dynsel_word_store_relaxed(&resource->is.latency, DYNSEL_FINISH_FADED);
    }
}

static void fill_in(const dynsel_finish_sight *s, const choice *made, dynsel_selection *selection)
{
    const uint64_t copies = dynsel_sight_copy_ns(s, made->index);
    selection->index = made->index;
    selection->reason = (uint8_t)made->reason;
    selection->wants = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_WITHOUT_COPIES;
    selection->notes[0] = notes_of(s);
    selection->notes[1] = s->amount;
    selection->notes[2] = dynsel_finish_ticks(copies + made->run_ns);
    if (copies != 0) {
        const uint64_t part = dynsel_in_proportion(256, copies, copies + made->run_ns, 255);
        selection->notes[0] |= (uint32_t)part << DYNSEL_FINISH_NOTE_COPIES_SHIFT;
    }
    selection->notes[0] |= made->trial;
    if (s->is_idle && dynsel_finish_is_one_by_one(s->policy)) {
        look_at_latency(s, made->index, selection);
    }
    if (made->trial != 0) {
        selection->wants |= made->trial == DYNSEL_FINISH_NOTE_FIRST_TRIAL
                                ? DYNSEL_TASK_TIME | DYNSEL_TASK_START_TIME
                                : DYNSEL_TASK_TIME;
    } else {
        sample(s, made->index, made->run_ns, made->reason, selection);
    }
#if CONFIG_DYNSEL_COMMAND_GROUPS
    selection->wants |= s->task->requirement_count != 0 ? DYNSEL_TASK_READBACK_TIME : 0;
#endif
}

/* Its kind has no entry. */
static void choose_untracked(const dynsel_finish_sight *s, dynsel_selection *selection)
{
    selection->index = assumed_fastest(s);
    selection->reason =
        is_only_one(s->all)
            ? (uint8_t)dynsel_policy_reason_of_only(&s->policy->policy, selection->index, s->task)
            : (uint8_t)DYNSEL_REASON_UNTRACKED;
    selection->wants = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION;
    selection->notes[0] = 0;
    selection->notes[2] = 1;
}

void dynsel_finish_enter(dynsel_earliest_finish_policy *policy, const dynsel_selection *selection,
                         int32_t speed)
{
    const uint32_t now =
        (uint32_t)(dynsel_traced_clock(&policy->policy) >> DYNSEL_FINISH_TICK_SHIFT);
    uint32_t unfinished = 0;
    for (uint32_t i = 0; i < dynsel_policy_count(&policy->policy); i++) {
        unfinished |= dynsel_word_load_relaxed(&policy->states[i].is.unfinished);
    }
    while (!enter_queue(&policy->states[selection->index], now, 0, selection->notes[2])) {
    }
    learn_submit(policy, selection->index, now, unfinished == 0);
    note_if_alone(policy, now, unfinished == 0);
    if (speed < 0) {
        note_worth(&policy->states[selection->index], speed);
    }
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* What a short use of data takes where others take place beside it: threads share the data. */
static uint32_t beside_others_ns(const dynsel_earliest_finish_policy *policy, uint32_t index,
                                 uint32_t usual_ns)
{
    return usual_ns < DYNSEL_FINISH_HAND_OVER_NS &&
                   dynsel_finish_is_in(dynsel_finish_sharing(policy), index)
               ? usual_ns / dynsel_word_load_relaxed(&policy->sharers)
               : usual_ns;
}

/* Learns what work that uses data takes on each resource, from some of it: where a submit takes
 * longer than the run, the program's time. A resource becomes the home of data by a kind whose run
 * there is known, whatever is guessed of others. */
static void learn_usual_runs(const dynsel_finish_sight *s)
{
    dynsel_earliest_finish_policy *const policy = s->policy;
    const uint32_t home = dynsel_word_load_relaxed(&policy->data_home);
    uint32_t least_ns = UINT32_MAX;
    uint32_t least = home;
    for (uint32_t i = 0; i < dynsel_policy_count(&policy->policy); i++) {
        dynsel_word *const usual = &policy->states[i].is.usual_ns;
        if (dynsel_finish_is_in(s->all & ~s->candidates, i)) {
            continue; /* it gets no work now */
        }
        const uint32_t before = dynsel_word_load_relaxed(usual);
        uint32_t now = before;
        uint64_t known_ns = 0;
        if (dynsel_sight_is_candidate(s, i)) {
            known_ns = dynsel_sight_known_run_ns(s, i, true);
            const uint64_t likely_ns =
                known_ns != 0 ? known_ns
                              : dynsel_finish_guess(policy, i, s->fastest, s->fastest_ns,
                                                    s->task->data->work_items);
            const uint64_t turn_ns = dynsel_sight_turn_ns(s, i, likely_ns);
            const uint32_t its_ns = (uint32_t)dynsel_finish_lower(turn_ns, INT32_MAX);
            now = before == 0 ? its_ns : before - before / USUAL_WEIGHT + its_ns / USUAL_WEIGHT;
            dynsel_word_store_relaxed(usual, now != 0 ? now : 1);
        }
        /* one of equal resources stays the home */
        const uint32_t beside_ns = beside_others_ns(policy, i, now);
        const uint32_t counted_ns = i + 1 == home ? beside_ns - beside_ns / HOME_MARGIN : beside_ns;
        if (now != 0 && counted_ns < least_ns && (known_ns != 0 || i + 1 == home)) {
            least_ns = counted_ns;
            least = i + 1;
        }
    }
    dynsel_word_store_relaxed(&policy->data_home, least);
}
#else
static void learn_usual_runs(const dynsel_finish_sight *s)
{
    (void)s;
}
#endif

/* The next look for a first trial run comes later. */
DYNSEL_RARE static void look_more_rarely(dynsel_earliest_finish_policy *policy)
{
    uint32_t before = dynsel_word_load_relaxed(&policy->strangers);
    if (before != 0 && before < MOST_STRANGERS) {
        (void)dynsel_word_swap(&policy->strangers, &before, before + 1);
    }
}

dynsel_status dynsel_finish_choose(dynsel_earliest_finish_policy *policy, const dynsel_task *task,
                                   const dynsel_finish_kinds *kinds, dynsel_selection *selection)
{
    dynsel_finish_sight s;
    choice made = {.run_ns = 0};
    dynsel_sight_begin(&s, policy, task, kinds);
    dynsel_word_store_relaxed(&policy->clock, dynsel_word_load_relaxed(&policy->clock) + 1);
    do {
        dynsel_sight_look(&s);
        dynsel_sight_trace(&s, selection);
        if (s.all == 0) {
            return dynsel_policy_refuse(&policy->policy, task);
        }
        if (kinds->own == NULL) {
            choose_untracked(&s, selection);
        } else {
            made = choose(&s);
            fill_in(&s, &made, selection);
            tell_end(&s, &made);
        }
    } while (selection->claims != 0 &&
             !enter_queue(&policy->states[selection->index], s.now, s.ready, selection->notes[2]));
    if (selection->claims != 0) {
        if (made.in_vain) {
            look_more_rarely(policy);
        }
        dynsel_finish_measure(&s, selection->index, made.run_ns,
                              made.trial == DYNSEL_FINISH_NOTE_FIRST_TRIAL);
        dynsel_finish_expect(&s, selection->index, made.run_ns);
        learn_submit(policy, selection->index, s.now, s.is_idle);
        note_if_alone(policy, s.now, s.is_idle);
        if (s.uses_ahead != 0 && s.fastest != DYNSEL_FINISH_NO_RESOURCE && kinds->own != NULL &&
            dynsel_finish_is_turn(dynsel_word_load_relaxed(&policy->clock), USUAL_BITS)) {
            learn_usual_runs(&s);
        }
        if (s.wanted != DYNSEL_FINISH_NO_RESOURCE) {
            note_worth(&policy->states[s.wanted], s.wanted_speed);
        }
    }
    return DYNSEL_OK;
}
