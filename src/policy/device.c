/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/device.h"

#include <dynsel/backend.h>
#include <dynsel/targets.h>

#include "base/fail.h"
#include "port/context.h"

/* Backends of the user's may have forgotten one. */
static const char *text_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

dynsel_status dynsel_describe_as(dynsel_backend *backend, const void *handle, dynsel_device *device)
{
    const dynsel_resource resource = {.backend = backend, .handle = (void *)handle};
    dynsel_device found = {.backend = text_or_empty(backend->ops->name),
                           .platform = "",
                           .vendor = "",
                           .type = "",
                           .name = text_or_empty(dynsel_resource_name(&resource))};
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
                              .aspects = found.aspects};
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
    /* In two steps, because there may be none at all. */
    const bool is_one = number <= DYNSEL_ASPECT_COUNT && number != DYNSEL_ASPECT_COUNT;
    return is_one && (dynsel_resource_aspects(resource) >> number & 1u) != 0;
}
