/* SPDX-License-Identifier: Apache-2.0 */
#include "policies/earliest_finish_sight.h"

enum {
    ENOUGH_SAMPLES = 2, /* the first may contain a compilation */
    MOST_USES_AHEAD = 64
};

static uint64_t ready_ns(const dynsel_finish_sight *s)
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

void dynsel_sight_begin(dynsel_finish_sight *s, dynsel_earliest_finish_policy *policy,
                        const dynsel_task *task, const dynsel_finish_kinds *kinds)
{
    *s = (dynsel_finish_sight){
        .policy = policy, .task = task, .kinds = kinds, .now_ns = dynsel_now_ns()};
    s->now = (uint32_t)(s->now_ns >> DYNSEL_FINISH_TICK_SHIFT);
    if (task != NULL) {
        s->amount = dynsel_finish_amount(task->amount);
        s->ready_ns = ready_ns(s);
        s->uses_ahead = uses_ahead(task);
    }
}

void dynsel_sight_look_at_queues(dynsel_finish_sight *s)
{
    uint64_t threads_ticks = 0;
    uint32_t threads = 0;
    s->processors_ticks = 0;
    s->is_idle = true;
    for (uint32_t i = 0; i < s->policy->policy.count; i++) {
        const dynsel_finish_resource *resource = &s->policy->states[i];
        const uint32_t ticks = dynsel_sight_queued_ticks(s, resource);
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

void dynsel_sight_look_at_data(dynsel_finish_sight *s)
{
    s->least_bytes = UINT64_MAX;
    for (uint32_t i = 0; i < s->policy->policy.count; i++) {
        s->least_bytes = dynsel_finish_lower(s->least_bytes, dynsel_sight_bytes_in(s, i));
    }
    s->source_ticks = 0;
    for (uint32_t i = 0; i < s->policy->policy.count; i++) {
        const dynsel_finish_resource *resource = &s->policy->states[i];
        const uint32_t ticks = dynsel_sight_queued_ticks(s, resource);
        if (dynsel_sight_bytes_in(s, i) == s->least_bytes && ticks > s->source_ticks &&
            dynsel_word_load_relaxed(&resource->is.place) == DYNSEL_FINISH_APART) {
            s->source_ticks = ticks;
        }
    }
}

/* Whether the times of a resource can be relied on. */
static bool is_trusted(const dynsel_finish_sight *s, const dynsel_finish_times *times,
                       uint32_t index)
{
    const uint32_t samples = dynsel_word_load_relaxed(&times->samples);
    return (samples >= ENOUGH_SAMPLES || (samples != 0 && !dynsel_sight_compiles(s, index))) &&
           (!dynsel_sight_amounts_tell(times) || dynsel_finish_reaches(times, s->amount));
}

uint64_t dynsel_sight_known_run_ns(const dynsel_finish_sight *s, uint32_t index, bool even_first)
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
    if ((is_trusted(s, root, index) && dynsel_sight_amounts_tell(root)) || even_first) {
        return dynsel_finish_predict(root, s->amount, shortest_ns);
    }
    return 0;
}

uint64_t dynsel_sight_predicted_by_backend(const dynsel_finish_sight *s, uint32_t index)
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
