/* SPDX-License-Identifier: Apache-2.0 */
/* What a group function registers: which buffers are used, how, and through which accessors. */
#include <dynsel/command_group.h>

#include "memory/recording.h"
#include "port/assert.h"

static bool is_buffer_memory(uint32_t target)
{
    return target == DYNSEL_MEMORY_GLOBAL || target == DYNSEL_MEMORY_CONSTANT;
}

static dynsel_status check_access(const dynsel_call *call, uint32_t mode, uint32_t target)
{
    if (target == DYNSEL_MEMORY_LOCAL) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "local memory has no buffer: pass the accessor to "
                             "dynsel_set_arg_accessor(), without requiring it");
    }
    if (target == DYNSEL_MEMORY_HOST) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "no command group takes an accessor for the host: open one with "
                             "dynsel_host_accessor_open()");
    }
    if (!is_buffer_memory(target) || mode > DYNSEL_ACCESS_ATOMIC) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID, "its mode or target is none that there is");
    }
    if (target == DYNSEL_MEMORY_CONSTANT && mode != DYNSEL_ACCESS_READ) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "constant memory can only be read: use DYNSEL_ACCESS_READ");
    }
    return DYNSEL_OK;
}

/* FNV-1a over the halves of a size. */
static uint32_t mix(uint32_t look, size_t size)
{
    const uint32_t prime = 16777619;
    look = (look ^ (uint32_t)size) * prime;
    return (look ^ (uint32_t)((uint64_t)size >> 32)) * prime;
}

static uint32_t mix_range(uint32_t look, const dynsel_range *range)
{
    look = mix(look, range->dimensions);
    for (uint32_t i = 0; i < range->dimensions && i < DYNSEL_MAX_DIMENSIONS; i++) {
        look = mix(look, range->size[i]);
    }
    return look;
}

/* Neither range nor offset was given. */
static inline bool is_for_all(const dynsel_accessor *accessor)
{
    return accessor->range.dimensions == 0 && accessor->offset.dimensions == 0;
}

static inline uint32_t look_of(const dynsel_accessor *accessor)
{
    const uint32_t look = (uint32_t)accessor->mode << 8 | accessor->target;
    return is_for_all(accessor)
               ? look
               : mix_range(mix_range(mix(look, 0), &accessor->range), &accessor->offset);
}

/* The accessor itself. What stands at its address may be another by now: one that was passed by
 * value often has the address of the one before. */
static dynsel_bound *find_by_address(dynsel_handler *handler, const dynsel_accessor *accessor)
{
    const uint32_t own = accessor->buffer.token;
    const uint32_t look = look_of(accessor);
    for (uint32_t i = 0; i < handler->bound_count; i++) {
        dynsel_bound *bound = &handler->bound[i];
        if (bound->accessor == accessor && bound->look == look &&
            (own == 0 || bound->buffer == own)) {
            return bound;
        }
    }
    return NULL;
}

static bool is_required(const dynsel_bound *bound)
{
    return bound->use != DYNSEL_NO_USE;
}

/* One that says the same, with a buffer, and is required. */
static dynsel_bound *find_equal(dynsel_handler *handler, uint32_t buffer, uint32_t look)
{
    for (uint32_t i = 0; i < handler->bound_count && buffer != 0; i++) {
        dynsel_bound *bound = &handler->bound[i];
        if (is_required(bound) && bound->buffer == buffer && bound->look == look) {
            return bound;
        }
    }
    return NULL;
}

/* Whatever accessor the buffer is used through, for normal ones. */
static dynsel_bound *find_by_buffer(dynsel_handler *handler, uint32_t buffer)
{
    for (uint32_t i = 0; i < handler->bound_count; i++) {
        if (is_required(&handler->bound[i]) && handler->bound[i].buffer == buffer) {
            return &handler->bound[i];
        }
    }
    return NULL;
}

static dynsel_status enter_bound(const dynsel_call *call, const dynsel_bound *bound,
                                 dynsel_bound **entered)
{
    dynsel_handler *handler = call->handler;
    if (handler->bound_count == CONFIG_DYNSEL_MAX_REQUIREMENTS) {
        return DYNSEL_REFUSE_NUMBER(call, DYNSEL_E_FULL,
                                    "a command group has at most {} requirements: raise "
                                    "CONFIG_DYNSEL_MAX_REQUIREMENTS",
                                    CONFIG_DYNSEL_MAX_REQUIREMENTS);
    }
    *entered = &handler->bound[handler->bound_count++];
    **entered = *bound;
    return DYNSEL_OK;
}

