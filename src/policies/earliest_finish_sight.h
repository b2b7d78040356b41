/* SPDX-License-Identifier: Apache-2.0 */
/* What earliest_finish sees of the resources while it chooses for a task: queues, data, predicted
 * runs, and from these the costs. */
#ifndef DYNSEL_POLICIES_EARLIEST_FINISH_SIGHT_H
#define DYNSEL_POLICIES_EARLIEST_FINISH_SIGHT_H

#include "policies/earliest_finish_parts.h"
#include "policy/traced.h"

enum {
    DYNSEL_FINISH_NO_RESOURCE = CONFIG_DYNSEL_MAX_RESOURCES,
    DYNSEL_FINISH_HAND_OVER_NS = 25000,
    DYNSEL_FINISH_WAKE_NS = 40000,
    DYNSEL_FINISH_TELLING_ERROR = DYNSEL_LOG2_ONE / 2 /* 1.4 times */
};

/* The result of a look at all resources. */
typedef struct dynsel_finish_sight {
    dynsel_earliest_finish_policy *policy;
    const dynsel_task *task;
    const dynsel_finish_kinds *kinds;
    uint32_t count; /* of the policy's resources */
    uint64_t now_ns;
    uint32_t now;             /* in ticks */
    uint32_t amount;          /* as in points */
    const uint64_t *bytes_in; /* to copy to each resource; NULL: nothing, as far as is known */
    uint64_t ready_ns;        /* from now until the work that it depends on ends */
    uint32_t ready;           /* the same in ticks */
    uint32_t ready_on;        /* where that runs; no resource: none, or not known */
    uint32_t uses_ahead;      /* further uses of the data, without this one, */
    uint32_t updates_ahead;   /* and updates in place */
    uint32_t home;            /* where data are usually used; no resource: not known, or no uses */
    uint32_t gathers;         /* where data are kept together because uses of them are shorter than
                                 exchanges; no resource: they need not be */
    uint64_t exchange_ns;     /* what a use waits at least for data elsewhere */
    uint64_t home_run_ns;     /* the known run there; 0: none is known */
    bool comes_behind;        /* short copies of data from a device, behind its queue */
    bool others_follow;       /* this kind takes twice as long there as uses of data usually do */
    dynsel_finish_set all;    /* that can run it */
    dynsel_finish_set candidates; /* those that get work now */
    dynsel_finish_set cold;       /* those that get trial runs alone, because they would compile */
    dynsel_finish_set once;       /* candidates of which the first time of the kind is known */
    dynsel_finish_set doubted;    /* those of them that may well be faster than the best */
    dynsel_finish_set to_wake;    /* workers that may sleep, where another is awake: */
    uint32_t awake;               /* that one */
    uint32_t unknown;             /* candidates without a time */
    uint32_t best;                /* of the candidates with a time */
    uint64_t best_cost_ns;        /* until its end, and what the choice costs later */
    uint64_t best_run_ns;         /* its known run, even the first; 0: none is known */
    uint32_t fastest;             /* of those with a time: the shortest run */
    uint64_t fastest_ns;          /* that run */
    uint32_t least_whole;         /* the same with what the program spends beside the run */
    uint64_t least_whole_ns;      /* that time */
    uint64_t least_run_ns;        /* its run */
    uint32_t wanted;              /* the best, if it is not least_whole; else none */
    int32_t wanted_speed;         /* its speed, compared with least_whole: not above 0 */
    uint64_t shortest_queue_ns;   /* of the candidates that do not block the caller */
    uint64_t least_bytes;  /* that the resource which has most of the data would have to copy; the
                             most: copies come behind no queue */
    uint32_t source_ticks; /* the queue of such resources, if they are apart */
    bool looks_ahead;      /* there are further uses, or the expected work counts */
    bool counts_expected;  /* the expected work of resources counts */
    bool is_idle;          /* no resource has unfinished work */
    bool looked;           /* at all candidates: known_ns says something */
    uint32_t unfinished;   /* the unfinished work of all, in ticks */
    uint64_t known_ns[CONFIG_DYNSEL_MAX_RESOURCES]; /* the run on each candidate; 0: not known */
    uint64_t host_ns;    /* until all processors of the host would be done with what is queued, if
                              all worked on it; 0: nothing is */
    uint64_t on_all_ns;  /* the longest queue of the resources that are all of them */
    uint64_t on_part_ns; /* the same of those that are some of them, */
    uint32_t busy_parts; /* which are so many in all */
    uint32_t processors; /* of the host */
    uint32_t host_share; /* one of them, in 65536ths of all */
    bool feeds_devices;  /* some resources are apart from them */
    uint32_t part_share; /* what one of them counts for a resource that is not all of them */
    uint32_t most_busy;  /* that the task can keep busy */
#if CONFIG_DYNSEL_TRACE
    const dynsel_selection *selection; /* for the trace */
#endif
    uint32_t queue_ticks[CONFIG_DYNSEL_MAX_RESOURCES]; /* until each begins what comes next */
} dynsel_finish_sight;

