/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_opencl.h"

#include <string.h>

enum {
    MOST_PLATFORMS = 40,
    MOST_DEVICES = 80,
    MOST_OBJECTS = 512,
    MOST_FUNCTIONS = 64,
    LONGEST_SOURCE = 32768,
    QUERY_UUID = 0x106A,
    QUERY_PCI_BUS_INFO = 0x410F
};

/* OpenCL's headers leave these to the implementation. */
struct _cl_platform_id {
    const fake_platform *shown;
    cl_uint first_device;
};

struct _cl_device_id {
    const fake_device *shown;
    cl_platform_id platform;
};

struct _cl_context {
    uint32_t references;
    bool lost;
    cl_uint count;
    cl_device_id devices[MOST_DEVICES];
};

struct _cl_command_queue {
    uint32_t references;
    cl_context context;
    cl_device_id device;
    cl_command_queue_properties properties;
    bool unflushed;
};

struct _cl_program {
    uint32_t references;
    cl_context context;
};

struct _cl_kernel {
    uint32_t references;
    cl_program program;
};

struct _cl_mem {
    uint32_t references;
    cl_context context;
    size_t bytes;
    void *host; /* the host's memory that it is; NULL: memory of the device's */
    uint32_t mapped;
    bool stuck; /* it could not be unmapped */
};

struct _cl_event {
    uint32_t references;
    cl_command_queue queue;
    cl_int status;
};

typedef struct call_count {
    const char *function;
    uint32_t count;
} call_count;

static struct {
    cl_int platforms_code;
    cl_uint platform_count;
    cl_uint device_count;
    cl_uint context_count;
    cl_uint queue_count;
    cl_uint event_count;
    cl_uint program_count;
    cl_uint kernel_count;
    cl_uint memory_count;
    cl_int new_events;
    uint32_t violations;
    uint32_t calls;
    uint32_t fail_at;
    cl_int fail_code;
    const char *failed;
    const char *broken_device;
    const char *broken_function;
    cl_int broken_code;
    call_count counts[MOST_FUNCTIONS];
    struct _cl_platform_id platforms[MOST_PLATFORMS];
    struct _cl_device_id devices[MOST_DEVICES];
    struct _cl_context contexts[MOST_OBJECTS];
    struct _cl_command_queue queues[MOST_OBJECTS];
    struct _cl_event events[MOST_OBJECTS];
    struct _cl_program programs[MOST_OBJECTS];
    struct _cl_kernel kernels[MOST_OBJECTS];
    struct _cl_mem memories[MOST_OBJECTS];
    fake_launch launch;
    char source[LONGEST_SOURCE];
} fake;

void fake_opencl_show(const fake_platform *platforms, cl_uint count, cl_int code)
{
    memset(&fake, 0, sizeof(fake));
    fake.platforms_code = code;
    fake.platform_count = count;
    for (cl_uint p = 0; p < count; p++) {
        fake.platforms[p].shown = &platforms[p];
        fake.platforms[p].first_device = fake.device_count;
        for (cl_uint d = 0; d < platforms[p].count; d++) {
            struct _cl_device_id *device = &fake.devices[fake.device_count++];
            device->shown = &platforms[p].devices[d];
            device->platform = &fake.platforms[p];
        }
    }
}

void fake_opencl_fail_at(uint32_t call, cl_int code)
{
    fake.fail_at = call == 0 ? 0 : fake.calls + call;
    fake.fail_code = code;
    fake.failed = NULL;
}

bool fake_opencl_has_failed(void)
{
    return fake.failed != NULL;
}

const char *fake_opencl_failed_function(void)
{
    return fake.failed;
}

void fake_opencl_break(const char *device, const char *function, cl_int code)
{
    fake.broken_device = device;
    fake.broken_function = function;
    fake.broken_code = code;
}

void fake_opencl_set_new_events(cl_int status)
{
    fake.new_events = status;
}

void fake_opencl_finish_events(cl_int status)
{
    for (cl_uint i = 0; i < fake.event_count; i++) {
        if (fake.events[i].status > CL_COMPLETE) {
            fake.events[i].status = status;
        }
    }
}

