/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, queues and events. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime() */

#include "fakes/fake_opencl_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

uint32_t fake_opencl_queues_of(const char *device)
{
    uint32_t count = 0;
    for (cl_uint i = 0; i < fake_state.queue_count; i++) {
        count += strcmp(fake_state.queues[i].device->shown->name, device) == 0 ? 1 : 0;
    }
    return count;
}

cl_uint fake_opencl_devices_of_last_context(void)
{
    return fake_state.context_count == 0 ? 0
                                         : fake_state.contexts[fake_state.context_count - 1].count;
}

static cl_int check_devices(const cl_context_properties *properties, cl_uint count,
                            const cl_device_id *devices)
{
    for (cl_uint i = 0; i < count; i++) {
        if (properties[1] != (cl_context_properties)devices[i]->platform) {
            return CL_INVALID_PLATFORM;
        }
        if (devices[i]->shown->not_available) {
            return CL_DEVICE_NOT_AVAILABLE;
        }
        if (fake_is_broken(devices[i], "clCreateContext")) {
            return fake_state.broken_code;
        }
    }
    return CL_SUCCESS;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count,
                           const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                           void *user, cl_int *code)
{
    *code = fake_enter("clCreateContext");
    fake_violate_if(notify != NULL || user != NULL);
    if (*code == CL_SUCCESS) {
        *code = check_devices(properties, count, devices);
    }
    if (*code != CL_SUCCESS) {
        return NULL;
    }
    struct _cl_context *const context = &fake_state.contexts[fake_state.context_count++];
    context->references = 1;
    context->count = count;
    memcpy(context->devices, devices, count * sizeof(cl_device_id));
    return context;
}

cl_int clReleaseContext(cl_context context)
{
    fake_violate_if(context->references == 0 || context->lost);
    context->references--;
    return fake_enter("clReleaseContext");
}

static bool has_device(cl_context context, cl_device_id device)
{
    for (cl_uint i = 0; i < context->count; i++) {
        if (context->devices[i] == device) {
            return true;
        }
    }
    return false;
}

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id device,
                                      cl_command_queue_properties properties, cl_int *code)
{
    *code = fake_enter("clCreateCommandQueue");
    fake_violate_if(context->references == 0 || context->lost);
    if (*code == CL_SUCCESS && fake_is_broken(device, "clCreateCommandQueue")) {
        *code = fake_state.broken_code;
    }
    if (*code == CL_SUCCESS && !has_device(context, device)) {
        *code = CL_INVALID_DEVICE;
    }
    if (*code == CL_SUCCESS && (properties & CL_QUEUE_PROFILING_ENABLE) != 0 &&
        device->shown->no_profiling) {
        *code = CL_INVALID_QUEUE_PROPERTIES;
    }
    if (*code != CL_SUCCESS) {
        if (context->suspected) { /* that of the check; another one leaves the context usable */
            fake_tell(*code, context);
        }
        return NULL;
    }
    struct _cl_command_queue *const queue = &fake_state.queues[fake_state.queue_count++];
    *queue = (struct _cl_command_queue){
        .references = 1, .context = context, .device = device, .properties = properties};
    return queue;
}

cl_int clRetainCommandQueue(cl_command_queue queue)
{
    const cl_int code = fake_enter_queue("clRetainCommandQueue", queue);
    queue->references += code == CL_SUCCESS ? 1 : 0;
    return code;
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    const cl_int code = fake_enter_queue("clReleaseCommandQueue", queue);
    queue->context->suspected = false;
    queue->references--;
    return code;
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what, size_t bytes,
                             void *to, size_t *answered)
{
    const cl_int code = fake_enter_queue("clGetCommandQueueInfo", queue);
    if (code != CL_SUCCESS) {
        return code;
    }
    switch (what) {
    case CL_QUEUE_CONTEXT:
        return fake_reply(&queue->context, sizeof(queue->context), bytes, to, answered);
    case CL_QUEUE_DEVICE:
        return fake_reply(&queue->device, sizeof(queue->device), bytes, to, answered);
    case CL_QUEUE_PROPERTIES:
        return fake_reply(&queue->properties, sizeof(queue->properties), bytes, to, answered);
    default:
        return CL_INVALID_VALUE;
    }
}

static cl_ulong now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (cl_ulong)now.tv_sec * 1000000000u + (cl_ulong)now.tv_nsec;
}

