/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the command of a command group: a kernel or a host task. */
#include <dynsel/command_group.h>

#include "groups/kernel_forms.h"
#include "groups/recording.h"

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
    dynsel_status status = dynsel_call_begin_command(&call, kernel != NULL);
    if (status == DYNSEL_OK) {
        status = check_kernel(&call, kernel);
    }
    if (status == DYNSEL_OK && !dynsel_range_is_whole(&global)) {
        return DYNSEL_REFUSE(&call, DYNSEL_E_INVALID,
                             "the global range needs 1 to 3 dimensions, and no more work items "
                             "than can be counted");
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
        if (!DYNSEL_LIKELY(dynsel_range_count(&global) != 0)) {
            handler->uncommon |= DYNSEL_GROUP_IS_EMPTY;
        }
        handler->command.launch.global = copy_range(&global);
        handler->command.launch.local = copy_range(local);
        handler->command.launch.offset = copy_range(offset);
    }
    return status;
}

dynsel_status dynsel_single_task(dynsel_handler *handler, const dynsel_kernel *kernel)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    dynsel_status status = dynsel_call_begin_command(&call, kernel != NULL);
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

dynsel_status dynsel_host_task(dynsel_handler *handler, dynsel_kernel_fn function)
{
    const dynsel_call call = DYNSEL_CALL(handler, NULL);
    const dynsel_status status = dynsel_call_begin_command(&call, function != NULL);
    if (status == DYNSEL_OK) {
        handler->command.kind = DYNSEL_COMMAND_HOST_TASK;
        handler->host_task = function;
    }
    return status;
}
