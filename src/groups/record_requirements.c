/* SPDX-License-Identifier: Apache-2.0 */
/* Records the requirements of a command group: its buffers, their access modes, and the accessors
 * that stand for them. */
#include <dynsel/command_group.h>

#include "data/buffers.h"
#include "groups/recording.h"
#include "port/assert.h"

static DYNSEL_ASIDE dynsel_status check_closely(const dynsel_call *call, uint32_t mode,
                                                uint32_t target)
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
    if ((target != DYNSEL_MEMORY_GLOBAL && target != DYNSEL_MEMORY_CONSTANT) ||
        mode > DYNSEL_ACCESS_ATOMIC) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID, "its mode or target is none that there is");
    }
    if (target == DYNSEL_MEMORY_CONSTANT && mode != DYNSEL_ACCESS_READ) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "constant memory can only be read: use DYNSEL_ACCESS_READ");
    }
    return DYNSEL_OK;
}

static inline dynsel_status check_access(const dynsel_call *call, uint32_t mode, uint32_t target)
{
    return DYNSEL_LIKELY(target == DYNSEL_MEMORY_GLOBAL && mode <= DYNSEL_ACCESS_ATOMIC)
               ? DYNSEL_OK
               : check_closely(call, mode, target);
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

/* Whether the accessor is for the whole buffer: without range and offset. */
static inline bool is_for_all(const dynsel_accessor *accessor)
{
    return accessor->range.dimensions == 0 && accessor->offset.dimensions == 0;
}

/* In the look of each accessor to a part of a buffer, and of no other. */
enum { LOOK_OF_PART = 1 << 30 };

static inline uint32_t look_of(const dynsel_accessor *accessor)
{
    const uint32_t look = (uint32_t)accessor->mode << 8 | accessor->target;
    return is_for_all(accessor)
               ? look
               : LOOK_OF_PART |
                     mix_range(mix_range(mix(look, 0), &accessor->range), &accessor->offset);
}

/* Compares the look too, because an accessor passed by value often has the address of an earlier
 * one. */
static inline dynsel_bound *find_by_address(dynsel_handler *handler,
                                            const dynsel_accessor *accessor, uint32_t look)
{
    const uint32_t own = accessor->buffer.token;
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

/* A required accessor with this buffer and look; NULL: none, as for buffer 0. */
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

/* Any required accessor with this buffer; NULL: none. */
static dynsel_bound *find_by_buffer(dynsel_handler *handler, uint32_t buffer)
{
    for (uint32_t i = 0; i < handler->bound_count; i++) {
        if (is_required(&handler->bound[i]) && handler->bound[i].buffer == buffer) {
            return &handler->bound[i];
        }
    }
    return NULL;
}

/* A new entry, with address and name only. NULL: refused. */
static inline dynsel_bound *enter_bound(const dynsel_call *call, const dynsel_accessor *accessor)
{
    dynsel_handler *handler = call->handler;
    if (!DYNSEL_LIKELY(handler->bound_count < CONFIG_DYNSEL_MAX_REQUIREMENTS)) {
        (void)DYNSEL_REFUSE_NUMBER(
            call, DYNSEL_E_FULL,
            DYNSEL_OPTION(MAX_REQUIREMENTS,
                          "and this command group requires more: set it to {} or more"),
            CONFIG_DYNSEL_MAX_REQUIREMENTS + 1);
        return NULL;
    }
    dynsel_bound *bound = &handler->bound[handler->bound_count++];
    bound->accessor = accessor->placeholder ? accessor : NULL;
    bound->name = call->subject;
    return bound;
}

/* The index of the buffer's use, which may be a new one. */
static inline uint32_t use_of(dynsel_uses *uses, uint32_t token, const char *name)
{
    const uint32_t count = uses->count;
    for (uint32_t i = 0; i < count; i++) {
        if (uses->each[i].token == token) {
            return i;
        }
    }
    DYNSEL_ASSERT(count < CONFIG_DYNSEL_MAX_REQUIREMENTS);
    uses->count = count + 1;
    uses->each[count] = (dynsel_use){
        .record = &dynsel_buffers[dynsel_buffer_place((dynsel_buffer){.token = token})],
        .token = token,
        .name = name,
    };
    return count;
}

/* Resolves earlier arguments with the accessor or a copy of it. */
static DYNSEL_ASIDE void resolve_others(dynsel_handler *handler, const dynsel_bound *required)
{
    for (uint32_t i = 0; i < handler->bound_count; i++) {
        dynsel_bound *bound = &handler->bound[i];
        if (!is_required(bound) && bound->buffer == required->buffer &&
            bound->look == required->look) {
            bound->use = required->use;
        }
    }
}

static DYNSEL_ASIDE dynsel_status check_region(const dynsel_call *call,
                                               const dynsel_accessor *accessor,
                                               dynsel_buffer buffer, bool *all)
{
    dynsel_shape shape;
    dynsel_region region;
    dynsel_status status = dynsel_shape_of(call, buffer, &shape);
    if (status == DYNSEL_OK) {
        status = dynsel_region_of(call, accessor, &shape, &region);
        *all = status == DYNSEL_OK && dynsel_region_is_all(&region, &shape);
    }
    return status;
}

#if CONFIG_DYNSEL_DEVICE_BUFFERS
/* Memory that the program allocated for kernels that only read, or only write. */
DYNSEL_RARE static dynsel_status refuse_access(const dynsel_call *call, bool reads)
{
    return reads ? DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                                 "its buffer is over memory that kernels only read: use "
                                 "DYNSEL_ACCESS_READ")
                 : DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                                 "its buffer is over memory that kernels only write: use "
                                 "DYNSEL_ACCESS_WRITE or DYNSEL_ACCESS_DISCARD_WRITE");
}
#endif