static uint32_t use_of(dynsel_handler *handler, uint32_t token, const dynsel_shape *shape,
                       const char *name)
{
    for (uint32_t i = 0; i < handler->use_count; i++) {
        if (handler->uses[i].token == token) {
            return i;
        }
    }
    DYNSEL_ASSERT(handler->use_count < CONFIG_DYNSEL_MAX_REQUIREMENTS);
    handler->uses[handler->use_count] = (dynsel_use){
        .buffer = shape->place,
        .token = token,
        .bytes = shape->bytes,
        .name = name,
    };
    return handler->use_count++;
}

static bool discards(uint32_t mode)
{
    return mode == DYNSEL_ACCESS_DISCARD_WRITE || mode == DYNSEL_ACCESS_DISCARD_READ_WRITE;
}

/* Whether what is done in this mode was registered. */
static bool is_covered(const dynsel_use *use, uint32_t mode)
{
    return (use->writes || mode == DYNSEL_ACCESS_READ) && (use->reads || discards(mode));
}

static void merge(dynsel_use *use, uint32_t mode, bool all)
{
    use->reads = use->reads || !discards(mode) || !all;
    use->writes = use->writes || mode != DYNSEL_ACCESS_READ;
}

/* What was used before it was required, under its address or as a copy. */
static void settle_others(dynsel_handler *handler, const dynsel_bound *required)
{
    for (uint32_t i = 0; i < handler->bound_count; i++) {
        dynsel_bound *bound = &handler->bound[i];
        if (!is_required(bound) && bound->buffer == required->buffer &&
            bound->look == required->look) {
            bound->use = required->use;
        }
    }
}

static dynsel_status check_part(const dynsel_call *call, const dynsel_accessor *accessor,
                                const dynsel_shape *shape, bool *all)
{
    dynsel_part part;
    const dynsel_status status = dynsel_part_of(call, accessor, shape, &part);
    *all = status == DYNSEL_OK && dynsel_part_is_all(&part, shape);
    return status;
}

/* bound: where it stands already, or NULL. */
static dynsel_status register_use(const dynsel_call *call, const dynsel_accessor *accessor,
                                  dynsel_buffer buffer, dynsel_bound *bound)
{
    dynsel_shape shape;
    bool all = true;
    dynsel_status status = dynsel_shape_of(call, buffer, &shape);
    if (status == DYNSEL_OK && !is_for_all(accessor)) {
        status = check_part(call, accessor, &shape, &all);
    }
    if (status == DYNSEL_OK && bound == NULL) {
        status = enter_bound(call,
                             &(dynsel_bound){.accessor = accessor->placeholder ? accessor : NULL,
                                             .name = call->subject,
                                             .use = DYNSEL_NO_USE},
                             &bound);
    }
    if (status != DYNSEL_OK || bound == NULL) {
        return status;
    }
    bound->buffer = buffer.token;
    bound->look = look_of(accessor);
    bound->use = use_of(call->handler, buffer.token, &shape, call->subject);
    merge(&call->handler->uses[bound->use], accessor->mode, all);
    settle_others(call->handler, bound);
    return DYNSEL_OK;
}

static bool may_have(const dynsel_accessor *accessor, uint32_t buffer)
{
    return accessor->buffer.token == 0 || accessor->buffer.token == buffer;
}

static dynsel_status check_placeholder(const dynsel_call *call, const dynsel_accessor *accessor)
{
    const dynsel_status status = check_access(call, accessor->mode, accessor->target);
    if (status == DYNSEL_OK && !accessor->placeholder) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "it is no placeholder: a normal accessor is registered when it is "
                             "made");
    }
    return status;
}

static dynsel_status require(const dynsel_call *call, const dynsel_accessor *accessor,
                             dynsel_buffer buffer)
{
    const dynsel_status status = check_placeholder(call, accessor);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (buffer.token == 0) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "it has no buffer: give it one with dynsel_require_buffer()");
    }
    if (!may_have(accessor, buffer.token)) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "it has a buffer of its own, and is required with another");
    }
    dynsel_bound *bound = find_by_address(call->handler, accessor);
    if (bound != NULL && is_required(bound) && bound->buffer != buffer.token) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "it was required before with another buffer: use two placeholders");
    }
    return register_use(call, accessor, buffer, bound);
}

dynsel_status dynsel_require(dynsel_handler *handler, const dynsel_accessor *accessor)
{
    const dynsel_call call = DYNSEL_CALL(handler, accessor);
    const dynsel_status status = dynsel_call_begin(&call, accessor != NULL);
    return status == DYNSEL_OK ? require(&call, accessor, accessor->buffer) : status;
}

dynsel_status dynsel_require_buffer(dynsel_handler *handler, dynsel_buffer buffer,
                                    const dynsel_accessor *accessor)
{
    const dynsel_call call = DYNSEL_CALL(handler, accessor);
    const dynsel_status status = dynsel_call_begin(&call, accessor != NULL);
    return status == DYNSEL_OK ? require(&call, accessor, buffer) : status;
}

