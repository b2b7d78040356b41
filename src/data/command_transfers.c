/* SPDX-License-Identifier: Apache-2.0 */
#include "data/command_transfers.h"

#include "base/fail.h"
#include "data/buffers.h"
#include "data/domains.h"
#include "data/evict.h"
#include "data/external_events.h"
#include "data/pass.h"
#include "data/staging.h"
#include "data/traced_copy.h"
#include "data/validity.h"
#include "port/likely.h"
#include "submission/pending.h"

/* The name of a range in error texts. */
#define A_RANGE DYNSEL_TEXT("a range")

/* Skips completed work. A reference keeps the event of the other work. */
void dynsel_transfers_begin(dynsel_transfers *t, dynsel_uses *uses, const dynsel_resource *where)
{
    t->uses = uses;
    t->where = where;
    t->backend = where->backend;
    t->ops = where->backend->ops->memory;
    t->own = uses->own;
    t->referenced = 0;
    t->after_count = 0; /* events are written before they are read */
    for (uint32_t i = 0; i < uses->after_count; i++) {
        if (dynsel_pending_ref(uses->after[i])) {
            const dynsel_event *const done = &dynsel_slot_of_token(uses->after[i])->work.done;
            uses->after[t->referenced++] = uses->after[i];
            if (done->native != NULL) {
                t->events[t->after_count++] = (dynsel_event){.native = done->native};
            }
        }
    }
    t->after_count += dynsel_external_events_list(uses, &t->events[t->after_count]);
    t->event_count = t->after_count;
}

static dynsel_work work_of(const dynsel_transfers *t, dynsel_event event)
{
    return (dynsel_work){.where = t->where, .own = t->own, .done = event};
}

static void release(const dynsel_transfers *t, dynsel_event event)
{
    dynsel_work work = work_of(t, event);
    t->backend->ops->release(t->backend, &work);
}

/* Without a command, the work ends with its last copy in, because host memory and copies are in use
 * until then. */
static void wait_in_place_of_command(const dynsel_transfers *t, dynsel_event *done)
{
    for (uint32_t i = t->after_count; i + 1 < t->event_count; i++) {
        if (!t->uses->in_order) {
            const dynsel_work work = work_of(t, t->events[i]);
            (void)t->backend->ops->wait(t->backend, &work);
        }
        release(t, t->events[i]);
    }
    done->native = t->events[t->event_count - 1].native;
}

void dynsel_transfers_end(const dynsel_transfers *t, bool started, dynsel_event *done)
{
    if (DYNSEL_LIKELY(t->event_count == t->after_count)) {
        /* nothing was copied in */
    } else if (started) {
        for (uint32_t i = t->after_count; i < t->event_count; i++) {
            release(t, t->events[i]);
        }
    } else {
        wait_in_place_of_command(t, done);
    }
    for (uint32_t i = 0; i < t->referenced; i++) {
        dynsel_slot_unref(dynsel_slot_of_token(t->uses->after[i]), DYNSEL_SLOT_REF);
    }
}

/* Idle staging memory first, because it contains no data that are needed. */
bool dynsel_transfers_make_room(const dynsel_uses *uses)
{
    dynsel_given_copy given = {.backend = NULL};
    if (uses->domain == DYNSEL_HOST_DOMAIN) {
        return false;
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const bool staging = dynsel_staging_evict(uses->domain);
    const bool evicted = staging || dynsel_copy_evict(uses->domain, &given);
    dynsel_spinlock_release(&dynsel_memory_lock);
    if (staging) {
        dynsel_staging_release();
    } else if (evicted) {
        dynsel_copy_release(&given);
    }
    return evicted;
}

/* Fails because the device has no room, and none could be made. name: of the buffer.
 * failures_before: the thread's count, to find the details of the backend's failure. */
static dynsel_status refuse_full(const char *name, size_t bytes, uint32_t failures_before)
{
    dynsel_error error = dynsel_details_of(DYNSEL_E_AGAIN, failures_before);
    (void)name; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    error.status = DYNSEL_E_FULL;
    error.subject = DYNSEL_TEXT(name);
    error.number = (uint32_t)bytes;
    error.detail = DYNSEL_TEXT("the device's memory is full: there is no room for {} bytes, and "
                               "nothing in it that is not in use and valid elsewhere");
    if (error.function == NULL) {
        error.function = DYNSEL_TEXT("dynsel_submit_command_group");
    }
    return dynsel_fail(&error);
}

/* name, bytes: for error texts. memory: in and out, see `allocate` of dynsel_memory_ops. */
static dynsel_status allocate(const dynsel_transfers *t, const char *name, size_t bytes,
                              dynsel_memory *memory)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    const dynsel_memory wanted = *memory;
    dynsel_status status = DYNSEL_OK;
    do {
        *memory = wanted;
        status = t->ops->allocate(t->backend, t->own, memory);
    } while (status == DYNSEL_E_AGAIN && dynsel_transfers_make_room(t->uses));
    return status != DYNSEL_E_AGAIN ? status : refuse_full(name, bytes, failures_before);
}

