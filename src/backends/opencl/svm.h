/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory, which OpenCL 1.2 does not have: loaders and drivers without it do. */
#ifndef DYNSEL_BACKENDS_OPENCL_SVM_H
#define DYNSEL_BACKENDS_OPENCL_SVM_H

#include <dynsel/memory.h>

#include "backends/opencl/table.h"

/* The operation of dynsel_memory_ops. Asks the driver once. */
dynsel_sharing dynsel_opencl_sharing(dynsel_backend *backend, void *own);

/* Sets an argument of a kernel. pointer: NULL, or for a device that shares something. */
cl_int dynsel_opencl_set_pointer(cl_kernel kernel, cl_uint index, const void *pointer);

#endif
