/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/run.h"

#include "base/fail.h"
#include "data/buffers.h"
#include "data/decision.h"
#include "data/domains.h"
#include "data/evict.h"
#include "data/staging.h"
#include "data/validity.h"
#include "groups/failures.h"
#include "groups/host_commands.h"
#include "groups/running.h"
#include "port/likely.h"
#include "submission/deferred.h"

static dynsel_slot *slot_of_token(uint32_t token)
{
    return dynsel_slot_at(dynsel_slot_number_in(token));
}

/* What is over by now needs no waiting; the rest keeps its event while it is pinned. */
static void collect_after(dynsel_running *r)
{
    /* cppcheck-suppress ctuuninitvar */
    uint32_t *const after = r->group->uses->after;
    for (uint32_t i = 0; i < r->group->uses->after_count; i++) {
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

static void unpin(const dynsel_running *r)
{
    for (uint32_t i = 0; i < r->pinned; i++) {
        dynsel_slot_drop(slot_of_token(r->group->uses->after[i]), DYNSEL_SLOT_PIN);
    }
}

static dynsel_work work_of(const dynsel_running *r, dynsel_event event)
{
    return (dynsel_work){.where = r->where, .own = r->own, .done = event};
}

void dynsel_running_release(const dynsel_running *r, dynsel_event event)
{
    dynsel_work work = work_of(r, event);
    r->backend->ops->release(r->backend, &work);
}

static void release_brought(const dynsel_running *r)
{
    for (uint32_t i = r->after_count; i < r->event_count; i++) {
        dynsel_running_release(r, r->events[i]);
    }
}

/* The work ends when what it brought has arrived, although nothing follows: the host's memory and
 * the copies are not anybody's before. */
static void wait_in_place_of_command(const dynsel_running *r, dynsel_event *done)
{
    for (uint32_t i = r->after_count; i + 1 < r->event_count; i++) {
        if (!r->group->uses->in_order) {
            const dynsel_work work = work_of(r, r->events[i]);
            (void)r->backend->ops->wait(r->backend, &work);
        }
        dynsel_running_release(r, r->events[i]);
    }
    if (r->event_count > r->after_count) {
        done->native = r->events[r->event_count - 1].native;
    }
}

static dynsel_copy_record *copy_of(const dynsel_handler *group, const dynsel_use *use)
{
    return &use->record->copies[group->uses->domain - 1];
}

dynsel_status dynsel_running_refuse_full(const char *name, size_t bytes, uint32_t failures_before)
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

static dynsel_status refuse_full(const dynsel_use *use, uint32_t failures_before)
{
    return dynsel_running_refuse_full(use->name, use->record->bytes, failures_before);
}

/* Staging memory has nothing in it that anybody needs. */
bool dynsel_running_evict(const dynsel_handler *group)
{
    const uint32_t domain = group->uses->domain;
    dynsel_given_copy given = {.backend = NULL};
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    const bool staging = dynsel_staging_evict(domain);
    const bool evicted = staging || dynsel_copy_evict(domain, &given);
    dynsel_brief_lock_release(&dynsel_memory_lock);
    if (staging) {
        dynsel_staging_release();
    } else if (evicted) {
        dynsel_copy_release(&given);
    }
    return evicted;
}

/* Makes the new memory known. Shared memory is the device's now, or will be when it was handed
 * over. */
static void enter(const dynsel_running *r, dynsel_use *use, const dynsel_memory *memory)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_domain_record *const domain = &dynsel_domains[r->group->uses->domain - 1];
    dynsel_copy_record *const copy = copy_of(r->group, use);
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    copy->memory = *memory;
    copy->own = r->own;
    if (memory->shared) {
        dynsel_set_valid(record, DYNSEL_HOST_DOMAIN, false);
        use->bring = memory->mapping != DYNSEL_UNMAPPED;
        if (use->contents) {
            record->movement.copies_avoided++;
            domain->movement.copies_avoided++;
        }
        use->contents |= use->bring && use->host_was_valid; /* for when the work does not begin */
    } else if (use->may_share) {
        record->shared_by = 0;
    }
    if (use->may_share) {
        domain->shares = memory->shared;
    }
    dynsel_brief_lock_release(&dynsel_memory_lock);
}

static dynsel_status allocate(const dynsel_running *r, dynsel_use *use)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    const dynsel_buffer_record *const record = use->record;
    dynsel_memory memory;
    dynsel_status status = DYNSEL_OK;
    do {
        memory =
            (dynsel_memory){.host = record->data, .bytes = record->bytes, .shared = use->may_share};
        status = r->ops->allocate(r->backend, r->own, &memory);
    } while (status == DYNSEL_E_AGAIN && dynsel_running_evict(r->group));
    if (status == DYNSEL_E_AGAIN) {
        return refuse_full(use, failures_before);
    }
    if (status == DYNSEL_OK) {
        enter(r, use, &memory);
    }
    return status;
}

