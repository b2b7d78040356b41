/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice: what each resource would finish when, the earliest of them, and trial runs.
 */
#include "base/fail.h"
#include "policies/earliest_finish_parts.h"
#include "port/sampling.h"

enum {
    NO_RESOURCE = CONFIG_DYNSEL_MAX_RESOURCES,
    ENOUGH_SAMPLES = 2, /* the first may contain a compilation */
    MOST_TRIALS = 4,    /* in a row that brought no time */
    ONE_BY_ONE = 4,     /* submits in a row that found nothing in flight */
    MOST_USES_AHEAD = 64,
    WORTH_MARGIN = 2 * DYNSEL_LOG2_ONE,  /* 4 times */
    WORTH_FADES = 8,                     /* for each choice: by a power of two in 32 of them */
    TELLING_ERROR = DYNSEL_LOG2_ONE / 2, /* 1.4 times */
    LEAST_TIMES = 50, /* what timing takes, work must take in the meantime: at most 2 percent */
    MOST_RARITY = 3   /* one in 128 */
};

/* The result of a look at all resources. */
typedef struct sight {
    dynsel_earliest_finish_policy *policy;
    const dynsel_task *task;
    const dynsel_finish_kinds *kinds;
    uint64_t now_ns;
    uint32_t now;        /* in ticks */
    uint32_t amount;     /* as in points */
    uint64_t ready_ns;   /* from now until the work that it depends on ends */
    uint32_t uses_ahead; /* further uses of the data, without this one */
    uint32_t candidates;
    uint32_t any;               /* the last candidate */
    uint32_t unknown;           /* candidates without a time */
    uint32_t best;              /* of the candidates with a time */
    uint64_t best_cost_ns;      /* until its end, and what the choice costs later */
    uint32_t fastest;           /* of those with a time: the shortest run */
    uint64_t fastest_ns;        /* that run */
    uint64_t shortest_queue_ns; /* of the candidates that do not block the caller */
    uint32_t processors_ticks;  /* the longest queue of resources that use all processors */
    uint32_t threads_ticks;     /* the mean queue of the host's threads */
    uint64_t least_bytes;  /* that the resource which has most of the data would have to copy */
    uint32_t source_ticks; /* the queue of such resources, if they are apart */
    bool is_idle;          /* no resource has unfinished work */
} sight;

static bool is_candidate(const sight *s, uint32_t index)
{
    return dynsel_is_candidate(&s->policy->policy, index, s->task);
}

/* Work there is complete when the submit returns. */
static bool blocks_caller(const sight *s, uint32_t index)
{
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    return !s->policy->policy.resources[index].backend->ops->outlives_submit;
#else
    (void)s;
    (void)index;
    return true;
#endif
}

static uint64_t bytes_in(const sight *s, uint32_t index)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return s->task->data != NULL ? s->task->data->bytes_in[index] : 0;
#else
    (void)s;
    (void)index;
    return 0;
#endif
}

static uint64_t copy_ns(const sight *s, uint32_t index)
{
    return dynsel_finish_copy_ns(&s->policy->states[index], bytes_in(s, index));
}

/* How long what is queued on a resource takes from now on: until its predicted end, and no longer
 * than what is not reported complete. Ends may be reported late, and predictions be too long. */
static uint32_t queued_ticks(const sight *s, const dynsel_finish_resource *resource)
{
    const uint32_t unfinished = dynsel_word_load_relaxed(&resource->is.unfinished);
    const int32_t ticks = (int32_t)(dynsel_word_load_relaxed(&resource->is.free_at) - s->now);
    if (unfinished == 0 || ticks <= 0) {
        return 0;
    }
    return (uint32_t)ticks < unfinished ? (uint32_t)ticks : unfinished;
}

/* Looks at all queues. */
static void look_at_queues(sight *s)
{
    uint64_t threads_ticks = 0;
    uint32_t threads = 0;
    s->processors_ticks = 0;
    s->is_idle = true;
    for (uint32_t i = 0; i < s->policy->policy.count; i++) {
        const dynsel_finish_resource *resource = &s->policy->states[i];
        const uint32_t ticks = queued_ticks(s, resource);
        s->is_idle = s->is_idle && dynsel_word_load_relaxed(&resource->is.unfinished) == 0;
        switch (dynsel_word_load_relaxed(&resource->is.place)) {
        case DYNSEL_FINISH_PROCESSORS:
            s->processors_ticks = ticks > s->processors_ticks ? ticks : s->processors_ticks;
            break;
        case DYNSEL_FINISH_THREAD:
            threads_ticks += ticks;
            threads++;
            break;
        default:
            break;
        }
    }
    s->threads_ticks = threads != 0 ? (uint32_t)(threads_ticks / threads) : 0;
}