uint32_t fake_opencl_calls(const char *function)
{
    uint32_t count = 0;
    for (int i = 0; i < MOST_FUNCTIONS && fake.counts[i].function != NULL; i++) {
        if (function == NULL || strcmp(function, fake.counts[i].function) == 0) {
            count += fake.counts[i].count;
        }
    }
    return count;
}

uint32_t fake_opencl_queues_of(const char *device)
{
    uint32_t count = 0;
    for (cl_uint i = 0; i < fake.queue_count; i++) {
        count += strcmp(fake.queues[i].device->shown->name, device) == 0 ? 1 : 0;
    }
    return count;
}

cl_uint fake_opencl_devices_of_last_context(void)
{
    return fake.context_count == 0 ? 0 : fake.contexts[fake.context_count - 1].count;
}

static uint32_t held(bool lost)
{
    uint32_t count = 0;
    for (cl_uint i = 0; i < fake.context_count; i++) {
        count += fake.contexts[i].lost == lost ? fake.contexts[i].references : 0;
    }
    for (cl_uint i = 0; i < fake.queue_count; i++) {
        count += fake.queues[i].context->lost == lost ? fake.queues[i].references : 0;
    }
    for (cl_uint i = 0; i < fake.event_count; i++) {
        count += fake.events[i].queue->context->lost == lost ? fake.events[i].references : 0;
    }
    for (cl_uint i = 0; i < fake.program_count; i++) {
        count += fake.programs[i].context->lost == lost ? fake.programs[i].references : 0;
    }
    for (cl_uint i = 0; i < fake.kernel_count; i++) {
        count += fake.kernels[i].program->context->lost == lost ? fake.kernels[i].references : 0;
    }
    for (cl_uint i = 0; i < fake.memory_count; i++) {
        count += fake.memories[i].context->lost == lost ? fake.memories[i].references : 0;
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
    return fake.violations;
}

static void count_call(const char *function)
{
    int i = 0;
    while (fake.counts[i].function != NULL && strcmp(fake.counts[i].function, function) != 0) {
        i++;
    }
    fake.counts[i].function = function;
    fake.counts[i].count++;
    fake.calls++;
}

static bool is_loss(cl_int code)
{
    return code == CL_DEVICE_NOT_AVAILABLE || code == CL_OUT_OF_RESOURCES ||
           code == CL_INVALID_COMMAND_QUEUE || code == -9999;
}

/* For every call; `code` is what it has to answer when that is not CL_SUCCESS. */
static cl_int enter(const char *function)
{
    count_call(function);
    if (fake.calls == fake.fail_at) {
        fake.failed = function;
        return fake.fail_code;
    }
    return CL_SUCCESS;
}

static void violate_if(bool condition)
{
    fake.violations += condition ? 1 : 0;
}

static bool is_broken(cl_device_id device, const char *function)
{
    return fake.broken_device != NULL && strcmp(device->shown->name, fake.broken_device) == 0 &&
           strcmp(fake.broken_function, function) == 0;
}

static cl_int lose_if(cl_int code, cl_context context)
{
    context->lost |= is_loss(code);
    return code;
}

/* For calls on a queue or on an event of it. */
static cl_int enter_queue(const char *function, cl_command_queue queue)
{
    cl_int code = enter(function);
    violate_if(queue->references == 0 || queue->context->lost);
    if (code == CL_SUCCESS && is_broken(queue->device, function)) {
        code = fake.broken_code;
    }
    queue->context->lost |= is_loss(code) && strncmp(function, "clRelease", 9) != 0;
    return code;
}

/* Answers as OpenCL's queries do: all of it or CL_INVALID_VALUE. */
static cl_int answer(const void *from, size_t length, size_t bytes, void *to, size_t *answered)
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

static cl_int answer_text(const char *text, size_t bytes, void *to, size_t *answered)
{
    return answer(text, strlen(text) + 1, bytes, to, answered);
}

cl_int clGetPlatformIDs(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    const cl_int code = enter("clGetPlatformIDs");
    if (code != CL_SUCCESS || fake.platforms_code != CL_SUCCESS) {
        return code != CL_SUCCESS ? code : fake.platforms_code;
    }
    cl_uint listed = 0;
    while (listed < fake.platform_count && !fake.platforms[listed].shown->is_hidden) {
        if (listed < room) {
            platforms[listed] = &fake.platforms[listed];
        }
        listed++;
    }
    *count = listed;
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t bytes, void *to,
                         size_t *answered)
{
    const cl_int code = enter("clGetPlatformInfo");
    if (code != CL_SUCCESS) {
        return code;
    }
    return what == CL_PLATFORM_NAME ? answer_text(platform->shown->name, bytes, to, answered)
                                    : CL_INVALID_VALUE;
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room,
                      cl_device_id *devices, cl_uint *count)
{
    const cl_int code = enter("clGetDeviceIDs");
    if (code != CL_SUCCESS || platform->shown->code != CL_SUCCESS) {
        return code != CL_SUCCESS ? code : platform->shown->code;
    }
    cl_uint found = 0;
    for (cl_uint i = 0; i < platform->shown->count; i++) {
        struct _cl_device_id *const device = &fake.devices[platform->first_device + i];
        const bool custom = device->shown->type == CL_DEVICE_TYPE_CUSTOM;
        if (custom != (type == CL_DEVICE_TYPE_CUSTOM) || device->shown->is_hidden) {
            continue;
        }
        if (found < room) {
            devices[found] = device;
        }
        found++;
    }
    *count = found;
    return found == 0 ? CL_DEVICE_NOT_FOUND : CL_SUCCESS;
}

static const fake_answer *own_answer(const fake_device *shown, cl_device_info what)
{
    for (size_t i = 0; i < shown->answer_count; i++) {
        if (shown->answers[i].what == what) {
            return &shown->answers[i];
        }
    }
    return NULL;
}

static cl_int answer_place(const fake_device *shown, cl_device_info what, size_t bytes, void *to,
                           size_t *answered)
{
    if (what == QUERY_UUID && shown->uuid != 0) {
        uint8_t uuid[16];
        memset(uuid, shown->uuid, sizeof(uuid));
        return answer(uuid, sizeof(uuid), bytes, to, answered);
    }
    if (what == QUERY_PCI_BUS_INFO && shown->bus != 0) {
        const cl_uint address[4] = {0, shown->bus, 0, 0};
        return answer(address, sizeof(address), bytes, to, answered);
    }
    return CL_INVALID_VALUE;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void *to,
                       size_t *answered)
{
    const cl_int code = enter("clGetDeviceInfo");
    const fake_device *const shown = device->shown;
    const cl_bool available = shown->not_available ? CL_FALSE : CL_TRUE;
    const cl_bool compiler = shown->no_compiler ? CL_FALSE : CL_TRUE;
    const cl_uint units = 4;
    const cl_ulong memory = 1 << 30;
    if (code != CL_SUCCESS) {
        return code;
    }
    const fake_answer *const own = own_answer(shown, what);
    if (own != NULL) {
        const cl_int done =
            own->value == NULL ? CL_SUCCESS : answer(own->value, own->bytes, bytes, to, answered);
        return own->code != CL_SUCCESS ? own->code : done;
    }
    switch (what) {
    case CL_DEVICE_PLATFORM:
        return answer(&device->platform, sizeof(device->platform), bytes, to, answered);
    case CL_DEVICE_TYPE:
        return answer(&shown->type, sizeof(shown->type), bytes, to, answered);
    case CL_DEVICE_AVAILABLE:
        return answer(&available, sizeof(available), bytes, to, answered);
    case CL_DEVICE_COMPILER_AVAILABLE:
        return answer(&compiler, sizeof(compiler), bytes, to, answered);
    case CL_DEVICE_VENDOR_ID:
        return answer(&shown->vendor_id, sizeof(shown->vendor_id), bytes, to, answered);
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        return answer(&units, sizeof(units), bytes, to, answered);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
        return answer(&memory, sizeof(memory), bytes, to, answered);
    case CL_DEVICE_NAME:
        return answer_text(shown->name, bytes, to, answered);
    case CL_DEVICE_VENDOR:
        return answer_text(shown->vendor, bytes, to, answered);
    case CL_DRIVER_VERSION:
        return answer_text("1.0", bytes, to, answered);
    default:
        return answer_place(shown, what, bytes, to, answered);
    }
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
        if (is_broken(devices[i], "clCreateContext")) {
            return fake.broken_code;
        }
    }
    return CL_SUCCESS;
}

