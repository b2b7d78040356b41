/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-means over all OpenCL devices, by hand: each device gets a share of the points, in proportion
 * to its compute units. port.c is the same program with dynsel.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#include "kmeans.h"

enum { MOST_PLATFORMS = 8, MOST_DEVICES = 16 };

typedef struct part {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem points, means, sums;
    cl_uint units;
    size_t first, strips; /* its share */
} part;

static point points[POINTS];
static int64_t sums[POINTS / STRIP * SUMS];

static void check(cl_int code, const char *what)
{
    if (code != CL_SUCCESS) {
        (void)fprintf(stderr, "kmeans: %s: OpenCL error %d\n", what, (int)code);
        exit(1);
    }
}

static size_t find_devices(part *parts)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0;
    size_t count = 0;
    check(clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count), "clGetPlatformIDs");
    for (cl_uint p = 0; p < platform_count && p < MOST_PLATFORMS; p++) {
        cl_device_id devices[MOST_DEVICES];
        cl_uint device_count = 0;
        const cl_int code =
            clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MOST_DEVICES, devices, &device_count);
        if (code == CL_DEVICE_NOT_FOUND) {
            continue;
        }
        check(code, "clGetDeviceIDs");
        for (cl_uint d = 0; d < device_count && d < MOST_DEVICES && count < MOST_DEVICES; d++) {
            parts[count++].device = devices[d];
        }
    }
    return count;
}

static void build(part *own)
{
    const char *text = kmeans_source;
    cl_int code = clBuildProgram(own->program, 1, &own->device, "", NULL, NULL);
    if (code != CL_SUCCESS) {
        char log[4096] = "";
        (void)clGetProgramBuildInfo(own->program, own->device, CL_PROGRAM_BUILD_LOG, sizeof log,
                                    log, NULL);
        (void)fprintf(stderr, "%s\n%s\n", text, log);
    }
    check(code, "clBuildProgram");
    own->kernel = clCreateKernel(own->program, "nearest", &code);
    check(code, "clCreateKernel");
}

static void open_device(part *own)
{
    const char *text = kmeans_source;
    cl_int code = CL_SUCCESS;
    check(clGetDeviceInfo(own->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof own->units, &own->units,
                          NULL),
          "clGetDeviceInfo");
    own->context = clCreateContext(NULL, 1, &own->device, NULL, NULL, &code);
    check(code, "clCreateContext");
    own->queue = clCreateCommandQueue(own->context, own->device, 0, &code);
    check(code, "clCreateCommandQueue");
    own->program = clCreateProgramWithSource(own->context, 1, &text, NULL, &code);
    check(code, "clCreateProgramWithSource");
    build(own);
}

/* Gives each device its strips, and the memory for them. */
static void share_out(part *parts, size_t count)
{
    size_t units = 0;
    size_t first = 0;
    for (size_t i = 0; i < count; i++) {
        units += parts[i].units;
    }
    for (size_t i = 0; i < count; i++) {
        part *own = &parts[i];
        const size_t left = POINTS / STRIP - first;
        cl_int code = CL_SUCCESS;
        own->first = first;
        own->strips = i + 1 == count ? left : (size_t)(POINTS / STRIP) * own->units / units;
        first += own->strips;
        if (own->strips == 0) {
            continue;
        }
        own->points =
            clCreateBuffer(own->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                           own->strips * STRIP * sizeof(point), &points[own->first * STRIP], &code);
        check(code, "clCreateBuffer");
        own->means =
            clCreateBuffer(own->context, CL_MEM_READ_ONLY, MEANS * sizeof(point), NULL, &code);
        check(code, "clCreateBuffer");
        own->sums = clCreateBuffer(own->context, CL_MEM_WRITE_ONLY,
                                   own->strips * SUMS * sizeof(int64_t), NULL, &code);
        check(code, "clCreateBuffer");
    }
}

/* One step on one device: the means there, the kernel, the sums back. */
static void start_step(part *own, const point *means)
{
    const cl_int mean_count = MEANS;
    const cl_int strip = STRIP;
    check(clEnqueueWriteBuffer(own->queue, own->means, CL_FALSE, 0, MEANS * sizeof(point), means, 0,
                               NULL, NULL),
          "clEnqueueWriteBuffer");
    check(clSetKernelArg(own->kernel, 0, sizeof(cl_mem), &own->points), "clSetKernelArg");
    check(clSetKernelArg(own->kernel, 1, sizeof(cl_mem), &own->means), "clSetKernelArg");
    check(clSetKernelArg(own->kernel, 2, sizeof mean_count, &mean_count), "clSetKernelArg");
    check(clSetKernelArg(own->kernel, 3, sizeof strip, &strip), "clSetKernelArg");
    check(clSetKernelArg(own->kernel, 4, sizeof(cl_mem), &own->sums), "clSetKernelArg");
    check(
        clEnqueueNDRangeKernel(own->queue, own->kernel, 1, NULL, &own->strips, NULL, 0, NULL, NULL),
        "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(own->queue, own->sums, CL_FALSE, 0,
                              own->strips * SUMS * sizeof(int64_t), &sums[own->first * SUMS], 0,
                              NULL, NULL),
          "clEnqueueReadBuffer");
    check(clFlush(own->queue), "clFlush");
}

static void close_device(part *own)
{
    if (own->strips > 0) {
        (void)clReleaseMemObject(own->points);
        (void)clReleaseMemObject(own->means);
        (void)clReleaseMemObject(own->sums);
    }
    (void)clReleaseKernel(own->kernel);
    (void)clReleaseProgram(own->program);
    (void)clReleaseCommandQueue(own->queue);
    (void)clReleaseContext(own->context);
}

int main(void)
{
    static part parts[MOST_DEVICES];
    point means[MEANS];
    int64_t totals[SUMS];
    kmeans_make_points(points, POINTS);
    kmeans_first_means(points, POINTS, means);
    const size_t count = find_devices(parts);
    if (count == 0) {
        (void)fputs("kmeans: there is no OpenCL device\n", stderr);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        open_device(&parts[i]);
    }
    share_out(parts, count);
    int steps = 0;
    for (bool moved = true; moved && steps < MOST_STEPS; steps++) {
        for (size_t i = 0; i < count; i++) {
            if (parts[i].strips > 0) {
                start_step(&parts[i], means);
            }
        }
        for (size_t i = 0; i < count; i++) {
            check(clFinish(parts[i].queue), "clFinish");
        }
        for (size_t i = 0; i < SUMS; i++) {
            totals[i] = 0;
        }
        kmeans_add(totals, sums, POINTS / STRIP);
        moved = kmeans_move(means, totals);
    }
    kmeans_print(means, totals, steps);
    for (size_t i = 0; i < count; i++) {
        close_device(&parts[i]);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
