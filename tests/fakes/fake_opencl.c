/* SPDX-License-Identifier: Apache-2.0 */
/* What the test orders and asks for, and what every call goes through. */
#include "fakes/fake_opencl_state.h"

#include <stdlib.h>
#include <string.h>

fake_opencl_state fake_state;

/* What shared memory lost devices kept. */
static void free_shared(void)
{
    for (cl_uint i = 0; i < fake_state.shared_count; i++) {
        free(fake_state.shared[i].memory);
    }
}

void fake_opencl_show(const fake_platform *platforms, cl_uint count, cl_int code)
{
    free_shared();
    memset(&fake_state, 0, sizeof(fake_state));
    fake_state.platforms_code = code;
    fake_state.most_items = 256;
    fake_state.platform_count = count;
    for (cl_uint p = 0; p < count; p++) {
        fake_state.platforms[p].shown = &platforms[p];
        fake_state.platforms[p].first_device = fake_state.device_count;
        for (cl_uint d = 0; d < platforms[p].count; d++) {
            struct _cl_device_id *device = &fake_state.devices[fake_state.device_count++];
            device->shown = &platforms[p].devices[d];
            device->platform = &fake_state.platforms[p];
        }
    }
}

void fake_opencl_fail_at(uint32_t call, cl_int code)
{
    fake_state.fail_at = call == 0 ? 0 : fake_state.calls + call;
    fake_state.fail_code = code;
    fake_state.failed = NULL;
}

bool fake_opencl_has_failed(void)
{
    return fake_state.failed != NULL;
}

const char *fake_opencl_failed_function(void)
{
    return fake_state.failed;
}

void fake_opencl_break(const char *device, const char *function, cl_int code)
{
    fake_state.broken_device = device;
    fake_state.broken_function = function;
    fake_state.broken_code = code;
}

void fake_opencl_set_new_events(cl_int status)
{
    fake_state.new_events = status;
}

void fake_opencl_end_markers(void)
{
    fake_state.markers_end = true;
}

void fake_opencl_finish_events(cl_int status)
{
    for (cl_uint i = 0; i < fake_state.event_count; i++) {
        if (fake_state.events[i].status > CL_COMPLETE) {
            fake_end_event(&fake_state.events[i], status);
        }
    }
}

void fake_opencl_finish_event(uint32_t from_the_last, cl_int status)
{
    fake_end_event(&fake_state.events[fake_state.event_count - from_the_last], status);
}

void fake_opencl_end_events_after(uint32_t looks)
{
    fake_state.looks_left = looks;
}

void fake_opencl_give_up(const char *device)
{
    for (cl_uint i = 0; i < fake_state.queue_count; i++) {
        if (strcmp(fake_state.queues[i].device->shown->name, device) == 0) {
            fake_state.queues[i].context->lost = true;
        }
    }
}

uint32_t fake_opencl_calls(const char *function)
{
    uint32_t count = 0;
    for (int i = 0; i < MOST_FUNCTIONS && fake_state.counts[i].function != NULL; i++) {
        if (function == NULL || strcmp(function, fake_state.counts[i].function) == 0) {
            count += fake_state.counts[i].count;
        }
    }
    return count;
}

static uint32_t held(bool lost)
{
    uint32_t count = 0;
    for (cl_uint i = 0; i < fake_state.context_count; i++) {
        count += fake_state.contexts[i].lost == lost ? fake_state.contexts[i].references : 0;
    }
    for (cl_uint i = 0; i < fake_state.queue_count; i++) {
        count += fake_state.queues[i].context->lost == lost ? fake_state.queues[i].references : 0;
    }
    for (cl_uint i = 0; i < fake_state.event_count; i++) {
        count +=
            fake_state.events[i].queue->context->lost == lost ? fake_state.events[i].references : 0;
    }
    for (cl_uint i = 0; i < fake_state.program_count; i++) {
        count +=
            fake_state.programs[i].context->lost == lost ? fake_state.programs[i].references : 0;
    }
    for (cl_uint i = 0; i < fake_state.kernel_count; i++) {
        count += fake_state.kernels[i].program->context->lost == lost
                     ? fake_state.kernels[i].references
                     : 0;
    }
    for (cl_uint i = 0; i < fake_state.memory_count; i++) {
        count +=
            fake_state.memories[i].context->lost == lost ? fake_state.memories[i].references : 0;
    }
    for (cl_uint i = 0; i < fake_state.shared_count; i++) {
        count += fake_state.shared[i].context->lost == lost ? fake_state.shared[i].references : 0;
    }
    return count;
}

