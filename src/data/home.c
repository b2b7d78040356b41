/* SPDX-License-Identifier: Apache-2.0 */
#include "data/home.h"

#include <dynsel/memory.h>

#include "base/fail.h"
#include "data/domains.h"
#include "data/traced_copy.h"

bool dynsel_home_is_lost(const dynsel_buffer_record *record)
{
    if (record->home == DYNSEL_HOST_DOMAIN) {
        return record->home_lost;
    }
    dynsel_backend *const backend = dynsel_domains[record->home - 1].backend;
    const dynsel_memory_ops *const ops = backend->ops->memory;
    return ops->is_lost != NULL && ops->is_lost(backend, record->copies[record->home - 1].own);
}

/* Without the lock. Waits for the end. */
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

/* A lost device refuses it, with what lost it. */
static dynsel_status bring_home(dynsel_buffer_record *record, dynsel_error *error)
{
    dynsel_copy_record *const copy = dynsel_copy_at(record, record->home);
    dynsel_backend *const backend = dynsel_domains[record->home - 1].backend;
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_spinlock_release(&dynsel_memory_lock);
    const dynsel_status status = bring(backend, copy->own, &copy->memory);
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
        if (bring_home(record, error) == DYNSEL_OK) {
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
