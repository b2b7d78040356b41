/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of buffers on devices: allocation, transfers, and the commands that copy and fill. */
#include "backends/opencl/device_memory.h"

#include "backends/opencl/device_info.h"
#include "backends/opencl/error_codes.h"
#include "backends/opencl/events.h"
#include "backends/opencl/kernel_build.h"
#include "backends/opencl/kernel_cache.h"
#include "backends/opencl/kernel_launch.h"
#include "backends/opencl/kernel_store.h"
#include "backends/opencl/pinned_memory.h"
#include "backends/opencl/svm_capability.h"
#include "backends/opencl/timing.h"
#include "backends/opencl/transfer_queues.h"
#include "base/fail.h"
#include "policy/after_fork.h"
#include "port/likely.h"

#if CONFIG_DYNSEL_SVM
#include "backends/opencl/svm_memory.h"
#endif

enum {
    PAGE_BYTES = 4096, /* the alignment with which integrated GPUs use the host's memory itself */
    LINE_BYTES = 64,
    BITS_PER_BYTE = 8,
    BYTES_PER_KIB = 1024
};

static dynsel_word copies;
static const dynsel_opencl_wait_list no_events;

uint32_t dynsel_opencl_count_copies(void)
{
    return dynsel_word_load_acquire(&copies);
}

void dynsel_opencl_note_copy(void)
{
    (void)dynsel_word_add_relaxed(&copies, 1);
}

