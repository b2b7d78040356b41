/* SPDX-License-Identifier: Apache-2.0 */
/* Building kernels: from a binary that fits the device, else from SPIR-V, else from source. */
#include "backends/opencl/build.h"

#include <string.h>

#include <dynsel/opencl.h>

#include "backends/opencl/codes.h"
#include "backends/opencl/describe.h"
#include "backends/opencl/device.h"
#include "backends/opencl/failure.h"
#include "backends/opencl/il.h"
#include "backends/opencl/log.h"
#include "backends/opencl/store.h"
#include "base/fail.h"
#include "port/likely.h"

/* One attempt: its result so far, or its failure. */
typedef struct attempt {
    cl_program program;
    cl_kernel kernel; /* NULL: it did not succeed */
    const char *function;
    cl_int code;
} attempt;

static void fail_attempt(attempt *try, const char *function, cl_int code)
{
    try->function = function;
    try->code = code;
}

/* From a program that exists to a kernel that can be launched; without the program where it
 * fails. */
static void finish(dynsel_opencl_entry *entry, const dynsel_kernel *kernel, attempt *try)
{
    const char *const options = kernel->options != NULL ? kernel->options : "";
    cl_int code = clBuildProgram(try->program, 1, &entry->device, options, NULL, NULL);
    if (code != CL_SUCCESS) {
        fail_attempt(try, "clBuildProgram", code);
        dynsel_opencl_keep_log(entry, kernel, try->program);
    } else {
        try->kernel = clCreateKernel(try->program, kernel->name, &code);
        if (code == CL_SUCCESS) {
            return;
        }
        try->kernel = NULL;
        fail_attempt(try, "clCreateKernel", code);
    }
    if (!dynsel_opencl_code_is_loss(code)) {
        (void)clReleaseProgram(try->program);
    }
}

static attempt from_binary(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                           const void *data, size_t bytes)
{
    attempt try = {.code = CL_SUCCESS};
    const unsigned char *const binary = data;
    cl_int accepted = CL_SUCCESS;
    cl_int code = CL_SUCCESS;
    try.program = clCreateProgramWithBinary(entry->context, 1, &entry->device, &bytes,
                                            (const unsigned char *[]){binary}, &accepted, &code);
    if (code == CL_SUCCESS && accepted == CL_SUCCESS) {
        finish(entry, kernel, &try);
        return try;
    }
    if (code == CL_SUCCESS) {
        (void)clReleaseProgram(try.program);
    }
    fail_attempt(&try, "clCreateProgramWithBinary", code != CL_SUCCESS ? code : accepted);
    return try;
}

/* Binaries of the program's own that the driver does not take are passed over. */
static attempt from_binaries(dynsel_opencl_entry *entry, const dynsel_kernel *kernel)
{
    attempt try = {.code = CL_INVALID_BINARY,
                   .function = "none of its binaries is for this device"};
    for (size_t i = 0; i < kernel->binary_count && try.kernel == NULL; i++) {
        const dynsel_kernel_binary *const binary = &kernel->binaries[i];
        if (binary->device != NULL && strcmp(binary->device, entry->name) == 0) {
            try = from_binary(entry, kernel, binary->data, binary->bytes);
        }
    }
    return try;
}

static attempt from_store(dynsel_opencl_entry *entry, const dynsel_kernel *kernel)
{
    attempt try = {.code = CL_INVALID_BINARY};
    size_t bytes = 0;
    const void *const data = dynsel_opencl_store_open(entry, kernel, &bytes);
    if (data != NULL) {
        try = from_binary(entry, kernel, data, bytes);
    }
    dynsel_opencl_store_close();
    return try;
}

static attempt from_il(dynsel_opencl_entry *entry, const dynsel_kernel *kernel)
{
    attempt try = {.code = CL_SUCCESS};
    cl_int code = CL_SUCCESS;
    const char *function = NULL;
    try.program =
        dynsel_opencl_program_of_il(entry, kernel->il, kernel->il_bytes, &function, &code);
    if (code == CL_SUCCESS) {
        finish(entry, kernel, &try);
    } else {
        fail_attempt(&try, function, code);
    }
    return try;
}

static attempt from_source(dynsel_opencl_entry *entry, const dynsel_kernel *kernel)
{
    attempt try = {.code = CL_SUCCESS};
    const char *texts[] = {dynsel_opencl_prelude, kernel->source};
    cl_int code = CL_SUCCESS;
    try.program = clCreateProgramWithSource(entry->context, 2, texts, NULL, &code);
    if (code == CL_SUCCESS) {
        finish(entry, kernel, &try);
    } else {
        fail_attempt(&try, "clCreateProgramWithSource", code);
    }
    return try;
}

static bool goes_on(const attempt *try)
{
    return try->kernel == NULL && !dynsel_opencl_code_is_loss(try->code);
}

/* The forms in their order, until one succeeds. */
static attempt try_forms(dynsel_opencl_entry *entry, const dynsel_kernel *kernel)
{
    attempt try = from_binaries(entry, kernel);
    if (goes_on(&try) && dynsel_opencl_store_is_for(kernel)) {
        const attempt stored = from_store(entry, kernel);
        try = stored.kernel != NULL || !goes_on(&stored) ? stored : try;
    }
    bool compiled = false;
    if (goes_on(&try) && kernel->il != NULL) {
        try = from_il(entry, kernel);
        compiled = true;
    }
    if (goes_on(&try) && kernel->source != NULL) {
        try = from_source(entry, kernel);
        compiled = true;
    }
    if (compiled && try.kernel != NULL) {
        dynsel_opencl_store_save(entry, kernel, try.program);
    }
    return try;
}

