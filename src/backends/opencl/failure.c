/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/failure.h"

#include "backends/opencl/codes.h"
#include "backends/opencl/device.h"
#include "base/fail.h"

/* Drivers that allocate late find out here that the memory is full. */
static dynsel_status status_of(cl_int code)
{
    return CONFIG_DYNSEL_COMMAND_GROUPS && code == CL_MEM_OBJECT_ALLOCATION_FAILURE
               ? DYNSEL_E_FULL
               : DYNSEL_E_DEVICE;
}

dynsel_error dynsel_opencl_failure(dynsel_opencl_entry *entry, const char *function, cl_int code)
{
    if (dynsel_opencl_code_is_loss(code)) {
        dynsel_opencl_lose(entry, function, code);
    }
    return (dynsel_error){
        .status = status_of(code),
        .code = code,
        .function = DYNSEL_TEXT(function),
        .subject = DYNSEL_TEXT(entry->name),
        .detail = DYNSEL_TEXT(dynsel_opencl_code_name(code)),
    };
}

dynsel_status dynsel_opencl_fail(dynsel_opencl_entry *entry, const char *function, cl_int code)
{
    const dynsel_error error = dynsel_opencl_failure(entry, function, code);
    return dynsel_fail(&error);
}

dynsel_status dynsel_opencl_fail_to_enqueue(dynsel_opencl_entry *entry, const char *function,
                                            cl_int code)
{
    dynsel_error error = dynsel_opencl_failure(entry, function, code);
    if (error.status == DYNSEL_E_FULL) {
        error.status = DYNSEL_E_AGAIN;
    }
    return dynsel_fail(&error);
}

dynsel_status dynsel_opencl_fail_to_fetch(dynsel_opencl_entry *entry, const char *function,
                                          cl_int code)
{
    dynsel_error error = dynsel_opencl_failure(entry, function, code);
    error.status = dynsel_opencl_code_is_transient(code) ? DYNSEL_E_AGAIN : DYNSEL_E_DEVICE;
    return dynsel_fail(&error);
}

dynsel_status dynsel_opencl_fail_lost(const dynsel_opencl_entry *entry)
{
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_DEVICE,
        .code = entry->failed_code,
        .function = DYNSEL_TEXT(entry->failed_function),
        .subject = DYNSEL_TEXT(entry->name),
        .detail = DYNSEL_TEXT("the device was lost while this work was on it"),
    });
}
