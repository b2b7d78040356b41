/* SPDX-License-Identifier: Apache-2.0 */
/* The error codes of OpenCL: their names, and which of them mean a lost device. */
#ifndef DYNSEL_BACKENDS_OPENCL_ERROR_CODES_H
#define DYNSEL_BACKENDS_OPENCL_ERROR_CODES_H

#include <stdbool.h>

#include <dynsel/opencl.h>

enum {
    DYNSEL_OPENCL_PLATFORM_NOT_FOUND = -1001, /* cl_khr_icd */
    DYNSEL_OPENCL_NVIDIA_ILLEGAL_ACCESS = -9999
};

/* The code means a lost device: further calls would hang, or return invalid results. */
bool dynsel_opencl_code_is_loss(cl_int code);

/* The same call may succeed later. */
bool dynsel_opencl_code_is_transient(cl_int code);

#endif
