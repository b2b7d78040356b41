/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/earliest_finish_sight.h"

enum {
    MOST_AHEAD = 64,
    CLEARLY_SHARE = 8 /* less by this part */
};

#if CONFIG_DYNSEL_COMMAND_GROUPS
static void begin_with_data(dynsel_finish_sight *s, const dynsel_data_outlook *data)
{
    const uint32_t further = data->uses_ahead > 1 ? data->uses_ahead - 1 : 0;
#if CONFIG_DYNSEL_RESOURCE_SETS
    s->count = data->resources; /* of others nothing is known */
#endif
    s->bytes_in = data->bytes_in;
    s->comes_behind = data->comes_behind;
    if (data->work_items != 0) {
        s->most_busy = (uint32_t)dynsel_finish_lower(
            data->work_items / DYNSEL_FINISH_GROUP_ITEMS + 1, DYNSEL_FINISH_MOST_PROCESSORS);
    }
    s->uses_ahead = further < MOST_AHEAD ? further : MOST_AHEAD;
    s->updates_ahead = data->updates_ahead < MOST_AHEAD ? data->updates_ahead : MOST_AHEAD;
    s->ready_ns = data->ready_ns > s->now_ns
                      ? dynsel_finish_lower(data->ready_ns - s->now_ns, DYNSEL_FINISH_LONGEST_NS)
                      : 0;
    if (s->ready_ns != 0) {
        s->ready = dynsel_finish_ticks(s->ready_ns);
        s->ready_on = data->ready_on;
    }
}
#endif

void dynsel_sight_begin(dynsel_finish_sight *s, dynsel_earliest_finish_policy *policy,
                        const dynsel_task *task, const dynsel_finish_kinds *kinds)
{
    s->policy = policy;
    s->count = dynsel_policy_count(&policy->policy);
    s->task = task;
    s->kinds = kinds;
    s->now_ns = dynsel_now_ns();
    s->now = (uint32_t)(s->now_ns >> DYNSEL_FINISH_TICK_SHIFT);
    s->amount = dynsel_finish_amount(task->amount);
    s->bytes_in = NULL;
    s->comes_behind = false;
    s->uses_ahead = 0;
    s->updates_ahead = 0;
    s->ready_ns = 0;
    s->ready = 0;
    s->ready_on = DYNSEL_FINISH_NO_RESOURCE;
    s->wanted = DYNSEL_FINISH_NO_RESOURCE;
    s->home = DYNSEL_FINISH_NO_RESOURCE;
    s->gathers = DYNSEL_FINISH_NO_RESOURCE;
    s->exchange_ns = 0;
    s->fastest = DYNSEL_FINISH_NO_RESOURCE;
    s->least_bytes = UINT64_MAX;
    s->counts_expected = false;
    s->looks_ahead = false;
    s->source_ticks = 0;
    s->processors = dynsel_word_load_relaxed(&policy->processors);
    s->host_share = dynsel_word_load_relaxed(&policy->host_share);
    s->feeds_devices = dynsel_word_load_relaxed(&policy->feeds_devices) != 0;
    /* 2 - 2 / n times as much on n processors: a run on one of many is long, what depends on it
     * waits, and what else is busy there makes it longer still */
    s->part_share = 2 * s->host_share - (uint32_t)((uint64_t)s->host_share * s->host_share >> 15);
    s->most_busy = UINT32_MAX;
#if CONFIG_DYNSEL_COMMAND_GROUPS
    if (task->data != NULL) {
        begin_with_data(s, task->data);
    }
#endif
}

/* A resource that is some of the host's processors, or all of them, has a queue of so many ticks.
 */
static void look_at_host_queue(dynsel_finish_sight *s, uint32_t its, uint32_t ticks)
{
    const uint64_t ns = dynsel_finish_ns(ticks);
    if (its >= s->processors) {
        s->on_all_ns = dynsel_sight_later_of(s->on_all_ns, ns);
    } else {
        s->on_part_ns = dynsel_sight_later_of(s->on_part_ns, ns);
        s->busy_parts += its;
    }
}

