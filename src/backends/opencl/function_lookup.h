/* SPDX-License-Identifier: Apache-2.0 */
/* Finds functions that OpenCL 1.2 lacks at run time, so that the library links and runs with old
 * loaders. */
#ifndef DYNSEL_BACKENDS_OPENCL_FUNCTION_LOOKUP_H
#define DYNSEL_BACKENDS_OPENCL_FUNCTION_LOOKUP_H

#include "backends/opencl/device_table.h"

/* The caller casts it to the type of the function. */
typedef void (*dynsel_opencl_function)(void);

/* NULL: neither the driver of the device nor the loader has the function. */
dynsel_opencl_function dynsel_opencl_find_function(cl_device_id device, const char *name);

#endif
