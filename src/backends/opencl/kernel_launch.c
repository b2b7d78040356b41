/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/kernel_launch.h"

#include <string.h>

#include "backends/opencl/device_state.h"
#include "backends/opencl/error_codes.h"
#include "backends/opencl/kernel_build.h"
#include "backends/opencl/launch_batches.h"
#include "backends/opencl/svm_capability.h"
#include "backends/opencl/timing.h"
#include "backends/opencl/work_group_trials.h"
#include "backends/opencl/work_groups.h"
#include "base/fail.h"
#include "port/atomic.h"
#include "port/likely.h"

/* Fails with a wrong use of a kernel. number: replaces `{}` in the detail. */
DYNSEL_RARE static dynsel_status refuse(const dynsel_kernel *kernel, const char *function,
                                        cl_int code, const char *detail, size_t number)
{
    (void)kernel; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)function;
    (void)detail;
    return dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_INVALID,
                                             .code = code,
                                             .number = (uint32_t)number,
                                             .function = DYNSEL_TEXT(function),
                                             .subject = DYNSEL_TEXT(kernel->name),
                                             .detail = DYNSEL_TEXT(detail)});
}

/* Whether the kernel has this value already. For the most common sizes the compiler inlines memcmp.
 */
static inline bool is_set(const dynsel_opencl_set *set, uint8_t kind, const void *value,
                          size_t bytes)
{
    if (set->kind != kind || set->bytes != bytes) {
        return false; /* as for a value that was too long to remember */
    }
    switch (bytes) {
    case sizeof(cl_ulong):
        return memcmp(set->value, value, sizeof(cl_ulong)) == 0;
    case sizeof(cl_uint):
        return memcmp(set->value, value, sizeof(cl_uint)) == 0;
    default:
        return memcmp(set->value, value, bytes) == 0;
    }
}

DYNSEL_RARE static dynsel_status
fail_argument(dynsel_opencl_entry *entry, const dynsel_kernel *kernel, cl_int code, size_t index)
{
    const char *detail = NULL;
    switch (code) {
    case CL_INVALID_ARG_SIZE:
        detail = "argument {} has another size than the kernel's";
        break;
    case CL_INVALID_ARG_VALUE:
    case CL_INVALID_MEM_OBJECT:
        detail = "argument {} is of another kind than the kernel's";
        break;
    case CL_INVALID_ARG_INDEX:
        detail = "the kernel has no argument {}";
        break;
    default:
        return dynsel_opencl_fail(entry, "clSetKernelArg", code);
    }
    return refuse(kernel, "clSetKernelArg", code, detail, index);
}

/* Remembers a value. For the most common sizes the compiler inlines memcpy. */
static inline void remember(unsigned char *known, const void *value, size_t bytes)
{
    switch (bytes) {
    case sizeof(cl_uint):
        (void)memcpy(known, value, sizeof(cl_uint));
        break;
    case sizeof(cl_ulong):
        (void)memcpy(known, value, sizeof(cl_ulong));
        break;
    default:
        (void)memcpy(known, value, bytes);
        break;
    }
}

/* Local memory and pointers; both are short enough to be remembered. */
static DYNSEL_ASIDE dynsel_status set_uncommon(dynsel_opencl_entry *entry,
                                               const dynsel_kernel *kernel,
                                               dynsel_opencl_kernel *built,
                                               const dynsel_argument *argument, size_t index)
{
    dynsel_opencl_set *const set = &built->set[index];
    if (!DYNSEL_LIKELY(argument->kind != DYNSEL_ARGUMENT_UNSET)) {
        return refuse(kernel, NULL, 0, "argument {} was not set", index);
    }
    const bool is_pointer = argument->kind == DYNSEL_ARGUMENT_POINTER;
    if (is_pointer ? is_set(set, argument->kind, &argument->value, sizeof(argument->value))
                   : set->kind == argument->kind && set->bytes == argument->bytes) {
        return DYNSEL_OK;
    }
    set->bytes = 0;
    const cl_int code =
        is_pointer
            ? dynsel_opencl_set_pointer(entry, built->kernel, (cl_uint)index, argument->value)
            : clSetKernelArg(built->kernel, (cl_uint)index, argument->bytes, NULL);
    if (!DYNSEL_LIKELY(code == CL_SUCCESS)) {
        return fail_argument(entry, kernel, code, index);
    }
    set->kind = argument->kind;
    set->bytes = argument->bytes;
    if (is_pointer) {
        (void)memcpy(set->value, &argument->value, sizeof(argument->value));
    }
    return DYNSEL_OK;
}