/* When a resource begins what comes next. */
static uint64_t queue_ns(const sight *s, uint32_t index)
{
    const dynsel_finish_resource *resource = &s->policy->states[index];
    const uint32_t place = dynsel_word_load_relaxed(&resource->is.place);
    const uint32_t own = queued_ticks(s, resource);
    const uint32_t shared = place == DYNSEL_FINISH_PROCESSORS ? s->threads_ticks
                            : place == DYNSEL_FINISH_THREAD   ? s->processors_ticks
                                                              : 0;
    return dynsel_finish_ns(own > shared ? own : shared);
}

static uint64_t submit_ns(const sight *s, uint32_t index)
{
    return dynsel_finish_ns(dynsel_word_load_relaxed(&s->policy->states[index].is.submit));
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Looks where the data are: copies from a device come behind what is queued there. */
static void look_at_data(sight *s)
{
    s->least_bytes = UINT64_MAX;
    for (uint32_t i = 0; i < s->policy->policy.count; i++) {
        s->least_bytes = dynsel_finish_lower(s->least_bytes, bytes_in(s, i));
    }
    s->source_ticks = 0;
    for (uint32_t i = 0; i < s->policy->policy.count; i++) {
        const dynsel_finish_resource *resource = &s->policy->states[i];
        const uint32_t ticks = queued_ticks(s, resource);
        if (bytes_in(s, i) == s->least_bytes && ticks > s->source_ticks &&
            dynsel_word_load_relaxed(&resource->is.place) == DYNSEL_FINISH_APART) {
            s->source_ticks = ticks;
        }
    }
}

/* When the data can be copied to a resource, or are there. */
static uint64_t data_ns(const sight *s, uint32_t index)
{
    return bytes_in(s, index) > s->least_bytes
               ? later_of(s->ready_ns, dynsel_finish_ns(s->source_ticks))
               : s->ready_ns;
}

static uint64_t start_ns(const sight *s, uint32_t index)
{
    return later_of(later_of(queue_ns(s, index), data_ns(s, index)), submit_ns(s, index));
}

/* Whether a first run may take longer than others. */
static bool compiles(const sight *s, uint32_t index)
{
    return dynsel_word_load_relaxed(&s->policy->states[index].is.place) != DYNSEL_FINISH_THREAD;
}

/* Whether the times of a resource can be relied on. */
static bool is_trusted(const sight *s, const dynsel_finish_times *times, uint32_t index)
{
    const uint32_t samples = dynsel_word_load_relaxed(&times->samples);
    return samples >= ENOUGH_SAMPLES || (samples != 0 && !compiles(s, index));
}

/* Whether the amounts of the tasks of an id say how long they take. */
static bool amounts_tell(const dynsel_finish_times *root)
{
    return dynsel_word_load_relaxed(&root->error) < TELLING_ERROR;
}

/* The predicted run; 0: no time is known. */
static uint64_t known_run_ns(const sight *s, uint32_t index, bool even_first)
{
    const uint64_t shortest_ns = dynsel_word_load_relaxed(&s->policy->states[index].is.shortest_ns);
    const dynsel_finish_times *own = &s->kinds->own->resources[index];
    if (is_trusted(s, own, index)) {
        return dynsel_finish_predict(own, s->amount, shortest_ns);
    }
    const dynsel_finish_times *root = &s->kinds->root->resources[index];
    if (even_first && dynsel_word_load_relaxed(&own->samples) != 0) {
        return dynsel_finish_predict(own, s->amount, shortest_ns);
    }
    if ((is_trusted(s, root, index) && amounts_tell(root)) || even_first) {
        return dynsel_finish_predict(root, s->amount, shortest_ns);
    }
    return 0;
}

static uint64_t predicted_by_backend(const sight *s, uint32_t index)
{
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    const dynsel_policy *policy = &s->policy->policy;
    dynsel_backend *backend = policy->resources[index].backend;
    if (backend->ops->predict != NULL &&
        dynsel_word_load_relaxed(&s->kinds->root->resources[index].unfinished) == 0) {
        return dynsel_finish_lower(
            backend->ops->predict(backend, policy->queues[index].own, s->task),
            DYNSEL_FINISH_LONGEST_NS);
    }
#else
    (void)s;
    (void)index;
#endif
    return 0;
}

/* When a run would be over, from now on, and what the choice costs later: its submit delays what is
 * submitted next, too. */
static uint64_t cost_ns(const sight *s, uint32_t index, uint64_t run_ns)
{
    return start_ns(s, index) + copy_ns(s, index) + run_ns +
           dynsel_finish_beside_ns(s->policy, s->kinds->own, index) + s->uses_ahead * run_ns;
}

static void look_at_known(sight *s, uint32_t index, uint64_t run_ns)
{
    const uint64_t cost = cost_ns(s, index, run_ns);
    if (cost < s->best_cost_ns) {
        s->best_cost_ns = cost;
        s->best = index;
    }
    if (run_ns < s->fastest_ns) {
        s->fastest_ns = run_ns;
        s->fastest = index;
    }
}

/* How fast a resource is for this kind of task, compared with the fastest; not more than 0. */
static int32_t speed_of(const sight *s, uint64_t run_ns)
{
    return dynsel_log2(s->fastest_ns) - dynsel_log2(run_ns);
}

/* Whether other kinds make so much better use of a resource that it shall not wait for this one. */
static bool is_worth_more(const sight *s, uint32_t index, uint64_t run_ns)
{
    const int32_t worth = (int32_t)dynsel_word_load_relaxed(&s->policy->states[index].is.worth);
    return queue_ns(s, index) != 0 && speed_of(s, run_ns) < worth - WORTH_MARGIN;
}

/* The best choice is a resource whose time is worth more to other kinds: chooses among those of
 * which that is not so. The fastest is one of them. */
static void choose_among_worthy(sight *s)
{
    s->best_cost_ns = UINT64_MAX;
    for (uint32_t i = 0; i < s->policy->policy.count; i++) {
        const uint64_t run_ns = is_candidate(s, i) ? known_run_ns(s, i, true) : 0;
        if (run_ns != 0 && !is_worth_more(s, i, run_ns) && !blocks_caller(s, i)) {
            const uint64_t cost = cost_ns(s, i, run_ns);
            if (cost < s->best_cost_ns) {
                s->best_cost_ns = cost;
                s->best = i;
            }
        }
    }
}

/* Notes how fast a resource is for what it would be chosen for. */
static void note_worth(const sight *s, uint32_t index, uint64_t run_ns)
{
    dynsel_word *word = &s->policy->states[index].is.worth;
    const int32_t speed = speed_of(s, run_ns);
    const int32_t before = (int32_t)dynsel_word_load_relaxed(word);
    const int32_t now = speed > before ? speed : before - WORTH_FADES;
    if (now != before) {
        dynsel_word_store_relaxed(word, (uint32_t)now);
    }
}

static void weigh_worth(sight *s)
{
    const uint64_t run_ns = known_run_ns(s, s->best, true);
    if (s->best == s->fastest || run_ns == 0) {
        return;
    }
    note_worth(s, s->best, run_ns);
    if (is_worth_more(s, s->best, run_ns)) {
        choose_among_worthy(s);
    }
}

static bool may_block(const sight *s, uint64_t run_ns)
{
    return s->best == NO_RESOURCE || run_ns <= submit_ns(s, s->best) ||
           run_ns <= s->shortest_queue_ns ||
           dynsel_word_load_relaxed(&s->policy->one_by_one) >= ONE_BY_ONE;
}

/* A first time is no estimate, but no more than it is needed: so the resource may be the best. */
static uint64_t most_run_ns(const sight *s, uint32_t index)
{
    const dynsel_finish_times *own = &s->kinds->own->resources[index];
    return dynsel_word_load_relaxed(&own->samples) != 0 ? known_run_ns(s, index, true)
                                                        : predicted_by_backend(s, index);
}

static void look_at_one(sight *s, uint32_t index, bool even_first)
{
    uint64_t run_ns = known_run_ns(s, index, even_first);
    if (run_ns == 0) {
        s->unknown++;
        run_ns = most_run_ns(s, index);
    }
    if (run_ns != 0) {
        look_at_known(s, index, run_ns);
    }
}

/* even_first: no time of this kind is better than a first one. */
static void look_at_all(sight *s, bool even_first)
{
    const uint32_t count = s->policy->policy.count;
    bool blocks = false;
    s->candidates = 0;
    s->unknown = 0;
    s->best = NO_RESOURCE;
    s->best_cost_ns = UINT64_MAX;
    s->fastest = NO_RESOURCE;
    s->fastest_ns = UINT64_MAX;
    s->shortest_queue_ns = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_candidate(s, i)) {
            continue;
        }
        s->candidates++;
        s->any = i;
        if (blocks_caller(s, i)) {
            blocks = true;
            continue;
        }
        s->shortest_queue_ns = dynsel_finish_lower(s->shortest_queue_ns, queue_ns(s, i));
        look_at_one(s, i, even_first);
    }
    for (uint32_t i = 0; blocks && i < count; i++) {
        if (!blocks_caller(s, i) || !is_candidate(s, i)) {
            continue;
        }
        const uint64_t run_ns = known_run_ns(s, i, even_first);
        if (run_ns == 0) {
            s->unknown++;
        } else if (may_block(s, run_ns)) {
            look_at_known(s, i, run_ns);
        } else if (run_ns < s->fastest_ns) {
            s->fastest_ns = run_ns;
            s->fastest = i;
        }
    }
}