static void look_at_queues(dynsel_finish_sight *s)
{
    const dynsel_earliest_finish_policy *policy = s->policy;
    uint64_t host_ticks = 0;
    s->is_idle = true;
    s->unfinished = 0;
    s->on_all_ns = 0;
    s->on_part_ns = 0;
    s->busy_parts = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const dynsel_finish_resource *resource = &policy->states[i];
        const uint32_t unfinished = dynsel_word_load_relaxed(&resource->is.unfinished);
        s->queue_ticks[i] = 0;
        if (unfinished != 0) {
            const uint32_t free_at = dynsel_word_load_relaxed(&resource->is.free_at);
            const uint32_t ticks = dynsel_sight_begin_ticks(free_at, unfinished, s->now, 0);
            const uint32_t its = dynsel_finish_processors(resource, s->processors);
            if (its != 0) {
                host_ticks += (uint64_t)its * ticks;
                look_at_host_queue(s, its, ticks);
            }
            s->queue_ticks[i] =
                s->ready == 0 ? ticks
                              : dynsel_sight_begin_ticks(free_at, unfinished, s->now, s->ready);
            s->unfinished = dynsel_finish_sum(s->unfinished, unfinished);
            s->is_idle = false;
        }
    }
    s->host_ns = host_ticks * s->host_share >> (16 - DYNSEL_FINISH_TICK_SHIFT);
}

static dynsel_finish_set find_candidates(const dynsel_policy *policy, uint32_t count,
                                         const dynsel_task *task)
{
    if (dynsel_all_are_candidates(policy, task)) {
        return UINT64_MAX >> ((64 - count) & 63); /* there is at least one */
    }
    dynsel_finish_set found = 0;
    for (uint32_t i = 0; i < count; i++) {
        found |= (dynsel_finish_set)dynsel_is_candidate(policy, i, task) << i;
    }
    return found;
}

/* Short copies from a device come behind what is queued there. */
static void look_at_data(dynsel_finish_sight *s)
{
    s->least_bytes = UINT64_MAX;
    s->source_ticks = 0;
    for (uint32_t i = 0; s->comes_behind && i < s->count; i++) {
        const uint64_t bytes = dynsel_sight_bytes_in(s, i);
        const uint32_t place = dynsel_word_load_relaxed(&s->policy->states[i].is.place);
        const uint32_t ticks = place == DYNSEL_FINISH_APART ? s->queue_ticks[i] : 0;
        if (bytes < s->least_bytes || (bytes == s->least_bytes && ticks > s->source_ticks)) {
            s->least_bytes = bytes;
            s->source_ticks = ticks;
        }
    }
}

/* Where parts of data exchange results with each other, each use of a part that is elsewhere than
 * they waits for a hand-over and a copy. */
static uint64_t exchange_ns(const dynsel_finish_sight *s, uint32_t home)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return s->task->data->follows ? dynsel_sight_hand_over_ns(s, home) +
                                        dynsel_finish_copy_ns(&s->policy->states[home], 1)
                                  : 0;
#else
    (void)s;
    (void)home;
    return 0;
#endif
}

/* Whether uses of data are so much shorter than exchanges that all data stay together. Between half
 * an exchange and one it stays as it is: parts that are on several resources for a while cost most.
 */
static bool gathers_data(const dynsel_finish_sight *s, uint32_t home)
{
    dynsel_word *const gathers = &s->policy->gathers;
    const uint32_t usual_ns = dynsel_word_load_relaxed(&s->policy->states[home].is.usual_ns);
    const bool before = dynsel_word_load_relaxed(gathers) != 0;
    if (s->exchange_ns == 0) {
        return false;
    }
    const bool now = usual_ns < (before ? s->exchange_ns : s->exchange_ns / 2);
    if (now != before) {
        dynsel_word_store_relaxed(gathers, now);
    }
    return now;
}

/* Without a call for most work. */
static inline uint64_t known_run_ns(const dynsel_finish_sight *s, uint32_t index)
{
    const uint64_t exact_ns = dynsel_sight_exact_run_ns(s, index);
    return exact_ns != 0 ? exact_ns : dynsel_sight_known_run_ns(s, index, false);
}

/* The next of the workers that is compared with the one that had the last piece. */
static uint32_t next_rival(dynsel_finish_set others, uint32_t rival)
{
    const dynsel_finish_set later = others & ~(((dynsel_finish_set)2 << rival) - 1);
    const dynsel_finish_set of = later != 0 ? later : others;
    uint32_t next = 0;
    while (!dynsel_finish_is_in(of, next)) {
        next++;
    }
    return next;
}

/* Counts by how much the runs would have been shorter on a rival: once that is as much as it takes
 * to wake it, it is woken. One that comes to nothing makes room for the next. A run alone does not
 * decide, because its time may be wrong; one that is shorter by more than it takes to wake another
 * worker goes there anyway. */
