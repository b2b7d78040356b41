/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills of boxes of bytes. */
#include "backends/opencl/commands.h"

#include <dynsel/opencl.h>

#include "backends/opencl/device.h"
#include "backends/opencl/failure.h"

/* Whether nothing lies between its rows and slices. */
static bool is_one_piece(const dynsel_box *box)
{
    return (box->size[1] == 1 || box->row_pitch == box->size[2]) &&
           (box->size[0] == 1 || box->slice_pitch == box->size[1] * box->size[2]);
}

static size_t bytes_of(const dynsel_box *box)
{
    return box->size[0] * box->size[1] * box->size[2];
}

/* A box as OpenCL counts: bytes of a row, rows of a slice, slices. Where there is one row or one
 * slice, its pitch says nothing, and some drivers refuse what does not fit. */
typedef struct rectangle {
    size_t origin[DYNSEL_MAX_DIMENSIONS];
    size_t row_pitch;
    size_t slice_pitch;
} rectangle;

static rectangle rectangle_of(const dynsel_box *box)
{
    rectangle r = {.origin = {box->first, 0, 0}, .row_pitch = 0, .slice_pitch = 0};
    if (box->size[0] > 1) {
        r.slice_pitch = box->slice_pitch;
        r.origin[2] = r.origin[0] / box->slice_pitch;
        r.origin[0] %= box->slice_pitch;
    }
    if (box->size[0] > 1 || box->size[1] > 1) {
        r.row_pitch = box->row_pitch;
        r.origin[1] = r.origin[0] / box->row_pitch;
        r.origin[0] %= box->row_pitch;
    }
    return r;
}

static cl_int copy_rectangle(cl_command_queue queue, const dynsel_command *command,
                             const dynsel_opencl_wait_list *list, cl_event *done)
{
    const rectangle from = rectangle_of(&command->from_box);
    const rectangle to = rectangle_of(&command->to_box);
    const size_t *const size = command->to_box.size;
    const size_t region[] = {size[2], size[1], size[0]};
    return clEnqueueCopyBufferRect(queue, command->from->memory->native,
                                   command->to->memory->native, from.origin, to.origin, region,
                                   from.row_pitch, from.slice_pitch, to.row_pitch, to.slice_pitch,
                                   list->count, list->events, done);
}

dynsel_status dynsel_opencl_copy(dynsel_opencl_entry *entry, const dynsel_command *command,
                                 const dynsel_opencl_wait_list *list, cl_event *done)
{
    cl_int code;
    if (is_one_piece(&command->from_box) && is_one_piece(&command->to_box)) {
        code = clEnqueueCopyBuffer(entry->queue, command->from->memory->native,
                                   command->to->memory->native, command->from_box.first,
                                   command->to_box.first, bytes_of(&command->to_box), list->count,
                                   list->events, done);
        return code == CL_SUCCESS
                   ? DYNSEL_OK
                   : dynsel_opencl_fail_to_enqueue(entry, "clEnqueueCopyBuffer", code);
    }
    code = copy_rectangle(entry->queue, command, list, done);
    return code == CL_SUCCESS
               ? DYNSEL_OK
               : dynsel_opencl_fail_to_enqueue(entry, "clEnqueueCopyBufferRect", code);
}

static cl_int fill_piece(cl_command_queue queue, const dynsel_command *command, size_t first,
                         size_t bytes, const dynsel_opencl_wait_list *list, cl_event *done)
{
    return clEnqueueFillBuffer(queue, command->to->memory->native, command->element,
                               command->element_bytes, first, bytes, list->count, list->events,
                               done);
}

static cl_int fill_rows(cl_command_queue queue, const dynsel_command *command,
                        const dynsel_opencl_wait_list *list)
{
    const dynsel_box *const box = &command->to_box;
    cl_int code = CL_SUCCESS;
    for (size_t slice = 0; slice < box->size[0]; slice++) {
        for (size_t row = 0; row < box->size[1] && code == CL_SUCCESS; row++) {
            const size_t first = box->first + slice * box->slice_pitch + row * box->row_pitch;
            code = fill_piece(queue, command, first, box->size[2], list, NULL);
        }
    }
    return code;
}

dynsel_status dynsel_opencl_fill(dynsel_opencl_entry *entry, const dynsel_command *command,
                                 const dynsel_opencl_wait_list *list, cl_event *done)
{
    const dynsel_box *const box = &command->to_box;
    if (is_one_piece(box)) {
        const cl_int code =
            fill_piece(entry->queue, command, box->first, bytes_of(box), list, done);
        return code == CL_SUCCESS
                   ? DYNSEL_OK
                   : dynsel_opencl_fail_to_enqueue(entry, "clEnqueueFillBuffer", code);
    }
    const cl_int filled = fill_rows(entry->queue, command, list);
    dynsel_status status = DYNSEL_OK;
    if (filled != CL_SUCCESS) {
        status = dynsel_opencl_fail_to_enqueue(entry, "clEnqueueFillBuffer", filled);
    }
    /* After all rows, also when one could not be enqueued: the others are on their way. */
    if (filled == CL_SUCCESS || !dynsel_opencl_is_lost(entry)) {
        const cl_int code = clEnqueueMarkerWithWaitList(entry->queue, 0, NULL, done);
        if (code != CL_SUCCESS && status == DYNSEL_OK) {
            status = dynsel_opencl_fail(entry, "clEnqueueMarkerWithWaitList", code);
        }
    }
    return status;
}
