/* SPDX-License-Identifier: Apache-2.0 */
/* The backend calls functions of OpenCL 1.2. Drivers of an older one lack them, so their devices
 * are asked what they are, and nothing else. */
#ifndef DYNSEL_BACKENDS_OPENCL_VERSION_H
#define DYNSEL_BACKENDS_OPENCL_VERSION_H

#include "backends/opencl/table.h"

/* Once the device and its platform are described: says in the entry's `too_old` why it cannot be
 * used, or nothing. The functions are the platform's and do what the device can, so both count;
 * where a platform does not tell its version, the device's counts alone. */
void dynsel_opencl_judge_version(dynsel_opencl_entry *entry);

static inline bool dynsel_opencl_is_too_old(const dynsel_opencl_entry *entry)
{
    return entry->too_old[0] != '\0';
}

/* DYNSEL_E_UNSUPPORTED, with why. function: whose failure it is. */
dynsel_status dynsel_opencl_refuse_old(const dynsel_opencl_entry *entry, const char *function);

#endif