/* How long work of which nothing is known may take on a resource, compared with others: where that
 * varies with the kind of work, the worst counts. For kinds without an entry, which nothing is
 * learned of, what it computes on decides. */
static int32_t assumed_slowness(const sight *s, const dynsel_finish_resource *resource)
{
    if (s->kinds->own == NULL) {
        return (int32_t)dynsel_word_load_relaxed(&resource->is.place);
    }
    return (int32_t)(dynsel_word_load_relaxed(&resource->is.slowness) +
                     2 * dynsel_word_load_relaxed(&resource->is.spread));
}

/* The resource that is assumed to be the fastest, of equal ones that with the shortest queue. */
static uint32_t assumed_fastest(const sight *s)
{
    uint32_t found = NO_RESOURCE;
    int32_t least = INT32_MAX;
    uint32_t least_unfinished = 0;
    for (uint32_t i = 0; i < s->policy->policy.count; i++) {
        const dynsel_finish_resource *resource = &s->policy->states[i];
        const int32_t slowness = assumed_slowness(s, resource);
        const uint32_t unfinished = dynsel_word_load_relaxed(&resource->is.unfinished);
        if (is_candidate(s, i) && (found == NO_RESOURCE || slowness < least ||
                                   (slowness == least && unfinished < least_unfinished))) {
            least = slowness;
            least_unfinished = unfinished;
            found = i;
        }
    }
    return found;
}

