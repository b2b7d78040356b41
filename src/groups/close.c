/* SPDX-License-Identifier: Apache-2.0 */
/* What a group function left, when it has returned. */
#include "groups/recording.h"

/* What it did wrong comes before what it returned. */
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

static dynsel_status refuse_accessor(dynsel_call *call, const dynsel_bound *bound)
{
    call->subject = bound->name;
    return bound->buffer == 0
               ? DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                               "it is used and has no buffer: call dynsel_require_buffer() in the "
                               "group function, with the accessor itself and not with a copy")
               : DYNSEL_REFUSE(call, DYNSEL_E_INVALID,
                               "it is used and was not required: call dynsel_require() in the "
                               "group function");
}

/* From accessors to buffers. */
static dynsel_status resolve(dynsel_call *call, dynsel_argument *argument)
{
    const dynsel_bound *bound = &call->handler->bound[argument->use & ~(uint32_t)DYNSEL_NOT_YET];
    if (bound->use == DYNSEL_NO_USE) {
        return refuse_accessor(call, bound);
    }
    argument->use = (uint8_t)bound->use;
    return DYNSEL_OK;
}

static DYNSEL_ASIDE dynsel_status settle_arguments(dynsel_call *call)
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

/* Until now `bytes` of pointers said what ranges have devices reach through them. */
static DYNSEL_ASIDE void settle_pointers(dynsel_handler *group)
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
        settle_pointers(group);
    }
    group->command.launch.arguments = group->arguments;
    group->command.launch.argument_count = group->argument_count;
    return DYNSEL_LIKELY(!group->unsettled) ? DYNSEL_OK : settle_arguments(&call);
}
