/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that are called in the place of OpenCL's. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "faults/layer_state.h"

/* The linker's names: __wrap_clFlush() is called in the place of clFlush(), which is
 * __real_clFlush() now. */
#define DECLARE(name, result, parameters)                                                          \
    result real_##name parameters __asm__("__real_" #name);                                        \
    result wrap_##name parameters __asm__("__wrap_" #name);

/* A function that returns a code and makes nothing. subject: the object that it is called for. */
#define FORWARD(name, subject, parameters, arguments)                                              \
    DECLARE(name, cl_int, parameters)                                                              \
    cl_int wrap_##name parameters                                                                  \
    {                                                                                              \
        cl_int code = CL_SUCCESS;                                                                  \
        return fault_strikes(FAULT_##name, subject, &code) ? code : real_##name arguments;         \
    }

/* One that makes an object: of `kind`, from `parent`. */
#define MAKE(name, result, kind, parent, parameters, arguments)                                    \
    DECLARE(name, result, parameters)                                                              \
    result wrap_##name parameters                                                                  \
    {                                                                                              \
        if (fault_strikes(FAULT_##name, parent, code)) {                                           \
            return NULL;                                                                           \
        }                                                                                          \
        return enter(kind, real_##name arguments, parent, FAULT_##name);                           \
    }

#define RETAIN(name, type, kind)                                                                   \
    DECLARE(name, cl_int, (type object))                                                           \
    cl_int wrap_##name(type object)                                                                \
    {                                                                                              \
        cl_int code = CL_SUCCESS;                                                                  \
        if (fault_strikes(FAULT_##name, object, &code)) {                                          \
            return code;                                                                           \
        }                                                                                          \
        if (!fault_is_suspended()) {                                                               \
            fault_retained(object, kind, FAULT_##name);                                            \
        }                                                                                          \
        return real_##name(object);                                                                \
    }

#define RELEASE(name, type)                                                                        \
    DECLARE(name, cl_int, (type object))                                                           \
    cl_int wrap_##name(type object)                                                                \
    {                                                                                              \
        cl_int code = CL_SUCCESS;                                                                  \
        const bool fails = fault_strikes(FAULT_##name, object, &code);                             \
        if (!fault_is_suspended()) {                                                               \
            fault_released(object);                                                                \
        }                                                                                          \
        const cl_int answer = real_##name(object);                                                 \
        return fails ? code : answer;                                                              \
    }

/* One that enqueues a command, and may make an event for it. */
#define ENQUEUE(name, parameters, arguments)                                                       \
    DECLARE(name, cl_int, parameters)                                                              \
    cl_int wrap_##name parameters                                                                  \
    {                                                                                              \
        cl_int code = CL_SUCCESS;                                                                  \
        if (fault_strikes(FAULT_##name, queue, &code)) {                                           \
            return code;                                                                           \
        }                                                                                          \
        fault_fate fate;                                                                           \
        fault_decide(&fate, queue, event != NULL, &count, &before);                                \
        code = fate.status < 0 ? fault_enqueue_nothing(queue, count, before, event)                \
                               : real_##name arguments;                                            \
        enter_event(code, queue, event, FAULT_##name, &fate);                                      \
        return code;                                                                               \
    }

static void *enter(fault_kind kind, void *object, const void *parent, fault_function made_by)
{
    return fault_is_suspended() ? object : fault_made(kind, object, parent, made_by);
}

static void enter_event(cl_int code, cl_command_queue queue, const cl_event *event,
                        fault_function made_by, const fault_fate *fate)
{
    if (code == CL_SUCCESS && event != NULL) {
        (void)enter(FAULT_EVENT, *event, queue, made_by);
        fault_enter_command(fate, queue, event);
    }
}

FORWARD(clBuildProgram, program,
        (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
         void (*notify)(cl_program, void *), void *data),
        (program, count, devices, options, notify, data))

FORWARD(clFlush, queue, (cl_command_queue queue), (queue))

FORWARD(clGetCommandQueueInfo, queue,
        (cl_command_queue queue, cl_command_queue_info what, size_t bytes, void *to,
         size_t *answered),
        (queue, what, bytes, to, answered))

FORWARD(clGetDeviceIDs, NULL,
        (cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices,
         cl_uint *count),
        (platform, type, room, devices, count))

bool fault_is_disguised(void)
{
    return getenv("DYNSEL_TEST_DISGUISE") != NULL;
}

DECLARE(clGetDeviceInfo, cl_int,
        (cl_device_id device, cl_device_info what, size_t bytes, void *to, size_t *answered))

cl_int wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void *to,
                            size_t *answered)
{
    static const cl_device_type gpu = CL_DEVICE_TYPE_GPU;
    static const cl_bool no = CL_FALSE;
    cl_int code = CL_SUCCESS;
    if (fault_strikes(FAULT_clGetDeviceInfo, NULL, &code)) {
        return code;
    }
    code = real_clGetDeviceInfo(device, what, bytes, to, answered);
    if (fault_is_disguised() && code == CL_SUCCESS && to != NULL) {
        if (what == CL_DEVICE_TYPE) {
            (void)memcpy(to, &gpu, sizeof(gpu));
        } else if (what == CL_DEVICE_HOST_UNIFIED_MEMORY) {
            (void)memcpy(to, &no, sizeof(no));
        }
    }
    return code;
}

DECLARE(clGetEventInfo, cl_int,
        (cl_event event, cl_event_info what, size_t bytes, void *to, size_t *answered))

cl_int wrap_clGetEventInfo(cl_event event, cl_event_info what, size_t bytes, void *to,
                           size_t *answered)
{
    cl_int code = CL_SUCCESS;
    const bool is_look = !fault_is_suspended() && what == CL_EVENT_COMMAND_EXECUTION_STATUS;
    if (fault_strikes(FAULT_clGetEventInfo, event, &code)) {
        fault_note_query(is_look);
        return code;
    }
    if (is_look) {
        fault_count_look();
    }
    code = real_clGetEventInfo(event, what, bytes, to, answered);
    if (is_look && code == CL_SUCCESS) {
        fault_tell_status(event, to);
    }
    return code;
}

FORWARD(clGetEventProfilingInfo, event,
        (cl_event event, cl_profiling_info what, size_t bytes, void *to, size_t *answered),
        (event, what, bytes, to, answered))

FORWARD(clGetKernelInfo, kernel,
        (cl_kernel kernel, cl_kernel_info what, size_t bytes, void *to, size_t *answered),
        (kernel, what, bytes, to, answered))

FORWARD(clGetKernelWorkGroupInfo, kernel,
        (cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t bytes,
         void *to, size_t *answered),
        (kernel, device, what, bytes, to, answered))

FORWARD(clGetMemObjectInfo, memory,
        (cl_mem memory, cl_mem_info what, size_t bytes, void *to, size_t *answered),
        (memory, what, bytes, to, answered))

FORWARD(clGetPlatformIDs, NULL, (cl_uint room, cl_platform_id *platforms, cl_uint *count),
        (room, platforms, count))

DECLARE(clGetPlatformInfo, cl_int,
        (cl_platform_id platform, cl_platform_info what, size_t bytes, void *to, size_t *answered))

cl_int wrap_clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t bytes,
                              void *to, size_t *answered)
{
    static const char name[] = "NVIDIA CUDA";
    cl_int code = CL_SUCCESS;
    if (fault_strikes(FAULT_clGetPlatformInfo, NULL, &code)) {
        return code;
    }
    code = real_clGetPlatformInfo(platform, what, bytes, to, answered);
    if (fault_is_disguised() && code == CL_SUCCESS && to != NULL && what == CL_PLATFORM_NAME &&
        bytes >= sizeof(name)) {
        (void)memcpy(to, name, sizeof(name));
    }
    return code;
}

FORWARD(clGetProgramBuildInfo, program,
        (cl_program program, cl_device_id device, cl_program_build_info what, size_t bytes,
         void *to, size_t *answered),
        (program, device, what, bytes, to, answered))

FORWARD(clGetProgramInfo, program,
        (cl_program program, cl_program_info what, size_t bytes, void *to, size_t *answered),
        (program, what, bytes, to, answered))

DECLARE(clSetEventCallback, cl_int,
        (cl_event event, cl_int type, void (*notify)(cl_event, cl_int, void *), void *data))

cl_int wrap_clSetEventCallback(cl_event event, cl_int type,
                               void (*notify)(cl_event, cl_int, void *), void *data)
{
    cl_int code = CL_SUCCESS;
    if (fault_strikes(FAULT_clSetEventCallback, event, &code)) {
        return code;
    }
    return fault_is_suspended()
               ? real_clSetEventCallback(event, type, notify, data)
               : fault_set_callback(event, type, notify, data, fault_strikes_callback(event));
}

FORWARD(clSetKernelArg, kernel, (cl_kernel kernel, cl_uint index, size_t bytes, const void *value),
        (kernel, index, bytes, value))

DECLARE(clWaitForEvents, cl_int, (cl_uint count, const cl_event *events))

cl_int wrap_clWaitForEvents(cl_uint count, const cl_event *events)
{
    cl_int code = CL_SUCCESS;
    if (fault_strikes(FAULT_clWaitForEvents, events[0], &code) ||
        fault_begin_wait(count, events, &code)) {
        return code;
    }
    code = real_clWaitForEvents(count, events);
    fault_end_wait(count, events, &code);
    return code;
}

ENQUEUE(clEnqueueCopyBuffer,
        (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_first, size_t to_first,
         size_t bytes, cl_uint count, const cl_event *before, cl_event *event),
        (queue, from, to, from_first, to_first, bytes, count, before, event))

ENQUEUE(clEnqueueCopyBufferRect,
        (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_first,
         const size_t *to_first, const size_t *region, size_t from_row, size_t from_slice,
         size_t to_row, size_t to_slice, cl_uint count, const cl_event *before, cl_event *event),
        (queue, from, to, from_first, to_first, region, from_row, from_slice, to_row, to_slice,
         count, before, event))

ENQUEUE(clEnqueueFillBuffer,
        (cl_command_queue queue, cl_mem memory, const void *pattern, size_t pattern_bytes,
         size_t first, size_t bytes, cl_uint count, const cl_event *before, cl_event *event),
        (queue, memory, pattern, pattern_bytes, first, bytes, count, before, event))

ENQUEUE(clEnqueueBarrierWithWaitList,
        (cl_command_queue queue, cl_uint count, const cl_event *before, cl_event *event),
        (queue, count, before, event))

ENQUEUE(clEnqueueMarkerWithWaitList,
        (cl_command_queue queue, cl_uint count, const cl_event *before, cl_event *event),
        (queue, count, before, event))

ENQUEUE(clEnqueueNDRangeKernel,
        (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *first,
         const size_t *global, const size_t *local, cl_uint count, const cl_event *before,
         cl_event *event),
        (queue, kernel, dimensions, first, global, local, count, before, event))

ENQUEUE(clEnqueueReadBuffer,
        (cl_command_queue queue, cl_mem memory, cl_bool blocks, size_t first, size_t bytes,
         void *to, cl_uint count, const cl_event *before, cl_event *event),
        (queue, memory, blocks, first, bytes, to, count, before, event))

DECLARE(clEnqueueUnmapMemObject, cl_int,
        (cl_command_queue queue, cl_mem memory, void *place, cl_uint count, const cl_event *before,
         cl_event *event))

/* It runs, also where it ends with a failure: drivers never release memory that stays mapped. */
cl_int wrap_clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *place,
                                    cl_uint count, const cl_event *before, cl_event *event)
{
    cl_int code = CL_SUCCESS;
    fault_fate fate;
    if (fault_strikes(FAULT_clEnqueueUnmapMemObject, queue, &code)) {
        return code;
    }
    fault_decide(&fate, queue, event != NULL, &count, &before);
    code = real_clEnqueueUnmapMemObject(queue, memory, place, count, before, event);
    enter_event(code, queue, event, FAULT_clEnqueueUnmapMemObject, &fate);
    return code;
}

ENQUEUE(clEnqueueWriteBuffer,
        (cl_command_queue queue, cl_mem memory, cl_bool blocks, size_t first, size_t bytes,
         const void *from, cl_uint count, const cl_event *before, cl_event *event),
        (queue, memory, blocks, first, bytes, from, count, before, event))

MAKE(clCreateBuffer, cl_mem, FAULT_MEMORY, context,
     (cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *code),
     (context, flags, bytes, host, code))

MAKE(clCreateCommandQueue, cl_command_queue, FAULT_QUEUE, context,
     (cl_context context, cl_device_id device, cl_command_queue_properties properties,
      cl_int *code),
     (context, device, properties, code))

MAKE(clCreateKernel, cl_kernel, FAULT_KERNEL, program,
     (cl_program program, const char *name, cl_int *code), (program, name, code))

MAKE(clCreateProgramWithBinary, cl_program, FAULT_PROGRAM, context,
     (cl_context context, cl_uint count, const cl_device_id *devices, const size_t *lengths,
      const unsigned char **binaries, cl_int *accepted, cl_int *code),
     (context, count, devices, lengths, binaries, accepted, code))

MAKE(clCreateProgramWithSource, cl_program, FAULT_PROGRAM, context,
     (cl_context context, cl_uint count, const char **texts, const size_t *lengths, cl_int *code),
     (context, count, texts, lengths, code))

RELEASE(clReleaseCommandQueue, cl_command_queue)

RELEASE(clReleaseContext, cl_context)

DECLARE(clReleaseEvent, cl_int, (cl_event object))

cl_int wrap_clReleaseEvent(cl_event object)
{
    cl_int code = CL_SUCCESS;
    const bool fails = fault_strikes(FAULT_clReleaseEvent, object, &code);
    if (fault_is_suspended()) {
        return real_clReleaseEvent(object);
    }
    fault_released(object);
    const cl_int answer = real_clReleaseEvent(object);
    fault_event_is_released(object);
    return fails ? code : answer;
}

RELEASE(clReleaseKernel, cl_kernel)

RELEASE(clReleaseMemObject, cl_mem)

RELEASE(clReleaseProgram, cl_program)

DECLARE(clCreateContext, cl_context,
        (const cl_context_properties *properties, cl_uint count, const cl_device_id *devices,
         void (*notify)(const char *, const void *, size_t, void *), void *data, cl_int *code))

cl_context wrap_clCreateContext(const cl_context_properties *properties, cl_uint count,
                                const cl_device_id *devices,
                                void (*notify)(const char *, const void *, size_t, void *),
                                void *data, cl_int *code)
{
    if (fault_strikes(FAULT_clCreateContext, NULL, code)) {
        return NULL;
    }
    const cl_context made = real_clCreateContext(properties, count, devices, notify, data, code);
    (void)enter(FAULT_CONTEXT, made, NULL, FAULT_clCreateContext);
    fault_note_devices(made, count, devices);
    return made;
}

RETAIN(clRetainCommandQueue, cl_command_queue, FAULT_QUEUE)

RETAIN(clRetainEvent, cl_event, FAULT_EVENT)

RETAIN(clRetainMemObject, cl_mem, FAULT_MEMORY)

DECLARE(clEnqueueMapBuffer, void *,
        (cl_command_queue queue, cl_mem memory, cl_bool blocks, cl_map_flags flags, size_t first,
         size_t bytes, cl_uint count, const cl_event *before, cl_event *event, cl_int *code))

/* The place is known, although the command fails. */
static void *map_nothing(cl_command_queue queue, cl_mem memory, cl_map_flags flags, size_t first,
                         size_t bytes, cl_uint count, const cl_event *before, cl_event *event,
                         cl_int *code)
{
    void *const place = real_clEnqueueMapBuffer(queue, memory, CL_TRUE, flags, first, bytes, count,
                                                before, NULL, code);
    if (*code == CL_SUCCESS) {
        *code = real_clEnqueueUnmapMemObject(queue, memory, place, 0, NULL, event);
    }
    return place;
}

void *wrap_clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks,
                              cl_map_flags flags, size_t first, size_t bytes, cl_uint count,
                              const cl_event *before, cl_event *event, cl_int *code)
{
    if (fault_strikes(FAULT_clEnqueueMapBuffer, queue, code)) {
        return NULL;
    }
    fault_fate fate;
    fault_decide(&fate, queue, event != NULL, &count, &before);
    void *const place =
        fate.status < 0
            ? map_nothing(queue, memory, flags, first, bytes, count, before, event, code)
            : real_clEnqueueMapBuffer(queue, memory, blocks, flags, first, bytes, count, before,
                                      event, code);
    enter_event(*code, queue, event, FAULT_clEnqueueMapBuffer, &fate);
    return place;
}
