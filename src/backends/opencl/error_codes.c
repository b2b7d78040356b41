/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/error_codes.h"

#include <stddef.h>

#include <dynsel/opencl.h>

#include "base/fail.h"

typedef struct code_name {
    cl_int code;
    const char *name;
} code_name;

#define CODE(name)                                                                                 \
    {                                                                                              \
        name, #name                                                                                \
    }

/* The last two are codes of loaders and drivers, which older headers lack. */
static const code_name names[] = {
    CODE(CL_SUCCESS),
    CODE(CL_DEVICE_NOT_FOUND),
    CODE(CL_DEVICE_NOT_AVAILABLE),
    CODE(CL_COMPILER_NOT_AVAILABLE),
    CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    CODE(CL_OUT_OF_RESOURCES),
    CODE(CL_OUT_OF_HOST_MEMORY),
    CODE(CL_PROFILING_INFO_NOT_AVAILABLE),
    CODE(CL_MEM_COPY_OVERLAP),
    CODE(CL_IMAGE_FORMAT_MISMATCH),
    CODE(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    CODE(CL_BUILD_PROGRAM_FAILURE),
    CODE(CL_MAP_FAILURE),
    CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    CODE(CL_COMPILE_PROGRAM_FAILURE),
    CODE(CL_LINKER_NOT_AVAILABLE),
    CODE(CL_LINK_PROGRAM_FAILURE),
    CODE(CL_DEVICE_PARTITION_FAILED),
    CODE(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    CODE(CL_INVALID_VALUE),
    CODE(CL_INVALID_DEVICE_TYPE),
    CODE(CL_INVALID_PLATFORM),
    CODE(CL_INVALID_DEVICE),
    CODE(CL_INVALID_CONTEXT),
    CODE(CL_INVALID_QUEUE_PROPERTIES),
    CODE(CL_INVALID_COMMAND_QUEUE),
    CODE(CL_INVALID_HOST_PTR),
    CODE(CL_INVALID_MEM_OBJECT),
    CODE(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    CODE(CL_INVALID_IMAGE_SIZE),
    CODE(CL_INVALID_SAMPLER),
    CODE(CL_INVALID_BINARY),
    CODE(CL_INVALID_BUILD_OPTIONS),
    CODE(CL_INVALID_PROGRAM),
    CODE(CL_INVALID_PROGRAM_EXECUTABLE),
    CODE(CL_INVALID_KERNEL_NAME),
    CODE(CL_INVALID_KERNEL_DEFINITION),
    CODE(CL_INVALID_KERNEL),
    CODE(CL_INVALID_ARG_INDEX),
    CODE(CL_INVALID_ARG_VALUE),
    CODE(CL_INVALID_ARG_SIZE),
    CODE(CL_INVALID_KERNEL_ARGS),
    CODE(CL_INVALID_WORK_DIMENSION),
    CODE(CL_INVALID_WORK_GROUP_SIZE),
    CODE(CL_INVALID_WORK_ITEM_SIZE),
    CODE(CL_INVALID_GLOBAL_OFFSET),
    CODE(CL_INVALID_EVENT_WAIT_LIST),
    CODE(CL_INVALID_EVENT),
    CODE(CL_INVALID_OPERATION),
    CODE(CL_INVALID_GL_OBJECT),
    CODE(CL_INVALID_BUFFER_SIZE),
    CODE(CL_INVALID_MIP_LEVEL),
    CODE(CL_INVALID_GLOBAL_WORK_SIZE),
    CODE(CL_INVALID_PROPERTY),
    CODE(CL_INVALID_IMAGE_DESCRIPTOR),
    CODE(CL_INVALID_COMPILER_OPTIONS),
    CODE(CL_INVALID_LINKER_OPTIONS),
    CODE(CL_INVALID_DEVICE_PARTITION_COUNT),
    {DYNSEL_OPENCL_PLATFORM_NOT_FOUND, "CL_PLATFORM_NOT_FOUND_KHR"},
    {DYNSEL_OPENCL_NVIDIA_ILLEGAL_ACCESS, "NVIDIA: illegal read or write to a buffer"},
};

const char *dynsel_opencl_code_name(cl_int code)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].code == code) {
            return names[i].name;
        }
    }
    return "unknown OpenCL code";
}

/* doc/faults.md has the same table, with the reasons. */
dynsel_opencl_meaning dynsel_opencl_code_meaning(cl_int code)
{
    switch (code) {
    case CL_DEVICE_NOT_AVAILABLE:
    case DYNSEL_OPENCL_NVIDIA_ILLEGAL_ACCESS:
        return DYNSEL_OPENCL_MEANS_LOSS;
    case CL_OUT_OF_RESOURCES:
    case CL_INVALID_COMMAND_QUEUE: /* of NVIDIA's driver after a kernel crashed */
        return DYNSEL_OPENCL_MAY_MEAN_LOSS;
    default:
        return DYNSEL_OPENCL_MEANS_FAILURE;
    }
}

const char *dynsel_opencl_code_survived(cl_int code)
{
    return code == CL_OUT_OF_RESOURCES
               ? "CL_OUT_OF_RESOURCES: the device was checked and works, so the work asked for too "
                 "much of it"
               : "CL_INVALID_COMMAND_QUEUE: the device was checked and works";
}

bool dynsel_opencl_code_is_transient(cl_int code)
{
    switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_MAP_FAILURE:
        return true;
    default:
        return false;
    }
}

dynsel_status dynsel_opencl_check(const char *function, cl_int code)
{
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    if (code == CL_SUCCESS) {
        return DYNSEL_OK;
    }
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_DEVICE,
        .code = code,
        .function = DYNSEL_TEXT(function),
        .detail = DYNSEL_TEXT(dynsel_opencl_code_name(code)),
    });
}
