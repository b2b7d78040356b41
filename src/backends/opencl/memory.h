/* SPDX-License-Identifier: Apache-2.0 */
/* The memory operations of the backend, for command groups. */
#ifndef DYNSEL_BACKENDS_OPENCL_MEMORY_H
#define DYNSEL_BACKENDS_OPENCL_MEMORY_H

#include <dynsel/memory.h>

#include "backends/opencl/table.h"

/* How many copies of buffers there are, on all devices. */
uint32_t dynsel_opencl_count_copies(void);

/* Under the backend's lock, when nobody uses them and there are no copies: forgets all kernels, and
 * the store for them. */
void dynsel_opencl_end_memory(void);

extern const dynsel_memory_ops dynsel_opencl_memory;

#endif
