/* SPDX-License-Identifier: Apache-2.0 */
#include "data/copy_out.h"

#include "base/fail.h"
#include "data/buffers.h"
#include "data/domains.h"
#include "data/evict.h"
#include "data/readback_time.h"
#include "data/traced_copy.h"
#include "data/validity.h"

/* Whether the device of the copy has failed. */
static bool is_lost(const dynsel_copy_out *copy_out)
{
    dynsel_backend *const backend = dynsel_domains[copy_out->domain - 1].backend;
    const dynsel_memory_ops *const ops = backend->ops->memory;
    return ops->is_lost != NULL && ops->is_lost(backend, copy_out->own);
}

static void end_successful(dynsel_buffer_record *record)
{
    if (record->copy_out.contents) {
        dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, true);
        dynsel_readback_end(record);
    }
    record->copy_out_failures = 0;
    record->copy_out_refused = 0;
    record->copy_out.state = DYNSEL_NO_COPY_OUT;
}

/* The device's copy stays valid, unless the device is lost. again: another attempt may succeed. */
static void end_failed(dynsel_buffer_record *record, const dynsel_error *failure, bool again)
{
    const uint32_t domain = record->copy_out.domain;
    const dynsel_memory *const memory = &record->copies[domain - 1].memory;
    record->copy_out_failure = *failure;
    record->copy_out_failures++;
    if (is_lost(&record->copy_out)) {
        dynsel_set_valid(&record->validity, domain, false);
        record->copies[domain - 1].lost = true; /* its memory is freed before the next use */
        record->copy_out_failures = 0;
    } else if (!again || record->copy_out_failures == DYNSEL_FETCH_ATTEMPTS) {
        record->copy_out_refused = (uint8_t)domain;
        record->copy_out_failures = 0;
    }
    if (memory->shared && memory->mapping == DYNSEL_UNMAPPED &&
        dynsel_is_valid(&record->validity, domain)) {
        /* it may have been mapped for reading before, so that the host's memory was valid too */
        dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, false);
    }
    record->copy_out.state = DYNSEL_NO_COPY_OUT;
}

bool dynsel_copy_out_look(dynsel_buffer_record *record)
{
    if (record->copy_out.state != DYNSEL_COPY_OUT_RUNS) {
        return false;
    }
    const dynsel_copy_out *const copy_out = &record->copy_out;
    dynsel_backend *const backend = dynsel_domains[copy_out->domain - 1].backend;
    const dynsel_backend_ops *const ops = backend->ops;
    const dynsel_resource where = {.backend = backend, .handle = copy_out->own};
    dynsel_work work = {.where = &where, .own = copy_out->own, .done = copy_out->done};
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_status status = ops->poll(backend, &work);
    if (status == DYNSEL_OK && !ops->poll_synchronizes) {
        status = ops->wait(backend, &work);
    }
    if (status == DYNSEL_E_AGAIN) {
        dynsel_readback_goes_on(&record->copy_out);
        return false;
    }
    const dynsel_error failure = dynsel_details_of(status, failures_before);
    ops->release(backend, &work);
    if (status == DYNSEL_OK) {
        end_successful(record);
    } else {
        record->copies[copy_out->domain - 1].memory.mapping =
            DYNSEL_UNMAPPED; /* the device still has the memory */
#if CONFIG_DYNSEL_TIME_LIMITS
        record->given_up = record->given_up || status == DYNSEL_E_GIVEN_UP;
#endif
        end_failed(record, &failure, true);
    }
    return true;
}

/* memory: the copy; pinning: its before the transfer. */
static void count(dynsel_buffer_record *record, const dynsel_memory *memory, uint8_t pinning)
{
    dynsel_movement *const movements[] = {&record->movement,
                                          &dynsel_domains[record->copy_out.domain - 1].movement};
    for (uint32_t i = 0; i < 2; i++) {
        movements[i]->bytes_out += record->bytes;
        movements[i]->copies_out++;
        dynsel_movement_count_pinned(movements[i], memory, pinning);
    }
}

/* Frees the memory of a lost copy. No work uses the buffer in this domain meanwhile. */
static void free_lost(dynsel_buffer_record *record)
{
    dynsel_given_copy given;
    dynsel_copy_take(record, record->copy_out.domain, &given);
    dynsel_spinlock_release(&dynsel_memory_lock);
    dynsel_copy_release(&given);
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    record->copy_out.state = DYNSEL_NO_COPY_OUT;
}

/* While the lock is released, only this thread changes `copy_out`. */
void dynsel_copy_out_begin(dynsel_buffer_record *record)
{
    dynsel_copy_out *const copy_out = &record->copy_out;
    if (copy_out->gives_up) {
        free_lost(record);
        return;
    }
    dynsel_backend *const backend = dynsel_domains[copy_out->domain - 1].backend;
    dynsel_memory *const memory = &record->copies[copy_out->domain - 1].memory;
    const uint8_t pinning = memory->pinning;
    copy_out->done = (dynsel_event){.native = NULL};
    dynsel_spinlock_release(&dynsel_memory_lock);
    dynsel_readback_begin(copy_out);
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    const uint64_t since = dynsel_traced_now();
    const dynsel_status status = backend->ops->memory->fetch(
        backend, copy_out->own, memory, copy_out->contents, copy_out->to_write, &copy_out->done);
    const dynsel_error failure = dynsel_details_of(status, failures_before);

    dynsel_spinlock_acquire(&dynsel_memory_lock);
    if (status == DYNSEL_OK && !memory->shared) {
        count(record, memory, pinning);
        dynsel_traced_copy(NULL, dynsel_buffer_number(record), copy_out->domain, true,
                           record->bytes, since);
    }
    if (status == DYNSEL_OK && copy_out->done.native != NULL) {
        copy_out->state = DYNSEL_COPY_OUT_RUNS;
    } else if (status == DYNSEL_OK) {
        end_successful(record);
    } else {
        end_failed(record, &failure, status == DYNSEL_E_AGAIN);
    }
}