cl_context clCreateContext(const cl_context_properties *properties, cl_uint count,
                           const cl_device_id *devices,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                           void *user, cl_int *code)
{
    *code = enter("clCreateContext");
    violate_if(notify != NULL || user != NULL);
    if (*code == CL_SUCCESS) {
        *code = check_devices(properties, count, devices);
    }
    if (*code != CL_SUCCESS) {
        return NULL;
    }
    struct _cl_context *const context = &fake.contexts[fake.context_count++];
    context->references = 1;
    context->count = count;
    memcpy(context->devices, devices, count * sizeof(cl_device_id));
    return context;
}

cl_int clReleaseContext(cl_context context)
{
    violate_if(context->references == 0 || context->lost);
    context->references--;
    return enter("clReleaseContext");
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
    *code = enter("clCreateCommandQueue");
    violate_if(context->references == 0 || context->lost);
    if (*code == CL_SUCCESS && !has_device(context, device)) {
        *code = CL_INVALID_DEVICE;
    }
    if (*code == CL_SUCCESS && (properties & CL_QUEUE_PROFILING_ENABLE) != 0 &&
        device->shown->no_profiling) {
        *code = CL_INVALID_QUEUE_PROPERTIES;
    }
    if (*code != CL_SUCCESS) {
        return NULL;
    }
    struct _cl_command_queue *const queue = &fake.queues[fake.queue_count++];
    *queue = (struct _cl_command_queue){
        .references = 1, .context = context, .device = device, .properties = properties};
    return queue;
}