/*
 * Trial runs.
 */

/* The smallest amounts first, where amounts tell the time: what is too slow there shows it for the
 * least price. */
static bool is_small(const sight *s)
{
    if (!amounts_tell(&s->kinds->root->resources[s->best])) {
        return true;
    }
    const uint32_t smallest = dynsel_word_load_relaxed(&s->kinds->root->smallest);
    return s->amount < smallest || s->amount - smallest < DYNSEL_COMPACT_DOUBLE / 2;
}

static bool may_be_tried(const sight *s, uint32_t index)
{
    const dynsel_finish_times *times = &s->kinds->root->resources[index];
    return is_candidate(s, index) && dynsel_word_load_relaxed(&times->unfinished) == 0 &&
           dynsel_word_load_relaxed(&times->trials) < MOST_TRIALS;
}

/* A run whose time is not known, rather too long than too short. What other tasks of the id took
 * there counts as much as the speed of the resource, even if amounts do not tell the time. */
static uint64_t guessed_run_ns(const sight *s, uint32_t index)
{
    const dynsel_finish_times *root = &s->kinds->root->resources[index];
    const uint64_t guess_ns = dynsel_finish_guess(s->policy, index, s->fastest, s->fastest_ns);
    const uint64_t first_ns = known_run_ns(s, index, true);
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

/* What a trial run costs more than the best choice. Data come back afterwards. */
static uint64_t loss_ns(const sight *s, uint32_t index, uint64_t run_ns)
{
    const uint64_t best_ns = s->best_cost_ns - s->uses_ahead * known_run_ns(s, s->best, true);
    const uint64_t end_ns = start_ns(s, index) + 2 * copy_ns(s, index) + run_ns +
                            dynsel_finish_beside_ns(s->policy, s->kinds->own, index);
    return end_ns > best_ns ? end_ns - best_ns : 0;
}

static uint64_t credit_ns(const sight *s)
{
    const int32_t credit = (int32_t)dynsel_word_load_relaxed(&s->kinds->own->credit);
    return credit > 0 ? dynsel_finish_ns((uint32_t)credit) : 0;
}

/* The cheapest resource without a time whose trial run the credit allows; what does not compile
 * comes first. A resource that never ran anything as short as the best run is out. */
static uint32_t find_first_trial(const sight *s, uint64_t *run_ns)
{
    const uint64_t allowed = is_small(s) ? credit_ns(s) : 0;
    uint32_t found = NO_RESOURCE;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < s->policy->policy.count; i++) {
        if (i == s->best || !may_be_tried(s, i) || known_run_ns(s, i, false) != 0) {
            continue;
        }
        if (dynsel_word_load_relaxed(&s->policy->states[i].is.shortest_ns) > s->fastest_ns) {
            continue;
        }
        const uint64_t guess_ns = guessed_run_ns(s, i);
        const uint64_t loss = loss_ns(s, i, guess_ns);
        const uint64_t rank = compiles(s, i) ? loss + DYNSEL_FINISH_LONGEST_NS : loss;
        if (loss <= allowed && rank < least) {
            least = rank;
            found = i;
            *run_ns = guess_ns;
        }
    }
    return found;
}

