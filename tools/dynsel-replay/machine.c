/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <string.h>

#include "inputs.h"
#include "log.h"

const char *const machine_policy_names[POLICY_KINDS] = {
    [FIXED_RESOURCE] = "fixed_resource",   [ROUND_ROBIN] = "round_robin",
    [DYNAMIC_LOAD] = "dynamic_load",       [AUTO_TUNE] = "auto_tune",
    [EARLIEST_FINISH] = "earliest_finish",
};

policy_kind machine_kind_of(const char *name)
{
    policy_kind kind = FIXED_RESOURCE;
    while (kind < POLICY_KINDS && strcmp(machine_policy_names[kind], name) != 0) {
        kind++;
    }
    return kind;
}

dynsel_status machine_init_policy(any_policy *policy, policy_kind kind,
                                  const dynsel_options *options, uint64_t option)
{
    switch (kind) {
    case FIXED_RESOURCE:
        return dynsel_fixed_resource_init(&policy->fixed_resource, options, (size_t)option);
    case ROUND_ROBIN:
        return dynsel_round_robin_init(&policy->round_robin, options, (size_t)option);
    case DYNAMIC_LOAD:
        return dynsel_dynamic_load_init(&policy->dynamic_load, options);
    case AUTO_TUNE:
        return dynsel_auto_tune_init(&policy->auto_tune, options, option);
    case EARLIEST_FINISH:
    case POLICY_KINDS:
    default:
        return dynsel_earliest_finish_init(&policy->earliest_finish, options);
    }
}

static uint64_t predict(dynsel_backend *backend, const void *own, const dynsel_task *task)
{
    (void)backend;
    (void)own;
    (void)task;
    return inputs_prediction();
}

/* All that a policy sees of a resource. */
static void imitate(const recorded_resource *recorded, machine_resource *resource)
{
    *resource =
        (machine_resource){.device = {.name = recorded->name,
                                      .kind = (recorded->nature & DYNSEL_TRACE_IN_CALLER) != 0
                                                  ? DYNSEL_SIMULATED_CALLER
                                                  : DYNSEL_SIMULATED_QUEUE,
                                      .aspects = (dynsel_aspect_set)recorded->aspects,
                                      .threads = recorded->processors}};
    resource->ops = *dynsel_simulated_resource(&resource->device).backend->ops;
    resource->ops.name = recorded->backend;
    resource->ops.timing_ns = recorded->timing_ns;
    resource->ops.first_start_ns = recorded->first_start_ns;
    resource->ops.times_runs_alone = recorded->times_runs_alone;
    resource->ops.in_order = (recorded->nature & DYNSEL_TRACE_IN_ORDER) != 0;
    resource->ops.only_calls = (recorded->nature & DYNSEL_TRACE_ONLY_CALLS) != 0;
    resource->ops.predict = (recorded->nature & DYNSEL_TRACE_PREDICTS) != 0 ? predict : NULL;
    if ((recorded->nature & DYNSEL_TRACE_HAS_MEMORY) == 0) {
        resource->ops.memory = NULL;
    }
    resource->backend.ops = &resource->ops;
}

int machine_like(const recorded_policy *recorded, any_policy *policy, machine_resource *resources)
{
    dynsel_resource list[RECORDING_MOST_RESOURCES];
    for (uint32_t i = 0; i < recorded->count; i++) {
        imitate(&recorded->resources[i], &resources[i]);
        list[i] =
            (dynsel_resource){.backend = &resources[i].backend, .handle = &resources[i].device};
    }
    const dynsel_options options = {.resources = list, .count = recorded->count};
    if (machine_init_policy(policy, machine_kind_of(recorded->name), &options, recorded->option) !=
        DYNSEL_OK) {
        char text[256];
        (void)dynsel_error_text(NULL, text, sizeof text);
        return log_wrong("the policy %s cannot be made again: %s", recorded->name, text);
    }
    return 0;
}