static inline dynsel_status check_kernel_access(const dynsel_call *call, dynsel_buffer buffer,
                                                uint32_t mode)
{
#if CONFIG_DYNSEL_DEVICE_BUFFERS
    const uint32_t access =
        dynsel_word_load_relaxed(&dynsel_buffers[dynsel_buffer_place(buffer)].access);
    const bool fits = DYNSEL_LIKELY(access == DYNSEL_KERNELS_READ_AND_WRITE) ||
                      (access == DYNSEL_KERNELS_READ
                           ? mode == DYNSEL_ACCESS_READ
                           : mode == DYNSEL_ACCESS_WRITE || mode == DYNSEL_ACCESS_DISCARD_WRITE);
    return fits ? DYNSEL_OK : refuse_access(call, access == DYNSEL_KERNELS_READ);
#else
    (void)call;
    (void)buffer;
    (void)mode;
    return DYNSEL_OK;
#endif
}

/* Takes no lock for an accessor to the whole buffer: whether the buffer exists is checked again
 * when the group is entered into the order. */
static inline dynsel_status check_buffer(const dynsel_call *call, const dynsel_accessor *accessor,
                                         uint32_t look, dynsel_buffer buffer, bool *all)
{
    if (!DYNSEL_LIKELY((look & LOOK_OF_PART) == 0)) {
        return check_region(call, accessor, buffer, all);
    }
    *all = true;
    return DYNSEL_LIKELY(dynsel_buffer_find(buffer) != NULL)
               ? DYNSEL_OK
               : dynsel_call_refuse_buffer(call, buffer);
}

/* Registers the use of a buffer. bound: the accessor's entry, or NULL. */
static inline dynsel_status register_use(const dynsel_call *call, const dynsel_accessor *accessor,
                                         uint32_t look, dynsel_buffer buffer, dynsel_bound *bound)
{
    dynsel_handler *handler = call->handler;
    bool all = true;
    dynsel_status status = check_buffer(call, accessor, look, buffer, &all);
    if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
        status = check_kernel_access(call, buffer, accessor->mode);
    }
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return status;
    }
    if (bound == NULL) {
        bound = enter_bound(call, accessor);
    }
    if (!DYNSEL_LIKELY(bound != NULL)) {
        return DYNSEL_E_FULL;
    }
    bound->buffer = buffer.token;
    bound->look = look;
    bound->use = use_of(handler->uses, buffer.token, call->subject);
    dynsel_use *const use = &handler->uses->each[bound->use];
    use->reads = use->reads || !dynsel_mode_discards(accessor->mode) || !all;
    use->writes = use->writes || accessor->mode != DYNSEL_ACCESS_READ;
    if (handler->unresolved) {
        resolve_others(handler, bound);
    }
    return DYNSEL_OK;
}

static dynsel_status require(const dynsel_call *call, const dynsel_accessor *accessor,
                             dynsel_buffer buffer)
{
    const dynsel_status status = check_access(call, accessor->mode, accessor->target);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (!accessor->placeholder) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "it is no placeholder: a normal accessor is registered when it is "
                             "made");
    }
    if (buffer.token == 0) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "it has no buffer: give it one with dynsel_require_buffer()");
    }
    if (accessor->buffer.token != 0 && accessor->buffer.token != buffer.token) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "it has a buffer of its own, and is required with another: use a "
                             "placeholder that has none");
    }
    const uint32_t look = look_of(accessor);
    dynsel_bound *bound = find_by_address(call->handler, accessor, look);
    if (bound != NULL && is_required(bound) && bound->buffer != buffer.token) {
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "it was required before with another buffer: use two placeholders");
    }
    return register_use(call, accessor, look, buffer, bound);
}

