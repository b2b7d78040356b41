/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/recording.h"

#include <dynsel/command_group.h>

#include "data/buffers.h"
#include "groups/failures.h"

dynsel_handler dynsel_groups[CONFIG_DYNSEL_MAX_IN_FLIGHT];
uint32_t dynsel_order_entries;

/* Sets only counts and flags: the rest is written before it is read. The members under the lock are
 * written when the group is entered into the order (src/groups/submit_command_group.c). */
void dynsel_group_begin(dynsel_handler *group, uint32_t token, dynsel_group_fn function)
{
    dynsel_command *const command = &group->command;
    group->open = true;
    group->unresolved = false;
    group->has_pointers = false;
    group->uncommon = 0;
    if (!DYNSEL_LIKELY(group->uses != NULL)) {
        group->uses = dynsel_uses_in(token); /* once: other threads read these without the lock */
        group->slot = dynsel_slot_of_token(token);
    }
    group->uses->token = token + 1;
    group->error.status = DYNSEL_OK;
    group->function = function;
    group->id = 0;
    group->key_word_count = 0;
#if CONFIG_DYNSEL_ASPECTS
    group->aspects = 0;
#endif
#if CONFIG_DYNSEL_TIME_LIMITS
    if (!DYNSEL_LIKELY(!group->untold)) {
        dynsel_failure_forget(group);
    }
    group->limit_ns = 0;
#endif
#if CONFIG_DYNSEL_REPEAT
    group->repeatable = false;
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    group->has_amount = false;
#endif
    group->bound_count = 0;
    group->uses->count = 0;
    group->argument_count = 0;
    group->value_bytes = 0;
    group->uses->staged_count = 0;
#if CONFIG_DYNSEL_EXTERNAL_EVENTS > 0
    group->uses->external_count = 0;
#endif
    group->only_on_host = NULL;
    group->host_range_count = 0;
    group->direct_bytes = 0;
    group->bytes = (dynsel_range_bytes){.staged_in = 0};
    group->host_task = NULL;
    command->kind = DYNSEL_COMMAND_NONE;
    command->kernel = NULL;
    command->launch.where = NULL;
    command->launch.global.dimensions = 0;
    command->launch.local.dimensions = 0;
    command->launch.offset = (dynsel_range){.dimensions = 0};
    command->from = NULL;
    command->to = NULL;
    command->element = NULL;
    command->after = NULL;
    command->after_count = 0;
}

void dynsel_call_note_failure(const dynsel_call *call)
{
    if (call->handler->error.status == DYNSEL_OK) {
        call->handler->error = dynsel_this_thread()->last_error;
    }
}

static dynsel_status fail(const dynsel_call *call, dynsel_status status, const char *detail,
                          uint32_t number)
{
    return dynsel_fail(&(dynsel_error){.status = status,
                                       .function = call->function,
                                       .subject = call->subject,
                                       .detail = detail,
                                       .number = number});
}

void dynsel_call_fail(const dynsel_call *call, dynsel_status status, const char *detail,
                      uint32_t number)
{
    (void)fail(call, status, detail, number);
    dynsel_call_note_failure(call);
}

void dynsel_call_refuse_use(const dynsel_call *call)
{
    if (call->handler == NULL || !call->handler->open) {
        (void)fail(call, DYNSEL_E_INVALID,
                   DYNSEL_TEXT("the handler is not that of a running group function"), 0);
    } else {
        (void)DYNSEL_REFUSE(call, DYNSEL_E_INVALID, "an argument is NULL");
    }
}

dynsel_status dynsel_call_refuse_buffer(const dynsel_call *call, dynsel_buffer buffer)
{
    const dynsel_status status = dynsel_buffer_refuse(call->function, call->subject, buffer);
    dynsel_call_note_failure(call);
    return status;
}

dynsel_status dynsel_shape_of(const dynsel_call *call, dynsel_buffer buffer, dynsel_shape *shape)
{
    return dynsel_buffer_shape(buffer, shape) ? DYNSEL_OK : dynsel_call_refuse_buffer(call, buffer);
}

dynsel_status dynsel_region_of(const dynsel_call *call, const dynsel_accessor *accessor,
                               const dynsel_shape *shape, dynsel_region *region)
{
    switch (dynsel_region_find(accessor, shape, region)) {
    case DYNSEL_REGION_HAS_OTHER_DIMENSIONS:
        return DYNSEL_REFUSE_NUMBER(call, DYNSEL_E_INVALID,
                                    "its range and offset need as many dimensions as the buffer "
                                    "has: {}",
                                    shape->range.dimensions);
    case DYNSEL_REGION_IS_OUTSIDE:
        return DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                             "its range and offset reach past the end of the buffer (an offset "
                             "needs a range)");
    case DYNSEL_REGION_FITS:
    default:
        return DYNSEL_OK;
    }
}

