/* SPDX-License-Identifier: Apache-2.0 */
#include "phases.h"

#include <stdio.h>

#include "report.h"

#define PHASE __attribute__((noinline)) static void

static dynsel_fixed_resource_policy policies[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
static dynsel_policy *policy; /* of the selected device */
static cl_event events[PHASES_BATCH];

static cl_int enqueue(const bench_device *device, cl_event *event)
{
    const size_t one = 1;
    return clEnqueueNDRangeKernel(device->queue, device->kernel, 1, NULL, &one, &one, 0, NULL,
                                  event);
}

/* Takes some tenths of a millisecond, on a device that runs asynchronously. */
static cl_int enqueue_delay(const bench_device *device)
{
    const size_t one = 1;
    return clEnqueueNDRangeKernel(device->queue, device->delay, 1, NULL, &one, &one, 0, NULL, NULL);
}

static dynsel_status enqueue_task(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    const cl_int code = enqueue(args, &done->opencl);
    return code == CL_SUCCESS ? DYNSEL_OK : dynsel_opencl_check("clEnqueueNDRangeKernel", code);
}

/* The same as dynsel by hand: query and release the events of the last batch, then enqueue. */
PHASE bench_phase_hand(bench_device *device)
{
    bool good = true;
    for (size_t i = 0; i < PHASES_BATCH; i++) {
        if (events[i] != NULL) {
            cl_int status = CL_QUEUED;
            good = clGetEventInfo(events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                  &status, NULL) == CL_SUCCESS &&
                   status == CL_COMPLETE && good;
            good = clReleaseEvent(events[i]) == CL_SUCCESS && good;
        }
    }
    for (size_t i = 0; i < PHASES_BATCH; i++) {
        good = enqueue(device, &events[i]) == CL_SUCCESS && good;
        good = clFlush(device->queue) == CL_SUCCESS && good;
    }
    report_check(good, "OpenCL by hand");
}

PHASE bench_phase_detached(bench_device *device)
{
    const dynsel_task task = DYNSEL_TASK(enqueue_task, device);
    bool good = true;
    for (size_t i = 0; i < PHASES_BATCH; i++) {
        good = dynsel_submit(policy, &task, NULL) == DYNSEL_OK && good;
    }
    report_check(good, "dynsel_submit");
}

PHASE bench_phase_hand_wait(bench_device *device)
{
    bool good = true;
    for (size_t i = 0; i < PHASES_BATCH; i++) {
        cl_event event = NULL;
        good = enqueue(device, &event) == CL_SUCCESS && good;
        good = clFlush(device->queue) == CL_SUCCESS && good;
        good = clWaitForEvents(1, &event) == CL_SUCCESS && good;
        good = clReleaseEvent(event) == CL_SUCCESS && good;
    }
    report_check(good, "OpenCL by hand");
}

PHASE bench_phase_wait(bench_device *device)
{
    const dynsel_task task = DYNSEL_TASK(enqueue_task, device);
    bool good = true;
    for (size_t i = 0; i < PHASES_BATCH; i++) {
        dynsel_submission submission;
        good = dynsel_submit(policy, &task, &submission) == DYNSEL_OK &&
               dynsel_wait(&submission) == DYNSEL_OK && good;
    }
    report_check(good, "dynsel_submit and dynsel_wait");
}

const bench_phase bench_phases[PHASES] = {
    {"detached, by hand", "bench_phase_hand", bench_phase_hand, true, false},
    {"detached", "bench_phase_detached", bench_phase_detached, false, false},
    {"handle and wait, by hand", "bench_phase_hand_wait", bench_phase_hand_wait, true, true},
    {"handle and wait", "bench_phase_wait", bench_phase_wait, false, true},
};

static cl_kernel make_kernel(const bench_device *device, const char *name)
{
    cl_int code = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(device->program, name, &code);
    report_check(code == CL_SUCCESS, name);
    return kernel;
}

static void open_device(bench_device *device, const dynsel_resource *where)
{
    static const char *const source =
        "kernel void nothing(void) {}\n"
        "kernel void delay(global volatile int *x) { for (int i = 0; i < 100000; i++) *x = i; }\n";
    cl_context context = dynsel_opencl_context(where);
    cl_device_id id = dynsel_opencl_device(where);
    cl_int code = CL_SUCCESS;
    *device = (bench_device){
        .where = where, .name = dynsel_resource_name(where), .queue = dynsel_opencl_queue(where)};
    report_check(context != NULL && device->queue != NULL, "the device cannot be opened");
    device->program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &code);
    report_check(code == CL_SUCCESS &&
                     clBuildProgram(device->program, 1, &id, "", NULL, NULL) == CL_SUCCESS,
                 "the kernel cannot be built");
    device->kernel = make_kernel(device, "nothing");
    device->delay = make_kernel(device, "delay");
    device->buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(cl_int), NULL, &code);
    report_check(code == CL_SUCCESS && clSetKernelArg(device->delay, 0, sizeof(cl_mem),
                                                      &device->buffer) == CL_SUCCESS,
                 "the buffer cannot be made");
    report_check(enqueue(device, NULL) == CL_SUCCESS && enqueue_delay(device) == CL_SUCCESS,
                 "the first kernels"); /* they may be compiled now */
    bench_phases_idle(device);
}

const dynsel_resource *bench_devices(size_t most, size_t *count)
{
    static dynsel_resource resources[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
    const dynsel_status status =
        dynsel_opencl_select(NULL, resources, CONFIG_DYNSEL_OPENCL_MAX_DEVICES, count);
    report_check(status == DYNSEL_OK || status == DYNSEL_E_NO_RESOURCE, "dynsel_opencl_select");
    if (status != DYNSEL_OK) {
        *count = 0;
    }
    *count = *count < most ? *count : most;
    return resources;
}

size_t bench_phases_open(bench_device *devices, size_t capacity)
{
    size_t count = 0;
    const dynsel_resource *const resources = bench_devices(capacity, &count);
    for (size_t i = 0; i < count; i++) {
        const dynsel_options options = {.resources = &resources[i], .count = 1};
        open_device(&devices[i], &resources[i]);
        report_check(dynsel_fixed_resource_init(&policies[i], &options, 0) == DYNSEL_OK, "init");
    }
    return count;
}

void bench_phases_close(bench_device *devices, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        report_check(dynsel_policy_deinit(&policies[i].policy) == DYNSEL_OK, "deinit");
        (void)clReleaseMemObject(devices[i].buffer);
        (void)clReleaseKernel(devices[i].delay);
        (void)clReleaseKernel(devices[i].kernel);
        (void)clReleaseProgram(devices[i].program);
    }
}

void bench_phases_select(size_t device)
{
    policy = &policies[device].policy;
}

void bench_phases_idle(bench_device *device)
{
    report_check(clFinish(device->queue) == CL_SUCCESS, "clFinish");
}

void bench_phases_busy(bench_device *device)
{
    report_check(enqueue_delay(device) == CL_SUCCESS && clFlush(device->queue) == CL_SUCCESS,
                 "the delay");
}

void bench_phases_clear(void)
{
    for (size_t i = 0; i < PHASES_BATCH; i++) {
        if (events[i] != NULL) {
            (void)clReleaseEvent(events[i]);
            events[i] = NULL;
        }
    }
    report_check(dynsel_wait_group(dynsel_get_submission_group(policy)) == DYNSEL_OK, "wait");
}
