/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory, of OpenCL 2.0. */
#ifndef DYNSEL_BACKENDS_OPENCL_SVM_H
#define DYNSEL_BACKENDS_OPENCL_SVM_H

#include <dynsel/memory.h>

#include "backends/opencl/table.h"

/* Operations of dynsel_memory_ops. The first asks the driver once. */
dynsel_sharing dynsel_opencl_sharing(dynsel_backend *backend, void *own);

#if CONFIG_DYNSEL_SVM
dynsel_status dynsel_opencl_take_shared(dynsel_backend *backend, void *own, size_t bytes,
                                        void **memory);
void dynsel_opencl_return_shared(dynsel_backend *backend, void *own, void *memory);
dynsel_status dynsel_opencl_map_shared(dynsel_backend *backend, void *own, void *part, size_t bytes,
                                       dynsel_access_mode mode);
dynsel_status dynsel_opencl_unmap_shared(dynsel_backend *backend, void *own, void *part);
#endif

/* Sets an argument of a kernel. pointer: NULL, or for a device that shares something. */
cl_int dynsel_opencl_set_pointer(const dynsel_opencl_entry *entry, cl_kernel kernel, cl_uint index,
                                 const void *pointer);

/* Under the lock: how many devices have shared memory that is in use. */
uint32_t dynsel_opencl_count_shared(void);

/* Under the lock, when nobody uses it, before contexts are given back. */
void dynsel_opencl_release_shared(void);

#endif
