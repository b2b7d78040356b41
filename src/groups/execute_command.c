/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/execute_command.h"

#include <string.h>

#include "base/fail.h"
#include "data/buffers.h"
#include "data/command_transfers.h"
#include "groups/failures.h"
#include "groups/group.h"
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

/* Slices and rows that lie one behind the other are as good as one row. */
static void join(dynsel_box *box)
{
    if (box->row_pitch == box->size[2]) {
        box->size[2] *= box->size[1];
        box->size[1] = 1;
        box->row_pitch = box->size[2];
    }
    if (box->slice_pitch == box->size[2]) {
        box->size[2] *= box->size[0];
        box->size[0] = 1;
    }
}

static unsigned char *row_of(const dynsel_argument *argument, const dynsel_box *box, size_t slice,
                             size_t row)
{
    return (unsigned char *)argument->value + box->first + slice * box->slice_pitch +
           row * box->row_pitch;
}

/* Only where both are joined alike are their rows the same. */
static void join_both(dynsel_box *from, dynsel_box *to)
{
    dynsel_box joined_from = *from;
    dynsel_box joined_to = *to;
    join(&joined_from);
    join(&joined_to);
    if (joined_from.size[2] == joined_to.size[2] && joined_from.size[1] == joined_to.size[1]) {
        *from = joined_from;
        *to = joined_to;
    }
}

static void copy(const dynsel_command *command)
{
    dynsel_box from = command->from_box;
    dynsel_box to = command->to_box;
    join_both(&from, &to);
    for (size_t slice = 0; slice < to.size[0]; slice++) {
        for (size_t row = 0; row < to.size[1]; row++) {
            (void)memcpy(row_of(command->to, &to, slice, row),
                         row_of(command->from, &from, slice, row), to.size[2]);
        }
    }
}

/* Doubles what is there; `bytes` is a multiple of the element's. */
static void fill_row(unsigned char *row, size_t bytes, const dynsel_command *command)
{
    size_t filled = command->element_bytes;
    (void)memcpy(row, command->element, filled);
    while (filled < bytes) {
        const size_t next = filled < bytes - filled ? filled : bytes - filled;
        (void)memcpy(row + filled, row, next);
        filled += next;
    }
}

static void fill(const dynsel_command *command)
{
    dynsel_box to = command->to_box;
    join(&to);
    for (size_t slice = 0; slice < to.size[0]; slice++) {
        for (size_t row = 0; row < to.size[1]; row++) {
            fill_row(row_of(command->to, &to, slice, row), to.size[2], command);
        }
    }
}

/* Runs the host form of the command in this thread; its arguments point to the host's memory. */
static dynsel_status run_host_form(const dynsel_handler *group)
{
    const dynsel_command *const command = &group->command;
    switch (command->kind) {
    case DYNSEL_COMMAND_KERNEL:
        return command->kernel->function(&command->launch);
    case DYNSEL_COMMAND_HOST_TASK:
        return group->host_task(&command->launch);
    case DYNSEL_COMMAND_COPY:
        copy(command);
        return DYNSEL_OK;
    case DYNSEL_COMMAND_FILL:
        fill(command);
        return DYNSEL_OK;
    default:
        return DYNSEL_OK;
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
    status = run_host_form(group);
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
