/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory, whose functions are found by name. */
#include "fakes/fake_opencl_state.h"

#include <stdlib.h>
#include <string.h>

enum { FINE_GRAIN_BUFFER = 1 << 10 };

/* The memory that has this byte; there must be one, of this context. */
static fake_shared *find(cl_context context, const void *byte)
{
    for (cl_uint i = 0; i < fake_state.shared_count; i++) {
        fake_shared *const shared = &fake_state.shared[i];
        const uintptr_t offset = (uintptr_t)byte - (uintptr_t)shared->memory;
        if (shared->references != 0 && offset < shared->bytes) {
            fake_violate_if(shared->context != context);
            return shared;
        }
    }
    fake_violate_if(true);
    return &fake_state.shared[0];
}

static void *alloc(cl_context context, cl_bitfield flags, size_t bytes, cl_uint alignment)
{
    const cl_int code = fake_enter("clSVMAlloc"); /* which it does not tell */
    fake_violate_if(context->references == 0 || context->lost || alignment != 0);
    if (code != CL_SUCCESS || fake_is_broken(context->devices[0], "clSVMAlloc")) {
        return NULL;
    }
    fake_shared *const shared = &fake_state.shared[fake_state.shared_count++];
    *shared = (fake_shared){.references = 1,
                            .context = context,
                            .bytes = bytes,
                            .fine = (flags & FINE_GRAIN_BUFFER) != 0,
                            .memory = aligned_alloc(4096, bytes)};
    return shared->memory;
}

static void give_back(cl_context context, void *memory)
{
    fake_shared *const shared = find(context, memory);
    (void)fake_enter("clSVMFree");
    fake_violate_if(context->lost || shared->memory != memory || shared->mapped != NULL);
    shared->references--;
    free(shared->memory);
    shared->memory = NULL;
}

static cl_int map(cl_command_queue queue, cl_bool blocks, cl_map_flags flags, void *memory,
                  size_t bytes, cl_uint count, const cl_event *before, cl_event *event)
{
    fake_shared *const shared = find(queue->context, memory);
    const cl_int code = fake_enqueue("clEnqueueSVMMap", queue, count, before, event);
    fake_violate_if(blocks != CL_TRUE || flags == 0 || bytes == 0 || shared->fine ||
                    shared->mapped != NULL);
    if (code == CL_SUCCESS) {
        shared->mapped = memory;
        queue->unflushed = false;
    }
    return code;
}

static cl_int unmap(cl_command_queue queue, void *memory, cl_uint count, const cl_event *before,
                    cl_event *event)
{
    fake_shared *const shared = find(queue->context, memory);
    const cl_int code = fake_enqueue("clEnqueueSVMUnmap", queue, count, before, event);
    fake_violate_if(shared->mapped != memory);
    shared->mapped = code == CL_SUCCESS ? NULL : shared->mapped;
    return code;
}

static cl_int set_pointer(cl_kernel kernel, cl_uint index, const void *pointer)
{
    const cl_context context = kernel->program->context;
    fake_violate_if(context->lost);
    const cl_int code = fake_lose_if(fake_enter("clSetKernelArgSVMPointer"), context);
    fake_violate_if(kernel->references == 0 || index >= 2);
    if (!fake_state.any_pointer) {
        const fake_shared *const shared = find(context, pointer);
        fake_violate_if(shared->mapped == pointer);
    }
    return code;
}

uint32_t fake_opencl_fine_memories(void)
{
    uint32_t count = 0;
    for (cl_uint i = 0; i < fake_state.shared_count; i++) {
        count += fake_state.shared[i].fine ? 1 : 0;
    }
    return count;
}

void fake_opencl_let_pointers_be_any(void)
{
    fake_state.any_pointer = true;
}

/* Where the address of a function is asked for, it comes as that of an object. */
#define ADDRESS_OF(function)                                                                       \
    do {                                                                                           \
        __typeof__(&(function)) place = &(function);                                               \
        memcpy(&address, &place, sizeof(address));                                                 \
    } while (0)

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    void *address = NULL;
    (void)platform;
    if (strcmp(name, "clSVMAlloc") == 0) {
        ADDRESS_OF(alloc);
    } else if (strcmp(name, "clSVMFree") == 0) {
        ADDRESS_OF(give_back);
    } else if (strcmp(name, "clEnqueueSVMMap") == 0) {
        ADDRESS_OF(map);
    } else if (strcmp(name, "clEnqueueSVMUnmap") == 0) {
        ADDRESS_OF(unmap);
    } else if (strcmp(name, "clSetKernelArgSVMPointer") == 0) {
        ADDRESS_OF(set_pointer);
    }
    return address;
}
