/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/traced.h"

#include <dynsel/device.h>

#include "aspects/device_kinds.h"
#include "policy/after_fork.h"
#include "policy/device.h"
#include "port/pause.h"

enum {
    USED_BEFORE = 1,       /* bit of DYNSEL_TRACE_POLICY */
    PROCESSORS_SHIFT = 16, /* behind the bits of dynsel_trace_nature */
    PROCESSORS_ELSEWHERE = UINT16_MAX,
    MOST_PROCESSORS = PROCESSORS_ELSEWHERE - 1
};

static uint32_t nature_of(const dynsel_resource *resource, dynsel_aspect_set aspects)
{
    const dynsel_backend_ops *const ops = resource->backend->ops;
    uint32_t nature = 0;
#if CONFIG_DYNSEL_COMMAND_GROUPS
    nature |= ops->in_order ? DYNSEL_TRACE_IN_ORDER : 0;
#endif
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    nature |= ops->outlives_submit ? 0 : DYNSEL_TRACE_IN_CALLER;
    nature |= ops->only_calls ? DYNSEL_TRACE_ONLY_CALLS : 0;
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    nature |= ops->predict != NULL ? DYNSEL_TRACE_PREDICTS : 0;
#endif
#else
    (void)ops;
    nature |= DYNSEL_TRACE_IN_CALLER | DYNSEL_TRACE_ONLY_CALLS;
#endif
#if CONFIG_DYNSEL_COMMAND_GROUPS
    nature |= ops->memory != NULL ? DYNSEL_TRACE_HAS_MEMORY : 0;
#endif
    if ((aspects & DYNSEL_GPU_ASPECT) != 0) {
        return nature | DYNSEL_TRACE_IS_GPU;
    }
    return nature |
           ((aspects & DYNSEL_CPU_ASPECT) != 0 ? DYNSEL_TRACE_IS_CPU : DYNSEL_TRACE_IS_OTHER);
}

/* Of the host, as the bits behind the nature. */
static uint32_t processors_of(const dynsel_policy *policy, uint32_t index)
{
    const uint32_t count = dynsel_processors_of(policy, index);
    const uint32_t told = count == DYNSEL_PROCESSORS_ELSEWHERE ? (uint32_t)PROCESSORS_ELSEWHERE
                          : count < MOST_PROCESSORS            ? count
                                                               : (uint32_t)MOST_PROCESSORS;
    return told << PROCESSORS_SHIFT;
}

static void put_resource(const dynsel_policy *policy, uint16_t number, uint32_t index)
{
    const dynsel_resource *const resource = &policy->resources[index];
    const dynsel_trace_place place = {.piece = index, .policy = number, .resource = (uint8_t)index};
    uint32_t timing_ns = 0;
    dynsel_aspect_set aspects = 0;
#if CONFIG_DYNSEL_ASPECTS
    aspects = policy->aspects[index];
#endif
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    timing_ns = resource->backend->ops->timing_ns;
#endif
    dynsel_trace_put(
        DYNSEL_TRACE_RESOURCE, place,
        dynsel_trace_pair(nature_of(resource, aspects) | processors_of(policy, index), timing_ns),
        aspects);
#if CONFIG_DYNSEL_CUSTOM_BACKENDS && CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    const dynsel_backend_ops *const ops = resource->backend->ops;
    if (ops->first_start_ns != 0 || ops->times_runs_alone) {
        dynsel_trace_put(DYNSEL_TRACE_COSTS, place,
                         dynsel_trace_pair(ops->first_start_ns, ops->times_runs_alone ? 1 : 0), 0);
    }
#endif
    dynsel_trace_put_name(DYNSEL_TRACE_RESOURCE_NAME, place, dynsel_resource_name(resource));
    dynsel_trace_put_name(DYNSEL_TRACE_BACKEND_NAME, place, resource->backend->ops->name);
}

