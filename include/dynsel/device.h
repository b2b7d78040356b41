/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The description and the aspects of the device behind a resource, at run time.
 *
 * The library queries drivers once, when their devices are found; afterwards an aspect is one bit.
 *
 * Source: seed 003; SYCL 2020, section 4.6.4.3.
 */
#ifndef DYNSEL_DEVICE_H
#define DYNSEL_DEVICE_H

#include <stdbool.h>

#include <dynsel/aspects.h>
#include <dynsel/resource.h>
#include <dynsel/status.h>

DYNSEL_BEGIN_DECLS

/** In dynsel_device.processors: of another host than that of the program. */
#define DYNSEL_PROCESSORS_ELSEWHERE UINT32_MAX

#if CONFIG_DYNSEL_ASPECTS

/** A device as its backend describes it. No text is NULL; they live as long as the device is known
 * (static, or until the backend's own close). */
typedef struct dynsel_device {
    const char *backend;       /**< the backend's name, such as "opencl" */
    const char *platform;      /**< the platform of the driver; empty if there is none */
    const char *vendor;        /**< the maker of the device; may be empty */
    const char *type;          /**< "cpu", "gpu", "accelerator", "custom", "host"; may be empty */
    const char *name;          /**< the device's own name */
    const char *driver;        /**< the version of its driver; empty if there is none */
    dynsel_aspect_set aspects; /**< its aspects, as reported by its driver */
    uint32_t processors;       /**< of the host, that it computes on at a time: 1 for a thread; 0:
                                    none, or not known; or DYNSEL_PROCESSORS_ELSEWHERE */
} dynsel_device;

/**
 * Describes the device behind a resource.
 *
 * device: out; unchanged on failure.
 * Errors: DYNSEL_E_INVALID (NULL, a resource without a backend, or a handle that its backend does
 *     not know), and what the backend reports.
 * May block: no, except for a backend that has not searched for its devices yet.
 * Context: any thread; task functions.
 * Cost: constant; for an OpenCL queue of the user's linear in such queues.
 */
DYNSEL_CHECKED dynsel_status dynsel_resource_describe(const dynsel_resource *resource,
                                                      dynsel_device *device);

/**
 * The aspects of a resource, as a set: those that its driver reports, without any that no device of
 * this build may have (dynsel_any_device_has() is 0).
 *
 * resource: as in a task function's `where`, from dynsel_get_resources() or dynsel_opencl_select(),
 *     or made by yourself.
 * Returns: the empty set, with dynsel_last_error() set, where dynsel_resource_describe() fails; the
 *     empty set for a backend that describes nothing.
 * Context, cost: as dynsel_resource_describe().
 */
dynsel_aspect_set dynsel_resource_aspects(const dynsel_resource *resource);

/** Whether a resource has an aspect: `dynsel_resource_has(where, DYNSEL_ASPECT_fp64)`. False for
 * DYNSEL_ASPECT_END_ and beyond. With the rules of dynsel_resource_aspects(). */
bool dynsel_resource_has(const dynsel_resource *resource, dynsel_aspect aspect);

#endif

DYNSEL_END_DECLS

#endif
