/* SPDX-License-Identifier: Apache-2.0 */
/* Programs from SPIR-V, which OpenCL 1.2 does not have. */
#ifndef DYNSEL_BACKENDS_OPENCL_IL_H
#define DYNSEL_BACKENDS_OPENCL_IL_H

#include "backends/opencl/table.h"

/* A program that is not built yet. NULL with CL_INVALID_OPERATION in `code` where the device takes
 * no SPIR-V. function: out, what `code` is of. */
cl_program dynsel_opencl_program_of_il(const dynsel_opencl_entry *entry, const void *il,
                                       size_t bytes, const char **function, cl_int *code);

#endif