/* Buffers and values. */
static inline dynsel_status set_argument(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                         dynsel_opencl_kernel *built,
                                         const dynsel_argument *argument, size_t index)
{
    const bool is_data = argument->kind == DYNSEL_ARGUMENT_DATA;
    dynsel_opencl_set *const set = &built->set[index];
    const void *const value = is_data ? &argument->memory->native : argument->value;
    const size_t bytes = is_data ? sizeof(cl_mem) : argument->bytes;
    if (is_set(set, argument->kind, value, bytes)) {
        return DYNSEL_OK;
    }
    set->bytes = 0;
    const cl_int code = clSetKernelArg(built->kernel, (cl_uint)index, bytes, value);
    if (!DYNSEL_LIKELY(code == CL_SUCCESS)) {
        return fail_argument(entry, kernel, code, index);
    }
    set->kind = argument->kind;
    if (DYNSEL_LIKELY(bytes <= DYNSEL_OPENCL_REMEMBERED_BYTES)) {
        set->bytes = bytes;
        remember(set->value, value, bytes);
    }
    return DYNSEL_OK;
}

static DYNSEL_ASIDE void forget_memory(dynsel_opencl_kernel *built, uint32_t releases)
{
    built->releases = releases;
    for (uint32_t i = 0; i < built->argument_count; i++) {
        if (built->set[i].kind == DYNSEL_ARGUMENT_DATA) {
            built->set[i].bytes = 0;
        }
    }
}

static dynsel_status set_arguments(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                   dynsel_opencl_kernel *built, const dynsel_launch *launch)
{
    if (launch->argument_count != built->argument_count) {
        return refuse(kernel, NULL, CL_INVALID_KERNEL_ARGS,
                      "the kernel takes {} arguments, and another number was set",
                      built->argument_count);
    }
    cl_ulong local = 0;
    /* A cl_mem that was released since may be the handle of other memory now. */
    const uint32_t releases = dynsel_word_load_acquire(&dynsel_opencl_releases);
    if (!DYNSEL_LIKELY(built->releases == releases)) {
        forget_memory(built, releases);
    }
    const size_t count = launch->argument_count;
    for (size_t i = 0; i < count; i++) {
        const dynsel_argument *const argument = &launch->arguments[i];
        dynsel_status status = DYNSEL_OK;
        if (DYNSEL_LIKELY(argument->kind == DYNSEL_ARGUMENT_DATA ||
                          argument->kind == DYNSEL_ARGUMENT_VALUE)) {
            status = set_argument(entry, kernel, built, argument, i);
        } else {
            local += argument->kind == DYNSEL_ARGUMENT_LOCAL ? argument->bytes : 0;
            status = set_uncommon(entry, kernel, built, argument, i);
        }
        if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
            return status;
        }
    }
    /* Checked here, because some drivers return the code of a lost device. */
    if (local != 0 && built->local_bytes != 0 && local > built->local_bytes) {
        return refuse(kernel, NULL, CL_OUT_OF_RESOURCES,
                      "the device has {} bytes of local memory left for arguments",
                      built->local_bytes);
    }
    return DYNSEL_OK;
}

DYNSEL_RARE static dynsel_status fail_launch(dynsel_opencl_entry *entry,
                                             const dynsel_kernel *kernel, cl_int code)
{
    static const char function[] = "clEnqueueNDRangeKernel";
    switch (code) {
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
    case CL_INVALID_GLOBAL_WORK_SIZE:
    case CL_INVALID_GLOBAL_OFFSET:
    case CL_INVALID_KERNEL_ARGS:
        return refuse(kernel, function, code, dynsel_opencl_code_name(code), 0);
    default:
        return dynsel_opencl_fail_to_enqueue(entry, function, code);
    }
}

/* A launch that is about to be enqueued. */
typedef struct prepared {
    cl_kernel kernel;
    cl_uint dimensions;
    const size_t *offset;
    const size_t *global;
    const size_t *local;
} prepared;