static bool is_worth_waking(const dynsel_finish_sight *s, uint32_t rival, uint64_t *saves_ns)
{
    const uint64_t own_ns = dynsel_sight_known_run_ns(s, s->awake, false);
    const uint64_t rival_ns = dynsel_sight_known_run_ns(s, rival, false);
    *saves_ns = dynsel_word_load_relaxed(&s->policy->rival_saves_ns);
    if (own_ns > rival_ns && rival_ns != 0) {
        *saves_ns += dynsel_finish_lower(own_ns - rival_ns, DYNSEL_FINISH_WAKE_NS / 4);
    } else if (own_ns != 0 && rival_ns != 0) {
        *saves_ns -= dynsel_finish_lower(rival_ns - own_ns, *saves_ns);
    } else {
        /* nothing to compare */
    }
    return *saves_ns >= DYNSEL_FINISH_WAKE_NS;
}

/* Of a program with one piece in flight: the workers that would have to be woken, where another one
 * had the last piece. */
DYNSEL_RARE static void look_for_awake(dynsel_finish_sight *s)
{
    dynsel_earliest_finish_policy *const policy = s->policy;
    const dynsel_finish_set workers = dynsel_finish_workers(policy) & s->candidates;
    const uint32_t last = dynsel_word_load_relaxed(&policy->submitted_to) - 1;
    if (last >= s->count || !dynsel_finish_is_in(workers, last)) {
        return;
    }
    s->awake = last;
    s->to_wake = workers & ~((dynsel_finish_set)1 << last);
    if (s->to_wake == 0) {
        return;
    }
    const uint32_t before = dynsel_word_load_relaxed(&policy->rival) - 1;
    const uint32_t rival = before < s->count && dynsel_finish_is_in(s->to_wake, before)
                               ? before
                               : next_rival(s->to_wake, last);
    uint64_t saves_ns = 0;
    const bool is_awaited = is_worth_waking(s, rival, &saves_ns);
    const uint32_t next = saves_ns != 0 ? rival : next_rival(s->to_wake, rival);
    dynsel_word_store_relaxed(&policy->rival_saves_ns, (uint32_t)saves_ns);
    dynsel_word_store_relaxed(&policy->rival, next + 1);
    s->to_wake &= is_awaited ? ~((dynsel_finish_set)1 << rival) : ~(dynsel_finish_set)0;
}