cl_int clRetainCommandQueue(cl_command_queue queue)
{
    const cl_int code = enter_queue("clRetainCommandQueue", queue);
    queue->references += code == CL_SUCCESS ? 1 : 0;
    return code;
}

cl_int clReleaseCommandQueue(cl_command_queue queue)
{
    const cl_int code = enter_queue("clReleaseCommandQueue", queue);
    queue->references--;
    return code;
}

cl_int clGetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what, size_t bytes,
                             void *to, size_t *answered)
{
    const cl_int code = enter_queue("clGetCommandQueueInfo", queue);
    if (code != CL_SUCCESS) {
        return code;
    }
    switch (what) {
    case CL_QUEUE_CONTEXT:
        return answer(&queue->context, sizeof(queue->context), bytes, to, answered);
    case CL_QUEUE_DEVICE:
        return answer(&queue->device, sizeof(queue->device), bytes, to, answered);
    case CL_QUEUE_PROPERTIES:
        return answer(&queue->properties, sizeof(queue->properties), bytes, to, answered);
    default:
        return CL_INVALID_VALUE;
    }
}

/* For calls that enqueue something. */
static cl_int enqueue(const char *function, cl_command_queue queue, cl_uint count,
                      const cl_event *before, cl_event *event)
{
    const cl_int code = enter_queue(function, queue);
    violate_if((count == 0) != (before == NULL));
    for (cl_uint i = 0; i < count && before != NULL; i++) {
        violate_if(before[i]->queue->context != queue->context);
    }
    if (code != CL_SUCCESS) {
        return code;
    }
    queue->unflushed = true;
    if (event != NULL) {
        *event = &fake.events[fake.event_count++];
        **event = (struct _cl_event){.references = 1, .queue = queue, .status = fake.new_events};
    }
    return CL_SUCCESS;
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *before,
                                   cl_event *event)
{
    return enqueue("clEnqueueMarkerWithWaitList", queue, count, before, event);
}