/* As one of a batch, or with an event. */
static DYNSEL_ASIDE cl_int enqueue_in_batch(dynsel_opencl_entry *entry, const prepared *p,
                                            cl_event *done)
{
    dynsel_opencl_launch_place place = dynsel_opencl_join_batch(entry);
    const bool has_event = place.batch == NULL || place.is_last;
    const cl_int code =
        clEnqueueNDRangeKernel(entry->queue, p->kernel, p->dimensions, p->offset, p->global,
                               p->local, 0, NULL, has_event ? done : NULL);
    if (place.batch != NULL) {
        dynsel_opencl_joined_batch(place, *done, code == CL_SUCCESS);
        *done = code == CL_SUCCESS ? (cl_event)(void *)place.batch : NULL;
    }
    return code;
}

static inline bool may_share_event(const dynsel_opencl_entry *entry, const dynsel_command *command,
                                   const dynsel_opencl_wait_list *list)
{
    return entry->has_dear_events && command->may_end_with_others && list->count == 0 &&
           !entry->adopted && dynsel_opencl_queue_now(entry) == entry->queue;
}

static inline dynsel_status enqueue(dynsel_opencl_entry *entry, const dynsel_command *command,
                                    dynsel_opencl_kernel *built,
                                    const dynsel_opencl_wait_list *list, cl_event *done)
{
    const dynsel_launch *const launch = &command->launch;
    const uint32_t dimensions = launch->global.dimensions;
    size_t first[DYNSEL_MAX_DIMENSIONS];
    size_t own[DYNSEL_MAX_DIMENSIONS];
    const size_t *local = built->shape.local;
    dynsel_opencl_choose_shape(entry, built, &launch->global);
    if (launch->local.dimensions != 0) {
        if (built->most_items != 0 && dynsel_range_count(&launch->local) > built->most_items) {
            return refuse(command->kernel, NULL, CL_INVALID_WORK_GROUP_SIZE,
                          "on this device a work group of this kernel has at most {} work items",
                          built->most_items);
        }
        dynsel_opencl_reverse(&launch->local, dimensions, own);
        local = own;
    }
    bool has_offset = false;
    for (uint32_t i = 0; i < launch->offset.dimensions; i++) {
        has_offset |= launch->offset.size[i] != 0;
    }
    if (has_offset) {
        dynsel_opencl_reverse(&launch->offset, dimensions, first);
    }
    const size_t *const offset = has_offset ? first : NULL;
    if (launch->local.dimensions == 0 && !DYNSEL_LIKELY(!dynsel_opencl_trial_is_due(built)) &&
        dynsel_opencl_launch_trial(entry, command->kernel, built, offset, list->count, list->events,
                                   done)) {
        return DYNSEL_OK;
    }
    cl_int code = CL_SUCCESS;
    if (DYNSEL_LIKELY(!may_share_event(entry, command, list))) {
        code = clEnqueueNDRangeKernel(dynsel_opencl_queue_now(entry), built->kernel, dimensions,
                                      offset, built->shape.global, local, list->count, list->events,
                                      done);
    } else {
        const prepared p = {built->kernel, dimensions, offset, built->shape.global, local};
        code = enqueue_in_batch(entry, &p, done);
    }
    return DYNSEL_LIKELY(code == CL_SUCCESS) ? DYNSEL_OK
                                             : fail_launch(entry, command->kernel, code);
}

dynsel_status dynsel_opencl_launch(dynsel_opencl_entry *entry, const dynsel_command *command,
                                   const dynsel_opencl_wait_list *list, cl_event *done)
{
    dynsel_opencl_kernel *built = NULL;
    dynsel_status status = dynsel_opencl_take_kernel(entry, command->kernel, &built);
    if (status != DYNSEL_OK) {
        return status;
    }
    status = dynsel_opencl_build(entry, command->kernel, built);
    if (status == DYNSEL_OK) {
        status = set_arguments(entry, command->kernel, built, &command->launch);
    }
    if (status == DYNSEL_OK) {
        status = enqueue(entry, command, built, list, done);
    }
    dynsel_opencl_return_kernel(built);
    return status;
}
