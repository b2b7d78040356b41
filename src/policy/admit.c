/* SPDX-License-Identifier: Apache-2.0 */
/* The proof of what this build was told about its devices. */
#include <dynsel/targets.h>

#include "base/fail.h"
#include "policy/device.h"
#include "policy/task.h"

static dynsel_status refuse(const dynsel_device *device, const char *function, const char *detail,
                            uint32_t number)
{
#if CONFIG_DYNSEL_ERROR_TEXTS
    return dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_ASPECT,
                                             .number = number,
                                             .function = function,
                                             .subject = device->name,
                                             .detail = detail});
#else
    (void)device;
    (void)detail;
    return DYNSEL_FAIL_IN(function, DYNSEL_E_ASPECT, NULL, number);
#endif
}

static dynsel_status check(const dynsel_device *device, const char *function)
{
    size_t count = 0;
    const dynsel_target *targets = dynsel_get_targets(&count);
    const dynsel_proof proof = dynsel_prove(targets, count, device);
    if (proof.target == NULL) {
        return refuse(device, function,
                      "no device target of this build recognizes the device: choose its target "
                      "in the menu, or the target unknown",
                      0);
    }
    if (proof.broken != 0) {
        return refuse(device, function,
                      "the device lacks {aspect}, which its device target {target} promises: "
                      "choose another target, or correct the table of targets; dynsel-info tells "
                      "what the device has",
                      dynsel_first_aspect(proof.broken) | (uint32_t)(proof.target - targets)
                                                              << DYNSEL_TARGET_SHIFT);
    }
    return DYNSEL_OK;
}

dynsel_status dynsel_admit(dynsel_policy *policy, uint32_t index)
{
    dynsel_device device;
    dynsel_status status =
        dynsel_describe_as(policy->resources[index].backend, policy->queues[index].own, &device);
    if (status == DYNSEL_OK) {
        status = check(&device, "dynsel_policy_init");
    }
    if (status == DYNSEL_OK) {
        policy->aspects[index] = device.aspects & dynsel_possible_aspects();
    }
    return status;
}

dynsel_status dynsel_resource_prove(const dynsel_resource *resource)
{
    dynsel_device device;
    const dynsel_status status = dynsel_resource_describe(resource, &device);
    return status == DYNSEL_OK ? check(&device, __func__) : status;
}
