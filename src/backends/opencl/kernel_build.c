/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/kernel_build.h"

#include <string.h>

#include <dynsel/opencl.h>

#include "backends/opencl/device_info.h"
#include "backends/opencl/device_state.h"
#include "backends/opencl/error_codes.h"
#include "backends/opencl/function_lookup.h"
#include "backends/opencl/kernel_store.h"
#include "base/fail.h"
#include "base/text_slice.h"
#include "policy/traced.h"
#include "port/cancel.h"
#include "port/likely.h"
#include "port/lock.h"

/* Of OpenCL 2.1, or of cl_khr_il_program. */
enum { QUERY_IL_VERSION = 0x105B };

typedef cl_program(CL_API_CALL *il_function)(cl_context context, const void *il, size_t bytes,
                                             cl_int *code);

/* The latest build log of a device. */
typedef struct kept_log {
    dynsel_opencl_identity whose; /* all zero: no log is kept */
    char text[CONFIG_DYNSEL_OPENCL_BUILD_LOG_BYTES];
} kept_log;

static kept_log logs[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
static dynsel_lock logs_lock = DYNSEL_LOCK_INITIALIZER;

static kept_log *log_of(const dynsel_opencl_entry *entry)
{
    return &logs[entry - dynsel_opencl_known.entries];
}

/* Cuts a full text after a whole line. The first lines stay, because they cause later errors. */
static void shorten(char *text, size_t bytes)
{
    static const char more[] = "\n...";
    const size_t length = strlen(text);
    if (length + 1 < bytes) {
        return;
    }
    size_t end = bytes > sizeof(more) ? bytes - sizeof(more) : 0;
    while (end > 0 && text[end] != '\n') {
        end--;
    }
    if (end > 0) {
        (void)memcpy(text + end, more, sizeof(more));
    }
}

/* In the detail of an error `{}` is a placeholder. */
static void split_placeholders(char *text, size_t bytes)
{
    for (char *at = strstr(text, "{}"); at != NULL; at = strstr(at, "{}")) {
        const size_t rest = strlen(at); /* from the closing brace to the final zero */
        if ((size_t)(at - text) + rest + 2 > bytes) {
            at[1] = '\0';
            return;
        }
        (void)memmove(at + 2, at + 1, rest);
        at[1] = ' ';
    }
}

/* Through the larger buffer for answers: drivers refuse to write a part. False: the log is longer
 * than this buffer. */
static bool read_log(const dynsel_opencl_entry *entry, cl_program program, kept_log *log)
{
    size_t room = 0;
    dynsel_lock_acquire(&dynsel_opencl_lock);
    char *const answer = dynsel_opencl_room_for_answer(&room);
    answer[0] = '\0';
    const cl_int code =
        clGetProgramBuildInfo(program, entry->device, CL_PROGRAM_BUILD_LOG, room - 1, answer, NULL);
    answer[room - 1] = '\0';
    if (code == CL_SUCCESS) {
        dynsel_text_copy(log->text, sizeof(log->text),
                         dynsel_text_trim(dynsel_text_slice_of(answer)));
    }
    dynsel_lock_release(&dynsel_opencl_lock);
    return code == CL_SUCCESS;
}

/* Replaces the log of the device with that of a program that did not build. */
static void keep_log(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                     cl_program program)
{
    static const char too_long[] = "the compiler's log is too long to be kept";
    kept_log *const log = log_of(entry);
    dynsel_lock_acquire(&logs_lock);
    log->whose = dynsel_opencl_identity_of(kernel);
    log->text[0] = '\0';
    if (!read_log(entry, program, log)) {
        dynsel_text_copy(log->text, sizeof(log->text), dynsel_text_slice_of(too_long));
    }
    shorten(log->text, sizeof(log->text));
    split_placeholders(log->text, sizeof(log->text));
    dynsel_lock_release(&logs_lock);
}

/* NULL: the log was empty, or another kernel has replaced it. */
static const char *find_log(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel)
{
    const kept_log *const log = log_of(entry);
    dynsel_lock_acquire(&logs_lock);
    const bool is_kept = dynsel_opencl_is_identity(&log->whose, kernel) && log->text[0] != '\0';
    dynsel_lock_release(&logs_lock);
    return is_kept ? log->text : NULL;
}

/* The result of building from one form. */
typedef struct attempt {
    cl_program program;
    cl_kernel kernel;     /* NULL: a failure */
    const char *function; /* the failed call */
    cl_int code;
} attempt;

static void fail_attempt(attempt *try, const char *function, cl_int code)
{
    try->function = function;
    try->code = code;
}

/* Builds the program and creates the kernel; releases the program after a failure. */
static void finish(dynsel_opencl_entry *entry, const dynsel_kernel *kernel, attempt *try)
{
    const char *const options = kernel->options != NULL ? kernel->options : "";
    const uint64_t since = dynsel_traced_now();
    cl_int code = clBuildProgram(try->program, 1, &entry->device, options, NULL, NULL);
    if (code != CL_SUCCESS) {
        fail_attempt(try, "clBuildProgram", code);
        keep_log(entry, kernel, try->program);
    } else {
        try->kernel = clCreateKernel(try->program, kernel->name, &code);
        dynsel_traced_build(kernel->name, since);
        if (code == CL_SUCCESS) {
            return;
        }
        try->kernel = NULL;
        fail_attempt(try, "clCreateKernel", code);
    }
    if (!dynsel_opencl_loses(entry, try->function, code)) {
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

/* The first binary for this device that the driver accepts. */
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

/* CL_SUCCESS: the device takes SPIR-V. CL_INVALID_OPERATION: it does not. Else the query failed. */
static cl_int ask_for_spirv(cl_device_id device)
{
    char versions[256] = {0};
    const cl_int code = clGetDeviceInfo(device, QUERY_IL_VERSION, sizeof(versions), versions, NULL);
    if (code == CL_SUCCESS) {
        return strstr(versions, "SPIR-V") != NULL ? CL_SUCCESS : CL_INVALID_OPERATION;
    }
    return code == CL_INVALID_VALUE ? CL_INVALID_OPERATION : code; /* drivers before OpenCL 2.1 */
}

static attempt from_il(dynsel_opencl_entry *entry, const dynsel_kernel *kernel)
{
    const cl_device_id device = entry->device;
    attempt try = {.function = "clGetDeviceInfo", .code = ask_for_spirv(device)};
    if (try.code != CL_SUCCESS && try.code != CL_INVALID_OPERATION) {
        return try;
    }
    try.function = "clCreateProgramWithIL";
    if (try.code == CL_INVALID_OPERATION) {
        return try;
    }
    il_function create =
        (il_function)dynsel_opencl_find_function(device, "clCreateProgramWithILKHR");
    if (create == NULL) {
        create = (il_function)dynsel_opencl_find_function(device, try.function);
    }
    if (create == NULL) {
        try.code = CL_INVALID_OPERATION;
        return try;
    }
    try.program = create(entry->context, kernel->il, kernel->il_bytes, &try.code);
    if (try.code == CL_SUCCESS) {
        finish(entry, kernel, &try);
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

/* Whether to try the next form: not after success or the loss of the device. */
static bool goes_on(const dynsel_opencl_entry *entry, const attempt *try)
{
    return try->kernel == NULL && !dynsel_opencl_is_lost(entry);
}

/* Tries the forms in their order until one succeeds. */
static attempt try_forms(dynsel_opencl_entry *entry, const dynsel_kernel *kernel)
{
    attempt try = from_binaries(entry, kernel);
    if (goes_on(entry, &try) && dynsel_opencl_store_is_for(kernel)) {
        const attempt stored = from_store(entry, kernel);
        try = stored.kernel != NULL || !goes_on(entry, &stored) ? stored : try;
    }
    bool compiled = false;
    if (goes_on(entry, &try) && kernel->il != NULL) {
        try = from_il(entry, kernel);
        compiled = true;
    }
    if (goes_on(entry, &try) && kernel->source != NULL) {
        try = from_source(entry, kernel);
        compiled = true;
    }
    if (compiled && try.kernel != NULL) {
        dynsel_opencl_store_save(entry, kernel, try.program);
    }
    return try;
}

/* CL_INVALID_VALUE is no failure: for drivers that lack the query the value is 0, "unknown". */
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

static dynsel_status ask_kernel(dynsel_opencl_entry *entry, dynsel_opencl_kernel *built)
{
    cl_ulong all_local = 0;
    cl_ulong used_local = 0;
    cl_int code = clGetKernelInfo(built->kernel, CL_KERNEL_NUM_ARGS, sizeof(built->argument_count),
                                  &built->argument_count, NULL);
    if (code != CL_SUCCESS) {
        return dynsel_opencl_fail(entry, "clGetKernelInfo", code);
    }
    code = ask(entry, built->kernel, CL_KERNEL_WORK_GROUP_SIZE, &built->most_items,
               sizeof(built->most_items));
    if (code == CL_SUCCESS) {
        code = ask(entry, built->kernel, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, built->demanded,
                   sizeof(built->demanded));
    }
    if (code == CL_SUCCESS) {
        code = ask(entry, built->kernel, CL_KERNEL_LOCAL_MEM_SIZE, &used_local, sizeof(used_local));
    }
    const bool known = dynsel_opencl_read_value(entry->device, CL_DEVICE_LOCAL_MEM_SIZE, &all_local,
                                                sizeof(all_local));
    built->local_bytes = known && all_local > used_local ? all_local - used_local : 0;
    return code == CL_SUCCESS ? DYNSEL_OK
                              : dynsel_opencl_fail(entry, "clGetKernelWorkGroupInfo", code);
}

/* Whether every further attempt would fail in the same way. */
static bool is_permanent(cl_int code)
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

static dynsel_status fail_refused(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                  const dynsel_opencl_kernel *built)
{
    dynsel_error error = built->error;
    if (CONFIG_DYNSEL_ERROR_TEXTS) {
        const char *const log = find_log(entry, kernel);
        error.subject = kernel->name;
        error.detail = log != NULL ? log : dynsel_opencl_code_name(error.code);
        if (error.code == CL_INVALID_KERNEL_NAME) {
            error.detail = "the program has no kernel of this name";
        }
    }
    return dynsel_fail(&error);
}

/* Compilers read and write files, where a thread can be cancelled; the kernel is locked. */
static attempt build_uncancelled(dynsel_opencl_entry *entry, const dynsel_kernel *kernel)
{
    const int before = dynsel_cancel_defer();
    const attempt try = try_forms(entry, kernel);
    dynsel_cancel_allow(before);
    return try;
}

DYNSEL_RARE dynsel_status dynsel_opencl_build_now(dynsel_opencl_entry *entry,
                                                  const dynsel_kernel *kernel,
                                                  dynsel_opencl_kernel *built)
{
    if (built->stage == DYNSEL_OPENCL_REFUSED) {
        return fail_refused(entry, kernel, built);
    }
    if (built->stage == DYNSEL_OPENCL_NOT_BUILT) {
        const attempt try = build_uncancelled(entry, kernel);
        if (try.kernel == NULL && !is_permanent(try.code)) {
            return dynsel_opencl_fail(entry, try.function, try.code);
        }
        if (try.kernel == NULL) {
            built->stage = DYNSEL_OPENCL_REFUSED;
            built->error = (dynsel_error){
                .status = DYNSEL_E_TASK, .code = try.code, .function = DYNSEL_TEXT(try.function)};
            return fail_refused(entry, kernel, built);
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

#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_opencl_logs_renew(void)
{
    dynsel_lock_renew(&logs_lock);
    dynsel_opencl_forget_logs();
}
#endif

void dynsel_opencl_forget_logs(void)
{
    (void)memset(logs, 0, sizeof(logs));
}
