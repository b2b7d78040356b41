/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_BACKENDS_OPENCL_DISCOVERY_H
#define DYNSEL_BACKENDS_OPENCL_DISCOVERY_H

#include "backends/opencl/table.h"

/*
 * Under the lock: finds the devices if that was not done yet. `function` is whose failure it would
 * be.
 *
 * Errors: DYNSEL_E_DEVICE (the loader has no memory; the next call tries again), DYNSEL_E_FULL
 * (more platforms or devices than fit; those that fit are in the table).
 */
dynsel_status dynsel_opencl_discover(const char *function);

#endif
