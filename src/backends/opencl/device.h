/* SPDX-License-Identifier: Apache-2.0 */
/* The life of one device: closed, then open or failed, then perhaps lost. */
#ifndef DYNSEL_BACKENDS_OPENCL_DEVICE_H
#define DYNSEL_BACKENDS_OPENCL_DEVICE_H

#include "backends/opencl/table.h"

/*
 * Makes the context and the queue if that was not tried yet. No lock once the device is open.
 *
 * Errors: DYNSEL_E_OUT_OF_SERVICE, with function and code of the first failure.
 */
dynsel_status dynsel_opencl_open(dynsel_opencl_entry *device);

/* Not under the lock: from now on nothing is called on this entry's context and queue, and on those
 * of the entries that share the context. function: static text. */
void dynsel_opencl_lose(dynsel_opencl_entry *device, const char *function, cl_int code);

bool dynsel_opencl_is_lost(const dynsel_opencl_entry *device);

/* Under the lock: gives back everything but what belongs to lost devices. */
void dynsel_opencl_release_all(void);

#endif
