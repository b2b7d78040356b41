/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of calls on a device, and of its work. */
#ifndef DYNSEL_BACKENDS_OPENCL_FAILURE_H
#define DYNSEL_BACKENDS_OPENCL_FAILURE_H

#include <dynsel/error.h>

#include "backends/opencl/table.h"

/* Not under the lock: the device is lost when the code says so. function: static text. */
dynsel_error dynsel_opencl_failure(dynsel_opencl_entry *entry, const char *function, cl_int code);

/* The same as this thread's last error. */
dynsel_status dynsel_opencl_fail(dynsel_opencl_entry *entry, const char *function, cl_int code);

/* The same of a call for command groups that enqueues: DYNSEL_E_AGAIN where the driver finds only
 * then that the device's memory is full. */
dynsel_status dynsel_opencl_fail_to_enqueue(dynsel_opencl_entry *entry, const char *function,
                                            cl_int code);

/* The same of a call that brings data to the host: DYNSEL_E_AGAIN where it may succeed later. */
dynsel_status dynsel_opencl_fail_to_fetch(dynsel_opencl_entry *entry, const char *function,
                                          cl_int code);

/* DYNSEL_E_DEVICE, because the device was lost before. */
dynsel_status dynsel_opencl_fail_lost(const dynsel_opencl_entry *entry);

#endif