/* The next resource with a time, in turn, if a part of the credit allows another run. */
static uint32_t find_further_trial(const sight *s, uint64_t *run_ns)
{
    const uint64_t allowed = credit_ns(s);
    const uint32_t count = s->policy->policy.count;
    const uint32_t before = dynsel_word_load_relaxed(&s->kinds->root->explored);
    for (uint32_t k = 1; k <= count; k++) {
        const uint32_t index = (before + k) % count;
        if (index == s->best || !may_be_tried(s, index)) {
            continue;
        }
        const uint64_t time_ns = known_run_ns(s, index, false);
        const uint32_t price =
            dynsel_finish_price(dynsel_word_load_relaxed(&s->kinds->own->resources[index].samples));
        if (time_ns != 0 && loss_ns(s, index, time_ns) <= allowed / price) {
            *run_ns = time_ns;
            return index;
        }
    }
    return NO_RESOURCE;
}

/*
 * Filling in the selection.
 */

/* How rarely a run is timed, where timing takes long beside the work. */
static uint32_t timed_bits(const sight *s, uint32_t index, uint64_t run_ns)
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

static void want_time(dynsel_selection *selection)
{
    selection->wants |= DYNSEL_TASK_TIME;
}

/* Decides whether the run is timed. Returns whether it is one of many. */
static bool sample(const sight *s, uint32_t index, uint64_t run_ns, dynsel_selection *selection)
{
    const dynsel_finish_times *times = &s->kinds->own->resources[index];
    if (dynsel_word_load_relaxed(&times->samples) < DYNSEL_FINISH_ROBUST) {
        want_time(selection);
        return false;
    }
    const uint32_t runs = dynsel_word_load_relaxed(&times->runs);
    const uint32_t bits = timed_bits(s, index, run_ns);
    if ((runs & ((1u << bits) - 1)) != 0) {
        return false;
    }
    want_time(selection);
    selection->notes[0] |= DYNSEL_FINISH_NOTE_TICK;
    return true;
}

static uint32_t notes_of(const sight *s)
{
    const uint32_t life = dynsel_word_load_relaxed(&s->kinds->own->life) / 2;
    return ((uint32_t)(s->kinds->own - s->policy->kinds) + 1) |
           life << DYNSEL_FINISH_NOTE_LIFE_SHIFT;
}

