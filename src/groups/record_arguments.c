/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the arguments of kernels and host tasks: values, accessors, pointers, local memory, and
 * ranges, which are sent as the leaves of their iterator. */
#include <dynsel/arguments.h>
#include <dynsel/command_group.h>

#include <string.h>

#include "groups/recording.h"

enum {
    SMALL = 8, /* the most bytes of a value that is aligned to 8 */
    LARGE = 16 /* the alignment of larger values */
};

/* The place of a value of `bytes` bytes, if the first `taken` bytes are in use. */
static inline size_t first_of(size_t taken, size_t bytes)
{
    const size_t alignment = bytes <= SMALL ? SMALL : LARGE;
    return (taken + alignment - 1) & ~(alignment - 1);
}

static inline bool fits_at(size_t first, size_t bytes)
{
    return first <= CONFIG_DYNSEL_ARGUMENT_BYTES && bytes <= CONFIG_DYNSEL_ARGUMENT_BYTES - first;
}

/* The value that is stored first at or behind `from`; NULL: none. */
DYNSEL_RARE static dynsel_argument *next_value(dynsel_handler *handler, const unsigned char *from)
{
    dynsel_argument *next = NULL;
    for (uint32_t i = 0; i < handler->argument_count; i++) {
        dynsel_argument *const argument = &handler->arguments[i];
        const unsigned char *const value = argument->value;
        if (argument->kind == DYNSEL_ARGUMENT_VALUE && value >= from &&
            (next == NULL || value < (const unsigned char *)next->value)) {
            next = argument;
        }
    }
    return next;
}

/* Moves the values together, over those that were replaced. */
DYNSEL_RARE static void close_gaps(dynsel_handler *handler)
{
    size_t taken = 0;
    const unsigned char *from = handler->values;
    dynsel_argument *next = next_value(handler, from);
    while (next != NULL) {
        unsigned char *const place = &handler->values[first_of(taken, next->bytes)];
        from = (const unsigned char *)next->value + next->bytes;
        (void)memmove(place, next->value, next->bytes);
        next->value = place;
        taken = (size_t)(place - handler->values) + next->bytes;
        next = next_value(handler, from);
    }
    handler->value_bytes = (uint32_t)taken;
}

static inline dynsel_status take_room(const dynsel_call *call, size_t bytes, unsigned char **room)
{
    size_t first = first_of(call->handler->value_bytes, bytes);
    if (!DYNSEL_LIKELY(fits_at(first, bytes))) {
        close_gaps(call->handler);
        first = first_of(call->handler->value_bytes, bytes);
    }
    if (!DYNSEL_LIKELY(fits_at(first, bytes))) {
        return DYNSEL_REFUSE_NUMBER(call, DYNSEL_E_FULL,
                                    DYNSEL_OPTION(ARGUMENT_BYTES,
                                                  "and the values so far need {}: set it to that "
                                                  "or more, or pass large ones in a buffer"),
                                    first + bytes);
    }
    call->handler->value_bytes = (uint32_t)(first + bytes);
    *room = &call->handler->values[first];
    return DYNSEL_OK;
}

dynsel_status dynsel_take_room(const dynsel_call *call, size_t bytes, unsigned char **room)
{
    return take_room(call, bytes, room);
}

static inline dynsel_status check_index(const dynsel_call *call, uint32_t index)
{
    const uint8_t kind = call->handler->command.kind;
    if (kind == DYNSEL_COMMAND_COPY || kind == DYNSEL_COMMAND_FILL) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "a copy or fill was launched, which takes no arguments");
    }
    if (index >= CONFIG_DYNSEL_MAX_ARGUMENTS) {
        return DYNSEL_REFUSE_NUMBER(
            call, DYNSEL_E_FULL,
            DYNSEL_OPTION(MAX_ARGUMENTS, "and this kernel needs {}: set it to that or more"),
            index < UINT32_MAX ? index + 1 : index);
    }
    return DYNSEL_OK;
}

/* Removes a staged pointer; the last one takes its place. */
static void drop_staged(dynsel_handler *handler, uint32_t place)
{
    const uint32_t last = --handler->uses->staged_count;
    handler->uses->staged[place] = handler->uses->staged[last];
    for (uint32_t i = 0; i < handler->argument_count; i++) {
        dynsel_argument *const argument = &handler->arguments[i];
        if (argument->kind == DYNSEL_ARGUMENT_DATA && argument->use == (DYNSEL_IS_STAGED | last)) {
            argument->use = (uint8_t)(DYNSEL_IS_STAGED | place);
        }
    }
}

