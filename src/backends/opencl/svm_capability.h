/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory of OpenCL 2.0: which kinds a device has, and pointers as arguments. */
#ifndef DYNSEL_BACKENDS_OPENCL_SVM_CAPABILITY_H
#define DYNSEL_BACKENDS_OPENCL_SVM_CAPABILITY_H

#include <dynsel/memory.h>

#include "backends/opencl/device_table.h"

/* The operation `sharing`. Asks the driver at the first call for a device. */
dynsel_sharing dynsel_opencl_sharing(dynsel_backend *backend, void *own);

/* Sets an argument of a kernel. pointer: NULL, or a pointer that the device shares. */
cl_int dynsel_opencl_set_pointer(const dynsel_opencl_entry *entry, cl_kernel kernel, cl_uint index,
                                 const void *pointer);

#endif
