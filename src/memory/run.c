/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/run.h"

#include "core/deferred.h"
#include "core/fail.h"
#include "memory/coherence.h"
#include "memory/domains.h"
#include "memory/evict.h"
#include "memory/host_commands.h"
#include "memory/lock.h"
#include "port/likely.h"

enum { MOST_EVENTS = CONFIG_DYNSEL_MAX_DEPENDENCIES + 2 * CONFIG_DYNSEL_MAX_REQUIREMENTS };

/* One start on a device. */
typedef struct run {
    dynsel_handler *group;
    const dynsel_resource *where;
    dynsel_backend *backend;
    const dynsel_memory_ops *ops;
    void *own;
    uint32_t pinned;      /* in group->after, from the first on */
    uint32_t after_count; /* of `events`: of work that was pinned */
    uint32_t event_count; /* with those of what was brought */
    dynsel_event events[MOST_EVENTS];
} run;

static dynsel_slot *slot_of_token(uint32_t token)
{
    return dynsel_slot_at(dynsel_slot_number_in(token));
}

/* What is over by now needs no waiting; the rest keeps its event while it is pinned. */
static void collect_after(run *r)
{
    /* cppcheck-suppress ctuuninitvar */
    uint32_t *const after = r->group->after;
    for (uint32_t i = 0; i < r->group->after_count; i++) {
        if (dynsel_deferred_pin(after[i])) {
            const dynsel_event *const done = &slot_of_token(after[i])->work.done;
            after[r->pinned++] = after[i];
            if (done->native != NULL) {
                r->events[r->after_count++] = (dynsel_event){.native = done->native};
            }
        }
    }
    r->event_count = r->after_count;
}

static void unpin(const run *r)
{
    for (uint32_t i = 0; i < r->pinned; i++) {
        dynsel_slot_drop(slot_of_token(r->group->after[i]), DYNSEL_SLOT_PIN);
    }
}

static dynsel_work work_of(const run *r, dynsel_event event)
{
    return (dynsel_work){.where = r->where, .own = r->own, .done = event};
}

static void release(const run *r, dynsel_event event)
{
    dynsel_work work = work_of(r, event);
    r->backend->ops->release(r->backend, &work);
}

static void release_brought(const run *r)
{
    for (uint32_t i = r->after_count; i < r->event_count; i++) {
        release(r, r->events[i]);
    }
}

/* The work ends when what it brought has arrived, although nothing follows: the host's memory and
 * the copies are not anybody's before. */
static void wait_in_place_of_command(const run *r, dynsel_event *done)
{
    for (uint32_t i = r->after_count; i + 1 < r->event_count; i++) {
        if (!r->group->in_order) {
            const dynsel_work work = work_of(r, r->events[i]);
            (void)r->backend->ops->wait(r->backend, &work);
        }
        release(r, r->events[i]);
    }
    if (r->event_count > r->after_count) {
        done->native = r->events[r->event_count - 1].native;
    }
}

static dynsel_copy_record *copy_of(const dynsel_handler *group, const dynsel_use *use)
{
    return &use->record->copies[group->domain - 1];
}

static dynsel_status refuse_full(const dynsel_use *use)
{
    return dynsel_fail(&(dynsel_error){
        .status = DYNSEL_E_FULL,
        .function = DYNSEL_TEXT("dynsel_submit_command_group"),
        .subject = DYNSEL_TEXT(use->name),
        .number = (uint32_t)use->record->bytes,
        .detail = DYNSEL_TEXT("the device's memory is full: there is no room for {} bytes, and "
                              "nothing in it that is not in use and valid elsewhere"),
    });
}

static bool evict(uint32_t domain)
{
    dynsel_given_copy given;
    dynsel_lock_acquire(&dynsel_memory_lock);
    const bool evicted = dynsel_copy_evict(domain, &given);
    dynsel_lock_release(&dynsel_memory_lock);
    if (evicted) {
        dynsel_copy_release(&given);
    }
    return evicted;
}

/* Makes the new memory known. Shared memory is the device's now, or will be when it was handed
 * over. */
static void enter(const run *r, dynsel_use *use, const dynsel_memory *memory)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_domain_record *const domain = &dynsel_domains[r->group->domain - 1];
    dynsel_copy_record *const copy = copy_of(r->group, use);
    dynsel_lock_acquire(&dynsel_memory_lock);
    copy->memory = *memory;
    copy->own = r->own;
    if (memory->shared) {
        record->host_valid = false;
        use->bring = memory->mapping != DYNSEL_UNMAPPED;
        if (use->contents) {
            record->movement.copies_avoided++;
            domain->movement.copies_avoided++;
        }
    } else if (use->may_share) {
        record->shared_by = 0;
    }
    if (use->may_share) {
        domain->shares = memory->shared;
    }
    dynsel_lock_release(&dynsel_memory_lock);
}

static dynsel_status allocate(const run *r, dynsel_use *use)
{
    const dynsel_buffer_record *const record = use->record;
    dynsel_memory memory;
    dynsel_status status = DYNSEL_OK;
    do {
        memory =
            (dynsel_memory){.host = record->data, .bytes = record->bytes, .shared = use->may_share};
        status = r->ops->allocate(r->backend, r->own, &memory);
    } while (status == DYNSEL_E_AGAIN && evict(r->group->domain));
    if (status == DYNSEL_E_AGAIN) {
        return refuse_full(use);
    }
    if (status == DYNSEL_OK) {
        enter(r, use, &memory);
    }
    return status;
}

