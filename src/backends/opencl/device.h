/* SPDX-License-Identifier: Apache-2.0 */
/* The life of one device: closed, or failed to open, which is tried again; then open, then perhaps
 * lost. */
#ifndef DYNSEL_BACKENDS_OPENCL_DEVICE_H
#define DYNSEL_BACKENDS_OPENCL_DEVICE_H

#include "backends/opencl/table.h"
#include "port/atomic.h"

/* Devices with the same number have one context, so what one of them wrote need not be moved for
 * the other. From 1 on, with gaps. */
uint32_t dynsel_opencl_domain_of(const dynsel_opencl_entry *device);

/* Under the lock, once every device is described: finds the domains of all, so that nobody has to
 * look for them again. */
void dynsel_opencl_find_domains(void);

/* Tries to open a device that is not open, unless it is lost. */
dynsel_status dynsel_opencl_open_now(dynsel_opencl_entry *device);

/*
 * Makes the context and the queue if need be. One look and no lock once the device is open.
 *
 * Errors: DYNSEL_E_OUT_OF_SERVICE, with function and code of what failed last;
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

/* Not under the lock: from now on nothing is called on this entry's context and queue, and on those
 * of the entries that share the context. function: static text. */
void dynsel_opencl_lose(dynsel_opencl_entry *device, const char *function, cl_int code);

/* Under the lock: gives back everything but what belongs to lost devices. */
void dynsel_opencl_release_all(void);

#endif
