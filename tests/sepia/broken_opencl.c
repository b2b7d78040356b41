/* SPDX-License-Identifier: Apache-2.0 */
/** Laid over OpenCL with LD_PRELOAD, so that devices fail as BROKEN says:
 *
 *     enqueue:N   each Nth tile's kernel cannot be enqueued
 *     lost:N      the kernel of the Nth tile and all later ones finds its device lost
 *     event:N     each Nth tile's read is not done and its event ends with an error
 *     pixel:N     each Nth tile's read brings one wrong pixel
 *     build       programs do not build
 *     retain:N    each Nth time an event cannot be retained
 *
 * A tile's kernel is told from the warm-up's by its event. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static cl_event broken_events[4096];
static size_t broken_count;
static unsigned calls;

static bool is_due(const char *kind)
{
    const char *asked = getenv("BROKEN");
    size_t length = strlen(kind);

    if (asked == NULL || strncmp(asked, kind, length) != 0) {
        return false;
    }
    return ++calls % (unsigned)atoi(asked + length) == 0;
}

static bool is_lost(void)
{
    static bool lost;

    lost = lost || is_due("lost:");
    return lost;
}

static bool is_broken(cl_event event)
{
    for (size_t i = 0; i < broken_count; i++) {
        if (broken_events[i] == event) {
            return true;
        }
    }
    return false;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options, void (*notify)(cl_program, void *), void *data)
{
    const char *asked = getenv("BROKEN");

    if (asked != NULL && strcmp(asked, "build") == 0) {
        return CL_BUILD_PROGRAM_FAILURE;
    }
    return NEXT(clBuildProgram)(program, count, devices, options, notify, data);
}

cl_int clRetainEvent(cl_event event)
{
    return is_due("retain:") ? CL_OUT_OF_HOST_MEMORY : NEXT(clRetainEvent)(event);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint count, const cl_event *list, cl_event *event)
{
    if (event != NULL && is_due("enqueue:")) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (event != NULL && is_lost()) {
        return CL_OUT_OF_RESOURCES;
    }
    return NEXT(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, count,
                                        list, event);
}

cl_int clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                               const size_t *buffer_origin, const size_t *host_origin,
                               const size_t *region, size_t buffer_row, size_t buffer_slice,
                               size_t host_row, size_t host_slice, void *memory, cl_uint count,
                               const cl_event *list, cl_event *event)
{
    if (is_due("event:")) {
        cl_int code = NEXT(clEnqueueMarkerWithWaitList)(queue, 0, NULL, event);
        NEXT(clRetainEvent)(*event); /* never freed: its address stands for the failure */
        broken_events[broken_count++] = *event;
        return code;
    }
    cl_int code = NEXT(clEnqueueReadBufferRect)(queue, buffer, blocking, buffer_origin, host_origin,
                                                region, buffer_row, buffer_slice, host_row,
                                                host_slice, memory, count, list, event);
    if (is_due("pixel:")) {
        NEXT(clFinish)(queue);
        ((unsigned char *)memory)[host_origin[1] * host_row + host_origin[0]] ^= 0x80;
    }
    return code;
}

cl_int clGetEventInfo(cl_event event, cl_event_info name, size_t size, void *value, size_t *bytes)
{
    cl_int code = NEXT(clGetEventInfo)(event, name, size, value, bytes);

    if (code == CL_SUCCESS && name == CL_EVENT_COMMAND_EXECUTION_STATUS && is_broken(event)) {
        *(cl_int *)value = *(cl_int *)value == CL_COMPLETE ? CL_INVALID_VALUE : *(cl_int *)value;
    }
    return code;
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
    cl_int code = NEXT(clWaitForEvents)(count, events);

    for (cl_uint i = 0; i < count; i++) {
        if (is_broken(events[i])) {
            return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        }
    }
    return code;
}
