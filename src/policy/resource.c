/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/resource.h>

#include <dynsel/backend.h>

const char *dynsel_resource_name(const dynsel_resource *resource)
{
    if (resource == NULL || resource->backend == NULL || resource->backend->ops == NULL) {
        return "none";
    }
    const dynsel_backend_ops *ops = resource->backend->ops;
    const char *name = NULL;
    if (ops->resource_name != NULL) {
        name = ops->resource_name(resource->backend, resource->handle);
    }
    return name != NULL ? name : ops->name;
}