/* Removes an argument and all that belongs to it. */
DYNSEL_RARE static void unset(dynsel_handler *handler, uint32_t index)
{
    dynsel_argument *const before = &handler->arguments[index];
    if (before->kind == DYNSEL_ARGUMENT_DATA &&
        (before->use & (DYNSEL_IS_STAGED | DYNSEL_NOT_YET)) == DYNSEL_IS_STAGED) {
        drop_staged(handler, before->use & ~(uint32_t)DYNSEL_IS_STAGED);
    }
    if ((before->block & DYNSEL_ONLY_ON_HOST) != 0) {
        handler->host_range_count--;
        handler->only_on_host = handler->host_range_count != 0 ? "a function of a range" : NULL;
    }
    *before = (dynsel_argument){.kind = DYNSEL_ARGUMENT_UNSET};
}

/* Makes place for an argument that is not the next: it replaces one, or skips some, which may be
 * set later. */
DYNSEL_RARE static void open_place(dynsel_handler *handler, uint32_t index)
{
    if (index >= handler->argument_count) {
        handler->unresolved = true;
        for (uint32_t i = handler->argument_count; i < index; i++) {
            handler->arguments[i] = (dynsel_argument){.kind = DYNSEL_ARGUMENT_UNSET};
        }
        handler->argument_count = index + 1;
        return;
    }
    unset(handler, index);
    /* if it is the first argument of a range, the rest of the range is removed too */
    for (uint32_t i = index + 1; i < handler->argument_count; i++) {
        if ((handler->arguments[i].block & DYNSEL_BEHIND_FIRST) == i - index) {
            unset(handler, i);
            handler->unresolved = true;
        }
    }
    while (handler->argument_count > index + 1 &&
           handler->arguments[handler->argument_count - 1].kind == DYNSEL_ARGUMENT_UNSET) {
        handler->argument_count--;
    }
}

/* The entry for an argument; the caller sets all of it. */
static inline dynsel_argument *argument_at(dynsel_handler *handler, uint32_t index)
{
    if (DYNSEL_LIKELY(index == handler->argument_count)) {
        handler->argument_count++;
    } else {
        open_place(handler, index);
    }
    return &handler->arguments[index];
}

/* Most values have one of these sizes, which need no call of memcpy(). */
static inline void copy_value(unsigned char *room, const void *value, size_t bytes)
{
    if (bytes == sizeof(uint32_t)) {
        (void)memcpy(room, value, sizeof(uint32_t));
    } else if (bytes == sizeof(uint64_t)) {
        (void)memcpy(room, value, sizeof(uint64_t));
    } else {
        (void)memcpy(room, value, bytes);
    }
}

/* The room of a value that this one replaces, if it is large enough. Else other values get that
 * room. */
static inline unsigned char *room_before(dynsel_handler *handler, uint32_t index, size_t bytes)
{
    if (DYNSEL_LIKELY(index >= handler->argument_count)) {
        return NULL;
    }
    const dynsel_argument *const before = &handler->arguments[index];
    if (before->kind == DYNSEL_ARGUMENT_VALUE && before->bytes >= bytes) {
        return before->value;
    }
    open_place(handler, index);
    return NULL;
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
        status = take_room(&call, bytes, &room);
    }
    if (room != NULL) {
        copy_value(room, value, bytes);
        *argument_at(handler, index) =
            (dynsel_argument){.value = room, .bytes = bytes, .kind = DYNSEL_ARGUMENT_VALUE};
    }
    return status;
}

static dynsel_status set_local(const dynsel_call *call, uint32_t index,
                               const dynsel_accessor *accessor)
{
    size_t bytes = 0;
    if (accessor->placeholder || accessor->buffer.token != 0) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "local memory has no buffer, and its accessor is no placeholder");
    }
    if (accessor->element_bytes == 0 || !dynsel_range_is_whole(&accessor->range) ||
        !dynsel_multiply(accessor->element_bytes, dynsel_range_count(&accessor->range), &bytes) ||
        bytes == 0) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "local memory needs `element_bytes` and `range`: 1 to 3 dimensions, "
                             "no size of 0, and together no more bytes than can be counted");
    }
    *argument_at(call->handler, index) =
        (dynsel_argument){.bytes = bytes, .kind = DYNSEL_ARGUMENT_LOCAL};
    return DYNSEL_OK;
}