static void count_in(const dynsel_running *r, const dynsel_use *use)
{
    dynsel_buffer_record *const record = use->record;
    dynsel_movement *const movements[] = {&record->movement,
                                          &dynsel_domains[r->group->uses->domain - 1].movement};
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    for (uint32_t i = 0; i < 2; i++) {
        movements[i]->bytes_in += record->bytes;
        movements[i]->copies_in++;
    }
    dynsel_brief_lock_release(&dynsel_memory_lock);
}

static dynsel_status try_to_bring(dynsel_running *r, dynsel_use *use)
{
    dynsel_memory *const memory = &copy_of(r->group, use)->memory;
    dynsel_event done = {.native = NULL};
    /* Readers may go on meanwhile, and the device has the memory even if the command fails. */
    const uint32_t after_count = memory->shared ? 0 : r->after_count;
    const dynsel_status status =
        r->ops->bring(r->backend, r->own, memory, use->contents, r->events, after_count, &done);
    use->brought = status == DYNSEL_OK;
    if (status == DYNSEL_OK && use->contents && !memory->shared) {
        count_in(r, use);
    }
    if (status == DYNSEL_OK && done.native != NULL) {
        r->events[r->event_count++] = done;
    }
    return status;
}

/* Some drivers look for room only when the memory is used. */
static dynsel_status bring(dynsel_running *r, dynsel_use *use)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_status status = DYNSEL_OK;
    do {
        status = try_to_bring(r, use);
    } while (status == DYNSEL_E_AGAIN && dynsel_running_evict(r->group));
    return status != DYNSEL_E_AGAIN ? status : refuse_full(use, failures_before);
}

/* First all room, then the data: where there is no room nothing is under way. */
static dynsel_status move_in(dynsel_running *r)
{
    dynsel_use *const uses = r->group->uses->each;
    const uint32_t count = r->group->uses->count;
    for (uint32_t i = 0; i < count; i++) {
        const dynsel_status status = uses[i].allocate ? allocate(r, &uses[i]) : DYNSEL_OK;
        if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
            continue;
        }
        return status;
    }
    const dynsel_status room = dynsel_stage_allocate(r);
    if (room != DYNSEL_OK) {
        return room;
    }
    for (uint32_t i = 0; i < count; i++) {
        const dynsel_status status = uses[i].bring ? bring(r, &uses[i]) : DYNSEL_OK;
        if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
            continue;
        }
        return status;
    }
    return dynsel_stage_in(r);
}

/* Nothing has to be moved on the way of most work. */
static inline bool moves_nothing(const dynsel_handler *group)
{
    bool moves = dynsel_running_stages(group);
    for (uint32_t i = 0; i < group->uses->count; i++) {
        moves |= group->uses->each[i].allocate || group->uses->each[i].bring;
    }
    return !moves;
}

static void point_to_buffer(const dynsel_handler *group, dynsel_argument *argument)
{
    dynsel_buffer_record *const record = group->uses->each[argument->use].record;
    argument->value = record->data;
    argument->bytes = record->bytes;
    argument->memory = group->uses->domain != DYNSEL_HOST_DOMAIN
                           ? &record->copies[group->uses->domain - 1].memory
                           : NULL;
}

static DYNSEL_ASIDE void point_to_range(dynsel_handler *group, dynsel_argument *argument)
{
    dynsel_staged *const staged = &group->uses->staged[argument->use & ~(uint32_t)DYNSEL_IS_STAGED];
    argument->value = staged->memory.host;
    argument->bytes = staged->memory.bytes;
    argument->memory = group->uses->domain != DYNSEL_HOST_DOMAIN ? &staged->memory : NULL;
}

