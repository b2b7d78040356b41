/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/execute_command.h"

#include <string.h>

#include "base/fail.h"
#include "data/buffers.h"
#include "data/command_transfers.h"
#include "groups/failures.h"
#include "groups/group.h"
#include "port/likely.h"

#if CONFIG_DYNSEL_BACKEND_MPI
static void tell_access(dynsel_argument *argument, bool reads, bool writes)
{
    const dynsel_access_mode with_contents = writes ? DYNSEL_ACCESS_READ_WRITE : DYNSEL_ACCESS_READ;
    argument->access = (uint8_t)(reads ? with_contents : DYNSEL_ACCESS_DISCARD_WRITE);
}
#else
static void tell_access(const dynsel_argument *argument, bool reads, bool writes)
{
    (void)argument;
    (void)reads;
    (void)writes;
}
#endif

static DYNSEL_ASIDE void point_to_range(dynsel_handler *group, dynsel_argument *argument)
{
    dynsel_staged *const staged = &group->uses->staged[argument->use & ~(uint32_t)DYNSEL_IS_STAGED];
    argument->value = staged->memory.host;
    argument->bytes = staged->memory.bytes;
    argument->memory = group->uses->domain != DYNSEL_HOST_DOMAIN ? &staged->memory : NULL;
    tell_access(argument, staged->in, staged->out);
}

/* Sets the memory of arguments from their uses. */
static void point_arguments(dynsel_handler *group)
{
    const uint32_t domain = group->uses->domain;
    for (uint32_t i = 0; i < group->argument_count; i++) {
        dynsel_argument *const argument = &group->arguments[i];
        if (argument->kind != DYNSEL_ARGUMENT_DATA) {
            continue;
        }
        if (DYNSEL_LIKELY((argument->use & DYNSEL_IS_STAGED) == 0)) {
            dynsel_buffer_record *const record = group->uses->each[argument->use].record;
            argument->value = record->data;
            argument->bytes = record->bytes;
            argument->memory =
                domain != DYNSEL_HOST_DOMAIN ? &dynsel_copy_at(record, domain)->memory : NULL;
            tell_access(argument, group->uses->each[argument->use].reads,
                        group->uses->each[argument->use].writes);
        } else {
            point_to_range(group, argument);
        }
    }
}

/* The command was not started and never will be. */
DYNSEL_RARE static dynsel_status refuse_start(dynsel_handler *group, dynsel_status status,
                                              uint32_t failures_before)
{
    if (!dynsel_uses_are_preserved(group->uses) || !dynsel_repeat_is_for(status)) {
        const dynsel_error error = dynsel_details_of(status, failures_before);
        dynsel_failure_enter(group, &error);
    } else {
        group->unrun = true; /* it may run again, elsewhere */
    }
    return status;
}

/* The backend declares whether a failed launch can have begun. */
DYNSEL_RARE static dynsel_status fail_launch(dynsel_handler *group, const dynsel_event *done,
                                             dynsel_status status, uint32_t failures_before)
{
    const dynsel_memory_ops *const ops = group->command.launch.where->backend->ops->memory;
    if (status == DYNSEL_E_AGAIN) { /* no room, and none could be made */
        dynsel_error full = dynsel_details_of(status, failures_before);
        full.status = DYNSEL_E_FULL;
        status = dynsel_fail(&full);
    }
    if (done->native == NULL && ops->launch_is_asynchronous) {
        return refuse_start(group, status, failures_before);
    }
    group->ran = true;
    return status;
}

static inline dynsel_status launch_once(const dynsel_handler *group, dynsel_event *done)
{
    dynsel_backend *const backend = group->command.launch.where->backend;
    return backend->ops->memory->launch(backend, group->uses->own, &group->command, done);
}

/* Frees memory of the device until the launch has room, or nothing more can be freed. */
DYNSEL_RARE static dynsel_status launch_with_room(dynsel_handler *group, dynsel_event *done)
{
    dynsel_status status = DYNSEL_E_AGAIN;
    while (status == DYNSEL_E_AGAIN && done->native == NULL &&
           dynsel_transfers_make_room(group->uses)) {
        status = launch_once(group, done);
    }
    return status;
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
        status = launch_with_room(group, done);
    }
    return status == DYNSEL_OK ? status : fail_launch(group, done, status, failures_before);
}