static inline bool dynsel_sight_is_candidate(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_finish_is_in(s->candidates, index);
}

static inline bool dynsel_sight_blocks_caller(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_finish_is_in(dynsel_finish_blocking(s->policy), index);
}

/* What a resource would have to copy. */
static inline uint64_t dynsel_sight_bytes_in(const dynsel_finish_sight *s, uint32_t index)
{
    return s->bytes_in != NULL ? s->bytes_in[index] : 0;
}

static inline uint64_t dynsel_sight_copy_ns(const dynsel_finish_sight *s, uint32_t index)
{
    return s->bytes_in != NULL
               ? dynsel_finish_copy_ns(&s->policy->states[index], s->bytes_in[index])
               : 0;
}

/* When a resource begins what is ready in so many ticks, from now on: at the predicted end of its
 * queue, and no later than if all that is not reported complete came first. Ends may be reported
 * late, predictions be too long, and work fill gaps that others leave while they are not ready. */
static inline uint32_t dynsel_sight_begin_ticks(uint32_t free_at, uint32_t unfinished, uint32_t now,
                                                uint32_t ready)
{
    const int32_t ahead = (int32_t)(free_at - now);
    const uint32_t free = ahead > 0 ? (uint32_t)ahead : 0;
    const uint32_t latest = dynsel_finish_sum(ready, unfinished);
    const uint32_t begin = free > ready ? free : ready;
    return begin < latest ? begin : latest;
}

/* Begins: the clock, the task, and what its data say. */
void dynsel_sight_begin(dynsel_finish_sight *s, dynsel_earliest_finish_policy *policy,
                        const dynsel_task *task, const dynsel_finish_kinds *kinds);

/* Looks at each resource once, and where the data are: copies from a device come behind what is
 * queued there. */
void dynsel_sight_look(dynsel_finish_sight *s);

/* When a resource begins what comes next. */
static inline uint64_t dynsel_sight_queue_ns(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_finish_ns(s->queue_ticks[index]);
}

static inline uint64_t dynsel_sight_submit_ns(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_finish_ns(dynsel_word_load_relaxed(&s->policy->states[index].is.submit));
}

/* From an end to when a waiting program sees it, as learned. */
static inline uint64_t dynsel_sight_latency_ns(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_finish_ns(dynsel_finish_latency(&s->policy->states[index]));
}

/* From the end of work on a resource until the library sees it, and starts what depends on that
 * elsewhere. */
static inline uint64_t dynsel_sight_hand_over_ns(const dynsel_finish_sight *s, uint32_t from)
{
    const uint64_t latency_ns = from < s->count ? dynsel_sight_latency_ns(s, from) : 0;
    return latency_ns > DYNSEL_FINISH_HAND_OVER_NS ? latency_ns : DYNSEL_FINISH_HAND_OVER_NS;
}

static inline uint64_t dynsel_sight_later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What a piece of work takes at least on a resource that has others after it: its run, or what the
 * program spends on it. */