static void count_in(const run *r, const dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_movement *const movements[] = {&record->movement,
                                          &dynsel_domains[r->group->domain - 1].movement};
    dynsel_lock_acquire(&dynsel_memory_lock);
    for (uint32_t i = 0; i < 2; i++) {
        movements[i]->bytes_in += record->bytes;
        movements[i]->copies_in++;
    }
    dynsel_lock_release(&dynsel_memory_lock);
}

static dynsel_status try_to_bring(run *r, const dynsel_use *use)
{
    dynsel_memory *const memory = &copy_of(r->group, use)->memory;
    dynsel_event done = {.native = NULL};
    const dynsel_status status =
        r->ops->bring(r->backend, r->own, memory, use->contents, r->events, r->after_count, &done);
    if (status == DYNSEL_OK && use->contents && !memory->shared) {
        count_in(r, use);
    }
    if (status == DYNSEL_OK && done.native != NULL) {
        r->events[r->event_count++] = done;
    }
    return status;
}

/* Some drivers look for room only when the memory is used. */
static dynsel_status bring(run *r, const dynsel_use *use)
{
    dynsel_status status = DYNSEL_OK;
    do {
        status = try_to_bring(r, use);
    } while (status == DYNSEL_E_AGAIN && evict(r->group->domain));
    return status != DYNSEL_E_AGAIN ? status : refuse_full(use);
}

static dynsel_status undo_from(const run *r, uint32_t first, dynsel_status status)
{
    dynsel_lock_acquire(&dynsel_memory_lock);
    dynsel_coherence_undo(r->group, first);
    dynsel_lock_release(&dynsel_memory_lock);
    return status;
}

/* First all room, then the data: where there is no room nothing is under way. */
static dynsel_status move_in(run *r)
{
    dynsel_use *const uses = r->group->uses;
    const uint32_t count = r->group->use_count;
    for (uint32_t i = 0; i < count; i++) {
        const dynsel_status status = uses[i].allocate ? allocate(r, &uses[i]) : DYNSEL_OK;
        if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
            continue;
        }
        return undo_from(r, 0, status);
    }
    for (uint32_t i = 0; i < count; i++) {
        const dynsel_status status = uses[i].bring ? bring(r, &uses[i]) : DYNSEL_OK;
        if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
            continue;
        }
        return undo_from(r, i, status);
    }
    return DYNSEL_OK;
}

/* Nothing has to be moved on the way of most work. */
static inline bool moves_nothing(const dynsel_handler *group)
{
    bool moves = false;
    for (uint32_t i = 0; i < group->use_count; i++) {
        moves |= group->uses[i].allocate || group->uses[i].bring;
    }
    return !moves;
}

/* From uses to memory. */
static void point_arguments(dynsel_handler *group)
{
    for (uint32_t i = 0; i < group->argument_count; i++) {
        dynsel_argument *const argument = &group->arguments[i];
        if (argument->kind == DYNSEL_ARGUMENT_DATA) {
            dynsel_buffer_record *const record = group->uses[argument->use].record;
            argument->value = record->data;
            argument->bytes = record->bytes;
            argument->memory = group->domain != DYNSEL_HOST_DOMAIN
                                   ? &record->copies[group->domain - 1].memory
                                   : NULL;
        }
    }
}

/* The device found no room for the command, and none could be made. */
DYNSEL_RARE static dynsel_status refuse_command(uint32_t failures_before)
{
    dynsel_error error = dynsel_details_of(DYNSEL_E_AGAIN, failures_before);
    error.status = DYNSEL_E_FULL;
    return dynsel_fail(&error);
}

static dynsel_status launch(run *r, dynsel_event *done)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_command *const command = &r->group->command;
    point_arguments(r->group);
    command->launch.where = r->where;
    command->after = r->events;
    command->after_count = r->event_count;
    dynsel_status status = DYNSEL_OK;
    do {
        status = r->ops->launch(r->backend, r->own, command, done);
    } while (status == DYNSEL_E_AGAIN && done->native == NULL && evict(r->group->domain));
    command->after = NULL;
    command->after_count = 0;
    return DYNSEL_LIKELY(status != DYNSEL_E_AGAIN) ? status : refuse_command(failures_before);
}

static dynsel_status run_on_device(run *r, dynsel_event *done)
{
    collect_after(r);
    dynsel_status status = moves_nothing(r->group) ? DYNSEL_OK : move_in(r);
    if (status == DYNSEL_OK) {
        status = launch(r, done);
    }
    if (DYNSEL_LIKELY(r->event_count == r->after_count)) {
        /* nothing was brought */
    } else if (status == DYNSEL_OK || done->native != NULL) {
        release_brought(r);
    } else {
        wait_in_place_of_command(r, done);
    }
    unpin(r);
    return status;
}

dynsel_status dynsel_group_run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    dynsel_handler *const group = args;
    dynsel_backend *const backend = where->backend;
    if (backend->ops->memory == NULL) {
        point_arguments(group);
        group->command.launch.where = where;
        return dynsel_host_command(group);
    }
    run r; /* its events are written before they are read */
    r.group = group;
    r.where = where;
    r.backend = backend;
    r.ops = backend->ops->memory;
    r.own = dynsel_slot_of(group)->work.own;
    r.pinned = 0;
    r.after_count = 0;
    return run_on_device(&r, done);
}
