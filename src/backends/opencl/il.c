/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/il.h"

#include <string.h>

#include "backends/opencl/functions.h"

/* Of OpenCL 2.1, or of cl_khr_il_program. */
enum { QUERY_IL_VERSION = 0x105B };

typedef cl_program(CL_API_CALL *il_function)(cl_context context, const void *il, size_t bytes,
                                             cl_int *code);

static bool takes_spirv(cl_device_id device)
{
    char versions[256] = {0};
    return clGetDeviceInfo(device, QUERY_IL_VERSION, sizeof(versions), versions, NULL) ==
               CL_SUCCESS &&
           strstr(versions, "SPIR-V") != NULL;
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
                                       size_t bytes, cl_int *code)
{
    const il_function create = takes_spirv(entry->device) ? function_of(entry->device) : NULL;
    if (create == NULL) {
        *code = CL_INVALID_OPERATION;
        return NULL;
    }
    return create(entry->context, il, bytes, code);
}
