/* SPDX-License-Identifier: Apache-2.0 */
#include "data/fetch.h"

#include "base/fail.h"
#include "data/buffers.h"
#include "data/domains.h"
#include "data/evict.h"
#include "data/readback.h"
#include "data/validity.h"

/* What is on a device that failed is gone; its memory is given up when somebody wants the copy. */
static void lose(dynsel_buffer_record *record, uint32_t domain)
{
    dynsel_set_valid(&record->validity, domain, false);
    record->copies[domain - 1].lost = true;
}

static bool is_lost(const dynsel_fetch *fetch)
{
    dynsel_backend *const backend = dynsel_domains[fetch->domain - 1].backend;
    const dynsel_memory_ops *const ops = backend->ops->memory;
    return ops->is_lost != NULL && ops->is_lost(backend, fetch->own);
}

static void end_well(dynsel_buffer_record *record)
{
    if (record->fetch.contents) {
        dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, true);
        dynsel_readback_end(record);
    }
    record->fetch_failures = 0;
    record->fetch_refused = 0;
    record->fetch.state = DYNSEL_NO_FETCH;
}

/* The copy is as good as before, unless its device is lost. again: another try may help. */
static void end_failed(dynsel_buffer_record *record, const dynsel_error *failure, bool again)
{
    const uint32_t domain = record->fetch.domain;
    const dynsel_memory *const memory = &record->copies[domain - 1].memory;
    record->fetch_failure = *failure;
    record->fetch_failures++;
    if (is_lost(&record->fetch)) {
        lose(record, domain);
        record->fetch_failures = 0;
    } else if (!again || record->fetch_failures == DYNSEL_FETCH_ATTEMPTS) {
        record->fetch_refused = (uint8_t)domain;
        record->fetch_failures = 0;
    }
    if (memory->shared && memory->mapping == DYNSEL_UNMAPPED &&
        dynsel_is_valid(&record->validity, domain)) {
        /* it may have been the host's to be read */
        dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, false);
    }
    record->fetch.state = DYNSEL_NO_FETCH;
}

bool dynsel_fetch_look(dynsel_buffer_record *record)
{
    if (record->fetch.state != DYNSEL_FETCH_RUNS) {
        return false;
    }
    const dynsel_fetch *const fetch = &record->fetch;
    dynsel_backend *const backend = dynsel_domains[fetch->domain - 1].backend;
    const dynsel_backend_ops *const ops = backend->ops;
    const dynsel_resource where = {.backend = backend, .handle = fetch->own};
    dynsel_work work = {.where = &where, .own = fetch->own, .done = fetch->done};
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_status status = ops->poll(backend, &work);
    if (status == DYNSEL_OK && !ops->poll_synchronizes) {
        status = ops->wait(backend, &work);
    }
    if (status == DYNSEL_E_AGAIN) {
        dynsel_readback_goes_on(&record->fetch);
        return false;
    }
    const dynsel_error failure = dynsel_details_of(status, failures_before);
    ops->release(backend, &work);
    if (status == DYNSEL_OK) {
        end_well(record);
    } else {
        record->copies[fetch->domain - 1].memory.mapping =
            DYNSEL_UNMAPPED; /* it has not changed hands */
        end_failed(record, &failure, true);
    }
    return true;
}

static void count(dynsel_buffer_record *record)
{
    dynsel_movement *const movements[] = {&record->movement,
                                          &dynsel_domains[record->fetch.domain - 1].movement};
    for (uint32_t i = 0; i < 2; i++) {
        movements[i]->bytes_out += record->bytes;
        movements[i]->copies_out++;
    }
}

/* Nobody uses the buffer in this domain before that is done: the host's memory may be shared
 * again. */
static void give_up(dynsel_buffer_record *record)
{
    dynsel_given_copy given;
    dynsel_copy_take(record, record->fetch.domain, &given);
    dynsel_brief_lock_release(&dynsel_memory_lock);
    dynsel_copy_release(&given);
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    record->fetch.state = DYNSEL_NO_FETCH;
}

/* While the lock is not held the state is that of this thread alone. */
void dynsel_fetch_begin(dynsel_buffer_record *record)
{
    dynsel_fetch *const fetch = &record->fetch;
    if (fetch->gives_up) {
        give_up(record);
        return;
    }
    dynsel_backend *const backend = dynsel_domains[fetch->domain - 1].backend;
    dynsel_memory *const memory = &record->copies[fetch->domain - 1].memory;
    fetch->done = (dynsel_event){.native = NULL};
    dynsel_brief_lock_release(&dynsel_memory_lock);
    dynsel_readback_begin(fetch);
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    const dynsel_status status = backend->ops->memory->fetch(
        backend, fetch->own, memory, fetch->contents, fetch->to_write, &fetch->done);
    const dynsel_error failure = dynsel_details_of(status, failures_before);

    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    if (status == DYNSEL_OK && !memory->shared) {
        count(record);
    }
    if (status == DYNSEL_OK && fetch->done.native != NULL) {
        fetch->state = DYNSEL_FETCH_RUNS;
    } else if (status == DYNSEL_OK) {
        end_well(record);
    } else {
        end_failed(record, &failure, status == DYNSEL_E_AGAIN);
    }
}