/* A driver that does not know the question leaves zero, which is not looked at. Any other failure
 * is one, and is not remembered. */
static cl_int ask(const dynsel_opencl_entry *entry, cl_kernel kernel,
                  cl_kernel_work_group_info what, void *to, size_t bytes)
{
    (void)memset(to, 0, bytes);
    const cl_int code = clGetKernelWorkGroupInfo(kernel, entry->device, what, bytes, to, NULL);
    if (code != CL_SUCCESS) {
        (void)memset(to, 0, bytes);
    }
    return code == CL_INVALID_VALUE ? CL_SUCCESS : code;
}

static cl_int ask_for_groups(const dynsel_opencl_entry *entry, dynsel_opencl_kernel *built)
{
    cl_ulong all = 0;
    cl_ulong taken = 0;
    cl_int code = ask(entry, built->kernel, CL_KERNEL_WORK_GROUP_SIZE, &built->most_items,
                      sizeof(built->most_items));
    if (code == CL_SUCCESS) {
        code = ask(entry, built->kernel, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, built->demanded,
                   sizeof(built->demanded));
    }
    if (code == CL_SUCCESS) {
        code = ask(entry, built->kernel, CL_KERNEL_LOCAL_MEM_SIZE, &taken, sizeof(taken));
    }
    const bool known =
        dynsel_opencl_read_value(entry->device, CL_DEVICE_LOCAL_MEM_SIZE, &all, sizeof(all));
    built->local_bytes = known && all > taken ? all - taken : 0;
    return code;
}

/* How many arguments it takes has to be known. */
static dynsel_status ask_kernel(dynsel_opencl_entry *entry, dynsel_opencl_kernel *built)
{
    cl_int code = clGetKernelInfo(built->kernel, CL_KERNEL_NUM_ARGS, sizeof(built->argument_count),
                                  &built->argument_count, NULL);
    if (code != CL_SUCCESS) {
        return dynsel_opencl_fail(entry, "clGetKernelInfo", code);
    }
    code = ask_for_groups(entry, built);
    return code == CL_SUCCESS ? DYNSEL_OK
                              : dynsel_opencl_fail(entry, "clGetKernelWorkGroupInfo", code);
}

/* Whether another try would come to the same end. */
static bool is_final(cl_int code)
{
    switch (code) {
    case CL_BUILD_PROGRAM_FAILURE:
    case CL_COMPILE_PROGRAM_FAILURE:
    case CL_LINK_PROGRAM_FAILURE:
    case CL_COMPILER_NOT_AVAILABLE:
    case CL_INVALID_BINARY:
    case CL_INVALID_BUILD_OPTIONS:
    case CL_INVALID_OPERATION:
    case CL_INVALID_KERNEL_NAME:
    case CL_INVALID_KERNEL_DEFINITION:
    case CL_INVALID_PROGRAM_EXECUTABLE:
        return true;
    default:
        return false;
    }
}

/* In words: the compiler's where it said something. */
static const char *why(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                       const dynsel_error *error)
{
    if (error->code == CL_INVALID_KERNEL_NAME) {
        return "the program has no kernel of this name";
    }
    const char *const log = dynsel_opencl_log_of(entry, kernel);
    return log != NULL ? log : dynsel_opencl_code_name(error->code);
}

static dynsel_status fail_refused(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                  const dynsel_opencl_kernel *built)
{
    dynsel_error error = built->error;
    if (CONFIG_DYNSEL_ERROR_TEXTS) {
        error.subject = kernel->name;
        error.detail = why(entry, kernel, &error);
    }
    return dynsel_fail(&error);
}

static dynsel_status refuse(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                            dynsel_opencl_kernel *built, const attempt *try)
{
    if (!is_final(try->code)) {
        return dynsel_opencl_fail(entry, try->function, try->code);
    }
    built->stage = DYNSEL_OPENCL_REFUSED;
    built->error = (dynsel_error){
        .status = DYNSEL_E_TASK, .code = try->code, .function = DYNSEL_TEXT(try->function)};
    return fail_refused(entry, kernel, built);
}

DYNSEL_RARE static dynsel_status build_now(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                           dynsel_opencl_kernel *built)
{
    if (built->stage == DYNSEL_OPENCL_REFUSED) {
        return fail_refused(entry, kernel, built);
    }
    if (built->stage == DYNSEL_OPENCL_NOT_BUILT) {
        const attempt try = try_forms(entry, kernel);
        if (try.kernel == NULL) {
            return refuse(entry, kernel, built, &try);
        }
        built->program = try.program;
        built->kernel = try.kernel;
        built->stage = DYNSEL_OPENCL_COMPILED;
    }
    const dynsel_status status = ask_kernel(entry, built);
    if (status == DYNSEL_OK) {
        built->stage = DYNSEL_OPENCL_BUILT;
    }
    return status;
}

dynsel_status dynsel_opencl_build(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                  dynsel_opencl_kernel *taken)
{
    return DYNSEL_LIKELY(taken->stage == DYNSEL_OPENCL_BUILT) ? DYNSEL_OK
                                                              : build_now(entry, kernel, taken);
}

dynsel_status dynsel_opencl_prepare(dynsel_backend *backend, void *own, const dynsel_kernel *kernel)
{
    dynsel_opencl_entry *const entry = own;
    dynsel_opencl_kernel *taken = NULL;
    (void)backend;
    dynsel_status status = dynsel_opencl_open(entry);
    if (status == DYNSEL_OK) {
        status = dynsel_opencl_take_kernel(entry, kernel, &taken);
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    status = dynsel_opencl_build(entry, kernel, taken);
    dynsel_opencl_return_kernel(taken);
    return status;
}