/* Adds a run to the queue of a resource. False: another thread changed the queue meanwhile. */
static bool enter_queue(const sight *s, uint32_t index, uint32_t ticks)
{
    dynsel_finish_resource *resource = &s->policy->states[index];
    uint32_t free_at = dynsel_word_load_relaxed(&resource->is.free_at);
    const uint32_t queued = queued_ticks(s, resource);
    const uint32_t most = DYNSEL_FINISH_MOST_TICKS - ticks;
    const uint32_t begin = s->now + (queued < most ? queued : most);
    if (!dynsel_word_swap(&resource->is.free_at, &free_at, begin + ticks)) {
        return false;
    }
    (void)dynsel_word_add_relaxed(&resource->is.unfinished, ticks);
    return true;
}

/* The time since the submit before is what that took, or more. */
static void learn_submit(const sight *s, uint32_t index)
{
    const uint32_t before = dynsel_word_load_relaxed(&s->policy->submitted_to);
    const uint32_t ticks = s->now - dynsel_word_load_relaxed(&s->policy->submitted_at);
    /* where nothing is in flight the program has waited */
    if (!s->is_idle && before != 0 && before <= s->policy->policy.count &&
        ticks < DYNSEL_FINISH_MOST_TICKS) {
        dynsel_finish_learn_submit(&s->policy->states[before - 1], ticks);
    }
    dynsel_word_store_relaxed(&s->policy->submitted_at, s->now);
    dynsel_word_store_relaxed(&s->policy->submitted_to, index + 1);
}

static void note_if_alone(const sight *s)
{
    const uint32_t before = dynsel_word_load_relaxed(&s->policy->one_by_one);
    const uint32_t now = !s->is_idle ? 0 : before < UINT8_MAX ? before + 1 : before;
    if (now != before) {
        dynsel_word_store_relaxed(&s->policy->one_by_one, now);
    }
}

/* A choice of a resource with its predicted run. */
typedef struct choice {
    uint32_t index;
    uint64_t run_ns;
    dynsel_reason reason;
    bool is_trial;
} choice;

static choice choose_known(const sight *s, bool is_tick)
{
    choice made = {.index = s->best,
                   .run_ns = known_run_ns(s, s->best, true),
                   .reason = DYNSEL_REASON_EARLIEST_FINISH};
    if (made.run_ns == 0) {
        made.run_ns = predicted_by_backend(s, s->best);
    }
    uint64_t run_ns = 0;
    uint32_t other = NO_RESOURCE;
    if (s->unknown != 0) {
        other = find_first_trial(s, &run_ns);
    }
    if (other == NO_RESOURCE && is_tick) {
        other = find_further_trial(s, &run_ns);
    }
    if (other != NO_RESOURCE) {
        made = (choice){
            .index = other, .run_ns = run_ns, .reason = DYNSEL_REASON_EXPLORING, .is_trial = true};
    }
    return made;
}

static choice choose(sight *s)
{
    look_at_all(s, false);
    if (s->best == NO_RESOURCE && s->unknown != 0) {
        look_at_all(s, true);
    }
    if (s->candidates == 0) {
        return (choice){.index = NO_RESOURCE};
    }
    if (s->candidates == 1) {
        return (choice){.index = s->any,
                        .reason =
                            dynsel_policy_reason_of_only(&s->policy->policy, s->any, s->task)};
    }
    if (s->best == NO_RESOURCE) {
        return (choice){.index = assumed_fastest(s), .reason = DYNSEL_REASON_PROFILING};
    }
    weigh_worth(s);
    const uint32_t runs = dynsel_word_load_relaxed(&s->kinds->own->resources[s->best].runs);
    return choose_known(s, runs % (1u << DYNSEL_FINISH_TIMED_BITS) == 1);
}

/* What a resource and the data learn from the choice. */
static void tell_end(const sight *s, const choice *made)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    if (s->task->data != NULL) {
        s->task->data->end_ns =
            s->now_ns + start_ns(s, made->index) + copy_ns(s, made->index) + made->run_ns;
    }
#else
    (void)s;
    (void)made;
#endif
}

