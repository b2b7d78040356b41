/* SPDX-License-Identifier: Apache-2.0 */
/* Queries the aspects of a device. */
#ifndef DYNSEL_BACKENDS_OPENCL_ASPECTS_H
#define DYNSEL_BACKENDS_OPENCL_ASPECTS_H

#include "backends/opencl/device_table.h"

#if CONFIG_DYNSEL_ASPECTS

/* The queries of the list, see aspects.c. Not static, because a configuration may use none. */
bool dynsel_opencl_answers_flag(cl_device_id device, cl_device_info what);
bool dynsel_opencl_answers_bits(cl_device_id device, cl_device_info what, cl_bitfield bits);
bool dynsel_opencl_answers_text(cl_device_id device, cl_device_info what, const char *part);
bool dynsel_opencl_lists_extension(cl_device_id device, const char *name);

/* Under the lock, for a described entry: asks the driver for each aspect. */
dynsel_aspect_set dynsel_opencl_read_aspects(const dynsel_opencl_entry *entry);

/* The operation `describe`. */
dynsel_status dynsel_opencl_describe(dynsel_backend *backend, const void *handle,
                                     dynsel_device *device);
#endif

#endif