/* A normal one is known by its buffer, so one entry does for all of a buffer's. */
static dynsel_bound *find_normal(dynsel_handler *handler, dynsel_buffer buffer)
{
    for (uint32_t i = 0; i < handler->bound_count; i++) {
        if (handler->bound[i].accessor == NULL && handler->bound[i].buffer == buffer.token) {
            return &handler->bound[i];
        }
    }
    return NULL;
}

dynsel_status dynsel_get_access(dynsel_handler *handler, dynsel_buffer buffer,
                                dynsel_access_mode mode, dynsel_access_target target,
                                dynsel_accessor *accessor)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    dynsel_status status = dynsel_call_begin(&call, accessor != NULL);
    if (status == DYNSEL_OK) {
        status = check_access(&call, (uint32_t)mode, (uint32_t)target);
    }
    dynsel_accessor normal = {.mode = 0};
    if (status == DYNSEL_OK) {
        normal.buffer = buffer;
        normal.mode = (uint8_t)mode;
        normal.target = (uint8_t)target;
        normal.group = handler->token;
        status = register_use(&call, &normal, buffer, find_normal(handler, buffer));
    }
    if (accessor != NULL) {
        *accessor = status == DYNSEL_OK ? normal : (dynsel_accessor){.mode = 0};
    }
    return status;
}

/* With the buffer that it has in this command group. */
static dynsel_status require_again(const dynsel_call *call, const dynsel_accessor *placeholder,
                                   dynsel_buffer *buffer)
{
    const dynsel_bound *bound = find_by_address(call->handler, placeholder);
    if (bound != NULL && is_required(bound)) {
        buffer->token = bound->buffer;
    }
    return require(call, placeholder, *buffer);
}

dynsel_status dynsel_accessor_get_access(dynsel_handler *handler,
                                         const dynsel_accessor *placeholder,
                                         dynsel_accessor *accessor)
{
    const dynsel_call call = DYNSEL_CALL(handler, placeholder);
    dynsel_status status = dynsel_call_begin(&call, placeholder != NULL && accessor != NULL);
    dynsel_accessor normal = {.mode = 0};
    if (status == DYNSEL_OK) {
        normal = *placeholder;
        status = require_again(&call, placeholder, &normal.buffer);
        normal.placeholder = false;
        normal.group = handler->token;
    }
    if (accessor != NULL) {
        *accessor = status == DYNSEL_OK ? normal : (dynsel_accessor){.mode = 0};
    }
    return status;
}

static dynsel_status normal_bound(const dynsel_call *call, const dynsel_accessor *accessor,
                                  dynsel_bound **bound)
{
    if (accessor->group != call->handler->token) {
        return accessor->group == 0
                   ? DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                                   "it is no placeholder, and dynsel_get_access() did not make it")
                   : DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                                   "it belongs to another command group: get one in this one, or "
                                   "use a placeholder");
    }
    *bound = find_by_buffer(call->handler, accessor->buffer.token);
    if (*bound == NULL) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "its buffer is not the one that it was made for");
    }
    return is_covered(&call->handler->uses[(*bound)->use], accessor->mode)
               ? DYNSEL_OK
               : DYNSEL_REFUSE(call, DYNSEL_E_INVALID, "its mode was changed after it was made");
}

static dynsel_status placeholder_bound(const dynsel_call *call, const dynsel_accessor *accessor,
                                       dynsel_bound **bound)
{
    const dynsel_bound unknown = {.accessor = accessor,
                                  .name = call->subject,
                                  .buffer = accessor->buffer.token,
                                  .look = look_of(accessor),
                                  .use = DYNSEL_NO_USE};
    /* Where another one stood before, it is not that one. */
    *bound = find_by_address(call->handler, accessor);
    if (*bound == NULL || !may_have(accessor, (*bound)->buffer)) {
        *bound = find_equal(call->handler, unknown.buffer, unknown.look);
    }
    return *bound != NULL ? DYNSEL_OK : enter_bound(call, &unknown, bound);
}

dynsel_status dynsel_bound_of(const dynsel_call *call, const dynsel_accessor *accessor,
                              uint32_t *place)
{
    dynsel_bound *bound = NULL;
    dynsel_status status = check_access(call, accessor->mode, accessor->target);
    if (status == DYNSEL_OK) {
        status = accessor->placeholder ? placeholder_bound(call, accessor, &bound)
                                       : normal_bound(call, accessor, &bound);
    }
    if (status == DYNSEL_OK) {
        *place = (uint32_t)(bound - call->handler->bound);
    }
    return status;
}