static void put_policy(const dynsel_policy *policy, uint16_t number, bool is_used)
{
    const dynsel_trace_place place = {
        .piece = DYNSEL_CONFIG_HASH, .policy = number, .resource = is_used ? USED_BEFORE : 0};
    const char *const name = policy->ops->name != NULL ? policy->ops->name : "";
    dynsel_trace_put(DYNSEL_TRACE_POLICY, place, policy->trace_option, (uintptr_t)policy);
    dynsel_trace_put_name(DYNSEL_TRACE_POLICY_NAME, (dynsel_trace_place){.policy = number}, name);
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        put_resource(policy, number, i);
    }
}

/* One thread names the policy, and others wait for it: a policy with two numbers would be two. */
uint32_t dynsel_traced_enter(dynsel_policy *policy)
{
    const uint32_t life = dynsel_trace_life();
    const uint32_t named_now = (uint32_t)DYNSEL_TRACED_NAMED_NOW - dynsel_fork_depth();
    uint32_t before = dynsel_word_load_acquire(&policy->trace_life);
    for (uint32_t round = 0;; round++) {
        if (before == life || life == 0) {
            return dynsel_word_load_relaxed(&policy->trace_number); /* or no trace any more */
        }
        if (before != named_now && dynsel_word_swap(&policy->trace_life, &before, named_now)) {
            break;
        }
        dynsel_pause(round);
        before = dynsel_word_load_acquire(&policy->trace_life);
    }
    const uint32_t number = dynsel_word_add_relaxed(&dynsel_trace.policies, 1) + 1;
    const uint32_t known = number < UINT16_MAX ? number : UINT16_MAX;
    const bool is_new = before == 0 && policy->ops->is_new != NULL && policy->ops->is_new(policy);
    put_policy(policy, (uint16_t)known, !is_new);
    dynsel_word_store_relaxed(&policy->trace_number, known);
    dynsel_word_store_release(&policy->trace_life, life);
    return known;
}

void dynsel_traced_resource(dynsel_policy *policy, uint32_t index)
{
    if (dynsel_trace_is_on() &&
        dynsel_word_load_acquire(&policy->trace_life) == dynsel_trace_life()) {
        put_resource(policy, (uint16_t)dynsel_word_load_relaxed(&policy->trace_number), index);
    }
}

static inline void put_at(dynsel_trace_event event, const dynsel_selection *selection,
                          uint32_t number, uint64_t low, uint64_t high)
{
    dynsel_trace_put_event((dynsel_trace_place){.piece = selection->piece,
                                                .event = (uint8_t)event,
                                                .resource = (uint8_t)selection->index,
                                                .policy = (uint16_t)number},
                           low, high);
}

/* Beside the usual event, which needs to save no registers then. */
DYNSEL_RARE static void enter_and_put(dynsel_trace_event event, const dynsel_selection *selection,
                                      uint64_t low, uint64_t high)
{
    put_at(event, selection, dynsel_traced_enter(selection->policy), low, high);
}

void dynsel_traced_put(dynsel_trace_event event, const dynsel_selection *selection, uint64_t low,
                       uint64_t high)
{
    dynsel_policy *const policy = selection->policy;
    if (!DYNSEL_LIKELY(dynsel_word_load_relaxed(&policy->trace_life) == dynsel_trace_life())) {
        enter_and_put(event, selection, low, high);
        return;
    }
    put_at(event, selection, dynsel_word_load_relaxed(&policy->trace_number), low, high);
}

void dynsel_traced_put_device(const dynsel_selection *selection, const dynsel_work *work)
{
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    dynsel_backend *const backend = work->where->backend;
    dynsel_device_run run;
    if (backend->ops->tell_run != NULL && backend->ops->tell_run(backend, work, &run)) {
        dynsel_traced_put(DYNSEL_TRACE_DEVICE, selection, run.begin_ns,
                          dynsel_trace_pair(dynsel_trace_units(run.took_ns), run.error_ns));
    }
#else
    (void)selection;
    (void)work;
#endif
}