void dynsel_opencl_end_memory(void)
{
    dynsel_opencl_release_kernels();
    dynsel_opencl_forget_logs();
    dynsel_opencl_store_forget();
    dynsel_opencl_unpin_regions();
#if CONFIG_DYNSEL_SVM
    dynsel_opencl_release_shared();
#endif
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(). */
static void forget(void)
{
    dynsel_word_store_relaxed(&copies, 0);
    dynsel_opencl_batches_forget();
    dynsel_opencl_kernels_forget();
    dynsel_opencl_logs_renew();
    dynsel_opencl_store_renew();
    dynsel_opencl_regions_forget();
}

void (*const dynsel_fork_opencl_memory)(void) = forget;
#endif

/* Waits for the dependencies now, instead of passing them to the command. */
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

/* Makes the wait list of a command. DYNSEL_E_FULL: it has too many dependencies;
 * DYNSEL_E_DEPENDENCY: one of them failed, on a driver that cannot take wait lists. */
static dynsel_status list_events(dynsel_opencl_entry *entry, dynsel_opencl_wait_list *list,
                                 const dynsel_event *after, size_t count)
{
    list->count = 0;
    list->events = NULL;
    if (count > DYNSEL_OPENCL_WAIT_LIST) {
        return DYNSEL_FAIL_NUMBER(DYNSEL_E_FULL, "a command comes after {} events", count);
    }
    cl_int code = count > 0 ? dynsel_opencl_end_batch(entry) : CL_SUCCESS;
    for (size_t i = 0; i < count && code == CL_SUCCESS; i++) {
        code = dynsel_opencl_find_event(after[i].opencl, true, &list->all[i]);
    }
    if (!DYNSEL_LIKELY(code == CL_SUCCESS)) {
        return dynsel_opencl_fail(entry, "clEnqueueMarkerWithWaitList", code);
    }
    list->count = (cl_uint)count;
    list->events = count > 0 ? list->all : NULL;
    return count > 0 && entry->hangs_on_events ? wait_for_list(entry, list) : DYNSEL_OK;
}

static dynsel_domain domain(dynsel_backend *backend, void *own)
{
    const dynsel_opencl_entry *const entry = dynsel_opencl_entry_of_handle(own);
    (void)backend;
    return entry != NULL ? (dynsel_domain){.number = dynsel_opencl_domain_of(entry),
                                           .in_order = !entry->out_of_order,
                                           .beside_bytes = dynsel_opencl_beside_bytes(entry)}
                         : (dynsel_domain){0};
}

/* Whether the device uses the host's memory itself. If not, the driver would make a hidden copy,
 * and a copy of the library's is better. */
static bool can_share(const dynsel_opencl_entry *entry, const dynsel_memory *memory)
{
    const uintptr_t address = (uintptr_t)memory->host;
    if ((entry->type & CL_DEVICE_TYPE_CPU) != 0) {
        cl_uint bits = 0;
        (void)dynsel_opencl_read_value(entry->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, &bits,
                                       sizeof(bits));
        return bits >= BITS_PER_BYTE && address % (bits / BITS_PER_BYTE) == 0;
    }
    return dynsel_opencl_is_unified(entry->device) && address % PAGE_BYTES == 0 &&
           memory->bytes % LINE_BYTES == 0;
}

/* A failed allocation never marks the device as lost: work on it may still succeed. */
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

/* Releasing other copies would not help. most: in bytes, for `{}` KiB in the detail. */
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

/* Makes drivers that allocate on the first use allocate now, so that a full device is detected
 * while other copies can be released. For memory with contents, writing them has the same effect.
 * (clEnqueueMigrateMemObjects would do, but NVIDIA's driver crashes if several threads call it.)
 * The memory is new, so the fill has no dependencies. Only full memory and what may be
 * a lost device are failures here. */
static dynsel_status reserve(dynsel_opencl_entry *entry, const dynsel_memory *memory,
                             cl_event *done)
{
    static const unsigned char anything = 0;
    const cl_int code =
        clEnqueueFillBuffer(dynsel_opencl_queue_now(entry), memory->native, &anything,
                            sizeof(anything), 0, sizeof(anything), 0, NULL, done);
    if (dynsel_opencl_code_meaning(code) != DYNSEL_OPENCL_MEANS_FAILURE) {
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
    /* The largest single buffer is no limit: some drivers allocate more than they report. */
    if (!shared && entry->memory_bytes != 0 && memory->bytes > entry->memory_bytes) {
        return refuse_size(entry, CL_INVALID_BUFFER_SIZE, "the device has {} KiB of memory in all",
                           entry->memory_bytes);
    }
    cl_int code = CL_SUCCESS;
    const cl_mem made =
        clCreateBuffer(entry->context, CL_MEM_READ_WRITE | (shared ? CL_MEM_USE_HOST_PTR : 0),
                       memory->bytes, shared ? memory->host : NULL, &code);
    if (code == CL_INVALID_BUFFER_SIZE) {
        cl_ulong most = 0;
        (void)dynsel_opencl_read_value(entry->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &most,
                                       sizeof(most));
        return refuse_size(entry, code, "the device takes no buffer larger than {} KiB", most);
    }
    if (made == NULL || code != CL_SUCCESS) {
        return refuse_memory(entry, "clCreateBuffer", code);
    }
    memory->native = made;
    memory->shared = shared;
    memory->mapping = DYNSEL_UNMAPPED;
    dynsel_opencl_may_pin(entry, memory);
    dynsel_opencl_note_copy();
    return DYNSEL_OK;
}

static dynsel_status unmap(dynsel_opencl_entry *entry, dynsel_memory *memory, void *place,
                           const dynsel_opencl_wait_list *list, cl_event *done)
{
    const cl_int code = clEnqueueUnmapMemObject(dynsel_opencl_queue_now(entry), memory->native,
                                                place, list->count, list->events, done);
    if (code != CL_SUCCESS) {
        return dynsel_opencl_fail(entry, "clEnqueueUnmapMemObject", code);
    }
    memory->mapping = DYNSEL_UNMAPPED;
    return DYNSEL_OK;
}

/* Drivers do not release mapped memory, and may use the host's memory until it is unmapped. */
static void end_mapping(dynsel_opencl_entry *entry, dynsel_memory *memory, void *place,
                        const dynsel_opencl_wait_list *list)
{
    cl_event done = NULL;
    if (unmap(entry, memory, place, list, &done) == DYNSEL_OK) {
        dynsel_opencl_wait_and_release(entry, done);
    }
}

static void release(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    dynsel_opencl_entry *const entry = own;
    (void)backend;
    (void)dynsel_word_add_synchronized(&dynsel_opencl_releases, 1);
    if (memory->mapping != DYNSEL_UNMAPPED && !dynsel_opencl_is_lost(entry)) {
        end_mapping(entry, memory, memory->host, &no_events);
    }
    if (!dynsel_opencl_is_lost(entry)) {
        (void)clReleaseMemObject(memory->native);
    }
    memory->native = NULL;
    dynsel_opencl_unpin(entry, memory);
    (void)dynsel_word_add_relaxed(&copies, (uint32_t)-1);
}

static dynsel_status write_copy(dynsel_opencl_entry *entry, dynsel_memory *memory,
                                const dynsel_opencl_wait_list *list, cl_event *done)
{
    dynsel_opencl_pin(entry, memory);
    const cl_command_queue queue = dynsel_opencl_queue_in(entry, memory);
    const cl_int code = clEnqueueWriteBuffer(queue, memory->native, CL_FALSE, 0, memory->bytes,
                                             memory->host, list->count, list->events, done);
    return code == CL_SUCCESS ? dynsel_opencl_join_transfer(entry, queue, done)
                              : dynsel_opencl_fail_to_enqueue(entry, "clEnqueueWriteBuffer", code);
}

static dynsel_status bring_now(dynsel_backend *backend, void *own, dynsel_memory *memory,
                               bool contents, const dynsel_event *after, size_t after_count,
                               dynsel_event *done)
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
        return memory->mapping == DYNSEL_UNMAPPED
                   ? DYNSEL_OK
                   : unmap(entry, memory, memory->host, &list, &done->opencl);
    }
    return write_copy(entry, memory, &list, &done->opencl);
}