void fake_end_event(cl_event event, cl_int status)
{
    event->status = status;
    if (status <= CL_COMPLETE && event->end_ns == 0) {
        event->end_ns = now_ns();
    }
    if (status <= CL_COMPLETE && event->notify != NULL) {
        event->notify(event, status, event->data);
        event->notify = NULL;
    }
}

cl_int clSetEventCallback(cl_event event, cl_int status,
                          void(CL_CALLBACK *notify)(cl_event event, cl_int status, void *data),
                          void *data)
{
    const cl_int code = fake_enter_queue("clSetEventCallback", event->queue);
    fake_violate_if(event->references == 0 || status != CL_COMPLETE || event->notify != NULL);
    if (code == CL_SUCCESS) {
        event->notify = notify;
        event->data = data;
        fake_end_event(event, event->status);
    }
    return code;
}

void fake_opencl_set_profiles(fake_profiles profiles)
{
    fake_state.profiles = profiles;
}

void fake_opencl_set_profile(uint32_t from_the_last, cl_ulong queued_ns, cl_ulong start_ns,
                             cl_ulong end_ns)
{
    struct _cl_event *const event = &fake_state.events[fake_state.event_count - from_the_last];
    event->queued_ns = queued_ns;
    event->start_ns = start_ns;
    event->end_ns = end_ns;
}

static cl_ulong profile_of(cl_event event, cl_profiling_info what)
{
    const cl_ulong rate = fake_state.profiles == FAKE_PROFILES_OTHER_CLOCK ? 3 : 1;
    switch (what) {
    case CL_PROFILING_COMMAND_QUEUED:
        return rate * event->queued_ns;
    case CL_PROFILING_COMMAND_START:
        return rate * event->start_ns;
    default:
        return fake_state.profiles == FAKE_PROFILES_REVERSED ? event->start_ns - 1
                                                             : rate * event->end_ns;
    }
}

