/* SPDX-License-Identifier: Apache-2.0 */
/* Matches selectors against the discovered devices: dynsel_opencl_select(), the default resources,
 * and the verdict on each device for dynsel_opencl_visit_devices(). */
#ifndef DYNSEL_BACKENDS_OPENCL_DEVICE_SELECTION_H
#define DYNSEL_BACKENDS_OPENCL_DEVICE_SELECTION_H

#include <dynsel/opencl.h>

/* The default resources of dynsel_opencl_backend: like dynsel_opencl_select(), but more devices
 * than fit are no failure. */
dynsel_status dynsel_opencl_select_defaults(dynsel_backend *backend, dynsel_resource *resources,
                                            size_t capacity, size_t *count);

#endif
