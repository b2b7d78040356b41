/* SPDX-License-Identifier: Apache-2.0 */
/* What earliest_finish sees of the resources while it chooses for a task: queues, data, predicted
 * runs, and from these the costs. */
#ifndef DYNSEL_POLICIES_EARLIEST_FINISH_SIGHT_H
#define DYNSEL_POLICIES_EARLIEST_FINISH_SIGHT_H

#include "policies/earliest_finish_parts.h"

enum {
    DYNSEL_FINISH_NO_RESOURCE = CONFIG_DYNSEL_MAX_RESOURCES,
    DYNSEL_FINISH_TELLING_ERROR = DYNSEL_LOG2_ONE / 2 /* 1.4 times */
};

/* The result of a look at all resources. */
typedef struct dynsel_finish_sight {
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
} dynsel_finish_sight;

static inline bool dynsel_sight_is_candidate(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_is_candidate(&s->policy->policy, index, s->task);
}

/* Work there is complete when the submit returns. */
static inline bool dynsel_sight_blocks_caller(const dynsel_finish_sight *s, uint32_t index)
{
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    return !s->policy->policy.resources[index].backend->ops->outlives_submit;
#else
    (void)s;
    (void)index;
    return true;
#endif
}

static inline uint64_t dynsel_sight_bytes_in(const dynsel_finish_sight *s, uint32_t index)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return s->task->data != NULL ? s->task->data->bytes_in[index] : 0;
#else
    (void)s;
    (void)index;
    return 0;
#endif
}

static inline uint64_t dynsel_sight_copy_ns(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_finish_copy_ns(&s->policy->states[index], dynsel_sight_bytes_in(s, index));
}

/* How long what is queued on a resource takes from now on: until its predicted end, and no longer
 * than what is not reported complete. Ends may be reported late, and predictions be too long. */
static inline uint32_t dynsel_sight_queued_ticks(const dynsel_finish_sight *s,
                                                 const dynsel_finish_resource *resource)
{
    const uint32_t unfinished = dynsel_word_load_relaxed(&resource->is.unfinished);
    const int32_t ticks = (int32_t)(dynsel_word_load_relaxed(&resource->is.free_at) - s->now);
    if (unfinished == 0 || ticks <= 0) {
        return 0;
    }
    return (uint32_t)ticks < unfinished ? (uint32_t)ticks : unfinished;
}

/* Begins: the clock, the task, and what its data say. */
void dynsel_sight_begin(dynsel_finish_sight *s, dynsel_earliest_finish_policy *policy,
                        const dynsel_task *task, const dynsel_finish_kinds *kinds);

/* Looks at all queues, and where the data are: copies from a device come behind what is queued
 * there. */
void dynsel_sight_look_at_queues(dynsel_finish_sight *s);
void dynsel_sight_look_at_data(dynsel_finish_sight *s);

/* When a resource begins what comes next. */
static inline uint64_t dynsel_sight_queue_ns(const dynsel_finish_sight *s, uint32_t index)
{
    const dynsel_finish_resource *resource = &s->policy->states[index];
    const uint32_t place = dynsel_word_load_relaxed(&resource->is.place);
    const uint32_t own = dynsel_sight_queued_ticks(s, resource);
    const uint32_t shared = place == DYNSEL_FINISH_PROCESSORS ? s->threads_ticks
                            : place == DYNSEL_FINISH_THREAD   ? s->processors_ticks
                                                              : 0;
    return dynsel_finish_ns(own > shared ? own : shared);
}

static inline uint64_t dynsel_sight_submit_ns(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_finish_ns(dynsel_word_load_relaxed(&s->policy->states[index].is.submit));
}

static inline uint64_t dynsel_sight_later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* When the data can be copied to a resource, or are there. */
static inline uint64_t dynsel_sight_data_ns(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_sight_bytes_in(s, index) > s->least_bytes
               ? dynsel_sight_later_of(s->ready_ns, dynsel_finish_ns(s->source_ticks))
               : s->ready_ns;
}

static inline uint64_t dynsel_sight_start_ns(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_sight_later_of(
        dynsel_sight_later_of(dynsel_sight_queue_ns(s, index), dynsel_sight_data_ns(s, index)),
        dynsel_sight_submit_ns(s, index));
}

/* Whether a first run may take longer than others. */
static inline bool dynsel_sight_compiles(const dynsel_finish_sight *s, uint32_t index)
{
    return dynsel_word_load_relaxed(&s->policy->states[index].is.place) != DYNSEL_FINISH_THREAD;
}

/* Whether the amounts of the tasks of an id say how long they take. */
static inline bool dynsel_sight_amounts_tell(const dynsel_finish_times *root)
{
    return dynsel_word_load_relaxed(&root->error) < DYNSEL_FINISH_TELLING_ERROR;
}

/* The predicted run; 0: no time is known. even_first: a first time, which may contain a
 * compilation, or the time of tasks of other kinds of the id, is better than none. */
uint64_t dynsel_sight_known_run_ns(const dynsel_finish_sight *s, uint32_t index, bool even_first);

/* What the backend predicts, unless a run there will tell soon; 0: nothing. */
uint64_t dynsel_sight_predicted_by_backend(const dynsel_finish_sight *s, uint32_t index);

/* When a run would be over, from now on, and what the choice costs later: its submit delays what is
 * submitted next, too. */
static inline uint64_t dynsel_sight_cost_ns(const dynsel_finish_sight *s, uint32_t index,
                                            uint64_t run_ns)
{
    return dynsel_sight_start_ns(s, index) + dynsel_sight_copy_ns(s, index) + run_ns +
           dynsel_finish_beside_ns(s->policy, s->kinds->own, index) + s->uses_ahead * run_ns;
}

/*
 * Trial runs, see earliest_finish_trials.c. The best choice is known.
 */

/* A resource without a time that gets a run, or DYNSEL_FINISH_NO_RESOURCE. run_ns: out, the
 * guess. */
uint32_t dynsel_sight_find_first_trial(const dynsel_finish_sight *s, uint64_t *run_ns);

/* The same among those with a time; run_ns: out, that. */
uint32_t dynsel_sight_find_further_trial(const dynsel_finish_sight *s, uint64_t *run_ns);

#endif
