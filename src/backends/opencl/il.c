/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/il.h"

#include <string.h>

#include "backends/opencl/functions.h"

/* Of OpenCL 2.1, or of cl_khr_il_program. */
enum { QUERY_IL_VERSION = 0x105B };

typedef cl_program(CL_API_CALL *il_function)(cl_context context, const void *il, size_t bytes,
                                             cl_int *code);

/* CL_INVALID_OPERATION: it does not; anything else that is not CL_SUCCESS: it did not tell. */
static cl_int ask_for_spirv(cl_device_id device)
{
    char versions[256] = {0};
    const cl_int code = clGetDeviceInfo(device, QUERY_IL_VERSION, sizeof(versions), versions, NULL);
    if (code == CL_SUCCESS) {
        return strstr(versions, "SPIR-V") != NULL ? CL_SUCCESS : CL_INVALID_OPERATION;
    }
    return code == CL_INVALID_VALUE ? CL_INVALID_OPERATION : code; /* not known before OpenCL 2.1 */
}

static il_function function_of(cl_device_id device)
{
    const dynsel_opencl_function function =
        dynsel_opencl_find_function(device, "clCreateProgramWithILKHR");
    return (il_function)(function != NULL
                             ? function
                             : dynsel_opencl_find_function(device, "clCreateProgramWithIL"));
}

cl_program dynsel_opencl_program_of_il(const dynsel_opencl_entry *entry, const void *il,
                                       size_t bytes, const char **function, cl_int *code)
{
    *function = "clGetDeviceInfo";
    *code = ask_for_spirv(entry->device);
    if (*code != CL_SUCCESS && *code != CL_INVALID_OPERATION) {
        return NULL;
    }
    *function = "clCreateProgramWithIL";
    const il_function create = *code == CL_SUCCESS ? function_of(entry->device) : NULL;
    if (create == NULL) {
        *code = CL_INVALID_OPERATION;
        return NULL;
    }
    return create(entry->context, il, bytes, code);
}
