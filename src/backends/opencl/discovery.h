/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the tables: lists platforms and devices, and recognizes devices that several platforms
 * list. */
#ifndef DYNSEL_BACKENDS_OPENCL_DISCOVERY_H
#define DYNSEL_BACKENDS_OPENCL_DISCOVERY_H

#include "backends/opencl/device_table.h"

/*
 * Under the lock: lists the devices on the first call. function: for the error.
 *
 * Errors: DYNSEL_E_DEVICE (the loader has no memory; the next call tries again), DYNSEL_E_FULL
 * (more platforms or devices than fit; those that fit are in the table).
 */
dynsel_status dynsel_opencl_discover(const char *function);

#endif
