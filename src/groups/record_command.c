/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the command of a command group: a kernel, a copy, a fill or a host task. */
#include <dynsel/command_group.h>

#include <string.h>

#include "groups/kernel_forms.h"
#include "groups/recording.h"

enum {
    LARGEST_ELEMENT = 128 /* of a fill, in bytes: OpenCL's limit */
};

/* Refuses a second command. */
static inline dynsel_status begin(const dynsel_call *call, bool pointers)
{
    const dynsel_status status = dynsel_call_begin(call, pointers);
    if (status == DYNSEL_OK && call->handler->command.kind != DYNSEL_COMMAND_NONE) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "a command group launches one thing, and has done so already");
    }
    return status;
}

static inline dynsel_status check_kernel(const dynsel_call *call, const dynsel_kernel *kernel)
{
    if (!dynsel_kernel_has_any_form(kernel)) {
        dynsel_call of_kernel = *call;
        of_kernel.subject = DYNSEL_TEXT(kernel->name);
        return DYNSEL_REFUSE(&of_kernel, DYNSEL_E_INVALID,
                             "the kernel has no form: give it a function, source, il or binaries");
    }
    if (!dynsel_kernel_has_name(kernel)) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "the kernel has no name: that of the function in its source");
    }
    return DYNSEL_OK;
}

static dynsel_status check_local(const dynsel_call *call, const dynsel_range *global,
                                 const dynsel_range *local)
{
    bool divides = local->dimensions == global->dimensions;
    for (uint32_t i = 0; i < global->dimensions && divides; i++) {
        divides = local->size[i] != 0 && global->size[i] % local->size[i] == 0;
    }
    return divides ? DYNSEL_OK
                   : DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                                   "the local range has other dimensions than the global one, or "
                                   "does not divide it");
}

static dynsel_status check_offset(const dynsel_call *call, const dynsel_range *global,
                                  const dynsel_range *offset)
{
    bool fits = offset->dimensions == global->dimensions;
    for (uint32_t i = 0; i < global->dimensions && fits; i++) {
        fits = offset->size[i] <= SIZE_MAX - global->size[i];
    }
    return fits ? DYNSEL_OK
                : DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                                "the offset has other dimensions than the global range, or the "
                                "last work item's number cannot be counted");
}

/* Copies a range; sizes of missing dimensions, which the caller may not have set, become 0. */
static dynsel_range copy_range(const dynsel_range *range)
{
    dynsel_range copy = {.dimensions = 0};
    if (range != NULL) {
        copy.dimensions = range->dimensions;
        for (uint32_t i = 0; i < range->dimensions; i++) {
            copy.size[i] = range->size[i];
        }
    }
    return copy;
}

dynsel_status dynsel_parallel_for(dynsel_handler *handler, const dynsel_kernel *kernel,
                                  dynsel_range global, const dynsel_range *local,
                                  const dynsel_range *offset)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    dynsel_status status = begin(&call, kernel != NULL);
    if (status == DYNSEL_OK) {
        status = check_kernel(&call, kernel);
    }
    if (status == DYNSEL_OK && !dynsel_range_is_whole(&global)) {
        return DYNSEL_REFUSE(&call, DYNSEL_E_INVALID,
                             "the global range needs 1 to 3 dimensions, no size of 0, and no more "
                             "work items than can be counted");
    }
    if (status == DYNSEL_OK && local != NULL && local->dimensions != 0) {
        status = check_local(&call, &global, local);
    }
    if (status == DYNSEL_OK && offset != NULL && offset->dimensions != 0) {
        status = check_offset(&call, &global, offset);
    }
    if (status == DYNSEL_OK) {
        handler->command.kind = DYNSEL_COMMAND_KERNEL;
        handler->command.kernel = kernel;
        handler->command.launch.global = copy_range(&global);
        handler->command.launch.local = copy_range(local);
        handler->command.launch.offset = copy_range(offset);
    }
    return status;
}

dynsel_status dynsel_single_task(dynsel_handler *handler, const dynsel_kernel *kernel)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    dynsel_status status = begin(&call, kernel != NULL);
    if (status == DYNSEL_OK) {
        status = check_kernel(&call, kernel);
    }
    if (status == DYNSEL_OK) {
        handler->command.kind = DYNSEL_COMMAND_KERNEL;
        handler->command.kernel = kernel;
        handler->command.launch.global = DYNSEL_RANGE(1);
    }
    return status;
}

/* One end of a copy or fill. */
typedef struct end {
    const dynsel_bound *bound;
    dynsel_buffer buffer;
    dynsel_shape shape;
    dynsel_region region;
} end;