static inline uint64_t dynsel_sight_turn_ns(const dynsel_finish_sight *s, uint32_t index,
                                            uint64_t run_ns)
{
    const uint64_t program_ns = dynsel_sight_later_of(dynsel_finish_start_ns(s->policy, index),
                                                      dynsel_sight_submit_ns(s, index));
    return dynsel_sight_later_of(run_ns, program_ns);
}

/* When the data can be copied to a resource, or are there. */
static inline uint64_t dynsel_sight_data_ns(const dynsel_finish_sight *s, uint32_t index)
{
    const uint64_t ready_ns = s->ready_ns != 0 && index != s->ready_on
                                  ? s->ready_ns + dynsel_sight_hand_over_ns(s, s->ready_on)
                                  : s->ready_ns;
    return dynsel_sight_bytes_in(s, index) > s->least_bytes
               ? dynsel_sight_later_of(ready_ns, dynsel_finish_ns(s->source_ticks))
               : ready_ns;
}

static inline uint64_t dynsel_sight_start_ns(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_sight_later_of(
        dynsel_sight_later_of(dynsel_sight_queue_ns(s, index), dynsel_sight_data_ns(s, index)),
        dynsel_sight_submit_ns(s, index));
}

/* How many work-items the task has; 0: not known. */
static inline uint64_t dynsel_sight_work_items(const dynsel_finish_sight *s)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return s->task->data != NULL ? s->task->data->work_items : 0;
#else
    (void)s;
    return 0;
#endif
}

/* Whether a first run may take longer than others. */
static inline bool dynsel_sight_compiles(const dynsel_finish_sight *s, uint32_t index)
{
    return !dynsel_finish_is_thread(s->policy, index);
}

/* Whether the amounts of tasks say how long they take. */
static inline bool dynsel_sight_amounts_tell(const dynsel_finish_times *times)
{
    return dynsel_word_load_relaxed(&times->error) < DYNSEL_FINISH_TELLING_ERROR;
}

static inline bool dynsel_sight_has_enough(const dynsel_finish_sight *s,
                                           const dynsel_finish_times *times, uint32_t index)
{
    const uint32_t samples = dynsel_word_load_relaxed(&times->samples);
    return samples >= DYNSEL_FINISH_ENOUGH_SAMPLES ||
           (samples != 0 && !dynsel_sight_compiles(s, index));
}

/* The run of just the task's amount, as most work has; 0: there was none, or not often enough. */
static inline uint64_t dynsel_sight_exact_run_ns(const dynsel_finish_sight *s, uint32_t index)
{
    const dynsel_finish_times *own = &s->kinds->own->resources[index];
    return dynsel_sight_has_enough(s, own, index) ? dynsel_finish_time_at(own, s->amount) : 0;
}

/* Whether the times of the kind on a resource can be relied on for the task's amount. */
bool dynsel_sight_trusts_own(const dynsel_finish_sight *s, uint32_t index);

/* The predicted run; 0: no time is known. even_first: a first time, which may contain a
 * compilation, or the time of tasks of other kinds of the id, is better than none. */
uint64_t dynsel_sight_known_run_ns(const dynsel_finish_sight *s, uint32_t index, bool even_first);

/* What the backend predicts, unless a run there will tell soon; 0: nothing. */
uint64_t dynsel_sight_predicted_by_backend(const dynsel_finish_sight *s, uint32_t index);

/* A run and what the program spends beside it. */
static inline uint64_t dynsel_sight_whole_ns(const dynsel_finish_sight *s, uint32_t index,
                                             uint64_t run_ns)
{
    return run_ns + dynsel_finish_beside_ns(s->policy, s->kinds->own, index);
}

/* The further uses of the data, if a run of this work brings them to a resource, and the work that
 * is expected there for other data, where it counts. */
uint64_t dynsel_sight_later_ns(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns);

static inline uint64_t dynsel_sight_ahead_ns(const dynsel_finish_sight *s, uint32_t index,
                                             uint64_t run_ns)
{
    return DYNSEL_LIKELY(!s->looks_ahead) ? 0 : dynsel_sight_later_ns(s, index, run_ns);
}

/* Whether one resource gets all work now, and this task, too. index, run_ns: out, where and for how
 * long it is known to run. See earliest_finish_ways.c. */
