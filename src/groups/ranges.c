/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges as arguments, leaf by leaf; and arguments by their types. */
#include <dynsel/arguments.h>

#include <string.h>

#include "groups/handler.h"

/* A range on its way into the arguments. */
typedef struct range {
    dynsel_leaf_sink sink; /* the first member */
    dynsel_call call;
    const unsigned char *iterator;
    uint64_t count;
    uint32_t first; /* of its arguments */
    uint32_t index;
    const char *only_on_host; /* as of the handler */
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

/* What the leaf needs, in bytes; false: that cannot be. */
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

/* The kernel would read what no device was given. */
static dynsel_status check_source(const range *of, const dynsel_leaf *leaf)
{
    const dynsel_call call = about(of, leaf);
    return dynsel_leaf_lacks_elements(leaf, of->iterator, of->count)
               ? DYNSEL_REFUSE_NUMBER(&call, DYNSEL_E_INVALID,
                                      "a permutation of it has the count 0, and the range has {} "
                                      "elements: make it with the count of its source",
                                      of->count)
               : DYNSEL_OK;
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
    return dynsel_argument_stage(&call, of->index, &staged);
}

static void take_leaf(dynsel_leaf_sink *sink, const dynsel_leaf *leaf)
{
    range *const of = (range *)(void *)sink;
    if (of->status == DYNSEL_OK) {
        of->status = check_source(of, leaf);
    }
    if (of->status != DYNSEL_OK) {
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

/* What has no arguments is not replaced. */
static void keep_on_host(const range *of)
{
    dynsel_handler *const handler = of->call.handler;
    handler->only_on_host = of->only_on_host;
    handler->host_range_count++;
    if (of->index > of->first) {
        handler->arguments[of->first].block |= DYNSEL_ONLY_ON_HOST;
    }
}

static bool discards(dynsel_access_mode mode)
{
    return mode == DYNSEL_ACCESS_DISCARD_WRITE || mode == DYNSEL_ACCESS_DISCARD_READ_WRITE;
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
        .reads = !discards(mode),
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
        keep_on_host(&of);
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
