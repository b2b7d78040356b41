/* SPDX-License-Identifier: Apache-2.0 */
/* Which of OpenCL's objects the library holds. */
#include <stddef.h>

#include "faults/layer_state.h"

enum { MOST_OBJECTS = 4096, MOST_DEVICES = 8 };

typedef struct object {
    void *handle;
    const void *context; /* of itself, where it is one */
    fault_kind kind;
    fault_function made_by;
    uint32_t references; /* of the library's */
    bool given_up;
    cl_uint device_count; /* of contexts */
    cl_device_id devices[MOST_DEVICES];
} object;

static object objects[MOST_OBJECTS];
static uint32_t object_count;
static uint32_t misuses;

/* The newest with this handle: drivers use addresses again. */
static object *find(const void *handle)
{
    for (uint32_t i = object_count; i > 0; i--) {
        if (objects[i - 1].handle == handle) {
            return &objects[i - 1];
        }
    }
    return NULL;
}

const void *fault_context_of(const void *handle)
{
    const object *const found = find(handle);
    return found != NULL ? found->context : NULL;
}

/* Events are kept, so that their end can be asked for. */
void *fault_made(fault_kind kind, void *handle, const void *parent, fault_function made_by)
{
    if (handle == NULL || object_count == MOST_OBJECTS) {
        return handle;
    }
    const object *const from = parent != NULL ? find(parent) : NULL;
    objects[object_count++] = (object){.handle = handle,
                                       .context = from != NULL ? from->context : handle,
                                       .kind = kind,
                                       .made_by = made_by,
                                       .references = 1};
    if (kind == FAULT_EVENT) {
        fault_suspend(true);
        (void)clRetainEvent(handle);
        fault_suspend(false);
    }
    return handle;
}

void fault_note_devices(const void *context, cl_uint count, const cl_device_id *devices)
{
    object *const made = find(context);
    for (cl_uint i = 0; made != NULL && i < count && i < MOST_DEVICES; i++) {
        made->devices[made->device_count++] = devices[i];
    }
}

/* Of an object that the library did not make. NULL: it is not asked for. */
static const void *ask_context(void *handle, fault_kind kind)
{
    cl_context context = NULL;
    fault_suspend(true);
    if (kind == FAULT_EVENT) {
        (void)clGetEventInfo(handle, CL_EVENT_CONTEXT, sizeof(cl_context), &context, NULL);
    } else if (kind == FAULT_MEMORY) {
        (void)clGetMemObjectInfo(handle, CL_MEM_CONTEXT, sizeof(cl_context), &context, NULL);
    }
    fault_suspend(false);
    return context;
}

/* What it did not make is the program's. */
void fault_retained(void *handle, fault_kind kind, fault_function made_by)
{
    object *const held = find(handle);
    if (held != NULL) {
        held->references++;
    } else {
        (void)fault_made(kind, handle, ask_context(handle, kind), made_by);
    }
}

void fault_released(const void *handle)
{
    object *const held = find(handle);
    if (held == NULL || held->references == 0) {
        misuses++;
    } else {
        held->references--;
    }
}

uint32_t fault_misuses(void)
{
    return misuses;
}

static void give_up_context(const void *context)
{
    for (uint32_t i = 0; i < object_count; i++) {
        objects[i].given_up |= objects[i].context == context;
    }
}

void fault_give_up(cl_device_id device)
{
    for (uint32_t i = 0; i < object_count; i++) {
        for (cl_uint k = 0; k < objects[i].device_count; k++) {
            if (objects[i].devices[k] == device) {
                give_up_context(objects[i].handle);
            }
        }
    }
}

uint32_t fault_held(const char **made_by)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < object_count; i++) {
        if (objects[i].references > 0 && !objects[i].given_up) {
            *made_by = fault_name(objects[i].made_by);
            count += objects[i].references;
        }
    }
    return count;
}

uint32_t fault_running(void)
{
    uint32_t running = 0;
    fault_suspend(true);
    for (uint32_t i = 0; i < object_count; i++) {
        cl_int status = CL_COMPLETE;
        if (objects[i].kind == FAULT_EVENT && !objects[i].given_up &&
            objects[i].made_by != FAULT_clEnqueueMarkerWithWaitList) {
            (void)clGetEventInfo(objects[i].handle, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                 sizeof(status), &status, NULL);
            running += status > CL_COMPLETE ? 1 : 0;
        }
    }
    fault_suspend(false);
    return running;
}

static void release(const object *held)
{
    switch (held->kind) {
    case FAULT_CONTEXT:
        (void)clReleaseContext(held->handle);
        break;
    case FAULT_QUEUE:
        (void)clReleaseCommandQueue(held->handle);
        break;
    case FAULT_PROGRAM:
        (void)clReleaseProgram(held->handle);
        break;
    case FAULT_KERNEL:
        (void)clReleaseKernel(held->handle);
        break;
    case FAULT_MEMORY:
        (void)clReleaseMemObject(held->handle);
        break;
    case FAULT_EVENT:
        (void)clReleaseEvent(held->handle);
        break;
    case FAULT_SHARED:
    default:
        break; /* it goes with its context */
    }
}

void fault_forget_events(void)
{
    uint32_t left = 0;
    fault_suspend(true);
    for (uint32_t i = 0; i < object_count; i++) {
        if (objects[i].kind == FAULT_EVENT && objects[i].references == 0) {
            release(&objects[i]);
        }
        if (objects[i].references > 0) {
            objects[left++] = objects[i];
        }
    }
    object_count = left;
    misuses = 0;
    fault_suspend(false);
}

/* What was made last first, when nothing of it goes on. */
void fault_end(void)
{
    fault_forget_commands();
    fault_forget_events();
    fault_suspend(true);
    for (uint32_t i = 0; i < object_count; i++) {
        if (objects[i].kind == FAULT_QUEUE) {
            (void)clFinish(objects[i].handle);
        }
    }
    for (uint32_t i = object_count; i > 0; i--) {
        const object *const held = &objects[i - 1];
        const uint32_t own = held->kind == FAULT_EVENT ? 1 : 0;
        for (uint32_t k = 0; k < held->references + own; k++) {
            release(held);
        }
    }
    object_count = 0;
    fault_suspend(false);
}