static void fill_in(const sight *s, const choice *made, dynsel_selection *selection)
{
    const uint64_t copies = copy_ns(s, made->index);
    selection->index = made->index;
    selection->reason = (uint8_t)made->reason;
    selection->wants = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION;
    selection->notes[0] = notes_of(s);
    selection->notes[1] = s->amount;
    selection->notes[2] = dynsel_finish_ticks(copies + made->run_ns);
    if (copies != 0) {
        const uint64_t part = dynsel_in_proportion(256, copies, copies + made->run_ns, 255);
        selection->notes[0] |= (uint32_t)part << DYNSEL_FINISH_NOTE_COPIES_SHIFT;
    }
    selection->notes[0] |= made->is_trial ? DYNSEL_FINISH_NOTE_TRIAL : 0u;
    if (s->is_idle && dynsel_word_load_relaxed(&s->policy->one_by_one) >= ONE_BY_ONE) {
        selection->notes[0] |= DYNSEL_FINISH_NOTE_ALONE;
    }
    if (made->is_trial) {
        want_time(selection);
    } else {
        (void)sample(s, made->index, made->run_ns, selection);
    }
#if CONFIG_DYNSEL_COMMAND_GROUPS
    selection->wants |= s->task->requirement_count != 0 ? DYNSEL_TASK_READBACK_TIME : 0;
#endif
}

/* Its kind has no entry. */
static dynsel_status choose_untracked(sight *s, dynsel_selection *selection)
{
    const uint32_t index = assumed_fastest(s);
    if (index == NO_RESOURCE) {
        return dynsel_policy_refuse(&s->policy->policy, s->task);
    }
    selection->index = index;
    selection->reason = DYNSEL_REASON_UNTRACKED;
    selection->wants = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION;
    selection->notes[0] = 0;
    selection->notes[2] = 1;
    return DYNSEL_OK;
}

static uint64_t ready_ns(const sight *s)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    if (s->task->data != NULL && s->task->data->ready_ns > s->now_ns) {
        return dynsel_finish_lower(s->task->data->ready_ns - s->now_ns, DYNSEL_FINISH_LONGEST_NS);
    }
#endif
    (void)s;
    return 0;
}

static uint32_t uses_ahead(const dynsel_task *task)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    if (task->data != NULL && task->data->uses_ahead > 1) {
        const uint32_t further = task->data->uses_ahead - 1;
        return further < MOST_USES_AHEAD ? further : MOST_USES_AHEAD;
    }
#endif
    (void)task;
    return 0;
}

void dynsel_finish_enter(dynsel_earliest_finish_policy *policy, const dynsel_selection *selection)
{
    sight s = {.policy = policy, .now = (uint32_t)(dynsel_now_ns() >> DYNSEL_FINISH_TICK_SHIFT)};
    look_at_queues(&s);
    while (!enter_queue(&s, selection->index, selection->notes[2])) {
    }
    learn_submit(&s, selection->index);
    note_if_alone(&s);
}

dynsel_status dynsel_finish_choose(dynsel_earliest_finish_policy *policy, const dynsel_task *task,
                                   const dynsel_finish_kinds *kinds, dynsel_selection *selection)
{
    sight s = {.policy = policy, .task = task, .kinds = kinds, .now_ns = dynsel_now_ns()};
    dynsel_word_store_relaxed(&policy->clock, dynsel_word_load_relaxed(&policy->clock) + 1);
    s.now = (uint32_t)(s.now_ns >> DYNSEL_FINISH_TICK_SHIFT);
    s.amount = dynsel_finish_amount(task->amount);
    s.ready_ns = ready_ns(&s);
    s.uses_ahead = uses_ahead(task);
    choice made = {.index = NO_RESOURCE};
    do {
        look_at_queues(&s);
        look_at_data(&s);
        if (kinds->own == NULL) {
            const dynsel_status status = choose_untracked(&s, selection);
            if (status != DYNSEL_OK) {
                return status;
            }
        } else {
            made = choose(&s);
            if (s.candidates == 0) {
                return dynsel_policy_refuse(&policy->policy, task);
            }
            fill_in(&s, &made, selection);
            tell_end(&s, &made);
        }
    } while (selection->claims && !enter_queue(&s, selection->index, selection->notes[2]));
    if (selection->claims) {
        learn_submit(&s, selection->index);
        note_if_alone(&s);
    }
    return DYNSEL_OK;
}