static void look_at_home(dynsel_finish_sight *s)
{
    const uint32_t home = dynsel_word_load_relaxed(&s->policy->data_home);
    s->gathers = DYNSEL_FINISH_NO_RESOURCE;
    s->home = DYNSEL_FINISH_NO_RESOURCE;
    if (s->uses_ahead == 0 || home == 0 || home > s->count ||
        !dynsel_sight_is_candidate(s, home - 1)) {
        return;
    }
    s->exchange_ns = exchange_ns(s, home - 1);
    s->gathers = gathers_data(s, home - 1) ? home - 1 : DYNSEL_FINISH_NO_RESOURCE;
    if (s->kinds->own == NULL) {
        return;
    }
    const uint64_t home_run_ns = known_run_ns(s, home - 1);
    const uint32_t usual_ns = dynsel_word_load_relaxed(&s->policy->states[home - 1].is.usual_ns);
    s->others_follow = home_run_ns / 2 > usual_ns;
    bool matters = s->others_follow;
    for (uint32_t i = 0; i < s->count && !matters; i++) {
        const uint64_t run_ns = dynsel_sight_is_candidate(s, i) ? known_run_ns(s, i) : 0;
        matters = run_ns != 0 && run_ns < home_run_ns;
    }
    if (matters) {
        s->home = home - 1;
        s->home_run_ns = home_run_ns;
    }
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
/*
 * Whether the resource that has the data is so busy with all that are there that their number
 * decides when each gets its next turn, and not what they depend on: an update waits there for the
 * others, two thirds of the time that one turn of all takes, or more.
 */
static void look_at_expected(dynsel_finish_sight *s)
{
    const dynsel_data_outlook *const data = s->task->data;
    s->counts_expected = false;
    if (data == NULL || data->expected_ns == 0 || data->expected_on >= s->count ||
        s->queue_ticks[data->expected_on] <= s->ready) {
        return;
    }
    const uint64_t waits = s->queue_ticks[data->expected_on] - s->ready;
    const uint64_t turns = (uint64_t)data->updates_ahead + 1;
    const uint32_t expected =
        dynsel_word_load_relaxed(&s->policy->states[data->expected_on].is.expected);
    s->counts_expected = waits * turns * 3 / 2 >= expected;
}
#else
static void look_at_expected(dynsel_finish_sight *s)
{
    s->counts_expected = false;
}
#endif

/* What no other resource can run beside the program runs on devices on all processors. */
static dynsel_finish_set without_processors(const dynsel_finish_sight *s)
{
    return (s->candidates & dynsel_finish_beside(s->policy)) != 0
               ? s->candidates & ~dynsel_finish_on_all(s->policy)
               : s->candidates;
}

/*
 * Of an id that a learned table knows, the resources on which nothing of it has run yet would
 * compile it first, and so get trial runs alone, as if their times were not known. But the fastest
 * one begins at once where no other resource is done before it has compiled; and apart from the
 * host's processors, if it runs faster than others by more than an eighth.
 */
DYNSEL_ASIDE static void leave_out_cold(dynsel_finish_sight *s, dynsel_finish_set cold)
{
    uint64_t least_ns = UINT64_MAX; /* with what the program spends beside the run */
    uint64_t least_run_ns = 0;
    uint64_t warm_ns = UINT64_MAX; /* the least of the others */
    uint64_t warm_run_ns = UINT64_MAX;
    uint32_t least = DYNSEL_FINISH_NO_RESOURCE;
    for (uint32_t look = 0; look < 2 && least == DYNSEL_FINISH_NO_RESOURCE; look++) {
        for (uint32_t i = 0; i < s->count; i++) {
            const uint64_t run_ns =
                dynsel_sight_is_candidate(s, i) ? dynsel_sight_known_run_ns(s, i, look != 0) : 0;
            const uint64_t whole_ns =
                run_ns + dynsel_finish_program_ns(s->policy, s->kinds->own, i);
            if (run_ns != 0 && whole_ns < least_ns) {
                least_ns = whole_ns;
                least_run_ns = run_ns;
                least = i;
            }
            if (run_ns != 0 && !dynsel_finish_is_in(cold, i)) {
                warm_ns = dynsel_finish_lower(warm_ns, whole_ns);
                warm_run_ns = dynsel_finish_lower(warm_run_ns, run_ns);
            }
        }
    }
    if (least == DYNSEL_FINISH_NO_RESOURCE) {
        return;
    }
    const bool is_faster =
        !dynsel_finish_is_at(&s->policy->states[least], DYNSEL_FINISH_PROCESSORS) &&
        warm_run_ns > least_run_ns + least_run_ns / CLEARLY_SHARE;
    if (is_faster || warm_ns >= dynsel_word_load_relaxed(&s->policy->first_starts[least])) {
        cold &= ~((dynsel_finish_set)1 << least);
    }
    s->cold = cold;
    s->candidates &= ~cold;
}

void dynsel_sight_look(dynsel_finish_sight *s)
{
    s->looked = false;
    look_at_queues(s);
    s->all = find_candidates(&s->policy->policy, s->count, s->task);
    s->candidates = s->all;
    s->cold = 0;
    s->doubted = 0;
    s->to_wake = 0;
    const dynsel_finish_set cold =
        s->kinds->own != NULL ? dynsel_finish_cold(s->kinds->root) & s->all : 0;
    if (!DYNSEL_LIKELY(cold == 0)) {
        leave_out_cold(s, cold);
    }
    if (s->kinds->own != NULL && dynsel_finish_is_one_by_one(s->policy)) {
        if (dynsel_finish_workers(s->policy) != 0) {
            look_for_awake(s);
        }
    } else if (s->kinds->own != NULL &&
               dynsel_word_load_relaxed(&s->policy->way) == DYNSEL_FINISH_WITHOUT_PROCESSORS) {
        s->candidates = without_processors(s);
    } else {
        /* all get work */
    }
    if (s->bytes_in != NULL) {
        look_at_expected(s);
        look_at_data(s);
        look_at_home(s);
        s->looks_ahead = s->uses_ahead != 0 || s->counts_expected;
    }
}

static inline bool trusts(const dynsel_finish_sight *s, const dynsel_finish_times *times,
                          uint32_t index)
{
    return dynsel_sight_has_enough(s, times, index) &&
           (!dynsel_sight_amounts_tell(times) || dynsel_finish_reaches(times, s->amount));
}

bool dynsel_sight_trusts_own(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_sight_exact_run_ns(s, index) != 0 ||
           trusts(s, &s->kinds->own->resources[index], index);
}

/* The times that tell a run: of the task's own kind, or of its root. NULL: none do. */
static const dynsel_finish_times *known_times(const dynsel_finish_sight *s, uint32_t index,
                                              bool even_first)
{
    const dynsel_finish_times *own = &s->kinds->own->resources[index];
    const dynsel_finish_times *root = &s->kinds->root->resources[index];
    if (trusts(s, own, index) || (even_first && dynsel_word_load_relaxed(&own->samples) != 0)) {
        return own;
    }
    return even_first || (root != own && trusts(s, root, index) && dynsel_sight_amounts_tell(root))
               ? root
               : NULL;
}

uint64_t dynsel_sight_known_run_ns(const dynsel_finish_sight *s, uint32_t index, bool even_first)
{
    const uint64_t exact_ns = dynsel_sight_exact_run_ns(s, index);
    if (exact_ns != 0) {
        return exact_ns;
    }
    const dynsel_finish_times *times = known_times(s, index, even_first);
    return times != NULL
               ? dynsel_finish_predict(times, s->amount,
                                       dynsel_finish_shortest_ns(&s->policy->states[index]))
               : 0;
}

/* Whether a resource is where data are kept together, or a thread that shares them. */
static bool keeps_data(const dynsel_finish_sight *s, uint32_t index)
{
    const dynsel_finish_set sharing = dynsel_finish_sharing(s->policy);
    return index == s->gathers ||
           (dynsel_finish_is_in(sharing, index) && dynsel_finish_is_in(sharing, s->gathers));
}

/*
 * Other kinds of work use the data, too: so the further uses take what work with data usually takes
 * on a resource. Where this kind runs faster than where data are usually used, or is so long that
 * mostly other kinds follow, they are copied back there afterwards, if that is better than to stay.
 */
static uint64_t uses_ns(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns)
{
    const dynsel_finish_resource *const states = s->policy->states;
    const uint64_t apart_ns = s->gathers != DYNSEL_FINISH_NO_RESOURCE && !keeps_data(s, index)
                                  ? MOST_AHEAD * s->exchange_ns
                                  : 0;
    if (s->home == DYNSEL_FINISH_NO_RESOURCE) {
        return apart_ns + s->uses_ahead * dynsel_sight_turn_ns(s, index, run_ns);
    }
    const uint32_t usual_ns = dynsel_word_load_relaxed(&states[index].is.usual_ns);
    const uint64_t stay_ns = apart_ns + s->uses_ahead * (usual_ns != 0 ? usual_ns : run_ns);
    if (index == s->home || (run_ns >= s->home_run_ns && !s->others_follow)) {
        return stay_ns;
    }
    const uint64_t bytes = dynsel_sight_bytes_in(s, index);
    const uint64_t home_bytes = dynsel_sight_bytes_in(s, s->home);
    const uint64_t back_ns =
        dynsel_finish_copy_ns(&states[s->home], bytes > home_bytes ? bytes : home_bytes);
    const uint64_t at_home_ns = dynsel_word_load_relaxed(&states[s->home].is.usual_ns);
    return dynsel_finish_lower(stay_ns, dynsel_sight_hand_over_ns(s, index) + back_ns +
                                            s->uses_ahead * at_home_ns);
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* The work expected on a resource for other data than the task's. */
static uint64_t expected_there_ns(const dynsel_finish_sight *s, uint32_t index)
{
    const dynsel_data_outlook *const data = s->task->data;
    const uint64_t all_ns =
        dynsel_finish_ns(dynsel_word_load_relaxed(&s->policy->states[index].is.expected));
    const uint64_t own_ns = index == data->expected_on ? data->expected_ns : 0;
    return all_ns > own_ns ? all_ns - own_ns : 0;
}

/* The same, no less than on the resource that has the data, where both use the host's processors:
 * those do not get faster by that. */
static uint64_t expected_ns(const dynsel_finish_sight *s, uint32_t index)
{
    const dynsel_finish_resource *const states = s->policy->states;
    const uint32_t on = s->task->data->expected_on;
    const uint32_t place = dynsel_word_load_relaxed(&states[index].is.place);
    const uint32_t place_on = dynsel_word_load_relaxed(&states[on].is.place);
    const uint64_t there_ns = expected_there_ns(s, index);
    return place == place_on || place == DYNSEL_FINISH_APART || place_on == DYNSEL_FINISH_APART
               ? there_ns
               : dynsel_sight_later_of(there_ns, expected_there_ns(s, on));
}
#else
static uint64_t expected_ns(const dynsel_finish_sight *s, uint32_t index)
{
    (void)s;
    (void)index;
    return 0;
}
#endif

uint64_t dynsel_sight_later_ns(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns)
{
    const uint64_t uses = uses_ns(s, index, run_ns);
    if (!s->counts_expected) {
        return uses;
    }
    /* its own updates take as long as this one on the resource, others' as long as they are
     * expected to */
    const uint64_t own_ns = s->updates_ahead * run_ns;
    return dynsel_sight_later_of(uses, own_ns) + expected_ns(s, index);
}

uint64_t dynsel_sight_predicted_by_backend(const dynsel_finish_sight *s, uint32_t index)
{
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    const dynsel_policy *policy = &s->policy->policy;
    dynsel_backend *backend = policy->resources[index].backend;
    if (backend->ops->predict != NULL &&
        dynsel_word_load_relaxed(&s->kinds->root->resources[index].unfinished) == 0) {
        const uint64_t predicted_ns =
            backend->ops->predict(backend, policy->queues[index].own, s->task);
        const uint64_t ns = dynsel_finish_lower(predicted_ns, DYNSEL_FINISH_LONGEST_NS);
        dynsel_sight_trace_prediction(s, index, ns);
        return ns;
    }
#else
    (void)s;
    (void)index;
#endif
    return 0;
}

#if CONFIG_DYNSEL_TRACE
static void put(dynsel_trace_event event, const dynsel_finish_sight *s, uint32_t index,
                uint64_t low, uint64_t high)
{
    dynsel_trace_put(event, dynsel_traced_place(s->selection->policy, index, s->selection->piece),
                     low, high);
}

void dynsel_sight_put(const dynsel_finish_sight *s)
{
    put(DYNSEL_TRACE_SIGHT, s, DYNSEL_TRACE_NO_RESOURCE, s->now_ns,
        dynsel_trace_pair((uint32_t)s->all, s->uses_ahead + 1));
#if CONFIG_DYNSEL_COMMAND_GROUPS
    const dynsel_data_outlook *const data = s->task->data;
    if (data == NULL) {
        return;
    }
    const uint32_t items = data->work_items < UINT32_MAX ? (uint32_t)data->work_items : UINT32_MAX;
    put(DYNSEL_TRACE_READY, s, DYNSEL_TRACE_NO_RESOURCE, data->ready_ns,
        dynsel_trace_pair(data->ready_on, items));
    if (data->expected_ns != 0 || data->updates_ahead != 0 || data->comes_behind || data->follows) {
        const uint32_t most = INT32_MAX >> 1;
        const uint32_t on = data->expected_on < most ? data->expected_on : most;
        put(DYNSEL_TRACE_EXPECTED, s, DYNSEL_TRACE_NO_RESOURCE, data->expected_ns,
            dynsel_trace_pair(data->updates_ahead, on | (data->follows ? 1u << 30 : 0) |
                                                       (data->comes_behind ? 1u << 31 : 0)));
    }
    for (uint32_t i = 0; i < s->count; i += 2) {
        const bool has_next = i + 1 < s->count;
        put(DYNSEL_TRACE_BYTES_IN, s, i, data->bytes_in[i], has_next ? data->bytes_in[i + 1] : 0);
    }
#endif
}

void dynsel_sight_put_impairment(const dynsel_finish_sight *s, uint32_t impaired)
{
    put(DYNSEL_TRACE_IMPAIRED, s, DYNSEL_TRACE_NO_RESOURCE, impaired, 0);
}

void dynsel_sight_put_prediction(const dynsel_finish_sight *s, uint32_t index, uint64_t ns)
{
    put(DYNSEL_TRACE_PREDICTED, s, index, ns, 0);
}

void dynsel_sight_put_estimate(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns,
                               uint64_t cost_ns)
{
    put(DYNSEL_TRACE_ESTIMATE, s, index,
        dynsel_trace_pair(dynsel_trace_units(dynsel_sight_start_ns(s, index)),
                          dynsel_trace_units(dynsel_sight_copy_ns(s, index))),
        dynsel_trace_pair(dynsel_trace_units(run_ns), dynsel_trace_units(cost_ns)));
}
#endif