/* Makes room too, because some drivers allocate memory only when it is used. */
static dynsel_status copy_in(dynsel_transfers *t, const char *name, uint32_t buffer, size_t bytes,
                             dynsel_memory *memory, bool contents)
{
    const uint64_t since = dynsel_traced_now();
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    /* Shared memory waits for nothing: readers may run meanwhile, and the device gets the memory
     * even if the command fails. */
    const uint32_t after_count = memory->shared ? 0 : t->after_count;
    dynsel_event done;
    dynsel_status status = DYNSEL_OK;
    do {
        done.native = NULL;
        status = t->ops->bring(t->backend, t->own, memory, contents, t->events, after_count, &done);
    } while (status == DYNSEL_E_AGAIN && dynsel_transfers_make_room(t->uses));
    if (status == DYNSEL_OK && done.native != NULL) {
        t->events[t->event_count++] = done;
    }
    if (status == DYNSEL_OK && contents && !memory->shared) {
        dynsel_traced_copy(&dynsel_uses_slot(t->uses)->selection, buffer, t->uses->domain, false,
                           bytes, since);
    }
    return status != DYNSEL_E_AGAIN ? status : refuse_full(name, bytes, failures_before);
}

/* Publishes a new copy. Shared memory belongs to the device now, or after the copy in. */
static void enter(const dynsel_transfers *t, dynsel_use *use, const dynsel_memory *memory)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_domain_record *const domain = &dynsel_domains[t->uses->domain - 1];
    dynsel_copy_record *const copy = dynsel_copy_at(record, t->uses->domain);
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    copy->memory = *memory;
    copy->own = t->own;
    copy->raw = !memory->shared;
    if (memory->shared) {
        dynsel_set_valid(&record->validity, DYNSEL_HOST_DOMAIN, false);
        use->copy_in = memory->mapping != DYNSEL_UNMAPPED;
        if (use->contents) {
            record->movement.copies_avoided++;
            domain->movement.copies_avoided++;
        }
        use->contents |=
            use->copy_in && use->host_was_valid; /* in case the command does not begin */
    } else if (use->may_share) {
        record->shared_by = 0;
    }
    if (use->may_share) {
        domain->shares = memory->shared;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
}

static dynsel_status allocate_copy(const dynsel_transfers *t, dynsel_use *use)
{
    const dynsel_buffer_record *const record = use->record;
    dynsel_memory memory = {.host = record->data, .bytes = record->bytes, .shared = use->may_share};
    const dynsel_status status = allocate(t, use->name, record->bytes, &memory);
    if (status == DYNSEL_OK) {
        enter(t, use, &memory);
    }
    return status;
}

/* After a transfer into it, which a failure of the start may have prevented the last time. */
static void note_usable(dynsel_copy_record *copy)
{
    if (!DYNSEL_LIKELY(!copy->raw)) {
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        copy->raw = false;
        dynsel_spinlock_release(&dynsel_memory_lock);
    }
}

