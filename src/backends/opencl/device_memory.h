/* SPDX-License-Identifier: Apache-2.0 */
/* The memory operations of the backend, for command groups. */
#ifndef DYNSEL_BACKENDS_OPENCL_DEVICE_MEMORY_H
#define DYNSEL_BACKENDS_OPENCL_DEVICE_MEMORY_H

#include <dynsel/memory.h>

/* The number of copies of buffers on all devices. */
uint32_t dynsel_opencl_count_copies(void);

/* Counts memory of the program as a copy, until `release` of the operations. */
void dynsel_opencl_note_copy(void);

/* Under the backend's lock, without copies and users: releases all kernels, build logs and shared
 * memory, and removes the kernel store. */
void dynsel_opencl_end_memory(void);

extern const dynsel_memory_ops dynsel_opencl_memory;

#endif