cl_int clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t bytes, void *to,
                               size_t *answered)
{
    const cl_int code = fake_enter_queue("clGetEventProfilingInfo", event->queue);
    fake_violate_if(event->references == 0);
    if (code != CL_SUCCESS) {
        return code;
    }
    if ((event->queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0 ||
        event->status != CL_COMPLETE || fake_state.profiles == FAKE_PROFILES_REFUSED) {
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    }
    const cl_ulong ns = fake_state.profiles == FAKE_PROFILES_ZERO ? 0 : profile_of(event, what);
    return fake_reply(&ns, sizeof(ns), bytes, to, answered);
}

static void note_command(const char *function, cl_command_queue queue, cl_uint count,
                         const cl_event *before)
{
    const fake_command command = {.function = function,
                                  .queue = queue,
                                  .after_count = count,
                                  .after = count != 0 ? before[0]->function : NULL,
                                  .after_queue = count != 0 ? before[0]->queue : NULL};
    fake_state.commands[fake_state.command_count++ % MOST_OBJECTS] = command;
}

fake_command fake_opencl_command(uint32_t from_the_last)
{
    return fake_state.commands[(fake_state.command_count - from_the_last) % MOST_OBJECTS];
}

cl_int fake_enqueue(const char *function, cl_command_queue queue, cl_uint count,
                    const cl_event *before, cl_event *event)
{
    const cl_int code = fake_enter_queue(function, queue);
    fake_violate_if((count == 0) != (before == NULL));
    for (cl_uint i = 0; i < count && before != NULL; i++) {
        fake_violate_if(before[i]->queue->context != queue->context);
        fake_violate_if(before[i]->queue != queue && before[i]->queue->unflushed);
    }
    if (code != CL_SUCCESS) {
        return code;
    }
    queue->unflushed = true;
    note_command(function, queue, count, before);
    if (event != NULL) {
        if (fake_state.event_count == MOST_OBJECTS) {
            (void)fprintf(stderr, "the fake OpenCL has no room for more events\n");
            abort();
        }
        *event = &fake_state.events[fake_state.event_count++];
        **event = (struct _cl_event){.references = 1,
                                     .queue = queue,
                                     .flushes = queue->flushes,
                                     .function = function,
                                     .status = fake_state.new_events,
                                     .queued_ns = now_ns(),
                                     .start_ns = now_ns()};
        fake_end_event(*event, fake_state.new_events);
    }
    return CL_SUCCESS;
}

static bool has_event_before(const struct _cl_event *event)
{
    for (const struct _cl_event *other = fake_state.events; other < event; other++) {
        if (other->queue == event->queue && other->references != 0) {
            return true;
        }
    }
    return false;
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *before,
                                   cl_event *event)
{
    const cl_int code = fake_enqueue("clEnqueueMarkerWithWaitList", queue, count, before, event);
    if (fake_state.markers_end && code == CL_SUCCESS && event != NULL && count == 0 &&
        (*event)->status > CL_COMPLETE && !has_event_before(*event)) {
        fake_end_event(*event, CL_COMPLETE);
    }
    return code;
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *before,
                                    cl_event *event)
{
    return fake_enqueue("clEnqueueBarrierWithWaitList", queue, count, before, event);
}

static void note_flush(cl_command_queue queue, cl_int code)
{
    if (code == CL_SUCCESS) {
        queue->unflushed = false;
        queue->flushes++;
    }
}

cl_int clFlush(cl_command_queue queue)
{
    const cl_int code = fake_enter_queue("clFlush", queue);
    note_flush(queue, code);
    return code;
}

static void note_look(void)
{
    if (fake_state.looks_left > 0 && --fake_state.looks_left == 0) {
        fake_opencl_finish_events(CL_COMPLETE);
    }
}

/* Drivers may begin nothing before a flush, and what has not begun has not ended. */
static bool has_begun(const struct _cl_event *event)
{
    return event->queue->device->shown->begins_unflushed || !event->queue->unflushed ||
           event->flushes != event->queue->flushes;
}

/* Telling that the device is gone loses it. */
static cl_int status_of(cl_event event)
{
    const cl_command_queue queue = event->queue;
    if (fake_is_broken(queue->device, "event")) {
        fake_end_event(event, fake_state.broken_code);
    }
    return event->status;
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t bytes, void *to, size_t *answered)
{
    const bool is_look = what == CL_EVENT_COMMAND_EXECUTION_STATUS;
    fake_violate_if(event->references == 0);
    if (is_look) {
        note_look();
        if (fake_state.profiles == FAKE_PROFILES_SEEN_LATE &&
            (event - fake_state.events) % 2 != 0) {
            (void)nanosleep(&(struct timespec){.tv_nsec = 8000000}, NULL);
        }
    }
    const cl_int code = fake_enter_queue("clGetEventInfo", event->queue);
    if (code == CL_SUCCESS && what == CL_EVENT_COMMAND_QUEUE) {
        return fake_reply(&event->queue, sizeof(cl_command_queue), bytes, to, answered);
    }
    if (code != CL_SUCCESS || what != CL_EVENT_COMMAND_EXECUTION_STATUS) {
        return code != CL_SUCCESS ? code : CL_INVALID_VALUE;
    }
    const cl_int status = has_begun(event) ? status_of(event) : CL_QUEUED;
    fake_tell(status, event->queue->context);
    return fake_reply(&status, sizeof(status), bytes, to, answered);
}

/* A wait flushes (section 5.13 of OpenCL 1.2), and what is before the event in its queue ends, too;
 * one that fails says and does nothing. */
static void let_end(cl_event event, cl_int code)
{
    note_flush(event->queue, code);
    for (cl_event other = fake_state.events; code == CL_SUCCESS && other <= event; other++) {
        if (other->status > CL_COMPLETE && other->queue == event->queue) {
            fake_end_event(other, CL_COMPLETE);
        }
    }
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
    const cl_int code = fake_enter_queue("clWaitForEvents", events[0]->queue);
    bool failed = false;
    bool blocked = false;
    note_look();
    for (cl_uint i = 0; i < count; i++) {
        fake_violate_if(events[i]->references == 0 || events[i]->queue != events[0]->queue);
        failed = failed || status_of(events[i]) < 0;
        blocked = blocked || events[i]->status > CL_COMPLETE;
        let_end(events[i], code);
    }
    fake_state.blocked_waits += blocked ? 1 : 0;
    return code == CL_SUCCESS && failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : code;
}

cl_int clRetainEvent(cl_event event)
{
    const cl_int code = fake_enter_queue("clRetainEvent", event->queue);
    fake_violate_if(event->references == 0);
    event->references += code == CL_SUCCESS ? 1 : 0;
    return code;
}

cl_int clReleaseEvent(cl_event event)
{
    fake_violate_if(event->references == 0);
    event->references--;
    return fake_enter_queue("clReleaseEvent", event->queue);
}

cl_command_queue fake_opencl_new_queue(const char *device)
{
    const cl_device_id id = fake_opencl_device(device);
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)id->platform, 0};
    cl_int code = CL_SUCCESS;
    const cl_context context = clCreateContext(properties, 1, &id, NULL, NULL, &code);
    return clCreateCommandQueue(context, id, 0, &code);
}