uint32_t fake_opencl_leaks(void)
{
    return held(false);
}

uint32_t fake_opencl_given_up(void)
{
    return held(true);
}

uint32_t fake_opencl_violations(void)
{
    return fake_state.violations;
}

uint32_t fake_opencl_blocked_waits(void)
{
    return fake_state.blocked_waits;
}

static void count_call(const char *function)
{
    int i = 0;
    while (fake_state.counts[i].function != NULL &&
           strcmp(fake_state.counts[i].function, function) != 0) {
        i++;
    }
    fake_state.counts[i].function = function;
    fake_state.counts[i].count++;
    fake_state.calls++;
}

/* Some codes mean a loss at once. Others make who is told check the device; that the check fails,
 * shows it, and it ends with the release of its queue. */
void fake_tell(cl_int code, cl_context context)
{
    const bool may_be = code == CL_OUT_OF_RESOURCES || code == CL_INVALID_COMMAND_QUEUE;
    context->lost |=
        code == CL_DEVICE_NOT_AVAILABLE || code == -9999 || (may_be && context->suspected);
    context->suspected |= may_be;
}

cl_int fake_enter(const char *function)
{
    count_call(function);
    if (fake_state.calls == fake_state.fail_at) {
        fake_state.failed = function;
        return fake_state.fail_code;
    }
    return CL_SUCCESS;
}

void fake_violate_if(bool condition)
{
    fake_state.violations += condition ? 1 : 0;
}

bool fake_is_broken(cl_device_id device, const char *function)
{
    return fake_state.broken_device != NULL &&
           strcmp(device->shown->name, fake_state.broken_device) == 0 &&
           strcmp(fake_state.broken_function, function) == 0;
}

cl_int fake_lose_if(cl_int code, cl_context context)
{
    fake_tell(code, context);
    return code;
}

static bool is_look(const char *function)
{
    return strcmp(function, "clWaitForEvents") == 0 || strcmp(function, "clGetEventInfo") == 0;
}

/* A look that lacks memory says nothing about the device, nor does a release. */
static bool says_nothing(const char *function, cl_int code)
{
    return strncmp(function, "clRelease", 9) == 0 ||
           (code == CL_OUT_OF_RESOURCES && is_look(function));
}

cl_int fake_enter_queue(const char *function, cl_command_queue queue)
{
    cl_int code = fake_enter(function);
    fake_violate_if(queue->references == 0 || queue->context->lost);
    if (code == CL_SUCCESS && (fake_is_broken(queue->device, function) ||
                               (is_look(function) && fake_is_broken(queue->device, "looks")))) {
        code = fake_state.broken_code;
    }
    if (!says_nothing(function, code)) {
        fake_tell(code, queue->context);
    }
    return code;
}

cl_int fake_reply(const void *from, size_t length, size_t bytes, void *to, size_t *answered)
{
    if (to != NULL && bytes < length) {
        return CL_INVALID_VALUE;
    }
    if (to != NULL) {
        memcpy(to, from, length);
    }
    if (answered != NULL) {
        *answered = length;
    }
    return CL_SUCCESS;
}

cl_int fake_reply_text(const char *text, size_t bytes, void *to, size_t *answered)
{
    return fake_reply(text, strlen(text) + 1, bytes, to, answered);
}
