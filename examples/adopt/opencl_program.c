/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl_program.h"

enum { MOST_PLATFORMS = 8 };

static const char *const SOURCE = "kernel void scale(global uint *numbers, uint factor)\n"
                                  "{\n"
                                  "    numbers[get_global_id(0)] = factor * get_global_id(0);\n"
                                  "}\n";

/* Remembers the call, and returns its code. */
static cl_int called(const char **function, const char *name, cl_int code)
{
    *function = name;
    return code;
}

static cl_int build(device *made, const char **function)
{
    cl_int code = CL_SUCCESS;
    const char *source = SOURCE;
    made->program = clCreateProgramWithSource(made->context, 1, &source, NULL, &code);
    if (called(function, "clCreateProgramWithSource", code) != CL_SUCCESS) {
        return code;
    }
    code = clBuildProgram(made->program, 1, &made->id, "", NULL, NULL);
    if (called(function, "clBuildProgram", code) != CL_SUCCESS) {
        return code;
    }
    made->scale = clCreateKernel(made->program, "scale", &code);
    return called(function, "clCreateKernel", code);
}

static cl_int open_device(device *made, const char **function)
{
    cl_int code = CL_SUCCESS;
    made->context = clCreateContext(NULL, 1, &made->id, NULL, NULL, &code);
    if (called(function, "clCreateContext", code) != CL_SUCCESS) {
        return code;
    }
    made->queue = clCreateCommandQueue(made->context, made->id, 0, &code);
    if (called(function, "clCreateCommandQueue", code) != CL_SUCCESS) {
        return code;
    }
    made->numbers = clCreateBuffer(made->context, CL_MEM_READ_WRITE, BYTES, NULL, &code);
    if (called(function, "clCreateBuffer", code) != CL_SUCCESS) {
        return code;
    }
    return build(made, function);
}

cl_int opencl_program_begin(device *devices, size_t *count, const char **function)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0;
    *count = 0;
    if (clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count) != CL_SUCCESS) {
        return CL_SUCCESS; /* there is none */
    }
    for (cl_uint i = 0; i < platform_count && i < MOST_PLATFORMS; i++) {
        cl_device_id ids[MOST_DEVICES];
        cl_uint found = 0;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, MOST_DEVICES, ids, &found) !=
            CL_SUCCESS) {
            continue;
        }
        for (cl_uint k = 0; k < found && k < MOST_DEVICES && *count < MOST_DEVICES; k++) {
            device *const made = &devices[(*count)++];
            made->id = ids[k];
            const cl_int code = open_device(made, function);
            if (code != CL_SUCCESS) {
                return code;
            }
        }
    }
    return CL_SUCCESS;
}

void opencl_program_end(const device *devices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const device *const d = &devices[i];
        if (d->scale != NULL) {
            (void)clReleaseKernel(d->scale);
        }
        if (d->program != NULL) {
            (void)clReleaseProgram(d->program);
        }
        if (d->numbers != NULL) {
            (void)clReleaseMemObject(d->numbers);
        }
        if (d->queue != NULL) {
            (void)clReleaseCommandQueue(d->queue);
        }
        if (d->context != NULL) {
            (void)clReleaseContext(d->context);
        }
    }
}

cl_int opencl_program_scale(const device *on, cl_uint factor, cl_event *done)
{
    const size_t elements = ELEMENTS;
    cl_int code = clSetKernelArg(on->scale, 0, sizeof(cl_mem), &on->numbers);
    if (code == CL_SUCCESS) {
        code = clSetKernelArg(on->scale, 1, sizeof(factor), &factor);
    }
    return code == CL_SUCCESS ? clEnqueueNDRangeKernel(on->queue, on->scale, 1, NULL, &elements,
                                                       NULL, 0, NULL, done)
                              : code;
}
