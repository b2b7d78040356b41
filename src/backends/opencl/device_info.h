/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries drivers for the properties of platforms and devices, and checks their version of OpenCL.
 *
 * The backend calls functions of OpenCL 1.2, which older drivers lack. It queries their devices for
 * properties and calls nothing else on them.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_DEVICE_INFO_H
#define DYNSEL_BACKENDS_OPENCL_DEVICE_INFO_H

#include "backends/opencl/device_table.h"

/* Both under the lock. A property without an answer becomes zero, or a text such as "unknown". */
void dynsel_opencl_describe_platform(dynsel_opencl_platform *platform);

/* Needs the entry's `device` and `platform`, and a platform that is described already. A device
 * without a type counts as not available. */
void dynsel_opencl_describe_device(dynsel_opencl_entry *entry);

static inline bool dynsel_opencl_is_too_old(const dynsel_opencl_entry *entry)
{
    return entry->too_old[0] != '\0';
}

/* Fails with DYNSEL_E_UNSUPPORTED and the reason. function: for the error. */
dynsel_status dynsel_opencl_refuse_old(const dynsel_opencl_entry *entry, const char *function);

/* False, and `to` zeroed, unless the answer has exactly `bytes` bytes. */
bool dynsel_opencl_read_value(cl_device_id device, cl_device_info what, void *to, size_t bytes);

/* Whether the device uses the host's memory itself. */
bool dynsel_opencl_is_unified(cl_device_id device);

/* The answer as text, valid until the next query; empty without an answer. Under the lock. */
const char *dynsel_opencl_read_answer(cl_device_id device, cl_device_info what);

/* The buffer of these answers, for other queries. Under the lock. */
char *dynsel_opencl_room_for_answer(size_t *bytes);

/* "cpu", "gpu", ... for display. Static text. */
const char *dynsel_opencl_type_name(cl_device_type type);

#endif
