/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of buffers on devices, and their transfers. */
#include "backends/opencl/memory.h"

#include "backends/opencl/build.h"
#include "backends/opencl/codes.h"
#include "backends/opencl/commands.h"
#include "backends/opencl/describe.h"
#include "backends/opencl/device.h"
#include "backends/opencl/events.h"
#include "backends/opencl/failure.h"
#include "backends/opencl/kernels.h"
#include "backends/opencl/log.h"
#include "backends/opencl/store.h"
#include "backends/opencl/svm.h"
#include "base/fail.h"
#include "port/likely.h"

enum {
    PAGE_BYTES = 4096, /* what integrated GPUs need to use the host's memory itself */
    LINE_BYTES = 64,
    BITS_PER_BYTE = 8,
    BYTES_PER_KIB = 1024
};

static dynsel_word copies;

uint32_t dynsel_opencl_count_copies(void)
{
    return dynsel_word_load_acquire(&copies);
}

void dynsel_opencl_end_memory(void)
{
    dynsel_opencl_release_kernels();
    dynsel_opencl_forget_logs();
    dynsel_opencl_store_forget();
#if CONFIG_DYNSEL_SVM
    dynsel_opencl_release_shared();
#endif
}

/* In place of the wait list of a command, each until its end is known. */
DYNSEL_RARE static dynsel_status wait_for_list(dynsel_opencl_entry *entry,
                                               dynsel_opencl_wait_list *list)
{
    dynsel_status status = DYNSEL_OK;
    for (cl_uint i = 0; i < list->count; i++) {
        const dynsel_status ended = dynsel_opencl_wait(entry, list->events[i]);
        status = status == DYNSEL_OK ? ended : status;
    }
    *list = (dynsel_opencl_wait_list){.count = 0};
    if (status == DYNSEL_OK || dynsel_opencl_is_lost(entry)) {
        return status;
    }
    dynsel_error error = *dynsel_last_error();
    error.status = DYNSEL_E_DEPENDENCY;
    return dynsel_fail(&error);
}

/* For a command on this device. DYNSEL_E_FULL when there are more than fit; DYNSEL_E_DEPENDENCY
 * when one of them had to be waited for, and failed. */
static dynsel_status list_events(dynsel_opencl_entry *entry, dynsel_opencl_wait_list *list,
                                 const dynsel_event *after, size_t count)
{
    if (count > DYNSEL_OPENCL_WAIT_LIST) {
        return DYNSEL_FAIL_NUMBER(DYNSEL_E_FULL, "a command comes after {} events", count);
    }
    for (size_t i = 0; i < count; i++) {
        list->all[i] = after[i].opencl;
    }
    list->count = (cl_uint)count;
    list->events = count > 0 ? list->all : NULL;
    return count > 0 && entry->hangs_on_events ? wait_for_list(entry, list) : DYNSEL_OK;
}

static dynsel_domain domain(dynsel_backend *backend, void *own)
{
    const dynsel_opencl_entry *const entry = dynsel_opencl_entry_known_as(own);
    (void)backend;
    return entry != NULL ? (dynsel_domain){.number = dynsel_opencl_domain_of(entry),
                                           .in_order = !entry->out_of_order}
                         : (dynsel_domain){0};
}

/* Whether a copy can be the host's memory itself with nothing moved: where the driver would make a
 * hidden copy instead, one of our own is better. */
static bool can_share(const dynsel_opencl_entry *entry, const dynsel_memory *memory)
{
    const uintptr_t place = (uintptr_t)memory->host;
    if ((entry->type & CL_DEVICE_TYPE_CPU) != 0) {
        cl_uint bits = 0;
        (void)dynsel_opencl_read_value(entry->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, &bits,
                                       sizeof(bits));
        return bits >= BITS_PER_BYTE && place % (bits / BITS_PER_BYTE) == 0;
    }
    cl_bool unified = CL_FALSE;
    (void)dynsel_opencl_read_value(entry->device, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified,
                                   sizeof(unified));
    return unified != CL_FALSE && place % PAGE_BYTES == 0 && memory->bytes % LINE_BYTES == 0;
}

/* No failure of an allocation says that a device is lost: the others may still use it. */
static dynsel_status refuse_memory(const dynsel_opencl_entry *entry, const char *function,
                                   cl_int code)
{
    (void)entry; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)function;
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_AGAIN,
        .code = code,
        .function = DYNSEL_TEXT(function),
        .subject = DYNSEL_TEXT(entry->name),
        .detail = DYNSEL_TEXT(dynsel_opencl_code_name(code)),
    });
}

