/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/host_commands.h"

#include <string.h>

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

dynsel_status dynsel_host_command(dynsel_handler *group)
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
