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

/* What a code says about the device. Lost: further calls would hang, or return invalid results. */
typedef enum dynsel_opencl_meaning {
    DYNSEL_OPENCL_MEANS_FAILURE, /* of this call or command alone */
    DYNSEL_OPENCL_MAY_MEAN_LOSS, /* a trivial command decides */
    DYNSEL_OPENCL_MEANS_LOSS
} dynsel_opencl_meaning;

dynsel_opencl_meaning dynsel_opencl_code_meaning(cl_int code);

/* What a code that may mean a loss meant on a device that works. */
const char *dynsel_opencl_code_survived(cl_int code);

/* The same call may succeed later. */
bool dynsel_opencl_code_is_transient(cl_int code);

#endif
