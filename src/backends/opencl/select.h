/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_BACKENDS_OPENCL_SELECT_H
#define DYNSEL_BACKENDS_OPENCL_SELECT_H

#include <dynsel/opencl.h>

/* dynsel_opencl_backend's default resources: dynsel_opencl_select() for which nothing chosen, or
 * more than fit, is no failure. */
dynsel_status dynsel_opencl_select_defaults(dynsel_backend *backend, dynsel_resource *resources,
                                            size_t capacity, size_t *count);

#endif