cl_int clFlush(cl_command_queue queue)
{
    const cl_int code = enter_queue("clFlush", queue);
    queue->unflushed = queue->unflushed && code != CL_SUCCESS;
    return code;
}

/* Telling that the device is gone loses it. */
static cl_int status_of(cl_event event)
{
    const cl_command_queue queue = event->queue;
    if (is_broken(queue->device, "event")) {
        event->status = fake.broken_code;
    }
    return event->status;
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t bytes, void *to, size_t *answered)
{
    violate_if(event->references == 0 || event->queue->unflushed);
    const cl_int code = enter_queue("clGetEventInfo", event->queue);
    if (code != CL_SUCCESS || what != CL_EVENT_COMMAND_EXECUTION_STATUS) {
        return code != CL_SUCCESS ? code : CL_INVALID_VALUE;
    }
    const cl_int status = status_of(event);
    event->queue->context->lost |= is_loss(status);
    return answer(&status, sizeof(status), bytes, to, answered);
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events)
{
    cl_int code = CL_SUCCESS;
    for (cl_uint i = 0; i < count && code == CL_SUCCESS; i++) {
        violate_if(events[i]->references == 0);
        code = enter_queue("clWaitForEvents", events[i]->queue);
        if (code == CL_SUCCESS && status_of(events[i]) < 0) {
            code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        } else if (code == CL_SUCCESS) {
            events[i]->status = CL_COMPLETE;
        }
    }
    return code;
}

cl_int clReleaseEvent(cl_event event)
{
    violate_if(event->references == 0);
    event->references--;
    return enter_queue("clReleaseEvent", event->queue);
}

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                     const size_t *lengths, cl_int *code)
{
    violate_if(context->references == 0 || context->lost);
    *code = lose_if(enter("clCreateProgramWithSource"), context);
    fake.source[0] = '\0';
    for (cl_uint i = 0; i < count; i++) {
        const size_t length = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(texts[i]);
        const size_t room = sizeof(fake.source) - 1 - strlen(fake.source);
        strncat(fake.source, texts[i], length < room ? length : room);
    }
    if (*code != CL_SUCCESS) {
        return NULL;
    }
    struct _cl_program *const program = &fake.programs[fake.program_count++];
    *program = (struct _cl_program){.references = 1, .context = context};
    return program;
}

cl_int clReleaseProgram(cl_program program)
{
    violate_if(program->references == 0);
    program->references--;
    return enter("clReleaseProgram");
}

const char *fake_opencl_last_source(void)
{
    return fake.source;
}

cl_device_id fake_opencl_device(const char *name)
{
    cl_uint i = 0;
    while (strcmp(fake.devices[i].shown->name, name) != 0) {
        i++;
    }
    return &fake.devices[i];
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

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                      cl_int *code)
{
    *code = enter("clCreateBuffer");
    violate_if(context->references == 0 || context->lost);
    violate_if(((flags & CL_MEM_USE_HOST_PTR) != 0) != (host != NULL));
    if (*code == CL_SUCCESS && is_broken(context->devices[0], "clCreateBuffer")) {
        *code = fake.broken_code;
    }
    if (*code != CL_SUCCESS) {
        return NULL;
    }
    struct _cl_mem *const memory = &fake.memories[fake.memory_count++];
    *memory = (struct _cl_mem){.references = 1, .context = context, .bytes = bytes, .host = host};
    return memory;
}

cl_int clReleaseMemObject(cl_mem memory)
{
    violate_if(memory->references == 0 || memory->context->lost ||
               (memory->mapped != 0 && !memory->stuck));
    memory->references--;
    return enter("clReleaseMemObject");
}

