/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_opencl.h"

#include <string.h>

enum {
    MOST_PLATFORMS = 40,
    MOST_DEVICES = 80,
    MOST_OBJECTS = 512,
    MOST_FUNCTIONS = 32,
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

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *before,
                                   cl_event *event)
{
    const cl_int code = enter_queue("clEnqueueMarkerWithWaitList", queue);
    for (cl_uint i = 0; i < count; i++) {
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
    *code = enter("clCreateProgramWithSource");
    violate_if(context->references == 0 || context->lost);
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