/* pinning: of the copy before the transfer. */
static void count_in(const dynsel_transfers *t, const dynsel_use *use, uint8_t pinning)
{
    dynsel_buffer_record *const record = use->record;
    const dynsel_memory *const memory = &dynsel_copy_at(record, t->uses->domain)->memory;
    dynsel_movement *const movements[] = {&record->movement,
                                          &dynsel_domains[t->uses->domain - 1].movement};
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    for (uint32_t i = 0; i < 2; i++) {
        movements[i]->bytes_in += record->bytes;
        movements[i]->copies_in++;
        dynsel_movement_count_pinned(movements[i], memory, pinning);
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
}

static dynsel_status copy_use_in(dynsel_transfers *t, dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_copy_record *const copy = dynsel_copy_at(record, t->uses->domain);
    dynsel_memory *const memory = &copy->memory;
    const uint8_t pinning = memory->pinning;
    const dynsel_status status =
        copy_in(t, use->name, dynsel_buffer_number(record), record->bytes, memory, use->contents);
    use->copied_in = status == DYNSEL_OK;
    if (use->copied_in) {
        note_usable(copy);
    }
    if (status == DYNSEL_OK && use->contents && !memory->shared) {
        count_in(t, use, pinning);
    }
    return status;
}

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
/* As copy_in(), from the copy in another domain, which stays as it is until the work is over. */
static dynsel_status pass_in(dynsel_transfers *t, dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    const dynsel_copy_record *const from = dynsel_copy_at(record, dynsel_use_passed_from(use));
    dynsel_memory *const memory = &dynsel_copy_at(record, t->uses->domain)->memory;
    const uint64_t since = dynsel_traced_now();
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_event done;
    dynsel_status status = DYNSEL_OK;
    do {
        done.native = NULL;
        status = t->ops->pass(t->backend, t->own, memory, from->own, &from->memory, t->events,
                              t->after_count, &done);
    } while (status == DYNSEL_E_AGAIN && dynsel_transfers_make_room(t->uses));
    if (status == DYNSEL_E_AGAIN) {
        return refuse_full(use->name, record->bytes, failures_before);
    }
    if (status != DYNSEL_OK) {
        const dynsel_error failure = dynsel_details_of(status, failures_before);
        dynsel_pass_goes_around(t->uses, record, dynsel_use_passed_from(use), &failure);
        return status;
    }
    if (done.native != NULL) {
        t->events[t->event_count++] = done;
    }
    use->copied_in = true;
    note_usable(dynsel_copy_at(record, t->uses->domain));
    dynsel_pass_count(t->uses, use);
    dynsel_traced_pass(&dynsel_uses_slot(t->uses)->selection, dynsel_buffer_number(record),
                       dynsel_use_passed_from(use), t->uses->domain, record->bytes, since);
    return DYNSEL_OK;
}

/* The start is withdrawn: no transfer may be in flight, nor its copy be taken for valid. */
static void end_passes(dynsel_transfers *t)
{
    for (uint32_t i = t->after_count; i < t->event_count; i++) {
        const dynsel_work work = work_of(t, t->events[i]);
        (void)t->backend->ops->wait(t->backend, &work);
        release(t, t->events[i]);
    }
    t->event_count = t->after_count;
    for (uint32_t i = 0; i < t->uses->count; i++) {
        t->uses->each[i].copied_in = false;
    }
}
#endif

/* Before any other transfer: after a refused one the start may be withdrawn. */
static dynsel_status pass_all(dynsel_transfers *t)
{
    dynsel_status status = DYNSEL_OK;
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    for (uint32_t i = 0; i < t->uses->count && status == DYNSEL_OK; i++) {
        dynsel_use *const use = &t->uses->each[i];
        status = dynsel_use_passed_from(use) != DYNSEL_HOST_DOMAIN ? pass_in(t, use) : DYNSEL_OK;
    }
    if (dynsel_uses_go_around(t->uses)) {
        end_passes(t);
    }
#else
    (void)t;
#endif
    return status;
}

static bool is_copied_from_host(const dynsel_use *use)
{
    return use->copy_in && dynsel_use_passed_from(use) == DYNSEL_HOST_DOMAIN;
}

/* The staging memory belongs to the work until it is over. */
static dynsel_status allocate_staging(const dynsel_transfers *t, dynsel_staged *staged)
{
    dynsel_memory *const kept = dynsel_staging_memory(staged);
    dynsel_memory memory = {.bytes = kept->bytes};
    const dynsel_status status = allocate(t, A_RANGE, staged->memory.bytes, &memory);
    if (status == DYNSEL_OK) {
        kept->native = memory.native; /* only this member: other threads read `bytes` */
        dynsel_staging_allocated(staged, t->own);
        staged->memory.native = memory.native;
        staged->fresh = true;
    }
    return status;
}

static dynsel_status allocate_all(const dynsel_transfers *t)
{
    dynsel_uses *const uses = t->uses;
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; i < uses->count && status == DYNSEL_OK; i++) {
        status = uses->each[i].allocate ? allocate_copy(t, &uses->each[i]) : DYNSEL_OK;
    }
    if (status == DYNSEL_OK && uses->staged_count != 0) {
        dynsel_staging_release(); /* memory that was removed from the table for this start */
    }
    for (uint32_t i = 0; i < uses->staged_count && status == DYNSEL_OK; i++) {
        dynsel_staged *const staged = &uses->staged[i];
        status = staged->memory.native == NULL ? allocate_staging(t, staged) : DYNSEL_OK;
    }
    return status;
}