/* With transfers, or events of other queues. */
static DYNSEL_ASIDE dynsel_status launch_with_transfers(dynsel_handler *group,
                                                        const dynsel_resource *where,
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
    } else if (!dynsel_uses_go_around(group->uses)) {
        (void)refuse_start(group, status, failures_before);
    }
    if (status == DYNSEL_OK && group->uses->staged_count != 0) {
        status = dynsel_transfers_out(&t, done);
        group->ran = status != DYNSEL_OK;
    }
    dynsel_transfers_end(&t, status == DYNSEL_OK || done->native != NULL, done);
    return status;
}

static DYNSEL_ASIDE void count_ranges(dynsel_handler *group)
{
    if (dynsel_uses_go_around(group->uses)) {
        return; /* they count when the start takes place */
    }
    dynsel_range_bytes moved = {.direct = group->direct_bytes};
    for (uint32_t i = 0; i < group->uses->staged_count; i++) {
        const dynsel_staged *const staged = &group->uses->staged[i];
        moved.staged_in += staged->came ? staged->memory.bytes : 0;
        moved.staged_out += staged->went ? staged->memory.bytes : 0;
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    group->bytes = moved;
#if CONFIG_DYNSEL_STATISTICS
    dynsel_range_bytes *const sum = &dynsel_slot_of(group)->selection.policy->range_bytes;
    sum->staged_in += moved.staged_in;
    sum->staged_out += moved.staged_out;
    sum->direct += moved.direct;
#endif
    dynsel_spinlock_release(&dynsel_memory_lock);
}

static inline bool has_ranges(const dynsel_handler *group)
{
    return !DYNSEL_LIKELY(group->uses->staged_count == 0 && group->direct_bytes == 0);
}

static inline void update_range_statistics(dynsel_handler *group)
{
    if (has_ranges(group)) {
        count_ranges(group);
    }
}

/* Turns contiguous slices and rows into one row. */
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

static void copy(const dynsel_command *command)
{
    dynsel_box from = command->from_box;
    dynsel_box to = command->to_box;
    join(&from);
    join(&to);
    if (from.size[2] != to.size[2] || from.size[1] != to.size[1]) {
        from = command->from_box; /* the joined rows differ, so rows are copied as they are */
        to = command->to_box;
    }
    for (size_t slice = 0; slice < to.size[0]; slice++) {
        for (size_t row = 0; row < to.size[1]; row++) {
            (void)memcpy(row_of(command->to, &to, slice, row),
                         row_of(command->from, &from, slice, row), to.size[2]);
        }
    }
}

/* Copies the filled part until the row is full. bytes: a multiple of the element's size. */
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

/* Runs the host form of the command in this thread; its arguments point to the host's memory. Not
 * inlined: else the locals of a copy would be on the stack of dynsel_group_run(). */
static DYNSEL_ASIDE dynsel_status run_host_form(const dynsel_handler *group)
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

/* Names the kernel, as backends of devices do. A function of its own keeps the error off the stack
 * of the user's function. */
DYNSEL_RARE static dynsel_status fail_on_host(const dynsel_handler *group, dynsel_status status,
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
        status = fail_on_host(group, status, failures_before);
        dynsel_failure_note_on_host(group, true);
    }
    return status;
}

dynsel_status dynsel_group_run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    dynsel_handler *const group = args;
    if (where->backend->ops->memory == NULL) {
        point_arguments(group);
        update_range_statistics(group);
        group->command.launch.where = where;
        return run_on_host(group);
    }
    /* the fast path: no transfers, and the queue orders the command behind its dependencies */
    const bool only_launches = group->uses->resident && group->uses->after_count == 0;
    if (DYNSEL_LIKELY(only_launches && !has_ranges(group))) {
        return launch(group, where, done);
    }
    const dynsel_status status =
        only_launches ? launch(group, where, done) : launch_with_transfers(group, where, done);
    update_range_statistics(group);
    return status;
}