/* function: the name of the public function. */
static dynsel_status require_in(dynsel_handler *handler, const dynsel_accessor *accessor,
                                dynsel_buffer buffer, const char *function)
{
    const dynsel_call call = {
        .handler = handler, .function = function, .subject = dynsel_accessor_label(accessor)};
    const dynsel_status status = dynsel_call_begin(&call, accessor != NULL);
    return DYNSEL_LIKELY(status == DYNSEL_OK) ? require(&call, accessor, buffer) : status;
}

dynsel_status dynsel_require(dynsel_handler *handler, const dynsel_accessor *accessor)
{
    const dynsel_buffer none = {.token = 0};
    return require_in(handler, accessor, accessor != NULL ? accessor->buffer : none,
                      DYNSEL_TEXT(__func__));
}

dynsel_status dynsel_require_buffer(dynsel_handler *handler, dynsel_buffer buffer,
                                    const dynsel_accessor *accessor)
{
    return require_in(handler, accessor, buffer, DYNSEL_TEXT(__func__));
}

/* Normal accessors are identified by their buffer, so all of a buffer's share one entry. */
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
        normal.group = handler->uses->token;
        status =
            register_use(&call, &normal, look_of(&normal), buffer, find_normal(handler, buffer));
    }
    if (accessor != NULL) {
        *accessor = status == DYNSEL_OK ? normal : (dynsel_accessor){.mode = 0};
    }
    return status;
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
        const dynsel_bound *bound = find_by_address(handler, placeholder, look_of(placeholder));
        if (bound != NULL && is_required(bound)) {
            normal.buffer.token = bound->buffer; /* as it was required in this command group */
        }
        status = require(&call, placeholder, normal.buffer);
        normal.placeholder = false;
        normal.group = handler->uses->token;
    }
    if (accessor != NULL) {
        *accessor = status == DYNSEL_OK ? normal : (dynsel_accessor){.mode = 0};
    }
    return status;
}

static dynsel_bound *normal_bound(const dynsel_call *call, const dynsel_accessor *accessor)
{
    if (check_access(call, accessor->mode, accessor->target) != DYNSEL_OK) {
        return NULL;
    }
    if (accessor->group != call->handler->uses->token) {
        (void)(accessor->group == 0
                   ? DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                                   "it is no placeholder, and dynsel_get_access() did not make it")
                   : DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                                   "it belongs to another command group: get one in this one, or "
                                   "use a placeholder"));
        return NULL;
    }
    dynsel_bound *bound = find_by_buffer(call->handler, accessor->buffer.token);
    if (bound == NULL) {
        (void)DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                            "its buffer is not the one that it was made for");
        return NULL;
    }
    const dynsel_use *const use = &call->handler->uses->each[bound->use];
    if ((!use->writes && accessor->mode != DYNSEL_ACCESS_READ) ||
        (!use->reads && !dynsel_mode_discards(accessor->mode))) {
        (void)DYNSEL_REFUSE(call, DYNSEL_E_INVALID, "its mode was changed after it was made");
        return NULL;
    }
    return bound;
}

/* An unknown placeholder is a copy of a required one, or is required later. */
static DYNSEL_ASIDE dynsel_bound *unknown_bound(const dynsel_call *call,
                                                const dynsel_accessor *accessor, uint32_t look)
{
    dynsel_handler *handler = call->handler;
    if (check_access(call, accessor->mode, accessor->target) != DYNSEL_OK) {
        return NULL;
    }
    const uint32_t own = accessor->buffer.token;
    dynsel_bound *bound = find_equal(handler, own, look);
    if (bound != NULL) {
        return bound;
    }
    bound = enter_bound(call, accessor);
    if (bound != NULL) {
        bound->buffer = own;
        bound->look = look;
        bound->use = DYNSEL_NO_USE;
        handler->unresolved = true;
    }
    return bound;
}

const dynsel_bound *dynsel_bound_of(const dynsel_call *call, const dynsel_accessor *accessor)
{
    if (!accessor->placeholder) {
        return normal_bound(call, accessor);
    }
    /* mode and target are part of the look: those of a known one were checked */
    const uint32_t look = look_of(accessor);
    const dynsel_bound *bound = find_by_address(call->handler, accessor, look);
    return DYNSEL_LIKELY(bound != NULL) ? bound : unknown_bound(call, accessor, look);
}