/* The buffer behind the accessor is looked up when the group function has returned. */
dynsel_status dynsel_set_arg_accessor(dynsel_handler *handler, uint32_t index,
                                      const dynsel_accessor *accessor)
{
    const dynsel_call call = DYNSEL_CALL(handler, accessor);
    dynsel_status status = dynsel_call_begin(&call, accessor != NULL);
    if (status == DYNSEL_OK) {
        status = check_index(&call, index);
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    if (accessor->target == DYNSEL_MEMORY_LOCAL) {
        return set_local(&call, index, accessor);
    }
    const dynsel_bound *bound = dynsel_bound_of(&call, accessor);
    if (bound == NULL) {
        return dynsel_call_refusal();
    }
    *argument_at(handler, index) =
        (dynsel_argument){.kind = DYNSEL_ARGUMENT_DATA, .use = dynsel_use_through(handler, bound)};
    return DYNSEL_OK;
}

/* Resources that cannot access the pointer are excluded before the choice. */
dynsel_status dynsel_set_arg_pointer(dynsel_handler *handler, uint32_t index, const void *pointer)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    dynsel_status status = dynsel_call_begin(&call, true);
    if (status == DYNSEL_OK) {
        status = check_index(&call, index);
    }
    if (status == DYNSEL_OK) {
        dynsel_argument *argument = argument_at(handler, index);
        *argument = (dynsel_argument){.kind = DYNSEL_ARGUMENT_POINTER};
        /* by memcpy(), which drops `const`: the kernel may write through the pointer */
        (void)memcpy(&argument->value, &pointer, sizeof(pointer));
        handler->has_pointers = true;
        handler->uncommon |= DYNSEL_GROUP_POINTS;
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
        *argument_at(handler, index) =
            (dynsel_argument){.bytes = bytes, .kind = DYNSEL_ARGUMENT_LOCAL};
    }
    return status;
}

dynsel_status dynsel_stage_memory(const dynsel_call *call, const dynsel_staged *staged,
                                  dynsel_argument *argument)
{
    dynsel_handler *const handler = call->handler;
    *argument = (dynsel_argument){.kind = DYNSEL_ARGUMENT_UNSET};
    if (handler->uses->staged_count == CONFIG_DYNSEL_MAX_STAGED) {
        return DYNSEL_REFUSE_NUMBER(
            call, DYNSEL_E_FULL,
            DYNSEL_OPTION(MAX_STAGED,
                          "and the ranges of this command group have more pointers that are not "
                          "passed directly: set it to {} or more"),
            CONFIG_DYNSEL_MAX_STAGED + 1);
    }
    handler->uses->staged[handler->uses->staged_count] = *staged;
    argument->kind = DYNSEL_ARGUMENT_DATA;
    argument->use = (uint8_t)(DYNSEL_IS_STAGED | handler->uses->staged_count++);
    return DYNSEL_OK;
}

static dynsel_status stage_argument(const dynsel_call *call, uint32_t index,
                                    const dynsel_staged *staged)
{
    const dynsel_status status = check_index(call, index);
    return status == DYNSEL_OK
               ? dynsel_stage_memory(call, staged, argument_at(call->handler, index))
               : status;
}

/* One call that sets a range. */
typedef struct range {
    dynsel_leaf_sink sink; /* the first member */
    dynsel_call call;
    const unsigned char *iterator;
    uint64_t count;
    uint32_t first; /* of its arguments */
    uint32_t index;
    const char *only_on_host; /* see dynsel_handler */
    bool reads;
    bool writes;
    dynsel_status status;
} range;

static dynsel_call about(const range *of, const dynsel_leaf *leaf)
{
    dynsel_call call = of->call;
    (void)leaf; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    call.subject = DYNSEL_TEXT(leaf->name);
    return call;
}

/* The bytes that a leaf needs. False: an object cannot have so many. */
static bool size_up(const range *of, const dynsel_leaf *leaf, size_t *bytes)
{
    const uint64_t extent = dynsel_leaf_extent(leaf, of->iterator, of->count);
    *bytes = 0;
    return extent <= PTRDIFF_MAX &&
           (extent == 0 || leaf->element_bytes == 0 ||
            (dynsel_multiply((size_t)extent, leaf->element_bytes, bytes) && *bytes <= PTRDIFF_MAX));
}

static dynsel_status set_value(range *of, const dynsel_leaf *leaf)
{
    return dynsel_set_arg_value(of->call.handler, of->index, of->iterator + leaf->offset,
                                leaf->bytes);
}

static dynsel_status set_count(range *of, const dynsel_leaf *leaf)
{
    const dynsel_call call = about(of, leaf);
    const uint64_t has = dynsel_leaf_count(leaf, of->iterator);
    return has >= dynsel_leaf_extent(leaf, of->iterator, of->count)
               ? set_value(of, leaf)
               : DYNSEL_REFUSE_NUMBER(&call, DYNSEL_E_INVALID,
                                      "it is good for {} elements, and the range needs more: make "
                                      "it with their count",
                                      has);
}

