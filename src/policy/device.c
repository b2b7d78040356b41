/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of resources: what they are and can do, and the verification of what this build was
 * told about them. */
#include "policy/device.h"

#include <dynsel/backend.h>
#include <dynsel/targets.h>

#include "base/fail.h"
#include "policy/task.h"
#include "port/context.h"
#include "port/likely.h"

/* A custom backend may leave a text out. */
static const char *text_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

DYNSEL_RARE dynsel_status dynsel_describe_as(dynsel_backend *backend, const void *handle,
                                             dynsel_device *device)
{
    const dynsel_resource resource = {.backend = backend, .handle = (void *)handle};
    dynsel_device found = {.backend = text_or_empty(backend->ops->name),
                           .platform = "",
                           .vendor = "",
                           .type = "",
                           .name = text_or_empty(dynsel_resource_name(&resource)),
                           .driver = ""};
    if (backend->ops->describe != NULL) {
        const dynsel_status status = backend->ops->describe(backend, handle, &found);
        if (status != DYNSEL_OK) {
            return status;
        }
    }
    *device = (dynsel_device){.backend = text_or_empty(found.backend),
                              .platform = text_or_empty(found.platform),
                              .vendor = text_or_empty(found.vendor),
                              .type = text_or_empty(found.type),
                              .name = text_or_empty(found.name),
                              .driver = text_or_empty(found.driver),
                              .aspects = found.aspects,
                              .processors = found.processors};
    return DYNSEL_OK;
}

dynsel_status dynsel_resource_describe(const dynsel_resource *resource, dynsel_device *device)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (resource == NULL || resource->backend == NULL || resource->backend->ops == NULL ||
        device == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "an argument is NULL, or the resource's backend is");
    }
    return dynsel_describe_as(resource->backend, resource->handle, device);
}

dynsel_aspect_set dynsel_resource_aspects(const dynsel_resource *resource)
{
    dynsel_device device = {.aspects = 0};
    const dynsel_status status = dynsel_resource_describe(resource, &device);
    return status == DYNSEL_OK ? device.aspects & dynsel_possible_aspects() : 0;
}

bool dynsel_resource_has(const dynsel_resource *resource, dynsel_aspect aspect)
{
    const unsigned number = (unsigned)aspect;
    /* Two comparisons, because DYNSEL_ASPECT_COUNT may be 0. */
    const bool is_one = number <= DYNSEL_ASPECT_COUNT && number != DYNSEL_ASPECT_COUNT;
    return is_one && (dynsel_resource_aspects(resource) >> number & 1u) != 0;
}

/* Fails because the device is not what the build was told. */
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

uint32_t dynsel_processors_of(const dynsel_policy *policy, uint32_t index)
{
    dynsel_device device;
    return dynsel_describe_as(policy->resources[index].backend, policy->queues[index].own,
                              &device) == DYNSEL_OK
               ? device.processors
               : 0;
}

dynsel_status dynsel_resource_prove(const dynsel_resource *resource)
{
    dynsel_device device;
    const dynsel_status status = dynsel_resource_describe(resource, &device);
    return status == DYNSEL_OK ? check(&device, __func__) : status;
}
