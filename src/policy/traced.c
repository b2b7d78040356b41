/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/traced.h"

#include <dynsel/device.h>

enum {
    IN_CALLER = 1, /* bits of DYNSEL_TRACE_RESOURCE */
    IN_ORDER = 2,
    IS_GPU = 4,
    IS_CPU = 8,
    IS_OTHER = 16,
    REASON_BITS = 8,
    CLAIMS_SHIFT = 16
};

static uint32_t nature_of(const dynsel_resource *resource, dynsel_aspect_set aspects)
{
    const dynsel_backend_ops *const ops = resource->backend->ops;
    uint32_t nature = 0;
#if CONFIG_DYNSEL_COMMAND_GROUPS
    nature |= ops->in_order ? IN_ORDER : 0;
#endif
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    nature |= ops->outlives_submit ? 0 : IN_CALLER;
#else
    (void)ops;
    nature |= IN_CALLER;
#endif
    if ((aspects & DYNSEL_ASPECT_BIT(gpu)) != 0) {
        nature |= IS_GPU;
    } else if ((aspects & DYNSEL_ASPECT_BIT(cpu)) != 0) {
        nature |= IS_CPU;
    } else {
        nature |= IS_OTHER;
    }
    return nature;
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
    dynsel_trace_put(DYNSEL_TRACE_RESOURCE, place,
                     dynsel_trace_pair(nature_of(resource, aspects), timing_ns), aspects);
    dynsel_trace_put_name(DYNSEL_TRACE_RESOURCE_NAME, place, dynsel_resource_name(resource));
    dynsel_trace_put_name(DYNSEL_TRACE_BACKEND_NAME, place, resource->backend->ops->name);
}

uint16_t dynsel_traced_enter(dynsel_policy *policy)
{
    const uint32_t number = dynsel_word_add_relaxed(&dynsel_trace.policies, 1) + 1;
    const uint16_t known = number < UINT16_MAX ? (uint16_t)number : UINT16_MAX;
    const char *const name = policy->ops->name != NULL ? policy->ops->name : "";
    dynsel_trace_put_name(DYNSEL_TRACE_POLICY_NAME, (dynsel_trace_place){.policy = known}, name);
    for (uint32_t i = 0; i < policy->count; i++) {
        put_resource(policy, known, i);
    }
    dynsel_word_store_relaxed(&policy->trace_number, known);
    dynsel_word_store_release(&policy->trace_life, dynsel_trace_life());
    return known;
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

void dynsel_traced_put_choice(const dynsel_selection *selection, const dynsel_task *task)
{
    const uint32_t why = selection->reason | (uint32_t)selection->wants << REASON_BITS |
                         (selection->claims & 1u) << CLAIMS_SHIFT;
    uint64_t amount = 0;
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    amount = task->amount;
#endif
    dynsel_traced_put(DYNSEL_TRACE_CHOICE, selection,
                      dynsel_trace_pair(dynsel_trace_kind(task, NULL), why), amount);
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