static dynsel_status set_pointer(range *of, const dynsel_leaf *leaf)
{
    const dynsel_call call = about(of, leaf);
    size_t bytes = 0;
    void *const pointer = dynsel_leaf_pointer(leaf, of->iterator);
    if (!size_up(of, leaf, &bytes)) {
        return DYNSEL_REFUSE(
            &call, DYNSEL_E_INVALID,
            "it points to more bytes than an object can have: is its count right?");
    }
    if (pointer == NULL && bytes != 0) {
        return DYNSEL_REFUSE_NUMBER(&call, DYNSEL_E_INVALID,
                                    "its pointer is NULL, and should point to {} bytes", bytes);
    }
    if (leaf->direct) {
        const dynsel_status status = dynsel_set_arg_pointer(of->call.handler, of->index, pointer);
        if (status == DYNSEL_OK) {
            of->call.handler->arguments[of->index].bytes = bytes;
        }
        return status;
    }
    const bool writes = of->writes && !leaf->read_only;
    const dynsel_staged staged = {
        .memory = {.host = pointer, .bytes = bytes},
        .in = bytes != 0 && (of->reads || leaf->read_only),
        .out = bytes != 0 && writes,
        .came = false,
        .went = false,
    };
    return stage_argument(&call, of->index, &staged);
}

static void take_leaf(dynsel_leaf_sink *sink, const dynsel_leaf *leaf)
{
    range *const of = (range *)(void *)sink;
    if (of->status != DYNSEL_OK) {
        return;
    }
    if (dynsel_leaf_lacks_elements(leaf, of->iterator, of->count)) {
        /* the kernel would read data that no device was given */
        const dynsel_call call = about(of, leaf);
        of->status = DYNSEL_REFUSE_NUMBER(&call, DYNSEL_E_INVALID,
                                          "a permutation of it has the count 0, and the range has "
                                          "{} elements: make it with the count of its source",
                                          of->count);
        return;
    }
    switch ((dynsel_leaf_kind)leaf->kind) {
    case DYNSEL_LEAF_VALUE:
        of->status = set_value(of, leaf);
        break;
    case DYNSEL_LEAF_COUNT:
        of->status = set_count(of, leaf);
        break;
    case DYNSEL_LEAF_POINTER:
        of->status = set_pointer(of, leaf);
        break;
    case DYNSEL_LEAF_HOST_ONLY:
        of->only_on_host = leaf->name;
        return;
    default:
        of->status = DYNSEL_REFUSE(&of->call, DYNSEL_E_INVALID, "a leaf is of no kind there is");
        break;
    }
    if (of->status == DYNSEL_OK) {
        of->call.handler->arguments[of->index].block = (uint16_t)(of->index - of->first);
    }
    of->index++;
}

dynsel_status dynsel_set_range_leaves(dynsel_handler *handler, uint32_t index,
                                      dynsel_leaves_fn leaves, const dynsel_leaf_place *place,
                                      const void *iterator, uint64_t count, dynsel_access_mode mode)
{
    range of = {
        .sink = {take_leaf},
        .call = DYNSEL_CALL(handler, NULL),
        .iterator = iterator,
        .count = count,
        .first = index,
        .index = index,
        .reads = !dynsel_mode_discards((uint32_t)mode),
        .writes = mode != DYNSEL_ACCESS_READ,
    };
    of.status = dynsel_call_begin(&of.call, leaves != NULL && place != NULL && iterator != NULL);
    if (of.status == DYNSEL_OK && (uint32_t)mode > DYNSEL_ACCESS_ATOMIC) {
        return DYNSEL_REFUSE(&of.call, DYNSEL_E_INVALID, "its mode is none that there is");
    }
    if (of.status == DYNSEL_OK) {
        leaves(&of.sink, place);
    }
    if (of.status == DYNSEL_OK && of.only_on_host != NULL) {
        handler->only_on_host = of.only_on_host;
        handler->host_range_count++;
        if (of.index > of.first) { /* a range without arguments is never replaced */
            handler->arguments[of.first].block |= DYNSEL_ONLY_ON_HOST;
        }
    }
    return of.status;
}

dynsel_status dynsel_set_arg_of_accessor(dynsel_handler *handler, uint32_t index, const void *value,
                                         size_t bytes)
{
    (void)bytes;
    return dynsel_set_arg_accessor(handler, index, value);
}

dynsel_status dynsel_set_arg_at_accessor(dynsel_handler *handler, uint32_t index, const void *value,
                                         size_t bytes)
{
    const dynsel_accessor *accessor = NULL;
    (void)memcpy(&accessor, value, bytes);
    return dynsel_set_arg_accessor(handler, index, accessor);
}

dynsel_status dynsel_set_arg_of_local(dynsel_handler *handler, uint32_t index, const void *value,
                                      size_t bytes)
{
    const dynsel_local_memory *const local = value;
    (void)bytes;
    return dynsel_set_arg_local(handler, index, local->bytes);
}

dynsel_status dynsel_set_arg_of_pointer(dynsel_handler *handler, uint32_t index, const void *value,
                                        size_t bytes)
{
    const void *pointer = NULL;
    (void)memcpy(&pointer, value, bytes);
    return dynsel_set_arg_pointer(handler, index, pointer);
}
