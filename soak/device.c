/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <dynsel/opencl.h>

#include "result.h"

typedef struct device {
    dynsel_resource where;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem count;
} device;

static device devices[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
static size_t device_count;

static void open_device(device *self, const dynsel_resource *where)
{
    static const char *const source =
        "kernel void work(global volatile int *count) { atomic_inc(count); }";
    const cl_uint zero = 0;
    cl_int code = CL_SUCCESS;
    cl_context context = dynsel_opencl_context(where);
    cl_device_id id = dynsel_opencl_device(where);
    soak_must(context != NULL, "the device cannot be opened");
    self->where = *where;
    self->queue = dynsel_opencl_queue(where);
    self->program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &code);
    soak_must(code == CL_SUCCESS &&
                  clBuildProgram(self->program, 1, &id, "", NULL, NULL) == CL_SUCCESS,
              "the kernel cannot be built");
    self->kernel = clCreateKernel(self->program, "work", &code);
    soak_must(code == CL_SUCCESS, "the kernel cannot be made");
    self->count = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zero,
                                 (void *)&zero, &code);
    soak_must(code == CL_SUCCESS &&
                  clSetKernelArg(self->kernel, 0, sizeof(cl_mem), &self->count) == CL_SUCCESS,
              "the counter cannot be made");
}

size_t soak_open_devices(dynsel_resource *resources, size_t count, size_t capacity)
{
    const dynsel_status status =
        dynsel_opencl_select(NULL, &resources[count], capacity - count, &device_count);
    if (status == DYNSEL_E_NO_RESOURCE) {
        return count;
    }
    soak_must(status == DYNSEL_OK, "dynsel_opencl_select");
    for (size_t i = 0; i < device_count; i++) {
        open_device(&devices[i], &resources[count + i]);
    }
    return count + device_count;
}

dynsel_status soak_enqueue(const dynsel_resource *where, dynsel_event *done)
{
    const size_t one = 1;
    const device *self = devices;
    while (self->where.handle != where->handle) {
        self++;
    }
    return dynsel_opencl_check("clEnqueueNDRangeKernel",
                               clEnqueueNDRangeKernel(self->queue, self->kernel, 1, NULL, &one,
                                                      &one, 0, NULL, &done->opencl));
}

uint64_t soak_count_kernels(void)
{
    uint64_t total = 0;
    for (size_t i = 0; i < device_count; i++) {
        cl_uint count = 0;
        soak_must(clEnqueueReadBuffer(devices[i].queue, devices[i].count, CL_TRUE, 0, sizeof count,
                                      &count, 0, NULL, NULL) == CL_SUCCESS,
                  "the counter cannot be read");
        total += count;
    }
    return total;
}

int soak_close_devices(void)
{
    for (size_t i = 0; i < device_count; i++) {
        (void)clReleaseMemObject(devices[i].count);
        (void)clReleaseKernel(devices[i].kernel);
        (void)clReleaseProgram(devices[i].program);
    }
    return dynsel_opencl_close() == DYNSEL_OK;
}
