/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_BACKENDS_OPENCL_DESCRIBE_H
#define DYNSEL_BACKENDS_OPENCL_DESCRIBE_H

#include "backends/opencl/table.h"

/* Both under the lock. What the driver does not tell stays zero, or gets a text that says so. */
void dynsel_opencl_describe_platform(dynsel_opencl_platform *platform);

/* The entry's `device` and `platform` are known already. A device whose driver does not tell what
 * it is counts as not available. */
void dynsel_opencl_describe_device(dynsel_opencl_entry *entry);

/* False, and `to` zero, unless the driver answers with exactly as many bytes. */
bool dynsel_opencl_read_value(cl_device_id device, cl_device_info what, void *to, size_t bytes);

/* The driver's answer, until the next question; empty when there is none. Under the lock. */
const char *dynsel_opencl_read_answer(cl_device_id device, cl_device_info what);

/* The place of that answer, for other questions. Under the lock. */
char *dynsel_opencl_room_for_answer(size_t *bytes);

/* "cpu", "gpu", ... for display. Static text. */
const char *dynsel_opencl_type_name(cl_device_type type);

#endif