/* Allocates all memory before any copy: without room no transfer is in flight. */
dynsel_status dynsel_transfers_in(dynsel_transfers *t)
{
    dynsel_uses *const uses = t->uses;
    if (uses->domain == DYNSEL_HOST_DOMAIN) {
        return DYNSEL_OK;
    }
    dynsel_status status = allocate_all(t);
    if (status == DYNSEL_OK) {
        status = pass_all(t);
    }
    for (uint32_t i = 0; i < uses->count && status == DYNSEL_OK; i++) {
        status = is_copied_from_host(&uses->each[i]) ? copy_use_in(t, &uses->each[i]) : DYNSEL_OK;
    }
    for (uint32_t i = 0; i < uses->staged_count && status == DYNSEL_OK; i++) {
        dynsel_staged *const staged = &uses->staged[i];
        if (staged->in || staged->fresh) {
            status = copy_in(t, A_RANGE, 0, staged->memory.bytes, &staged->memory, staged->in);
            staged->came = status == DYNSEL_OK && staged->in;
            if (status == DYNSEL_OK && staged->fresh) {
                dynsel_staging_usable(staged);
            }
        }
    }
    return status;
}

static dynsel_status write_back(const dynsel_transfers *t, dynsel_staged *staged,
                                dynsel_event *done)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    const uint64_t since = dynsel_traced_now();
    dynsel_event next = {.native = NULL};
    dynsel_status status = DYNSEL_OK;
    do {
        status = t->ops->write_back(t->backend, t->own, &staged->memory, done,
                                    done->native != NULL ? 1 : 0, &next);
    } while (status == DYNSEL_E_AGAIN && dynsel_transfers_make_room(t->uses));
    if (status == DYNSEL_E_AGAIN) {
        return refuse_full(A_RANGE, staged->memory.bytes, failures_before);
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    dynsel_traced_copy(&dynsel_uses_slot(t->uses)->selection, 0, t->uses->domain, true,
                       staged->memory.bytes, since);
    staged->went = true;
    if (done->native != NULL) {
        release(t, *done);
    }
    done->native = next.native;
    return DYNSEL_OK;
}

/* Each copy waits for the one before, so that the last event completes after all, with all
 * failures. */
dynsel_status dynsel_transfers_out(const dynsel_transfers *t, dynsel_event *done)
{
    dynsel_status status = DYNSEL_OK;
    const uint32_t count = t->uses->domain != DYNSEL_HOST_DOMAIN ? t->uses->staged_count : 0;
    for (uint32_t i = 0; i < count && status == DYNSEL_OK; i++) {
        dynsel_staged *const staged = &t->uses->staged[i];
        status = staged->out ? write_back(t, staged, done) : DYNSEL_OK;
    }
    return status;
}
