/* SPDX-License-Identifier: Apache-2.0 */
#include "data/home.h"

#include <dynsel/memory.h>

#include "base/fail.h"
#include "data/domains.h"
#include "data/enter_domain.h"
#include "data/traced_copy.h"

#define NAME DYNSEL_TEXT("dynsel_buffer_init_over")

/* Whether a buffer over this memory exists. */
static bool is_taken(uint32_t domain, const void *native)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_BUFFERS; i++) {
        const dynsel_buffer_record *const record = &dynsel_buffers[i];
        if (dynsel_is_home(record, domain) && record->copies[domain - 1].memory.native == native &&
            !dynsel_buffer_is(record, 0)) {
            return true;
        }
    }
    return false;
}

static dynsel_status check(const dynsel_device_memory *there)
{
    return there != NULL && there->backend != NULL && there->backend->ops->memory != NULL &&
                   there->memory.native != NULL && !there->memory.shared &&
                   there->access <= DYNSEL_KERNELS_WRITE
               ? DYNSEL_OK
               : DYNSEL_FAIL_IN(NAME, DYNSEL_E_INVALID,
                                "memory on a device: it, its backend, or the backend's memory "
                                "operations are missing, it is shared, or its access is none",
                                0);
}

/* Under the lock. */
static dynsel_status enter(dynsel_buffer *buffer, const dynsel_device_memory *there,
                           const dynsel_shape *shape)
{
    uint32_t domain = DYNSEL_HOST_DOMAIN;
    const dynsel_status status = dynsel_domain_of(there->backend, there->own, &domain, NULL);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (domain == DYNSEL_HOST_DOMAIN) {
        return DYNSEL_FAIL_IN(NAME, DYNSEL_E_INVALID,
                              "the resource works in the host's memory: use dynsel_buffer_init()",
                              0);
    }
    if (is_taken(domain, there->memory.native)) {
        return DYNSEL_FAIL_IN(NAME, DYNSEL_E_BUSY,
                              "a buffer over this memory exists: use that, or end it first", 0);
    }
    dynsel_buffer_record *const record = dynsel_buffer_take(there->memory.host, shape);
    if (record == NULL) {
        return DYNSEL_E_FULL;
    }
    dynsel_copy_record *const copy = dynsel_copy_at(record, domain);
    copy->own = there->own;
    copy->memory = there->memory;
    copy->memory.host = record->data;
    copy->memory.bytes = record->bytes;
    record->home = domain;
    dynsel_set_valid_only(&record->validity, domain);
    dynsel_word_store_relaxed(&record->access, there->access);
    buffer->token = dynsel_buffer_publish(record);
    return DYNSEL_OK;
}

dynsel_status dynsel_buffer_init_over(dynsel_buffer *buffer, const dynsel_device_memory *there,
                                      size_t element_bytes, dynsel_range range)
{
    dynsel_shape shape = {.element_bytes = element_bytes, .range = range};
    dynsel_status status = check(there);
    if (status == DYNSEL_OK) {
        status = dynsel_buffer_check_new(buffer, there->memory.host, &shape);
    }
    if (status == DYNSEL_OK) {
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        status = enter(buffer, there, &shape);
        dynsel_spinlock_release(&dynsel_memory_lock);
    }
    return status;
}

bool dynsel_home_is_lost(const dynsel_buffer_record *record)
{
    if (record->home == DYNSEL_HOST_DOMAIN) {
        return record->home_lost;
    }
    dynsel_backend *const backend = dynsel_domains[record->home - 1].backend;
    const dynsel_memory_ops *const ops = backend->ops->memory;
    return ops->is_lost != NULL && ops->is_lost(backend, record->copies[record->home - 1].own);
}

/* Without the lock: one attempt, which waits for its end. */
static dynsel_status bring(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    const dynsel_resource where = {.backend = backend, .handle = own};
    dynsel_work work = {.where = &where, .own = own};
    dynsel_status status =
        backend->ops->memory->bring(backend, own, memory, true, NULL, 0, &work.done);
    if (work.done.native != NULL) {
        const dynsel_status ended = backend->ops->wait(backend, &work);
        status = status == DYNSEL_OK ? ended : status;
        backend->ops->release(backend, &work);
    }
    return status;
}

static void count(dynsel_buffer_record *record, const dynsel_memory *memory, uint8_t pinning)
{
    dynsel_movement *const movements[] = {&record->movement,
                                          &dynsel_domains[record->home - 1].movement};
    for (uint32_t i = 0; i < 2; i++) {
        movements[i]->bytes_in += record->bytes;
        movements[i]->copies_in++;
        dynsel_movement_count_pinned(movements[i], memory, pinning);
    }
}

/* Several attempts; a lost device refuses the first, with what lost it. */
static dynsel_status bring_home(dynsel_buffer_record *record, bool lost, dynsel_error *error)
{
    dynsel_copy_record *const copy = dynsel_copy_at(record, record->home);
    dynsel_backend *const backend = dynsel_domains[record->home - 1].backend;
    const uint32_t attempts = lost ? 1 : DYNSEL_FETCH_ATTEMPTS;
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_status status = DYNSEL_E_AGAIN;
    dynsel_spinlock_release(&dynsel_memory_lock);
    for (uint32_t i = 0; i < attempts && status != DYNSEL_OK; i++) {
        status = bring(backend, copy->own, &copy->memory);
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    *error = dynsel_details_of(status, failures_before);
    if (status != DYNSEL_OK) {
        error->status = status == DYNSEL_E_AGAIN ? DYNSEL_E_FULL : DYNSEL_E_DEVICE;
    }
    return error->status;
}

/* No other thread has the record, because it is hidden and no work uses it. */
dynsel_status dynsel_home_return(dynsel_buffer_record *record, dynsel_error *error)
{
    const bool lost = dynsel_home_is_lost(record);
    const uint64_t since = dynsel_traced_now();
    if (!lost &&
        (record->home == DYNSEL_HOST_DOMAIN || dynsel_is_valid(&record->validity, record->home))) {
        return DYNSEL_OK;
    }
    if (record->home == DYNSEL_HOST_DOMAIN) {
        *error = record->copy_out_failure;
        error->status = DYNSEL_E_DEVICE;
    } else {
        const dynsel_memory *const memory = &dynsel_copy_at(record, record->home)->memory;
        const uint8_t pinning = memory->pinning;
        if (bring_home(record, lost, error) == DYNSEL_OK) {
            dynsel_set_valid(&record->validity, record->home, true);
            count(record, memory, pinning);
            dynsel_traced_copy(NULL, dynsel_buffer_number(record), record->home, false,
                               record->bytes, since);
            return DYNSEL_OK;
        }
    }
    if (error->function == NULL) {
        error->function = DYNSEL_TEXT("dynsel_buffer_deinit");
    }
    error->detail =
        dynsel_home_is_lost(record)
            ? DYNSEL_TEXT("the buffer was ended, but the device with its memory failed: the "
                          "contents, if they were valid elsewhere, are in the host's memory")
            : DYNSEL_TEXT("the contents are in the host's memory, and could not be copied to the "
                          "device: end the buffer again");
    return error->status;
}
