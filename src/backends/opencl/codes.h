/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_BACKENDS_OPENCL_CODES_H
#define DYNSEL_BACKENDS_OPENCL_CODES_H

#include <stdbool.h>

#include <dynsel/opencl.h>

enum {
    DYNSEL_OPENCL_PLATFORM_NOT_FOUND = -1001, /* cl_khr_icd */
    DYNSEL_OPENCL_NVIDIA_ILLEGAL_ACCESS = -9999
};

/* After this code nothing more can be asked of the device: drivers hang, or answer nonsense. */
bool dynsel_opencl_code_is_loss(cl_int code);

/* Whether the same call may succeed a little later. */
bool dynsel_opencl_code_is_transient(cl_int code);

#endif