/* The time of timed work begins with its first transfer or reservation, unless it is wanted without
 * them. */
static dynsel_status bring(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           const dynsel_event *after, size_t after_count, dynsel_event *done)
{
    const dynsel_status status =
        bring_now(backend, own, memory, contents, after, after_count, done);
    if (status == DYNSEL_OK && done->opencl != NULL) {
        dynsel_opencl_note_transfer(own, done->opencl);
    }
    return status;
}

/* Only for drivers that violate OpenCL, so the wait costs nothing elsewhere. */
DYNSEL_RARE static dynsel_status refuse_place(dynsel_opencl_entry *entry, dynsel_memory *memory,
                                              void *place, cl_event *mapped)
{
    const dynsel_opencl_wait_list list = {.count = 1, .events = mapped};
    end_mapping(entry, memory, place, &list);
    dynsel_opencl_release_event(entry, *mapped);
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
    cl_map_flags flags = CL_MAP_READ;
    if (to_write) {
        flags = contents ? CL_MAP_READ | CL_MAP_WRITE : CL_MAP_WRITE_INVALIDATE_REGION;
    }
    void *const place = clEnqueueMapBuffer(entry->queue, memory->native, CL_FALSE, flags, 0,
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

static dynsel_status fetch_shared(dynsel_opencl_entry *entry, dynsel_memory *memory, bool contents,
                                  bool to_write, cl_event *done)
{
    dynsel_opencl_wait_list list = {.count = 0};
    if (memory->mapping == DYNSEL_UNMAPPED) {
        return map(entry, memory, contents, to_write, &list, done);
    }
    if (memory->mapping == DYNSEL_MAPPED_TO_WRITE || !to_write) {
        return DYNSEL_OK;
    }
    /* A mapping for reading must end before a mapping for writing; no command runs in between. */
    const dynsel_status status = unmap(entry, memory, memory->host, &list, &list.all[0]);
    if (status != DYNSEL_OK) {
        return status;
    }
    list.count = 1;
    list.events = list.all;
    const dynsel_status mapped = map(entry, memory, contents, true, &list, done);
    dynsel_opencl_release_event(entry, list.all[0]);
    return mapped;
}

/* All work that wrote the copy is complete, so the other queue need not wait for the device's. */
static dynsel_status read_copy(dynsel_opencl_entry *entry, dynsel_memory *memory, cl_event *done)
{
    dynsel_opencl_pin(entry, memory);
    const cl_command_queue queue = dynsel_opencl_queue_out(entry, memory);
    const cl_int code = clEnqueueReadBuffer(queue, memory->native, CL_FALSE, 0, memory->bytes,
                                            memory->host, 0, NULL, done);
    return code == CL_SUCCESS ? dynsel_opencl_start_transfer(entry, queue, done)
                              : dynsel_opencl_fail_to_fetch(entry, "clEnqueueReadBuffer", code);
}

static dynsel_status fetch(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           bool to_write, dynsel_event *done)
{
    dynsel_opencl_entry *const entry = own;
    (void)backend;
    if (dynsel_opencl_is_lost(entry)) {
        return dynsel_opencl_fail_lost(entry);
    }
    if (!memory->shared) {
        return contents ? read_copy(entry, memory, &done->opencl) : DYNSEL_OK;
    }
    const dynsel_status status = fetch_shared(entry, memory, contents, to_write, &done->opencl);
    if (status == DYNSEL_OK && done->opencl != NULL) {
        (void)dynsel_opencl_flush(entry);
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
    dynsel_opencl_pin_range(entry, memory);
    /* On the device's queue: the end of later work there means the end of this work too. */
    const cl_int code =
        clEnqueueReadBuffer(dynsel_opencl_queue_now(entry), memory->native, CL_FALSE, 0,
                            memory->bytes, memory->host, list.count, list.events, &done->opencl);
    return code == CL_SUCCESS ? DYNSEL_OK
                              : dynsel_opencl_fail_to_enqueue(entry, "clEnqueueReadBuffer", code);
}

/* No gaps between its rows and slices. */
static bool is_one_piece(const dynsel_box *box)
{
    return (box->size[1] == 1 || box->row_pitch == box->size[2]) &&
           (box->size[0] == 1 || box->slice_pitch == box->size[1] * box->size[2]);
}

static size_t bytes_of(const dynsel_box *box)
{
    return box->size[0] * box->size[1] * box->size[2];
}

/* A box as OpenCL describes it: origin in bytes of a row, rows of a slice, and slices. The pitches
 * of a single row or slice are 0, because some drivers check unused pitches too. */
typedef struct rectangle {
    size_t origin[DYNSEL_MAX_DIMENSIONS];
    size_t row_pitch;
    size_t slice_pitch;
} rectangle;

static rectangle rectangle_of(const dynsel_box *box)
{
    rectangle r = {.origin = {box->first, 0, 0}, .row_pitch = 0, .slice_pitch = 0};
    if (box->size[0] > 1) {
        r.slice_pitch = box->slice_pitch;
        r.origin[2] = r.origin[0] / box->slice_pitch;
        r.origin[0] %= box->slice_pitch;
    }
    if (box->size[0] > 1 || box->size[1] > 1) {
        r.row_pitch = box->row_pitch;
        r.origin[1] = r.origin[0] / box->row_pitch;
        r.origin[0] %= box->row_pitch;
    }
    return r;
}

static dynsel_status copy_box(dynsel_opencl_entry *entry, const dynsel_command *command,
                              const dynsel_opencl_wait_list *list, cl_event *done)
{
    cl_int code;
    if (is_one_piece(&command->from_box) && is_one_piece(&command->to_box)) {
        code = clEnqueueCopyBuffer(dynsel_opencl_queue_now(entry), command->from->memory->native,
                                   command->to->memory->native, command->from_box.first,
                                   command->to_box.first, bytes_of(&command->to_box), list->count,
                                   list->events, done);
        return code == CL_SUCCESS
                   ? DYNSEL_OK
                   : dynsel_opencl_fail_to_enqueue(entry, "clEnqueueCopyBuffer", code);
    }
    const rectangle from = rectangle_of(&command->from_box);
    const rectangle to = rectangle_of(&command->to_box);
    const size_t *const size = command->to_box.size;
    const size_t region[] = {size[2], size[1], size[0]};
    code = clEnqueueCopyBufferRect(dynsel_opencl_queue_now(entry), command->from->memory->native,
                                   command->to->memory->native, from.origin, to.origin, region,
                                   from.row_pitch, from.slice_pitch, to.row_pitch, to.slice_pitch,
                                   list->count, list->events, done);
    return code == CL_SUCCESS
               ? DYNSEL_OK
               : dynsel_opencl_fail_to_enqueue(entry, "clEnqueueCopyBufferRect", code);
}

static cl_int fill_piece(cl_command_queue queue, const dynsel_command *command, size_t first,
                         size_t bytes, const dynsel_opencl_wait_list *list, cl_event *done)
{
    return clEnqueueFillBuffer(queue, command->to->memory->native, command->element,
                               command->element_bytes, first, bytes, list->count, list->events,
                               done);
}

/* One event after all rows; also after a failure, because the rows before it are enqueued. */
static dynsel_status end_rows(dynsel_opencl_entry *entry, cl_int filled, cl_event *done)
{
    dynsel_status status = DYNSEL_OK;
    if (filled != CL_SUCCESS) {
        status = dynsel_opencl_fail_to_enqueue(entry, "clEnqueueFillBuffer", filled);
    }
    if (filled == CL_SUCCESS || !dynsel_opencl_is_lost(entry)) {
        const cl_int code =
            clEnqueueMarkerWithWaitList(dynsel_opencl_queue_now(entry), 0, NULL, done);
        if (code != CL_SUCCESS && status == DYNSEL_OK) {
            status = dynsel_opencl_fail(entry, "clEnqueueMarkerWithWaitList", code);
        }
    }
    return status;
}

static dynsel_status fill_box(dynsel_opencl_entry *entry, const dynsel_command *command,
                              const dynsel_opencl_wait_list *list, cl_event *done)
{
    const dynsel_box *const box = &command->to_box;
    const cl_command_queue queue = dynsel_opencl_queue_now(entry);
    if (is_one_piece(box)) {
        const cl_int code = fill_piece(queue, command, box->first, bytes_of(box), list, done);
        return code == CL_SUCCESS
                   ? DYNSEL_OK
                   : dynsel_opencl_fail_to_enqueue(entry, "clEnqueueFillBuffer", code);
    }
    dynsel_opencl_mark_begin(entry);
    cl_int filled = CL_SUCCESS;
    for (size_t slice = 0; slice < box->size[0]; slice++) {
        for (size_t row = 0; row < box->size[1] && filled == CL_SUCCESS; row++) {
            const size_t first = box->first + slice * box->slice_pitch + row * box->row_pitch;
            /* markers have no profile on some drivers */
            const bool ends =
                !entry->out_of_order && slice + 1 == box->size[0] && row + 1 == box->size[1];
            filled = fill_piece(queue, command, first, box->size[2], list, ends ? done : NULL);
        }
    }
    return filled == CL_SUCCESS && !entry->out_of_order ? DYNSEL_OK : end_rows(entry, filled, done);
}

static inline dynsel_status launch_behind(dynsel_opencl_entry *entry, const dynsel_command *command,
                                          const dynsel_opencl_wait_list *list, dynsel_event *done)
{
    switch ((dynsel_command_kind)command->kind) {
    case DYNSEL_COMMAND_KERNEL:
        return dynsel_opencl_launch(entry, command, list, &done->opencl);
    case DYNSEL_COMMAND_COPY:
        return copy_box(entry, command, list, &done->opencl);
    case DYNSEL_COMMAND_FILL:
        return fill_box(entry, command, list, &done->opencl);
    case DYNSEL_COMMAND_NONE:
    case DYNSEL_COMMAND_HOST_TASK:
    case DYNSEL_COMMAND_HOST_ACCESS:
    default:
        return DYNSEL_FAIL(DYNSEL_E_UNSUPPORTED, "OpenCL devices run kernels, copies and fills");
    }
}

/* A function of its own keeps the list off the stack of most launches. */
static DYNSEL_ASIDE dynsel_status launch_behind_events(dynsel_opencl_entry *entry,
                                                       const dynsel_command *command,
                                                       dynsel_event *done)
{
    dynsel_opencl_wait_list list;
    const dynsel_status status = list_events(entry, &list, command->after, command->after_count);
    return status == DYNSEL_OK ? launch_behind(entry, command, &list, done) : status;
}

static dynsel_status launch(dynsel_backend *backend, void *own, const dynsel_command *command,
                            dynsel_event *done)
{
    dynsel_opencl_entry *const entry = own;
    (void)backend;
    if (dynsel_opencl_is_lost(entry)) {
        return dynsel_opencl_fail_lost(entry);
    }
    return DYNSEL_LIKELY(command->after_count == 0)
               ? launch_behind(entry, command, &no_events, done)
               : launch_behind_events(entry, command, done);
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