/* From uses to memory. */
static void point_arguments(dynsel_handler *group)
{
    for (uint32_t i = 0; i < group->argument_count; i++) {
        dynsel_argument *const argument = &group->arguments[i];
        if (argument->kind != DYNSEL_ARGUMENT_DATA) {
            continue;
        }
        if (DYNSEL_LIKELY((argument->use & DYNSEL_IS_STAGED) == 0)) {
            point_to_buffer(group, argument);
        } else {
            point_to_range(group, argument);
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

/* The command was not started, and nothing will come of it. */
DYNSEL_RARE static dynsel_status refuse_start(dynsel_handler *group, dynsel_status status,
                                              uint32_t failures_before)
{
    const dynsel_error error = dynsel_details_of(status, failures_before);
    dynsel_failure_enter(group, &error);
    return status;
}

/* Whether the launch failed before the command could begin is the backend's to say. */
DYNSEL_RARE static dynsel_status fail_launch(dynsel_handler *group, const dynsel_event *done,
                                             dynsel_status status, uint32_t failures_before)
{
    const dynsel_memory_ops *const ops = group->command.launch.where->backend->ops->memory;
    if (done->native == NULL && ops->launch_is_asynchronous) {
        return refuse_start(group, status, failures_before);
    }
    group->ran = true;
    return status;
}

static inline dynsel_status launch_once(const dynsel_handler *group, dynsel_event *done)
{
    dynsel_backend *const backend = group->command.launch.where->backend;
    return backend->ops->memory->launch(backend, dynsel_slot_of(group)->work.own, &group->command,
                                        done);
}

DYNSEL_RARE static dynsel_status launch_with_room(dynsel_handler *group, dynsel_event *done,
                                                  uint32_t failures_before)
{
    dynsel_status status = DYNSEL_E_AGAIN;
    while (status == DYNSEL_E_AGAIN && done->native == NULL && dynsel_running_evict(group)) {
        status = launch_once(group, done);
    }
    return status != DYNSEL_E_AGAIN ? status : refuse_command(failures_before);
}

static dynsel_status launch(dynsel_handler *group, const dynsel_resource *where, dynsel_event *done)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    point_arguments(group);
    group->command.launch.where = where;
    dynsel_status status = launch_once(group, done);
    if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return status;
    }
    if (status == DYNSEL_E_AGAIN) {
        status = launch_with_room(group, done, failures_before);
    }
    return status == DYNSEL_OK ? status : fail_launch(group, done, status, failures_before);
}

static dynsel_status launch_after(const dynsel_running *r, dynsel_event *done)
{
    dynsel_command *const command = &r->group->command;
    command->after = r->events;
    command->after_count = r->event_count;
    const dynsel_status status = launch(r->group, r->where, done);
    command->after = NULL;
    command->after_count = 0;
    return status;
}

static dynsel_status run_on_device(dynsel_running *r, dynsel_event *done)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    collect_after(r);
    dynsel_status status = moves_nothing(r->group) ? DYNSEL_OK : move_in(r);
    if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
        status = launch_after(r, done);
    } else {
        (void)refuse_start(r->group, status, failures_before);
    }
    if (status == DYNSEL_OK && dynsel_running_stages(r->group)) {
        status = dynsel_stage_out(r, done);
        r->group->ran = status != DYNSEL_OK;
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

#if CONFIG_DYNSEL_STATISTICS
static void add(dynsel_range_bytes *sum, const dynsel_range_bytes *moved)
{
    sum->staged_in += moved->staged_in;
    sum->staged_out += moved->staged_out;
    sum->direct += moved->direct;
}
#endif

static DYNSEL_ASIDE void count_ranges(dynsel_handler *group)
{
    dynsel_range_bytes moved = {.direct = group->direct_bytes};
    for (uint32_t i = 0; i < group->uses->staged_count; i++) {
        const dynsel_staged *const staged = &group->uses->staged[i];
        moved.staged_in += staged->came ? staged->memory.bytes : 0;
        moved.staged_out += staged->went ? staged->memory.bytes : 0;
    }
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    group->bytes = moved;
#if CONFIG_DYNSEL_STATISTICS
    add(&dynsel_slot_of(group)->selection.policy->range_bytes, &moved);
#endif
    dynsel_brief_lock_release(&dynsel_memory_lock);
}

static inline void tell_ranges(dynsel_handler *group)
{
    if (!DYNSEL_LIKELY(group->uses->staged_count == 0 && group->direct_bytes == 0)) {
        count_ranges(group);
    }
}

/* As failures on devices are told. */
DYNSEL_RARE static dynsel_status name_kernel(const dynsel_handler *group, dynsel_status status,
                                             uint32_t failures_before)
{
    dynsel_error error = dynsel_details_of(status, failures_before);
    if (error.subject == NULL && group->command.kind == DYNSEL_COMMAND_KERNEL) {
        error.subject = DYNSEL_TEXT(group->command.kernel->name);
    }
    return dynsel_fail(&error);
}

static inline dynsel_status run_on_host(dynsel_handler *group)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_status status = dynsel_failure_check(group);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        dynsel_failure_note_on_host(group, false);
        return status;
    }
    status = dynsel_host_command(group);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        status = name_kernel(group, status, failures_before);
        dynsel_failure_note_on_host(group, true);
    }
    return status;
}

static DYNSEL_ASIDE dynsel_status run_closely(dynsel_handler *group, const dynsel_resource *where,
                                              dynsel_event *done)
{
    dynsel_backend *const backend = where->backend;
    dynsel_running r; /* its events are written before they are read */
    r.group = group;
    r.where = where;
    r.backend = backend;
    r.ops = backend->ops->memory;
    r.own = dynsel_slot_of(group)->work.own;
    r.pinned = 0;
    r.after_count = 0;
    return run_on_device(&r, done);
}

dynsel_status dynsel_group_run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    dynsel_handler *const group = args;
    if (where->backend->ops->memory == NULL) {
        point_arguments(group);
        tell_ranges(group);
        group->command.launch.where = where;
        return run_on_host(group);
    }
    /* the short way: nothing is moved, and the order on its resource is all that it needs */
    const dynsel_status status =
        DYNSEL_LIKELY(group->uses->at_hand && group->uses->after_count == 0)
            ? launch(group, where, done)
            : run_closely(group, where, done);
    tell_ranges(group);
    return status;
}
