/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a device: closed, open, failed to open (and tried again), or lost; its context and
 * its memory domain; failures of calls on it, which can show that it is lost.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_DEVICE_STATE_H
#define DYNSEL_BACKENDS_OPENCL_DEVICE_STATE_H

#include <dynsel/error.h>

#include "backends/opencl/device_table.h"
#include "port/atomic.h"

/* Devices of one domain have one context, so their data need no copy between them. The numbers
 * start at 1 and have gaps. */
uint32_t dynsel_opencl_domain_of(const dynsel_opencl_entry *device);

/* Under the lock, after all devices are described: computes and stores their domains. */
void dynsel_opencl_find_domains(void);

/* Opens a device that is not open, unless it is lost. */
dynsel_status dynsel_opencl_open_now(dynsel_opencl_entry *device);

/*
 * Creates the context and the queue on the first use; an open device costs one load and no lock.
 *
 * Errors: DYNSEL_E_OUT_OF_SERVICE, with function and code of the last failure;
 * DYNSEL_E_UNSUPPORTED: its OpenCL is too old.
 */
static inline dynsel_status dynsel_opencl_open(dynsel_opencl_entry *device)
{
    return dynsel_word_load_acquire(&device->state) == DYNSEL_OPENCL_OPEN
               ? DYNSEL_OK
               : dynsel_opencl_open_now(device);
}

static inline bool dynsel_opencl_is_lost(const dynsel_opencl_entry *device)
{
    return dynsel_word_load_acquire(&device->state) == DYNSEL_OPENCL_DEAD;
}

/* Not under the lock: marks the device and all entries of its context as lost; the library calls
 * nothing on them any more. function: static text; code: 0: the device was given up. */
void dynsel_opencl_lose(dynsel_opencl_entry *device, const char *function, cl_int code);

/*
 * A call on the device, or its work, ended with `code`: marks the device as lost if the code means
 * that, or may mean it and the device does not answer a trivial command. Returns whether it is
 * lost. Not under the lock; takes up to 100 ms where a device hangs, which shows no loss. function:
 * static text.
 */
bool dynsel_opencl_loses(dynsel_opencl_entry *device, const char *function, cl_int code);

/* Releases the queue and the memory that time work on a device that is not lost. No timed work is
 * on it. */
void dynsel_opencl_release_profiling(dynsel_opencl_entry *device);

/* Under the lock: releases the queues and contexts of all devices that are not lost. */
void dynsel_opencl_release_all(void);

/* The error of a call on the device, or of its work, after dynsel_opencl_loses(). */
dynsel_error dynsel_opencl_failure(dynsel_opencl_entry *device, const char *function, cl_int code);

/* Fails with dynsel_opencl_failure(). */
dynsel_status dynsel_opencl_fail(dynsel_opencl_entry *device, const char *function, cl_int code);

/* The same for enqueueing calls of command groups: DYNSEL_E_AGAIN if the driver allocates only now
 * and the memory of the device is full. */
dynsel_status dynsel_opencl_fail_to_enqueue(dynsel_opencl_entry *device, const char *function,
                                            cl_int code);

/* The same for calls that copy data to the host: DYNSEL_E_AGAIN if the call may succeed later. */
dynsel_status dynsel_opencl_fail_to_fetch(dynsel_opencl_entry *device, const char *function,
                                          cl_int code);

/* Fails with DYNSEL_E_DEVICE and the call that lost the device, or DYNSEL_E_GIVEN_UP. */
dynsel_status dynsel_opencl_fail_lost(const dynsel_opencl_entry *device);

#endif
