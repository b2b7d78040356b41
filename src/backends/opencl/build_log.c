/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's log of a kernel that was built, read from the driver when the program asks. */
#include <dynsel/opencl.h>

#include "backends/opencl/device_state.h"
#include "backends/opencl/kernel_build.h"
#include "backends/opencl/kernel_cache.h"
#include "backends/opencl/resource_objects.h"
#include "base/fail.h"
#include "base/text_slice.h"
#include "port/context.h"
#include "port/likely.h"

#define NAME DYNSEL_TEXT("dynsel_opencl_build_log")

/* Where the program has room for the log. */
typedef struct place {
    char *text;
    size_t bytes;
    size_t *length;
} place;

static dynsel_status check(const dynsel_kernel *kernel, const place *to)
{
    if (kernel == NULL || to->length == NULL || (to->text == NULL && to->bytes != 0)) {
        return DYNSEL_FAIL_IN(NAME, DYNSEL_E_INVALID, "an argument is NULL", 0);
    }
    if (kernel->name == NULL ||
        (kernel->source == NULL && kernel->il == NULL && kernel->binary_count == 0)) {
        return DYNSEL_FAIL_IN(NAME, DYNSEL_E_INVALID,
                              "the kernel has no name, or no form for OpenCL devices", 0);
    }
    return DYNSEL_OK;
}

/* The query says nothing about the device. */
static dynsel_status fail(const dynsel_opencl_entry *entry, cl_int code)
{
    (void)entry; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_DEVICE,
        .code = code,
        .function = DYNSEL_TEXT("clGetProgramBuildInfo"),
        .subject = DYNSEL_TEXT(entry->name),
        .detail = DYNSEL_TEXT(dynsel_opencl_code_name(code)),
    });
}

/* Drivers refuse to write a part of the log. */
static dynsel_status read_log(const dynsel_opencl_entry *entry, cl_program program, const place *to)
{
    size_t needed = 0;
    cl_int code =
        clGetProgramBuildInfo(program, entry->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &needed);
    if (code != CL_SUCCESS) {
        return fail(entry, code);
    }
    *to->length = needed > 0 ? needed - 1 : 0;
    if (needed == 0 || to->bytes == 0) {
        return DYNSEL_OK;
    }
    if (needed > to->bytes) {
        return DYNSEL_FAIL_IN(NAME, DYNSEL_E_FULL, "the log has {} bytes, with its final zero",
                              needed);
    }
    code =
        clGetProgramBuildInfo(program, entry->device, CL_PROGRAM_BUILD_LOG, needed, to->text, NULL);
    to->text[code == CL_SUCCESS ? needed - 1 : 0] = '\0';
    return code == CL_SUCCESS ? DYNSEL_OK : fail(entry, code);
}

/* What is kept of the log of a failed build is the detail of its error. */
static dynsel_status copy_kept(const place *to, dynsel_status status)
{
    const char *const detail = dynsel_last_error()->detail;
    if (status == DYNSEL_E_TASK && detail != NULL && to->bytes != 0) {
        const dynsel_text_slice kept = dynsel_text_slice_of(detail);
        dynsel_text_copy(to->text, to->bytes, kept);
        *to->length = kept.length;
    }
    return status;
}

static dynsel_status build_and_read(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                    const place *to)
{
    dynsel_opencl_kernel *taken = NULL;
    dynsel_status status = dynsel_opencl_open(entry);
    if (status == DYNSEL_OK) {
        status = dynsel_opencl_take_kernel(entry, kernel, &taken);
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    status = dynsel_opencl_build(entry, kernel, taken);
    status = status == DYNSEL_OK ? read_log(entry, taken->program, to) : copy_kept(to, status);
    dynsel_opencl_return_kernel(taken);
    return status;
}

DYNSEL_RARE dynsel_status dynsel_opencl_build_log(const dynsel_resource *where,
                                                  const dynsel_kernel *kernel, char *text,
                                                  size_t bytes, size_t *length)
{
    const place to = {.text = text, .bytes = bytes, .length = length};
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    const dynsel_status status = check(kernel, &to);
    if (status != DYNSEL_OK) {
        return status;
    }
    dynsel_opencl_entry *const entry = dynsel_opencl_entry_of_resource(where, NAME);
    *length = 0;
    if (bytes != 0) {
        text[0] = '\0';
    }
    return entry != NULL ? build_and_read(entry, kernel, &to) : DYNSEL_E_INVALID;
}