/* No room that could be made would help. most: bytes, for `{}` KiB in the detail. */
static dynsel_status refuse_size(const dynsel_opencl_entry *entry, cl_int code, const char *detail,
                                 cl_ulong most)
{
    (void)entry; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)detail;
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_FULL,
        .code = code,
        .number = (uint32_t)(most / BYTES_PER_KIB),
        .function = DYNSEL_TEXT("clCreateBuffer"),
        .subject = DYNSEL_TEXT(entry->name),
        .detail = DYNSEL_TEXT(detail),
    });
}

static dynsel_status refuse_buffer(const dynsel_opencl_entry *entry, cl_int code)
{
    cl_ulong most = 0;
    if (code != CL_INVALID_BUFFER_SIZE) {
        return refuse_memory(entry, "clCreateBuffer", code);
    }
    (void)dynsel_opencl_read_value(entry->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &most,
                                   sizeof(most));
    return refuse_size(entry, code, "the device takes no buffer larger than {} KiB", most);
}

/* Its largest single buffer is no bound: some drivers give more than they say. */
static bool can_never_fit(const dynsel_opencl_entry *entry, size_t bytes)
{
    return entry->memory_bytes != 0 && bytes > entry->memory_bytes;
}

/* Makes drivers that would allocate at the first use do it now, so that a full device is noticed
 * where something can be given up; with contents, writing them does it. (Migrating it would say the
 * same, but NVIDIA's driver crashes on that where several threads do it.) What else they answer is
 * no matter here. Nobody used the memory before, so it comes after nothing. */
static dynsel_status reserve(dynsel_opencl_entry *entry, const dynsel_memory *memory,
                             cl_event *done)
{
    static const unsigned char anything = 0;
    const cl_int code = clEnqueueFillBuffer(entry->queue, memory->native, &anything,
                                            sizeof(anything), 0, sizeof(anything), 0, NULL, done);
    if (dynsel_opencl_code_is_loss(code)) {
        return dynsel_opencl_fail(entry, "clEnqueueFillBuffer", code);
    }
    return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY
               ? refuse_memory(entry, "clEnqueueFillBuffer", code)
               : DYNSEL_OK;
}

static dynsel_status allocate(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    dynsel_opencl_entry *const entry = own;
    (void)backend;
    const dynsel_status status = dynsel_opencl_open(entry);
    if (status != DYNSEL_OK) {
        return status;
    }
    const bool shared = memory->shared && can_share(entry, memory);
    if (!shared && can_never_fit(entry, memory->bytes)) {
        return refuse_size(entry, CL_INVALID_BUFFER_SIZE, "the device has {} KiB of memory in all",
                           entry->memory_bytes);
    }
    cl_int code = CL_SUCCESS;
    const cl_mem made =
        clCreateBuffer(entry->context, CL_MEM_READ_WRITE | (shared ? CL_MEM_USE_HOST_PTR : 0),
                       memory->bytes, shared ? memory->host : NULL, &code);
    if (made == NULL || code != CL_SUCCESS) {
        return refuse_buffer(entry, code);
    }
    memory->native = made;
    memory->shared = shared;
    memory->mapping = DYNSEL_UNMAPPED;
    (void)dynsel_word_add_relaxed(&copies, 1);
    return DYNSEL_OK;
}

static dynsel_status unmap_from(dynsel_opencl_entry *entry, dynsel_memory *memory, void *place,
                                const dynsel_opencl_wait_list *list, cl_event *done)
{
    const cl_int code = clEnqueueUnmapMemObject(entry->queue, memory->native, place, list->count,
                                                list->events, done);
    if (code != CL_SUCCESS) {
        return dynsel_opencl_fail(entry, "clEnqueueUnmapMemObject", code);
    }
    memory->mapping = DYNSEL_UNMAPPED;
    return DYNSEL_OK;
}

static dynsel_status unmap(dynsel_opencl_entry *entry, dynsel_memory *memory,
                           const dynsel_opencl_wait_list *list, cl_event *done)
{
    return unmap_from(entry, memory, memory->host, list, done);
}

/* Drivers keep what is still mapped, and may use the host's memory until it is not. */
static void end_mapping(dynsel_opencl_entry *entry, dynsel_memory *memory, void *place,
                        const dynsel_opencl_wait_list *list)
{
    cl_event done = NULL;
    if (unmap_from(entry, memory, place, list, &done) != DYNSEL_OK) {
        return;
    }
    (void)dynsel_opencl_wait(entry, done);
    if (!dynsel_opencl_is_lost(entry)) {
        (void)clReleaseEvent(done);
    }
}

