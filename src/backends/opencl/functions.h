/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that OpenCL 1.2 does not have, found at run time: the library is linked and runs with
 * loaders that lack them. */
#ifndef DYNSEL_BACKENDS_OPENCL_FUNCTIONS_H
#define DYNSEL_BACKENDS_OPENCL_FUNCTIONS_H

#include "backends/opencl/table.h"

/* To be cast to the function's own type. */
typedef void (*dynsel_opencl_function)(void);

/* NULL: neither the device's driver nor the loader has it. */
dynsel_opencl_function dynsel_opencl_find_function(cl_device_id device, const char *name);

#endif