bool dynsel_sight_runs_alone(const dynsel_finish_sight *s, uint32_t *index, uint64_t *run_ns);

/* The task will run on a resource: counts it in the window in which the speed of the program is
 * measured. run_ns: the predicted run; 0: not known. is_first: a first trial run. */
void dynsel_finish_measure(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns,
                           bool is_first);

/* The task will run on a resource: from now on its further updates are expected there. run_ns: the
 * predicted run; 0: not known. See earliest_finish_expected.c. */
#if CONFIG_DYNSEL_COMMAND_GROUPS
void dynsel_finish_expect(const dynsel_finish_sight *s, uint32_t index, uint64_t run_ns);
#else
static inline void dynsel_finish_expect(const dynsel_finish_sight *s, uint32_t index,
                                        uint64_t run_ns)
{
    (void)s;
    (void)index;
    (void)run_ns;
}
#endif

/* When the last resource that is a part of the host's processors would be done with its queue and
 * the run: while one that is all of them works, each part gets less than one. */
static inline uint64_t dynsel_sight_parts_ns(const dynsel_finish_sight *s, uint32_t index,
                                             uint32_t its, uint64_t run_ns)
{
    const bool is_all = its >= s->processors;
    const uint64_t queue_ns = dynsel_sight_queue_ns(s, index);
    const uint32_t parts = s->busy_parts + (is_all || queue_ns != 0 ? 0 : its);
    const uint64_t on_all_ns = s->on_all_ns + (is_all ? run_ns : 0);
    const uint64_t on_part_ns =
        dynsel_sight_later_of(s->on_part_ns, is_all ? 0 : queue_ns + run_ns);
    const uint64_t both_ns = dynsel_finish_lower(on_all_ns, on_part_ns);
    return on_part_ns + (both_ns * parts * s->host_share >> 16);
}

/* When the processors of the host would be done with all that is queued there and with a run, if
 * the resource is some of them. What runs on one takes it from all others: so no resource is free
 * because it has nothing to do. Where work waits for other work, others fill the gaps. */
static inline uint64_t dynsel_sight_host_ns(const dynsel_finish_sight *s, uint32_t index,
                                            uint64_t run_ns)
{
    const uint32_t its =
        s->host_ns != 0 ? dynsel_finish_processors(&s->policy->states[index], s->processors) : 0;
    if (its == 0) {
        return 0;
    }
    const uint32_t busy = its < s->most_busy ? its : s->most_busy;
    const uint32_t share = its < s->processors ? s->part_share : s->host_share;
    const uint64_t host_ns = s->host_ns + (run_ns * busy * share >> 16);
    return s->ready != 0
               ? host_ns
               : dynsel_sight_later_of(host_ns, dynsel_sight_parts_ns(s, index, its, run_ns));
}

/* A worker stays awake while it gets work. So short work stays on one of equal workers. */
static inline uint64_t dynsel_sight_wake_ns(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_finish_is_in(s->to_wake, index) ? DYNSEL_FINISH_WAKE_NS : 0;
}

/* When a run would be over, from now on: its submit delays what is submitted next, too. */
static inline uint64_t dynsel_sight_end_ns(const dynsel_finish_sight *s, uint32_t index,
                                           uint64_t run_ns, uint64_t whole_ns)
{
    return dynsel_sight_later_of(dynsel_sight_start_ns(s, index) + dynsel_sight_copy_ns(s, index) +
                                     dynsel_sight_wake_ns(s, index) + whole_ns,
                                 dynsel_sight_host_ns(s, index, run_ns));
}

/* What a run on all processors of the host costs, which shares one of them with the program: where
 * devices apart from them wait for what the program submits. Half of the run, as measured. */
static inline uint64_t dynsel_sight_crowding_ns(const dynsel_finish_sight *s, uint32_t index,
                                                uint64_t run_ns)
{
    if (!s->feeds_devices || s->most_busy < s->processors) {
        return 0;
    }
    const dynsel_finish_resource *const resource = &s->policy->states[index];
    return dynsel_finish_processors(resource, s->processors) >= s->processors ? run_ns / 2 : 0;
}

