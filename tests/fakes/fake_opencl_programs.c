/* SPDX-License-Identifier: Apache-2.0 */
/* Programs, kernels and their launches. */
#include "fakes/fake_opencl_state.h"

#include <string.h>

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                     const size_t *lengths, cl_int *code)
{
    fake_violate_if(context->references == 0 || context->lost);
    *code = fake_lose_if(fake_enter("clCreateProgramWithSource"), context);
    fake_state.source[0] = '\0';
    for (cl_uint i = 0; i < count; i++) {
        const size_t length = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(texts[i]);
        const size_t room = sizeof(fake_state.source) - 1 - strlen(fake_state.source);
        strncat(fake_state.source, texts[i], length < room ? length : room);
    }
    if (*code != CL_SUCCESS) {
        return NULL;
    }
    struct _cl_program *const program = &fake_state.programs[fake_state.program_count++];
    *program = (struct _cl_program){.references = 1, .context = context};
    return program;
}

cl_int clReleaseProgram(cl_program program)
{
    fake_violate_if(program->references == 0);
    program->references--;
    return fake_enter("clReleaseProgram");
}

const char *fake_opencl_last_source(void)
{
    return fake_state.source;
}

/* For calls that build something for a device, or ask what was built; the library is told of a loss
 * as by calls on a queue. */
static cl_int enter_device(const char *function, cl_device_id device)
{
    const cl_int code = fake_enter(function);
    return code == CL_SUCCESS && fake_is_broken(device, function) ? fake_state.broken_code : code;
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options,
                      void(CL_CALLBACK *notify)(cl_program program, void *user), void *user)
{
    fake_violate_if(program->references == 0 || program->context->lost || count != 1 ||
                    options == NULL || notify != NULL || user != NULL);
    return fake_lose_if(enter_device("clBuildProgram", devices[0]), program->context);
}

cl_program clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                     const size_t *lengths, const unsigned char **binaries,
                                     cl_int *accepted, cl_int *code)
{
    fake_violate_if(context->references == 0 || context->lost);
    *code = fake_lose_if(enter_device("clCreateProgramWithBinary", devices[0]), context);
    fake_violate_if(count != 1 || lengths[0] == 0 || binaries[0] == NULL);
    accepted[0] = *code;
    if (*code != CL_SUCCESS) {
        return NULL;
    }
    struct _cl_program *const program = &fake_state.programs[fake_state.program_count++];
    *program = (struct _cl_program){.references = 1, .context = context};
    return program;
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what,
                             size_t bytes, void *to, size_t *answered)
{
    const cl_int code = enter_device("clGetProgramBuildInfo", device);
    fake_violate_if(program->references == 0 || what != CL_PROGRAM_BUILD_LOG);
    return code != CL_SUCCESS ? code
                              : fake_reply_text("the fake's log of k() {}", bytes, to, answered);
}

cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t bytes, void *to,
                        size_t *answered)
{
    static const char binary[] = "the fake's binary";
    const size_t length = sizeof(binary);
    const cl_int code = fake_enter("clGetProgramInfo");
    fake_violate_if(program->references == 0);
    if (code != CL_SUCCESS) {
        return code;
    }
    switch (what) {
    case CL_PROGRAM_NUM_DEVICES:
        return fake_reply(&program->context->count, sizeof(cl_uint), bytes, to, answered);
    case CL_PROGRAM_DEVICES:
        return fake_reply(program->context->devices, program->context->count * sizeof(cl_device_id),
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
    fake_violate_if(program->references == 0 || program->context->lost || name == NULL);
    *code = fake_lose_if(enter_device("clCreateKernel", program->context->devices[0]),
                         program->context);
    if (*code != CL_SUCCESS) {
        return NULL;
    }
    struct _cl_kernel *const kernel = &fake_state.kernels[fake_state.kernel_count++];
    *kernel = (struct _cl_kernel){.references = 1, .program = program};
    return kernel;
}

cl_int clReleaseKernel(cl_kernel kernel)
{
    fake_violate_if(kernel->references == 0 || kernel->program->context->lost);
    kernel->references--;
    return fake_enter("clReleaseKernel");
}

void fake_opencl_set_work_groups(size_t most, const size_t demanded[3])
{
    fake_state.most_items = most;
    memcpy(fake_state.demanded, demanded, sizeof(fake_state.demanded));
}

void fake_opencl_set_local_memory(cl_ulong bytes)
{
    fake_state.local_memory = bytes;
}

/* Every kernel has two arguments. */
cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t bytes, void *to,
                       size_t *answered)
{
    const cl_uint arguments = 2;
    const cl_context context = kernel->program->context;
    const cl_int code = fake_lose_if(enter_device("clGetKernelInfo", context->devices[0]), context);
    fake_violate_if(kernel->references == 0 || what != CL_KERNEL_NUM_ARGS);
    return code != CL_SUCCESS ? code
                              : fake_reply(&arguments, sizeof(arguments), bytes, to, answered);
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                cl_kernel_work_group_info what, size_t bytes, void *to,
                                size_t *answered)
{
    const cl_int code =
        fake_lose_if(enter_device("clGetKernelWorkGroupInfo", device), kernel->program->context);
    fake_violate_if(kernel->references == 0);
    if (code != CL_SUCCESS) {
        return code;
    }
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE:
        return fake_reply(&fake_state.most_items, sizeof(fake_state.most_items), bytes, to,
                          answered);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        return fake_reply(fake_state.demanded, sizeof(fake_state.demanded), bytes, to, answered);
    case CL_KERNEL_LOCAL_MEM_SIZE:
        return fake_reply(&fake_state.local_memory, sizeof(fake_state.local_memory), bytes, to,
                          answered);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void *value)
{
    fake_violate_if(kernel->program->context->lost);
    const cl_int code = fake_lose_if(fake_enter("clSetKernelArg"), kernel->program->context);
    fake_violate_if(kernel->references == 0 || index >= 2 || bytes == 0);
    (void)value;
    return code;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint count, const cl_event *before, cl_event *event)
{
    fake_violate_if(kernel->references == 0 || kernel->program->context != queue->context);
    fake_state.launch = (fake_launch){.dimensions = dimensions, .has_offset = offset != NULL};
    for (cl_uint i = 0; i < dimensions; i++) {
        fake_violate_if(local == NULL || local[i] == 0 || global[i] % local[i] != 0);
        fake_state.launch.offset[i] = offset != NULL ? offset[i] : 0;
        fake_state.launch.global[i] = global[i];
        fake_state.launch.local[i] = local != NULL ? local[i] : 0;
    }
    return fake_enqueue("clEnqueueNDRangeKernel", queue, count, before, event);
}

fake_launch fake_opencl_last_launch(void)
{
    return fake_state.launch;
}
