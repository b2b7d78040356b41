/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, and what moves and fills it. */
#include "fakes/fake_opencl_state.h"

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                      cl_int *code)
{
    *code = fake_enter("clCreateBuffer");
    fake_violate_if(context->references == 0 || context->lost || bytes == 0);
    fake_violate_if(((flags & CL_MEM_USE_HOST_PTR) != 0) != (host != NULL));
    if (*code == CL_SUCCESS && fake_is_broken(context->devices[0], "clCreateBuffer")) {
        *code = fake_state.broken_code;
    }
    if (*code != CL_SUCCESS) {
        return NULL;
    }
    struct _cl_mem *const memory = &fake_state.memories[fake_state.memory_count++];
    *memory = (struct _cl_mem){.references = 1, .context = context, .bytes = bytes, .host = host};
    return memory;
}

cl_int clReleaseMemObject(cl_mem memory)
{
    fake_violate_if(memory->references == 0 || memory->context->lost ||
                    (memory->mapped != 0 && !memory->stuck));
    memory->references--;
    return fake_enter("clReleaseMemObject");
}

uint32_t fake_opencl_host_memories(void)
{
    uint32_t count = 0;
    for (cl_uint i = 0; i < fake_state.memory_count; i++) {
        const struct _cl_mem *const memory = &fake_state.memories[i];
        count += memory->references != 0 && memory->host != NULL ? 1 : 0;
    }
    return count;
}

static void use_memory(cl_command_queue queue, cl_mem memory, size_t end)
{
    fake_violate_if(memory->references == 0 || memory->context != queue->context ||
                    memory->mapped != 0 || end > memory->bytes);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, size_t first,
                            size_t bytes, const void *from, cl_uint count, const cl_event *before,
                            cl_event *event)
{
    fake_violate_if(blocks != CL_FALSE || from == NULL);
    use_memory(queue, memory, first + bytes);
    return fake_enqueue("clEnqueueWriteBuffer", queue, count, before, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, size_t first,
                           size_t bytes, void *to, cl_uint count, const cl_event *before,
                           cl_event *event)
{
    fake_violate_if(blocks != CL_FALSE || to == NULL);
    use_memory(queue, memory, first + bytes);
    return fake_enqueue("clEnqueueReadBuffer", queue, count, before, event);
}

void fake_opencl_map_to(void *place)
{
    fake_state.map_place = place;
}

void *clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocks, cl_map_flags flags,
                         size_t first, size_t bytes, cl_uint count, const cl_event *before,
                         cl_event *event, cl_int *code)
{
    fake_violate_if(blocks != CL_FALSE || flags == 0);
    use_memory(queue, memory, first + bytes);
    *code = fake_enqueue("clEnqueueMapBuffer", queue, count, before, event);
    memory->mapped += *code == CL_SUCCESS ? 1 : 0;
    memory->place = fake_state.map_place != NULL ? fake_state.map_place : memory->host;
    return *code == CL_SUCCESS ? memory->place : NULL;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *place, cl_uint count,
                               const cl_event *before, cl_event *event)
{
    fake_violate_if(memory->mapped == 0 || place != memory->place);
    const cl_int code = fake_enqueue("clEnqueueUnmapMemObject", queue, count, before, event);
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
    return fake_enqueue("clEnqueueCopyBuffer", queue, count, before, event);
}

cl_int clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to,
                               const size_t *from_origin, const size_t *to_origin,
                               const size_t *region, size_t from_row, size_t from_slice,
                               size_t to_row, size_t to_slice, cl_uint count,
                               const cl_event *before, cl_event *event)
{
    use_memory(queue, from, from_origin[0] + from_origin[1] * from_row + region[0]);
    use_memory(queue, to, to_origin[0] + to_origin[1] * to_row + region[0]);
    fake_violate_if(from_slice != 0 && from_slice < region[1] * from_row);
    fake_violate_if(to_slice != 0 && to_slice < region[1] * to_row);
    return fake_enqueue("clEnqueueCopyBufferRect", queue, count, before, event);
}

cl_int clEnqueueFillBuffer(cl_command_queue queue, cl_mem memory, const void *pattern,
                           size_t pattern_bytes, size_t first, size_t bytes, cl_uint count,
                           const cl_event *before, cl_event *event)
{
    fake_violate_if(pattern == NULL || first % pattern_bytes != 0 || bytes % pattern_bytes != 0);
    use_memory(queue, memory, first + bytes);
    return fake_enqueue("clEnqueueFillBuffer", queue, count, before, event);
}