/* The same, and what the choice costs later. Where the data are used next, nobody waits until the
 * end is seen. */
static inline uint64_t dynsel_sight_cost_ns(const dynsel_finish_sight *s, uint32_t index,
                                            uint64_t run_ns, uint64_t whole_ns)
{
    const uint64_t seen_ns = index == s->home ? dynsel_sight_latency_ns(s, index) : 0;
    const uint64_t here_ns = whole_ns > seen_ns ? whole_ns - seen_ns : 0; /* both may change */
    return dynsel_sight_end_ns(s, index, run_ns, here_ns) +
           dynsel_sight_crowding_ns(s, index, run_ns) + dynsel_sight_ahead_ns(s, index, run_ns);
}

/* The trace: what is seen of the task, and what is predicted of a resource. */
#if CONFIG_DYNSEL_TRACE
DYNSEL_RARE void dynsel_sight_put(const dynsel_finish_sight *s);
DYNSEL_RARE void dynsel_sight_put_estimate(const dynsel_finish_sight *s, uint32_t index,
                                           uint64_t run_ns, uint64_t cost_ns);

DYNSEL_RARE void dynsel_sight_put_prediction(const dynsel_finish_sight *s, uint32_t index,
                                             uint64_t ns);

static inline void dynsel_sight_trace_prediction(const dynsel_finish_sight *s, uint32_t index,
                                                 uint64_t ns)
{
    if (dynsel_traced_is_on(s->selection)) {
        dynsel_sight_put_prediction(s, index, ns);
    }
}

DYNSEL_RARE void dynsel_sight_put_impairment(const dynsel_finish_sight *s, uint32_t impaired);

static inline void dynsel_sight_trace_impairment(const dynsel_finish_sight *s, uint32_t impaired)
{
    if (impaired != 0 && dynsel_traced_is_on(s->selection)) {
        dynsel_sight_put_impairment(s, impaired);
    }
}

static inline bool dynsel_sight_is_traced(const dynsel_finish_sight *s)
{
    return dynsel_traced_is_on(s->selection);
}

static inline void dynsel_sight_trace(dynsel_finish_sight *s, const dynsel_selection *selection)
{
    s->selection = selection;
    if (dynsel_traced_is_on(selection)) {
        dynsel_sight_put(s);
    }
}

static inline void dynsel_sight_trace_estimate(const dynsel_finish_sight *s, uint32_t index,
                                               uint64_t run_ns, uint64_t cost_ns)
{
    if (dynsel_traced_is_on(s->selection)) {
        dynsel_sight_put_estimate(s, index, run_ns, cost_ns);
    }
}
#else
static inline void dynsel_sight_trace_prediction(const dynsel_finish_sight *s, uint32_t index,
                                                 uint64_t ns)
{
    (void)s;
    (void)index;
    (void)ns;
}

static inline void dynsel_sight_trace_impairment(const dynsel_finish_sight *s, uint32_t impaired)
{
    (void)s;
    (void)impaired;
}

static inline bool dynsel_sight_is_traced(const dynsel_finish_sight *s)
{
    (void)s;
    return false;
}

static inline void dynsel_sight_trace(const dynsel_finish_sight *s,
                                      const dynsel_selection *selection)
{
    (void)s;
    (void)selection;
}

static inline void dynsel_sight_trace_estimate(const dynsel_finish_sight *s, uint32_t index,
                                               uint64_t run_ns, uint64_t cost_ns)
{
    (void)s;
    (void)index;
    (void)run_ns;
    (void)cost_ns;
}
#endif

/*
 * Trial runs, see earliest_finish_trials.c. The best choice is known.
 */

/* A resource without a time, or of `cold`, that gets a run; or DYNSEL_FINISH_NO_RESOURCE. run_ns:
 * out, the guess, or the known run. */
uint32_t dynsel_sight_find_first_trial(const dynsel_finish_sight *s, uint64_t *run_ns);

/* The same among the others; run_ns: out, the known run. */
uint32_t dynsel_sight_find_further_trial(const dynsel_finish_sight *s, uint64_t *run_ns);

#endif
