/* SPDX-License-Identifier: Apache-2.0 */
#include "data/buffers.h"

#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "policy/after_fork.h"
#include "port/context.h"
#include "submission/pending_ops.h"

enum { LAST_GENERATION = (1 << (32 - DYNSEL_PLACE_BITS)) - 1 };

dynsel_spinlock dynsel_memory_lock;
dynsel_buffer_record dynsel_buffers[CONFIG_DYNSEL_MAX_BUFFERS];
static uint32_t used_before; /* all places before this one are in use */

void dynsel_buffer_hide(dynsel_buffer_record *record)
{
    dynsel_word_store_release(&record->token, record->generation << DYNSEL_PLACE_BITS);
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_buffers_forget(void)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_BUFFERS; i++) {
        dynsel_word_store_relaxed(&dynsel_buffers[i].token, 0); /* generations go on */
    }
    used_before = 0;
    dynsel_word_store_relaxed(&dynsel_pending_alarms, 0);
    dynsel_spinlock_release(&dynsel_memory_lock);
}
#endif

/* Whether the buffer was ended; other tokens never were handles. */
static bool was_a_handle(dynsel_buffer buffer)
{
    return dynsel_buffer_place(buffer) < CONFIG_DYNSEL_MAX_BUFFERS &&
           buffer.token >> DYNSEL_PLACE_BITS != 0;
}

dynsel_status dynsel_buffer_refuse(const char *function, const char *subject, dynsel_buffer buffer)
{
    dynsel_error error = {.function = function, .subject = subject};
    if (was_a_handle(buffer)) {
        error.status = DYNSEL_E_STALE;
        error.detail =
            dynsel_fork_is_child()
                ? DYNSEL_TEXT("the buffer was ended by dynsel_buffer_deinit(), or belongs "
                              "to the parent of this process")
                : DYNSEL_TEXT("the buffer was ended by dynsel_buffer_deinit()");
    } else {
        error.status = DYNSEL_E_INVALID;
        error.detail = buffer.token == 0
                           ? DYNSEL_TEXT("there is no buffer: make one with dynsel_buffer_init()")
                           : DYNSEL_TEXT("the handle is not one that dynsel_buffer_init() made");
    }
    return dynsel_fail(&error);
}

bool dynsel_buffer_shape(dynsel_buffer buffer, dynsel_shape *shape)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const dynsel_buffer_record *const record = dynsel_buffer_find(buffer);
    if (record != NULL) {
        *shape = (dynsel_shape){
            .element_bytes = record->element_bytes,
            .bytes = record->bytes,
            .range = record->range,
            .data = record->data,
        };
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return record != NULL;
}

static dynsel_buffer_record *find_free(void)
{
    for (; used_before < CONFIG_DYNSEL_MAX_BUFFERS; used_before++) {
        if (dynsel_buffer_is(&dynsel_buffers[used_before], 0)) {
            return &dynsel_buffers[used_before];
        }
    }
    return NULL;
}

void dynsel_buffer_free(dynsel_buffer_record *record)
{
    const uint32_t place = (uint32_t)(record - dynsel_buffers);
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    if (dynsel_word_load_relaxed(&record->failures.known) != 0) {
        dynsel_word_store_release(&record->failures.known, 0);
        (void)dynsel_word_add_synchronized(&dynsel_pending_alarms, (uint32_t)-1);
    }
    dynsel_word_store_release(&record->token, 0);
    used_before = place < used_before ? place : used_before;
    dynsel_spinlock_release(&dynsel_memory_lock);
}

static void *memory_inside(dynsel_buffer_record *record)
{
#if CONFIG_DYNSEL_BUFFER_INSIDE_BYTES > 0
    return record->inside;
#else
    static unsigned char nothing; /* of buffers without elements */
    (void)record;
    return &nothing;
#endif
}

static void fill_in(dynsel_buffer_record *record, void *data, const dynsel_shape *shape)
{
    const uint32_t last = record->generation;
    const size_t behind_token = offsetof(dynsel_buffer_record, generation);
    (void)memset((unsigned char *)record + behind_token, 0, sizeof *record - behind_token);
#if CONFIG_DYNSEL_DEVICE_BUFFERS
    dynsel_word_store_relaxed(&record->access, DYNSEL_KERNELS_READ_AND_WRITE);
#endif
    record->generation = last == LAST_GENERATION ? 1 : last + 1;
    record->data = data != NULL ? data : memory_inside(record);
    record->element_bytes = shape->element_bytes;
    record->bytes = shape->bytes;
    record->range = shape->range;
    dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, true);
}

dynsel_buffer_record *dynsel_buffer_take(void *data, const dynsel_shape *shape)
{
    dynsel_buffer_record *const record = find_free();
    if (record != NULL) {
        fill_in(record, data, shape);
    } else {
        (void)DYNSEL_FAIL_IN(
            DYNSEL_TEXT("dynsel_buffer_init"), DYNSEL_E_FULL,
            DYNSEL_OPTION(MAX_BUFFERS, "and as many exist: end some, or set it to {} or more"),
            CONFIG_DYNSEL_MAX_BUFFERS + 1);
    }
    return record;
}

uint32_t dynsel_buffer_publish(dynsel_buffer_record *record)
{
    const uint32_t token =
        record->generation << DYNSEL_PLACE_BITS | (uint32_t)(record - dynsel_buffers + 1);
    dynsel_word_store_release(&record->token, token);
    return token;
}

/* Sets `bytes`. False: there is no such range, or more bytes than an object can have. */
static bool set_bytes(dynsel_shape *shape)
{
    return shape->element_bytes != 0 && dynsel_range_is_whole(&shape->range) &&
           dynsel_multiply(shape->element_bytes, dynsel_range_count(&shape->range),
                           &shape->bytes) &&
           shape->bytes <= PTRDIFF_MAX;
}

dynsel_status dynsel_buffer_check_new(const dynsel_buffer *buffer, const void *data,
                                      dynsel_shape *shape)
{
    static const char function[] = "dynsel_buffer_init";
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (buffer == NULL) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT(function), DYNSEL_E_INVALID, "the buffer is NULL", 0);
    }
    if (buffer->token != 0) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT(function), DYNSEL_E_INVALID,
                              "the handle is in use or was not zeroed", 0);
    }
    if (!set_bytes(shape)) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT(function), DYNSEL_E_INVALID,
                              "elements and range: elements of at least 1 byte, 1 to 3 "
                              "dimensions, and together no more bytes than an object can have",
                              0);
    }
    if (data == NULL && shape->bytes > CONFIG_DYNSEL_BUFFER_INSIDE_BYTES) {
        return DYNSEL_FAIL_IN(
            DYNSEL_TEXT(function), DYNSEL_E_FULL,
            DYNSEL_OPTION(BUFFER_INSIDE_BYTES,
                          "and the elements have {} bytes: pass memory, or set it to as many"),
            shape->bytes);
    }
    return DYNSEL_OK;
}

dynsel_status dynsel_buffer_init(dynsel_buffer *buffer, void *data, size_t element_bytes,
                                 dynsel_range range)
{
    dynsel_shape shape = {.element_bytes = element_bytes, .range = range};
    const dynsel_status status = dynsel_buffer_check_new(buffer, data, &shape);
    if (status != DYNSEL_OK) {
        return status;
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    dynsel_buffer_record *const record = dynsel_buffer_take(data, &shape);
    if (record != NULL) {
        buffer->token = dynsel_buffer_publish(record);
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return record != NULL ? DYNSEL_OK : DYNSEL_E_FULL;
}