static void use_memory(cl_command_queue queue, cl_mem memory, size_t end)
{
    violate_if(memory->references == 0 || memory->context != queue->context ||
               memory->mapped != 0 || end > memory->bytes);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, size_t first,
                            size_t bytes, const void *from, cl_uint count, const cl_event *before,
                            cl_event *event)
{
    violate_if(blocks != CL_FALSE || from == NULL);
    use_memory(queue, memory, first + bytes);
    return enqueue("clEnqueueWriteBuffer", queue, count, before, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, size_t first,
                           size_t bytes, void *to, cl_uint count, const cl_event *before,
                           cl_event *event)
{
    violate_if(blocks != CL_FALSE || to == NULL);
    use_memory(queue, memory, first + bytes);
    return enqueue("clEnqueueReadBuffer", queue, count, before, event);
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, cl_map_flags flags,
                         size_t first, size_t bytes, cl_uint count, const cl_event *before,
                         cl_event *event, cl_int *code)
{
    violate_if(blocks != CL_FALSE || flags == 0);
    use_memory(queue, memory, first + bytes);
    *code = enqueue("clEnqueueMapBuffer", queue, count, before, event);
    memory->mapped += *code == CL_SUCCESS ? 1 : 0;
    return *code == CL_SUCCESS ? memory->host : NULL;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *place, cl_uint count,
                               const cl_event *before, cl_event *event)
{
    violate_if(memory->mapped == 0 || place != memory->host);
    const cl_int code = enqueue("clEnqueueUnmapMemObject", queue, count, before, event);
    memory->mapped -= code == CL_SUCCESS ? 1 : 0;
    memory->stuck = code != CL_SUCCESS;
    return code;
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_first,
                           size_t to_first, size_t bytes, cl_uint count, const cl_event *before,
                           cl_event *event)
{
    use_memory(queue, from, from_first + bytes);
    use_memory(queue, to, to_first + bytes);
    return enqueue("clEnqueueCopyBuffer", queue, count, before, event);
}

cl_int clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to,
                               const size_t *from_origin, const size_t *to_origin,
                               const size_t *region, size_t from_row, size_t from_slice,
                               size_t to_row, size_t to_slice, cl_uint count,
                               const cl_event *before, cl_event *event)
{
    use_memory(queue, from, from_origin[0] + from_origin[1] * from_row + region[0]);
    use_memory(queue, to, to_origin[0] + to_origin[1] * to_row + region[0]);
    violate_if(from_slice != 0 && from_slice < region[1] * from_row);
    violate_if(to_slice != 0 && to_slice < region[1] * to_row);
    return enqueue("clEnqueueCopyBufferRect", queue, count, before, event);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern,
                           size_t pattern_bytes, size_t first, size_t bytes, cl_uint count,
                           const cl_event *before, cl_event *event)
{
    violate_if(pattern == NULL || first % pattern_bytes != 0 || bytes % pattern_bytes != 0);
    use_memory(queue, memory, first + bytes);
    return enqueue("clEnqueueFillBuffer", queue, count, before, event);
}

/* For calls that build something for a device, or ask what was built; the library is told of a loss
 * as by calls on a queue. */
static cl_int enter_device(const char *function, cl_device_id device)
{
    const cl_int code = enter(function);
    return code == CL_SUCCESS && is_broken(device, function) ? fake.broken_code : code;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options,
                      void(CL_CALLBACK *notify)(cl_program program, void *user), void *user)
{
    violate_if(program->references == 0 || program->context->lost || count != 1 ||
               options == NULL || notify != NULL || user != NULL);
    return lose_if(enter_device("clBuildProgram", devices[0]), program->context);
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                     const size_t *lengths, const unsigned char **binaries,
                                     cl_int *accepted, cl_int *code)
{
    violate_if(context->references == 0 || context->lost);
    *code = lose_if(enter_device("clCreateProgramWithBinary", devices[0]), context);
    violate_if(count != 1 || lengths[0] == 0 || binaries[0] == NULL);
    accepted[0] = *code;
    if (*code != CL_SUCCESS) {
        return NULL;
    }
    struct _cl_program *const program = &fake.programs[fake.program_count++];
    *program = (struct _cl_program){.references = 1, .context = context};
    return program;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what,
                             size_t bytes, void *to, size_t *answered)
{
    const cl_int code = enter_device("clGetProgramBuildInfo", device);
    violate_if(program->references == 0 || what != CL_PROGRAM_BUILD_LOG);
    return code != CL_SUCCESS ? code : answer_text("the fake's log of k() {}", bytes, to, answered);
}

cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t bytes, void *to,
                        size_t *answered)
{
    static const char binary[] = "the fake's binary";
    const size_t length = sizeof(binary);
    const cl_int code = enter("clGetProgramInfo");
    violate_if(program->references == 0);
    if (code != CL_SUCCESS) {
        return code;
    }
    switch (what) {
    case CL_PROGRAM_NUM_DEVICES:
        return answer(&program->context->count, sizeof(cl_uint), bytes, to, answered);
    case CL_PROGRAM_DEVICES:
        return answer(program->context->devices, program->context->count * sizeof(cl_device_id),
                      bytes, to, answered);
    case CL_PROGRAM_BINARY_SIZES:
        for (cl_uint i = 0; i < program->context->count; i++) {
            memcpy((size_t *)to + i, &length, sizeof(length));
        }
        return CL_SUCCESS;
    case CL_PROGRAM_BINARIES:
        for (cl_uint i = 0; i < program->context->count; i++) {
            unsigned char *const place = ((unsigned char **)to)[i];
            if (place != NULL) {
                memcpy(place, binary, length);
            }
        }
        return CL_SUCCESS;
    default:
        return CL_INVALID_VALUE;
    }
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code)
{
    violate_if(program->references == 0 || program->context->lost || name == NULL);
    *code = lose_if(enter("clCreateKernel"), program->context);
    if (*code != CL_SUCCESS) {
        return NULL;
    }
    struct _cl_kernel *const kernel = &fake.kernels[fake.kernel_count++];
    *kernel = (struct _cl_kernel){.references = 1, .program = program};
    return kernel;
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    violate_if(kernel->references == 0 || kernel->program->context->lost);
    kernel->references--;
    return enter("clReleaseKernel");
}

/* Every kernel has two arguments, and work groups of up to 256 items. */
cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t bytes, void *to,
                       size_t *answered)
{
    const cl_uint arguments = 2;
    const cl_int code = enter("clGetKernelInfo");
    violate_if(kernel->references == 0 || what != CL_KERNEL_NUM_ARGS);
    return code != CL_SUCCESS ? code : answer(&arguments, sizeof(arguments), bytes, to, answered);
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                cl_kernel_work_group_info what, size_t bytes, void *to,
                                size_t *answered)
{
    const size_t most = 256;
    const cl_int code = enter_device("clGetKernelWorkGroupInfo", device);
    violate_if(kernel->references == 0);
    if (code != CL_SUCCESS || what != CL_KERNEL_WORK_GROUP_SIZE) {
        return code != CL_SUCCESS ? code : CL_INVALID_VALUE;
    }
    return answer(&most, sizeof(most), bytes, to, answered);
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    violate_if(kernel->program->context->lost);
    const cl_int code = lose_if(enter("clSetKernelArg"), kernel->program->context);
    violate_if(kernel->references == 0 || index >= 2 || bytes == 0);
    (void)value;
    return code;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint count, const cl_event *before, cl_event *event)
{
    violate_if(kernel->references == 0 || kernel->program->context != queue->context);
    fake.launch = (fake_launch){.dimensions = dimensions, .has_offset = offset != NULL};
    for (cl_uint i = 0; i < dimensions; i++) {
        violate_if(local == NULL || local[i] == 0 || global[i] % local[i] != 0);
        fake.launch.offset[i] = offset != NULL ? offset[i] : 0;
        fake.launch.global[i] = global[i];
        fake.launch.local[i] = local != NULL ? local[i] : 0;
    }
    return enqueue("clEnqueueNDRangeKernel", queue, count, before, event);
}

fake_launch fake_opencl_last_launch(void)
{
    return fake.launch;
}

/* It has no functions beyond OpenCL 1.2. */
void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    (void)platform;
    (void)name;
    return NULL;
}
