/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the command of a command group: a copy or a fill. */
#include <dynsel/command_group.h>

#include <string.h>

#include "groups/recording.h"

enum {
    LARGEST_ELEMENT = 128 /* of a fill, in bytes: OpenCL's limit */
};

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

static void note_if_empty(dynsel_handler *handler, bool is_empty)
{
    handler->uncommon |= is_empty ? (uint8_t)DYNSEL_GROUP_IS_EMPTY : 0u;
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
    dynsel_status status = dynsel_call_begin_command(&call, from != NULL && to != NULL);
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
        note_if_empty(handler, dynsel_region_is_empty(&target.region));
        handler->command.from = keep_end(handler, &source);
        handler->command.to = keep_end(handler, &target);
        handler->command.from_box = dynsel_box_of(&source.region, &source.shape);
        handler->command.to_box = dynsel_box_of(&target.region, &target.shape);
    }
    return status;
}

/* One call that copies between a buffer and memory of the program. */
typedef struct transfer {
    dynsel_call call;
    const dynsel_accessor *accessor;
    void *memory; /* only read if `to` */
    size_t bytes;
    bool to; /* the buffer is written, the memory is read */
    end buffer;
} transfer;

static bool overlaps(const transfer *t)
{
    const uintptr_t memory = (uintptr_t)t->memory;
    const uintptr_t data = (uintptr_t)t->buffer.shape.data;
    return t->bytes != 0 && data != 0 && memory < data + t->buffer.shape.bytes &&
           data < memory + t->bytes;
}

static dynsel_status check_memory(const transfer *t)
{
    const size_t *const size = t->buffer.region.size;
    const size_t bytes = size[0] * size[1] * size[2] * t->buffer.shape.element_bytes;
    if (t->bytes != bytes) {
        return DYNSEL_REFUSE_NUMBER(&t->call, DYNSEL_E_INVALID,
                                    "the accessor is for {} bytes, and the memory has another size",
                                    bytes);
    }
    if (overlaps(t)) {
        return DYNSEL_REFUSE(&t->call, DYNSEL_E_INVALID,
                             "the memory is that of the buffer itself, at least partly: open a "
                             "host accessor in place of a copy");
    }
    return DYNSEL_OK;
}

static dynsel_status check_transfer(transfer *t)
{
    dynsel_status status = dynsel_call_begin_command(
        &t->call, t->accessor != NULL && (t->memory != NULL || t->bytes == 0));
    if (status == DYNSEL_OK) {
        status = refuse_arguments(&t->call);
    }
    if (status == DYNSEL_OK) {
        status = find_end(&t->call, t->accessor, t->to, &t->buffer);
    }
    return status == DYNSEL_OK ? check_memory(t) : status;
}

/* The elements one after the other, without gaps. */
static dynsel_box packed(const end *buffer)
{
    const size_t *const size = buffer->region.size;
    const size_t row = size[2] * buffer->shape.element_bytes;
    return (dynsel_box){
        .size = {size[0], size[1], row}, .row_pitch = row, .slice_pitch = row * size[1]};
}

static const dynsel_argument *keep_memory(const transfer *t)
{
    const dynsel_staged staged = {
        .memory = {.host = t->memory, .bytes = t->bytes},
        .in = t->to && t->bytes != 0,
        .out = !t->to && t->bytes != 0,
    };
    dynsel_argument *const argument =
        &t->call.handler->arguments[t->call.handler->argument_count++];
    /* there is room for it: no argument was set */
    return dynsel_stage_memory(&t->call, &staged, argument) == DYNSEL_OK ? argument : NULL;
}

static dynsel_status copy_memory(transfer *t)
{
    const dynsel_status status = check_transfer(t);
    if (status != DYNSEL_OK) {
        return status;
    }
    dynsel_handler *const handler = t->call.handler;
    dynsel_command *const command = &handler->command;
    const dynsel_box box = dynsel_box_of(&t->buffer.region, &t->buffer.shape);
    const dynsel_argument *const buffer = keep_end(handler, &t->buffer);
    const dynsel_argument *const memory = keep_memory(t);
    command->kind = DYNSEL_COMMAND_COPY;
    note_if_empty(handler, t->bytes == 0);
    command->from = t->to ? memory : buffer;
    command->to = t->to ? buffer : memory;
    command->from_box = t->to ? packed(&t->buffer) : box;
    command->to_box = t->to ? box : packed(&t->buffer);
    return DYNSEL_OK;
}

dynsel_status dynsel_copy_from_memory(dynsel_handler *handler, const void *from, size_t bytes,
                                      const dynsel_accessor *to)
{
    transfer t = {.call = DYNSEL_CALL(handler, to), .accessor = to, .bytes = bytes, .to = true};
    /* by memcpy(), which drops `const`: it is not written */
    (void)memcpy(&t.memory, &from, sizeof(from));
    return copy_memory(&t);
}

dynsel_status dynsel_copy_to_memory(dynsel_handler *handler, const dynsel_accessor *from, void *to,
                                    size_t bytes)
{
    transfer t = {
        .call = DYNSEL_CALL(handler, from), .accessor = from, .memory = to, .bytes = bytes};
    return copy_memory(&t);
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
    dynsel_status status = dynsel_call_begin_command(&call, to != NULL && element != NULL);
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
        note_if_empty(handler, dynsel_region_is_empty(&target.region));
        handler->command.to = keep_end(handler, &target);
        handler->command.to_box = dynsel_box_of(&target.region, &target.shape);
        handler->command.element = room;
        handler->command.element_bytes = bytes;
    }
    return status;
}
