/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_BACKENDS_OPENCL_IDENTITY_H
#define DYNSEL_BACKENDS_OPENCL_IDENTITY_H

#include "backends/opencl/table.h"

/* Under the lock, once the device is described: whether it is an emulator, and what is known of its
 * driver. */
void dynsel_opencl_note_kind(dynsel_opencl_entry *device);

/* Under the lock, once every device is described: finds out which are emulators, and which are the
 * same physical device through different platforms. */
void dynsel_opencl_identify(dynsel_opencl_table *table);

#endif