static void release(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    static const dynsel_opencl_wait_list nothing;
    dynsel_opencl_entry *const entry = own;
    (void)backend;
    (void)dynsel_word_add_synchronized(&dynsel_opencl_releases, 1);
    if (memory->mapping != DYNSEL_UNMAPPED && !dynsel_opencl_is_lost(entry)) {
        end_mapping(entry, memory, memory->host, &nothing);
    }
    if (!dynsel_opencl_is_lost(entry)) {
        (void)clReleaseMemObject(memory->native);
    }
    memory->native = NULL;
    (void)dynsel_word_add_relaxed(&copies, (uint32_t)-1);
}

static dynsel_status bring(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           const dynsel_event *after, size_t after_count, dynsel_event *done)
{
    dynsel_opencl_entry *const entry = own;
    dynsel_opencl_wait_list list;
    (void)backend;
    if (dynsel_opencl_is_lost(entry)) {
        return dynsel_opencl_fail_lost(entry);
    }
    if (!contents && !memory->shared) {
        return reserve(entry, memory, &done->opencl);
    }
    const dynsel_status status = list_events(entry, &list, after, after_count);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (memory->shared) {
        return memory->mapping == DYNSEL_UNMAPPED ? DYNSEL_OK
                                                  : unmap(entry, memory, &list, &done->opencl);
    }
    const cl_int code =
        clEnqueueWriteBuffer(entry->queue, memory->native, CL_FALSE, 0, memory->bytes, memory->host,
                             list.count, list.events, &done->opencl);
    return code == CL_SUCCESS ? DYNSEL_OK
                              : dynsel_opencl_fail_to_enqueue(entry, "clEnqueueWriteBuffer", code);
}

static cl_map_flags flags_of(bool contents, bool to_write)
{
    if (!to_write) {
        return CL_MAP_READ;
    }
    return contents ? CL_MAP_READ | CL_MAP_WRITE : CL_MAP_WRITE_INVALIDATE_REGION;
}

/* No driver that keeps to OpenCL comes here, so that waiting does no harm. */
DYNSEL_RARE static dynsel_status refuse_place(dynsel_opencl_entry *entry, dynsel_memory *memory,
                                              void *place, cl_event *mapped)
{
    const dynsel_opencl_wait_list list = {.count = 1, .events = mapped};
    end_mapping(entry, memory, place, &list);
    if (!dynsel_opencl_is_lost(entry)) {
        (void)clReleaseEvent(*mapped);
    }
    *mapped = NULL;
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_DEVICE,
        .function = DYNSEL_TEXT("clEnqueueMapBuffer"),
        .subject = DYNSEL_TEXT(entry->name),
        .detail = DYNSEL_TEXT("the driver maps memory of the host's to another place")});
}

static dynsel_status map(dynsel_opencl_entry *entry, dynsel_memory *memory, bool contents,
                         bool to_write, const dynsel_opencl_wait_list *list, cl_event *done)
{
    cl_int code = CL_SUCCESS;
    void *const place =
        clEnqueueMapBuffer(entry->queue, memory->native, CL_FALSE, flags_of(contents, to_write), 0,
                           memory->bytes, list->count, list->events, done, &code);
    if (code != CL_SUCCESS) {
        return dynsel_opencl_fail_to_fetch(entry, "clEnqueueMapBuffer", code);
    }
    if (place != memory->host) {
        return refuse_place(entry, memory, place, done);
    }
    memory->mapping = to_write ? DYNSEL_MAPPED_TO_WRITE : DYNSEL_MAPPED_TO_READ;
    return DYNSEL_OK;
}

/* What is mapped to be read is unmapped before it is mapped to be written: nobody reads it then. */
static dynsel_status map_again(dynsel_opencl_entry *entry, dynsel_memory *memory, bool contents,
                               cl_event *done)
{
    dynsel_opencl_wait_list list = {.count = 0};
    const dynsel_status status = unmap(entry, memory, &list, &list.all[0]);
    if (status != DYNSEL_OK) {
        return status;
    }
    list.count = 1;
    list.events = list.all;
    const dynsel_status mapped = map(entry, memory, contents, true, &list, done);
    if (!dynsel_opencl_is_lost(entry)) {
        (void)clReleaseEvent(list.all[0]);
    }
    return mapped;
}

static dynsel_status fetch_shared(dynsel_opencl_entry *entry, dynsel_memory *memory, bool contents,
                                  bool to_write, cl_event *done)
{
    static const dynsel_opencl_wait_list nothing;
    if (memory->mapping == DYNSEL_MAPPED_TO_WRITE ||
        (memory->mapping == DYNSEL_MAPPED_TO_READ && !to_write)) {
        return DYNSEL_OK;
    }
    return memory->mapping == DYNSEL_UNMAPPED
               ? map(entry, memory, contents, to_write, &nothing, done)
               : map_again(entry, memory, contents, done);
}

