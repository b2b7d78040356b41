/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_BACKENDS_OPENCL_DESCRIBE_H
#define DYNSEL_BACKENDS_OPENCL_DESCRIBE_H

#include "backends/opencl/table.h"

/* Both under the lock. What the driver does not tell stays zero, or gets a text that says so. */
void dynsel_opencl_describe_platform(dynsel_opencl_platform *platform);

/* The entry's `device` is known already. A device whose driver does not tell what it is counts as
 * not available. */
void dynsel_opencl_describe_device(dynsel_opencl_entry *entry);

/* "cpu", "gpu", ... for people. Static text. */
const char *dynsel_opencl_type_name(cl_device_type type);

#endif
