/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/run.h"

#include "base/fail.h"
#include "data/buffers.h"
#include "data/transfers.h"
#include "groups/failures.h"
#include "groups/host_commands.h"
#include "port/likely.h"

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
    while (status == DYNSEL_E_AGAIN && done->native == NULL &&
           dynsel_transfers_make_room(group->uses)) {
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

static DYNSEL_ASIDE dynsel_status run_closely(dynsel_handler *group, const dynsel_resource *where,
                                              dynsel_event *done)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_transfers t;
    dynsel_transfers_begin(&t, group->uses, where);
    dynsel_status status = dynsel_transfers_in(&t);
    if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
        group->command.after = t.events;
        group->command.after_count = t.event_count;
        status = launch(group, where, done);
        group->command.after = NULL;
        group->command.after_count = 0;
    } else {
        (void)refuse_start(group, status, failures_before);
    }
    if (status == DYNSEL_OK && group->uses->staged_count != 0) {
        status = dynsel_transfers_out(&t, done);
        group->ran = status != DYNSEL_OK;
    }
    dynsel_transfers_end(&t, status == DYNSEL_OK || done->native != NULL, done);
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
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    group->bytes = moved;
#if CONFIG_DYNSEL_STATISTICS
    add(&dynsel_slot_of(group)->selection.policy->range_bytes, &moved);
#endif
    dynsel_spinlock_release(&dynsel_memory_lock);
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
        DYNSEL_LIKELY(group->uses->resident && group->uses->after_count == 0)
            ? launch(group, where, done)
            : run_closely(group, where, done);
    tell_ranges(group);
    return status;
}