static dynsel_status fetch_copy(dynsel_opencl_entry *entry, dynsel_memory *memory, cl_event *done)
{
    const cl_int code = clEnqueueReadBuffer(entry->queue, memory->native, CL_FALSE, 0,
                                            memory->bytes, memory->host, 0, NULL, done);
    return code == CL_SUCCESS ? DYNSEL_OK
                              : dynsel_opencl_fail_to_fetch(entry, "clEnqueueReadBuffer", code);
}

static dynsel_status fetch(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           bool to_write, dynsel_event *done)
{
    dynsel_opencl_entry *const entry = own;
    dynsel_status status = DYNSEL_OK;
    (void)backend;
    if (dynsel_opencl_is_lost(entry)) {
        return dynsel_opencl_fail_lost(entry);
    }
    if (memory->shared) {
        status = fetch_shared(entry, memory, contents, to_write, &done->opencl);
    } else if (contents) {
        status = fetch_copy(entry, memory, &done->opencl);
    }
    if (status == DYNSEL_OK && done->opencl != NULL) {
        const cl_int code = clFlush(entry->queue);
        if (code != CL_SUCCESS) {
            dynsel_opencl_note_unflushed(entry, code);
        }
    }
    return status;
}

static dynsel_status write_back(dynsel_backend *backend, void *own, const dynsel_memory *memory,
                                const dynsel_event *after, size_t after_count, dynsel_event *done)
{
    dynsel_opencl_entry *const entry = own;
    dynsel_opencl_wait_list list;
    (void)backend;
    if (dynsel_opencl_is_lost(entry)) {
        return dynsel_opencl_fail_lost(entry);
    }
    const dynsel_status status = list_events(entry, &list, after, after_count);
    if (status != DYNSEL_OK) {
        return status;
    }
    const cl_int code =
        clEnqueueReadBuffer(entry->queue, memory->native, CL_FALSE, 0, memory->bytes, memory->host,
                            list.count, list.events, &done->opencl);
    return code == CL_SUCCESS ? DYNSEL_OK
                              : dynsel_opencl_fail_to_enqueue(entry, "clEnqueueReadBuffer", code);
}

static dynsel_status launch(dynsel_backend *backend, void *own, const dynsel_command *command,
                            dynsel_event *done)
{
    dynsel_opencl_entry *const entry = own;
    dynsel_opencl_wait_list list;
    (void)backend;
    if (dynsel_opencl_is_lost(entry)) {
        return dynsel_opencl_fail_lost(entry);
    }
    const dynsel_status status = list_events(entry, &list, command->after, command->after_count);
    if (status != DYNSEL_OK) {
        return status;
    }
    switch ((dynsel_command_kind)command->kind) {
    case DYNSEL_COMMAND_KERNEL:
        return dynsel_opencl_launch(entry, command, &list, &done->opencl);
    case DYNSEL_COMMAND_COPY:
        return dynsel_opencl_copy(entry, command, &list, &done->opencl);
    case DYNSEL_COMMAND_FILL:
        return dynsel_opencl_fill(entry, command, &list, &done->opencl);
    case DYNSEL_COMMAND_NONE:
    case DYNSEL_COMMAND_HOST_TASK:
    case DYNSEL_COMMAND_HOST_ACCESS:
    default:
        return DYNSEL_FAIL(DYNSEL_E_UNSUPPORTED, "OpenCL devices run kernels, copies and fills");
    }
}

static bool is_lost(dynsel_backend *backend, void *own)
{
    (void)backend;
    return dynsel_opencl_is_lost(own);
}

static bool has_form(const dynsel_kernel *kernel)
{
    return kernel->source != NULL || kernel->il != NULL || kernel->binary_count > 0;
}

const dynsel_memory_ops dynsel_opencl_memory = {
    .domain = domain,
    .allocate = allocate,
    .release = release,
    .bring = bring,
    .fetch = fetch,
    .write_back = write_back,
    .launch = launch,
    .launch_is_asynchronous = true,
    .is_lost = is_lost,
    .has_form = has_form,
    .prepare = dynsel_opencl_prepare,
    .sharing = dynsel_opencl_sharing,
#if CONFIG_DYNSEL_SVM
    .take_shared = dynsel_opencl_take_shared,
    .return_shared = dynsel_opencl_return_shared,
    .map_shared = dynsel_opencl_map_shared,
    .unmap_shared = dynsel_opencl_unmap_shared,
#endif
};
