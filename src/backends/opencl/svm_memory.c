/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/svm_memory.h"

#include "backends/opencl/events.h"
#include "backends/opencl/function_lookup.h"
#include "backends/opencl/svm_capability.h"
#include "base/fail.h"
#include "port/cancel.h"
#include "port/pause.h"
#include "submission/limits.h"
#include "submission/queue.h"

enum { FINE_GRAIN_BUFFER = 1 << 10, BYTES_PER_KIB = 1024 };

/* The headers of OpenCL 1.2 lack these functions. */
typedef void *(CL_API_CALL *alloc_fn)(cl_context context, cl_bitfield flags, size_t bytes,
                                      cl_uint alignment);
typedef void(CL_API_CALL *free_fn)(cl_context context, void *memory);
typedef cl_int(CL_API_CALL *map_fn)(cl_command_queue queue, cl_bool blocks, cl_map_flags flags,
                                    void *memory, size_t bytes, cl_uint count,
                                    const cl_event *before, cl_event *event);
typedef cl_int(CL_API_CALL *unmap_fn)(cl_command_queue queue, void *memory, cl_uint count,
                                      const cl_event *before, cl_event *event);

static dynsel_opencl_table *const table = &dynsel_opencl_known;

/* Under the lock: the entry through which the memory of this context was allocated, or NULL. */
static dynsel_opencl_entry *find_allocation(const dynsel_opencl_entry *entry)
{
    const uint32_t domain = dynsel_opencl_domain_of(entry);
    const uint32_t known = dynsel_word_load_relaxed(&table->known);
    for (uint32_t i = 0; i < known; i++) {
        dynsel_opencl_entry *const other = &table->entries[i];
        if (other->shared != NULL && !dynsel_opencl_is_lost(other) &&
            dynsel_opencl_domain_of(other) == domain) {
            return other;
        }
    }
    return NULL;
}

dynsel_status dynsel_opencl_take_shared(dynsel_backend *backend, void *own, size_t bytes,
                                        void **memory)
{
    dynsel_opencl_entry *const entry = dynsel_opencl_entry_of_handle(own);
    const bool fine_grain = dynsel_opencl_sharing(backend, own) != DYNSEL_SHARES_MAPPED;
    const dynsel_status status = dynsel_opencl_open(entry);
    if (status != DYNSEL_OK) {
        return status;
    }
    dynsel_lock_acquire(&dynsel_opencl_lock);
    dynsel_opencl_entry *owner = find_allocation(entry);
    if (owner == NULL) {
        const alloc_fn alloc = (alloc_fn)dynsel_opencl_find_function(entry->device, "clSVMAlloc");
        const cl_bitfield flags =
            CL_MEM_READ_WRITE | (fine_grain ? (cl_bitfield)FINE_GRAIN_BUFFER : (cl_bitfield)0);
        owner = entry;
        owner->shared = alloc != NULL ? alloc(entry->context, flags, bytes, 0) : NULL;
    }
    owner->shared_in_use = owner->shared != NULL;
    *memory = owner->shared;
    dynsel_lock_release(&dynsel_opencl_lock);
    if (*memory != NULL) {
        return DYNSEL_OK;
    }
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_FULL,
        .number = (uint32_t)(bytes / BYTES_PER_KIB),
        .function = DYNSEL_TEXT("clSVMAlloc"),
        .subject = DYNSEL_TEXT(entry->name),
        .detail = DYNSEL_TEXT("the driver has no {} KiB of shared memory: lower "
                              "CONFIG_DYNSEL_SVM_POOL_BYTES")});
}

/* The memory stays allocated for the next use. */
void dynsel_opencl_return_shared(dynsel_backend *backend, void *own, void *memory)
{
    (void)backend;
    (void)own;
    dynsel_lock_acquire(&dynsel_opencl_lock);
    const uint32_t known = dynsel_word_load_relaxed(&table->known);
    for (uint32_t i = 0; i < known; i++) {
        if (table->entries[i].shared == memory) {
            table->entries[i].shared_in_use = false;
        }
    }
    dynsel_lock_release(&dynsel_opencl_lock);
}

