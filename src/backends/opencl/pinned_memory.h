/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pinned memory of the host's, where entry->pins_memory.
 *
 * Memory is pinned in place: a memory object over it with CL_MEM_USE_HOST_PTR, which no command
 * ever uses, makes the driver pin its pages. Then transfers between that memory and other memory
 * objects need no copy by the processor, and run asynchronously. It costs no memory on the device.
 *
 * In us on an H100, for 64 MiB, 1 MiB and 256 KiB: a write from memory that is not pinned 9204, 152
 * and 67, from pinned memory 1284, 27 and 13; to pin 3383, 81 and 50; to undo it 1515, 52 and about
 * 25. So from 1 MiB on it costs no more even if there is one transfer only, and from 128 KiB on if
 * there are several.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_PINNED_MEMORY_H
#define DYNSEL_BACKENDS_OPENCL_PINNED_MEMORY_H

#include <dynsel/memory.h>

#include "backends/opencl/device_table.h"

/* None of these fails: a refusal is noted in memory->pinning, and sets no last error. They may not
 * be called under the backend's lock, except where noted. */

/* After the allocation of a copy, or of staging memory (host NULL), which is not pinned. */
void dynsel_opencl_may_pin(const dynsel_opencl_entry *entry, dynsel_memory *memory);

/* Before a transfer of a copy, or of the range that is staged in staging memory. */
void dynsel_opencl_pin(dynsel_opencl_entry *entry, dynsel_memory *memory);

/* The same for the way back of a range. */
void dynsel_opencl_pin_range(dynsel_opencl_entry *entry, const dynsel_memory *memory);

/* Before the copy is released. Waits until the device has completed the commands that it runs. */
void dynsel_opencl_unpin(const dynsel_opencl_entry *entry, dynsel_memory *memory);

/* Under the backend's lock, without copies: unpins the regions on all devices. They are pinned
 * again when they are used. */
void dynsel_opencl_unpin_regions(void);

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(): the regions remain, pinned nowhere. */
void dynsel_opencl_regions_forget(void);
#endif

#endif
