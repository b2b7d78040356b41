/* SPDX-License-Identifier: Apache-2.0 */
/** A resource: one place where work can run, such as a command queue of a device or the calling
 * thread itself. */
#ifndef DYNSEL_RESOURCE_H
#define DYNSEL_RESOURCE_H

#include <dynsel/config.h>

DYNSEL_BEGIN_DECLS

/** A backend; see <dynsel/backend.h>. */
typedef struct dynsel_backend dynsel_backend;

/** Where work can run: a device, a queue, or a processor of the host's. */
typedef struct dynsel_resource {
    dynsel_backend *backend; /**< starts work on this resource and detects its completion */
    void *handle; /**< the object that the backend or the task function uses: a queue, a worker,
                     your own type */
} dynsel_resource;

/**
 * The display name, such as "host" or "NVIDIA H200". For an OpenCL device it is the driver's name,
 * with `?` for characters that are unsafe for a terminal; dynsel_resource_describe() has the
 * unchanged name.
 *
 * Returns: text that lives as long as the resource; the backend's name if the backend does not name
 *     its resources; "none" for NULL or a resource without a backend.
 * Errors: none.
 * Context: any thread.
 * Cost: constant. For a handle that is not the backend's own the answer is the backend's name.
 */
const char *dynsel_resource_name(const dynsel_resource *resource);

DYNSEL_END_DECLS

#endif