dynsel_status dynsel_set_key(dynsel_handler *handler, uint32_t id, const uint32_t *words,
                             size_t count)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    const dynsel_status status = dynsel_call_begin(&call, words != NULL || count == 0);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (id == 0) {
        return DYNSEL_REFUSE(&call, DYNSEL_E_INVALID, "an id of 0 says nothing: use another");
    }
    if (count > DYNSEL_GROUP_KEY_WORDS) {
        return DYNSEL_REFUSE_NUMBER(
            &call, DYNSEL_E_FULL,
            "a command group has at most 8 key words, and not {}: combine some", count);
    }
    handler->id = id;
    handler->key_word_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        handler->key_words[i] = words[i];
    }
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
dynsel_status dynsel_set_amount(dynsel_handler *handler, uint64_t amount)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    const dynsel_status status = dynsel_call_begin(&call, true);
    if (status == DYNSEL_OK) {
        handler->amount = amount;
        handler->has_amount = true;
    }
    return status;
}
#endif

#if CONFIG_DYNSEL_TIME_LIMITS
dynsel_status dynsel_set_time_limit(dynsel_handler *handler, uint64_t limit_ns)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    const dynsel_status status = dynsel_call_begin(&call, true);
    if (status == DYNSEL_OK) {
        handler->limit_ns = limit_ns;
    }
    return status;
}
#endif

#if CONFIG_DYNSEL_REPEAT
dynsel_status dynsel_set_repeatable(dynsel_handler *handler)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    const dynsel_status status = dynsel_call_begin(&call, true);
    if (status == DYNSEL_OK) {
        handler->repeatable = true;
    }
    return status;
}
#endif

#if CONFIG_DYNSEL_ASPECTS
dynsel_status dynsel_need_aspects(dynsel_handler *handler, dynsel_aspect_set aspects)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    const dynsel_status status = dynsel_call_begin(&call, true);
    if (status == DYNSEL_OK) {
        handler->aspects |= aspects;
    }
    return status;
}
#endif

/* Fails the submission. A failure of a handler function takes precedence over the returned status.
 * */
DYNSEL_RARE static dynsel_status pass_on(dynsel_handler *group, dynsel_status returned,
                                         uint32_t failures_before)
{
    if (group->error.status != DYNSEL_OK) {
        return dynsel_fail(&group->error);
    }
    dynsel_error error = dynsel_details_of(returned, failures_before);
    if (error.function == NULL && error.detail == NULL) {
        error.function = DYNSEL_TEXT("dynsel_submit_command_group");
        error.detail = DYNSEL_TEXT("the group function returned this");
    }
    return dynsel_fail(&error);
}

/* Replaces the accessor of an argument with the use of its buffer. */
static dynsel_status resolve(dynsel_call *call, dynsel_argument *argument)
{
    const dynsel_bound *bound = &call->handler->bound[argument->use & ~(uint32_t)DYNSEL_NOT_YET];
    if (bound->use == DYNSEL_NO_USE) {
        call->subject = bound->name;
        return bound->buffer == 0
                   ? DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                                   "it is used and has no buffer: call dynsel_require_buffer() in "
                                   "the group function, with the accessor itself and not with a "
                                   "copy")
                   : DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                                   "it is used and was not required: call dynsel_require() in the "
                                   "group function");
    }
    argument->use = (uint8_t)bound->use;
    return DYNSEL_OK;
}

static DYNSEL_ASIDE dynsel_status resolve_arguments(dynsel_call *call)
{
    dynsel_handler *group = call->handler;
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; i < group->argument_count && status == DYNSEL_OK; i++) {
        if (group->arguments[i].kind == DYNSEL_ARGUMENT_UNSET) {
            status = DYNSEL_REFUSE_NUMBER(call, DYNSEL_E_INVALID,
                                          "argument {} was not set, but a later one was", i);
        } else if (group->arguments[i].kind == DYNSEL_ARGUMENT_DATA &&
                   (group->arguments[i].use & DYNSEL_NOT_YET) != 0) {
            status = resolve(call, &group->arguments[i]);
        }
    }
    return status;
}

/* While recorded, `bytes` of a pointer argument is the size of its range. */
static DYNSEL_ASIDE void resolve_pointers(dynsel_handler *group)
{
    for (uint32_t i = 0; i < group->argument_count; i++) {
        dynsel_argument *const argument = &group->arguments[i];
        if (argument->kind == DYNSEL_ARGUMENT_POINTER) {
            group->direct_bytes += argument->bytes;
            argument->bytes = sizeof(argument->value);
        }
    }
}

dynsel_status dynsel_group_close(dynsel_handler *group, dynsel_status returned,
                                 uint32_t failures_before)
{
    dynsel_call call = {.handler = group, .function = DYNSEL_TEXT("dynsel_submit_command_group")};
    group->open = false;
    if (!DYNSEL_LIKELY(group->error.status == DYNSEL_OK && returned == DYNSEL_OK)) {
        return pass_on(group, returned, failures_before);
    }
    if (group->command.kind == DYNSEL_COMMAND_NONE) {
        return DYNSEL_REFUSE(&call, DYNSEL_E_INVALID,
                             "the group function launched nothing: call dynsel_parallel_for(), "
                             "dynsel_copy() or another of these");
    }
    if (!DYNSEL_LIKELY(!group->has_pointers)) {
        resolve_pointers(group);
    }
    group->command.launch.arguments = group->arguments;
    group->command.launch.argument_count = group->argument_count;
    return DYNSEL_LIKELY(!group->unresolved) ? DYNSEL_OK : resolve_arguments(&call);
}