/* to: the end is written, not read. */
static dynsel_status find_end(const dynsel_call *about, const dynsel_accessor *accessor, bool to,
                              end *found)
{
    dynsel_call call = *about;
    call.subject = dynsel_accessor_label(accessor);
    found->bound = dynsel_bound_of(&call, accessor);
    if (found->bound == NULL) {
        return dynsel_call_refusal();
    }
    if (to && accessor->mode == DYNSEL_ACCESS_READ) {
        return DYNSEL_REFUSE(&call, DYNSEL_E_INVALID, "it cannot be written: DYNSEL_ACCESS_READ");
    }
    if (!to &&
        (accessor->mode == DYNSEL_ACCESS_WRITE || accessor->mode == DYNSEL_ACCESS_DISCARD_WRITE)) {
        return DYNSEL_REFUSE(&call, DYNSEL_E_INVALID, "it cannot be read: its mode only writes");
    }
    found->buffer.token = found->bound->buffer;
    if (found->buffer.token == 0) {
        return DYNSEL_REFUSE(&call, DYNSEL_E_INVALID,
                             "it has no buffer yet: call dynsel_require_buffer() before");
    }
    const dynsel_status status = dynsel_shape_of(&call, found->buffer, &found->shape);
    return status == DYNSEL_OK ? dynsel_region_of(&call, accessor, &found->shape, &found->region)
                               : status;
}

static dynsel_status refuse_arguments(const dynsel_call *call)
{
    return call->handler->argument_count == 0
               ? DYNSEL_OK
               : DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                               "arguments were set, which a copy or fill does not take");
}

static const dynsel_argument *keep_end(dynsel_handler *handler, const end *found)
{
    dynsel_argument *argument = &handler->arguments[handler->argument_count++];
    *argument = (dynsel_argument){.kind = DYNSEL_ARGUMENT_DATA,
                                  .use = dynsel_use_through(handler, found->bound)};
    return argument;
}

static dynsel_status check_ends(const dynsel_call *call, const end *from, const end *to)
{
    bool same = from->shape.range.dimensions == to->shape.range.dimensions;
    for (uint32_t i = 0; i < DYNSEL_MAX_DIMENSIONS; i++) {
        same = same && from->region.size[i] == to->region.size[i];
    }
    if (!same) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "the two ranges need the same dimensions and sizes");
    }
    if (from->shape.element_bytes != to->shape.element_bytes) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID, "the elements of the buffers differ in size");
    }
    if (from->buffer.token == to->buffer.token &&
        dynsel_regions_overlap(&from->region, &to->region)) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "the two parts of the one buffer overlap: copy through another");
    }
    return DYNSEL_OK;
}

dynsel_status dynsel_copy(dynsel_handler *handler, const dynsel_accessor *from,
                          const dynsel_accessor *to)
{
    const dynsel_call call = DYNSEL_CALL(handler, to);
    end source;
    end target;
    dynsel_status status = begin(&call, from != NULL && to != NULL);
    if (status == DYNSEL_OK) {
        status = refuse_arguments(&call);
    }
    if (status == DYNSEL_OK) {
        status = find_end(&call, from, false, &source);
    }
    if (status == DYNSEL_OK) {
        status = find_end(&call, to, true, &target);
    }
    if (status == DYNSEL_OK) {
        status = check_ends(&call, &source, &target);
    }
    if (status == DYNSEL_OK) {
        handler->command.kind = DYNSEL_COMMAND_COPY;
        handler->command.from = keep_end(handler, &source);
        handler->command.to = keep_end(handler, &target);
        handler->command.from_box = dynsel_box_of(&source.region, &source.shape);
        handler->command.to_box = dynsel_box_of(&target.region, &target.shape);
    }
    return status;
}

static dynsel_status check_element(const dynsel_call *call, size_t bytes, size_t element_bytes)
{
    if (bytes != element_bytes) {
        return DYNSEL_REFUSE_NUMBER(call, DYNSEL_E_INVALID,
                                    "the elements of the buffer have {} bytes", element_bytes);
    }
    return bytes <= LARGEST_ELEMENT && (bytes & (bytes - 1)) == 0
               ? DYNSEL_OK
               : DYNSEL_REFUSE_NUMBER(call, DYNSEL_E_INVALID,
                                      "elements to fill with have a power of two of bytes, up to "
                                      "{}: write a kernel for others",
                                      LARGEST_ELEMENT);
}

dynsel_status dynsel_fill(dynsel_handler *handler, const dynsel_accessor *to, const void *element,
                          size_t bytes)
{
    const dynsel_call call = DYNSEL_CALL(handler, to);
    end target;
    unsigned char *room = NULL;
    dynsel_status status = begin(&call, to != NULL && element != NULL);
    if (status == DYNSEL_OK) {
        status = refuse_arguments(&call);
    }
    if (status == DYNSEL_OK) {
        status = find_end(&call, to, true, &target);
    }
    if (status == DYNSEL_OK) {
        status = check_element(&call, bytes, target.shape.element_bytes);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_take_room(&call, bytes, &room);
    }
    if (status == DYNSEL_OK) {
        (void)memcpy(room, element, bytes);
        handler->command.kind = DYNSEL_COMMAND_FILL;
        handler->command.to = keep_end(handler, &target);
        handler->command.to_box = dynsel_box_of(&target.region, &target.shape);
        handler->command.element = room;
        handler->command.element_bytes = bytes;
    }
    return status;
}

dynsel_status dynsel_host_task(dynsel_handler *handler, dynsel_kernel_fn function)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    const dynsel_status status = begin(&call, function != NULL);
    if (status == DYNSEL_OK) {
        handler->command.kind = DYNSEL_COMMAND_HOST_TASK;
        handler->host_task = function;
    }
    return status;
}
