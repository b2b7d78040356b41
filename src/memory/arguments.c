/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of kernels and host tasks, as the group function sets them. */
#include <dynsel/command_group.h>

#include <string.h>

#include "memory/recording.h"

enum {
    SMALL = 8, /* bytes of a value that needs no more than their alignment */
    LARGE = 16 /* alignment of all others */
};

dynsel_status dynsel_take_room(const dynsel_call *call, size_t bytes, unsigned char **room)
{
    const size_t alignment = bytes <= SMALL ? SMALL : LARGE;
    const size_t taken = call->handler->value_bytes;
    const size_t first = (taken + alignment - 1) / alignment * alignment;
    if (first > CONFIG_DYNSEL_ARGUMENT_BYTES || bytes > CONFIG_DYNSEL_ARGUMENT_BYTES - first) {
        return DYNSEL_REFUSE_NUMBER(call, DYNSEL_E_FULL,
                                    "the values of a command group have {} bytes: raise "
                                    "CONFIG_DYNSEL_ARGUMENT_BYTES, or pass large ones in a buffer",
                                    CONFIG_DYNSEL_ARGUMENT_BYTES);
    }
    call->handler->value_bytes = (uint32_t)(first + bytes);
    *room = &call->handler->values[first];
    return DYNSEL_OK;
}

static dynsel_status check_index(const dynsel_call *call, uint32_t index)
{
    const uint8_t kind = call->handler->command.kind;
    if (kind == DYNSEL_COMMAND_COPY || kind == DYNSEL_COMMAND_FILL) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "a copy or fill was launched, which takes no arguments");
    }
    if (index >= CONFIG_DYNSEL_MAX_ARGUMENTS) {
        return DYNSEL_REFUSE_NUMBER(call, DYNSEL_E_FULL,
                                    "the last argument is number {}: raise "
                                    "CONFIG_DYNSEL_MAX_ARGUMENTS",
                                    CONFIG_DYNSEL_MAX_ARGUMENTS - 1);
    }
    return DYNSEL_OK;
}

static void set(dynsel_handler *handler, uint32_t index, dynsel_argument argument)
{
    for (; handler->argument_count <= index; handler->argument_count++) {
        handler->arguments[handler->argument_count] =
            (dynsel_argument){.kind = DYNSEL_ARGUMENT_UNSET};
    }
    handler->arguments[index] = argument;
}

/* The room that a value of the same argument had before, if it is large enough. */
static unsigned char *room_before(dynsel_handler *handler, uint32_t index, size_t bytes)
{
    if (index >= handler->argument_count ||
        handler->arguments[index].kind != DYNSEL_ARGUMENT_VALUE ||
        handler->arguments[index].bytes < bytes) {
        return NULL;
    }
    return handler->arguments[index].value;
}

dynsel_status dynsel_set_arg_value(dynsel_handler *handler, uint32_t index, const void *value,
                                   size_t bytes)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    dynsel_status status = dynsel_call_begin(&call, value != NULL);
    if (status == DYNSEL_OK) {
        status = check_index(&call, index);
    }
    if (status == DYNSEL_OK && bytes == 0) {
        return DYNSEL_REFUSE(&call, DYNSEL_E_INVALID, "a value of 0 bytes");
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    unsigned char *room = room_before(handler, index, bytes);
    if (room == NULL) {
        status = dynsel_take_room(&call, bytes, &room);
    }
    if (room != NULL) {
        (void)memcpy(room, value, bytes);
        set(handler, index,
            (dynsel_argument){.value = room, .bytes = bytes, .kind = DYNSEL_ARGUMENT_VALUE});
    }
    return status;
}

static dynsel_status bytes_of_local(const dynsel_call *call, const dynsel_accessor *accessor,
                                    size_t *bytes)
{
    if (accessor->placeholder || accessor->buffer.token != 0) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "local memory has no buffer, and its accessor is no placeholder");
    }
    if (accessor->element_bytes == 0 || !dynsel_range_is_whole(&accessor->range) ||
        !dynsel_multiply(accessor->element_bytes, dynsel_range_count(&accessor->range), bytes)) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "local memory needs `element_bytes` and `range`: 1 to 3 dimensions, "
                             "no size of 0, and together no more bytes than can be counted");
    }
    return DYNSEL_OK;
}

/* What it stands for on a device is found when the group function has returned. */
dynsel_status dynsel_set_arg_accessor(dynsel_handler *handler, uint32_t index,
                                      const dynsel_accessor *accessor)
{
    const dynsel_call call = DYNSEL_CALL(handler, accessor);
    dynsel_argument argument = {.kind = DYNSEL_ARGUMENT_DATA};
    uint32_t place = 0;
    dynsel_status status = dynsel_call_begin(&call, accessor != NULL);
    if (status == DYNSEL_OK) {
        status = check_index(&call, index);
    }
    if (status == DYNSEL_OK && accessor->target == DYNSEL_MEMORY_LOCAL) {
        argument.kind = DYNSEL_ARGUMENT_LOCAL;
        status = bytes_of_local(&call, accessor, &argument.bytes);
    } else if (status == DYNSEL_OK) {
        status = dynsel_bound_of(&call, accessor, &place);
    }
    if (status == DYNSEL_OK) {
        argument.use = (uint8_t)place;
        set(handler, index, argument);
    }
    return status;
}

dynsel_status dynsel_set_arg_local(dynsel_handler *handler, uint32_t index, size_t bytes)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    dynsel_status status = dynsel_call_begin(&call, true);
    if (status == DYNSEL_OK) {
        status = check_index(&call, index);
    }
    if (status == DYNSEL_OK && bytes == 0) {
        return DYNSEL_REFUSE(&call, DYNSEL_E_INVALID, "local memory of 0 bytes");
    }
    if (status == DYNSEL_OK) {
        set(handler, index, (dynsel_argument){.bytes = bytes, .kind = DYNSEL_ARGUMENT_LOCAL});
    }
    return status;
}
