/* SPDX-License-Identifier: Apache-2.0 */
/* Makes buffers over memory that the program allocated on a device. */
#include <dynsel/memory.h>

#include "base/fail.h"
#include "data/buffers.h"
#include "data/domains.h"
#include "data/enter_domain.h"
#include "data/home.h"

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
    const dynsel_status status = dynsel_domain_enter(
        there->backend, there->own, dynsel_domain_ask(there->backend, there->own).number, &domain);
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
    if (status == DYNSEL_OK && shape.bytes == 0) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "memory of a device needs elements: no size of 0");
    }
    if (status == DYNSEL_OK) {
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        status = enter(buffer, there, &shape);
        dynsel_spinlock_release(&dynsel_memory_lock);
    }
    return status;
}