static cl_map_flags flags_of(dynsel_access_mode mode)
{
    switch (mode) {
    case DYNSEL_ACCESS_READ:
        return CL_MAP_READ;
    case DYNSEL_ACCESS_DISCARD_WRITE:
    case DYNSEL_ACCESS_DISCARD_READ_WRITE:
        return CL_MAP_WRITE_INVALIDATE_REGION;
    case DYNSEL_ACCESS_WRITE:
    case DYNSEL_ACCESS_READ_WRITE:
    case DYNSEL_ACCESS_ATOMIC:
    default:
        return CL_MAP_READ | CL_MAP_WRITE;
    }
}

/* While there is work with a limit: the command may be behind some that hangs, so this does not
 * wait in the driver, and looks at the limits. */
DYNSEL_RARE static dynsel_status poll_and_release(dynsel_opencl_entry *entry, cl_event done)
{
    (void)dynsel_opencl_flush(entry);
    dynsel_status status = dynsel_opencl_poll(entry, done);
    for (uint32_t round = 0; status == DYNSEL_E_AGAIN; round++) {
        dynsel_queue_look_around();
        dynsel_pause(round);
        status = dynsel_opencl_poll(entry, done);
    }
    if (status == DYNSEL_OK) {
        status =
            dynsel_opencl_wait(entry, done); /* does not block, and makes the results visible */
    }
    dynsel_opencl_release_event(entry, done);
    return status;
}

dynsel_status dynsel_opencl_map_shared(dynsel_backend *backend, void *own, void *part, size_t bytes,
                                       dynsel_access_mode mode)
{
    dynsel_opencl_entry *const entry = dynsel_opencl_entry_of_handle(own);
    (void)backend;
    if (dynsel_opencl_is_lost(entry)) {
        return dynsel_opencl_fail_lost(entry);
    }
    const map_fn map = (map_fn)dynsel_opencl_find_function(entry->device, "clEnqueueSVMMap");
    const bool polls = dynsel_limits_exist();
    cl_event done = NULL;
    const int before = dynsel_cancel_defer(); /* it waits */
    const cl_int code = map != NULL ? map(entry->queue, polls ? CL_FALSE : CL_TRUE, flags_of(mode),
                                          part, bytes, 0, NULL, polls ? &done : NULL)
                                    : CL_INVALID_OPERATION;
    dynsel_cancel_allow(before);
    if (code != CL_SUCCESS) {
        return dynsel_opencl_fail(entry, "clEnqueueSVMMap", code);
    }
    return polls ? poll_and_release(entry, done) : DYNSEL_OK;
}

dynsel_status dynsel_opencl_unmap_shared(dynsel_backend *backend, void *own, void *part)
{
    dynsel_opencl_entry *const entry = dynsel_opencl_entry_of_handle(own);
    cl_event done = NULL;
    (void)backend;
    if (dynsel_opencl_is_lost(entry)) {
        return dynsel_opencl_fail_lost(entry);
    }
    const unmap_fn unmap =
        (unmap_fn)dynsel_opencl_find_function(entry->device, "clEnqueueSVMUnmap");
    const cl_int code =
        unmap != NULL ? unmap(entry->queue, part, 0, NULL, &done) : CL_INVALID_OPERATION;
    if (code != CL_SUCCESS) {
        return dynsel_opencl_fail(entry, "clEnqueueSVMUnmap", code);
    }
    /* Other queues of the context are not ordered after the unmap, so it must end here. It succeeds
     * whatever the wait returns; the wait marks the loss of a device. */
    if (dynsel_limits_exist()) {
        const dynsel_status status = poll_and_release(entry, done);
        return status == DYNSEL_E_GIVEN_UP ? status : DYNSEL_OK;
    }
    dynsel_opencl_wait_and_release(entry, done);
    return DYNSEL_OK;
}

uint32_t dynsel_opencl_count_shared(void)
{
    uint32_t count = 0;
    const uint32_t known = dynsel_word_load_relaxed(&table->known);
    for (uint32_t i = 0; i < known; i++) {
        count += table->entries[i].shared_in_use ? 1 : 0;
    }
    return count;
}

void dynsel_opencl_release_shared(void)
{
    const uint32_t known = dynsel_word_load_relaxed(&table->known);
    for (uint32_t i = 0; i < known; i++) {
        dynsel_opencl_entry *const entry = &table->entries[i];
        if (entry->shared != NULL && !dynsel_opencl_is_lost(entry)) {
            const free_fn give_back =
                (free_fn)dynsel_opencl_find_function(entry->device, "clSVMFree");
            if (give_back != NULL) {
                give_back(entry->context, entry->shared);
            }
        }
    }
}
