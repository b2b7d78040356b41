/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The OpenCL part of a program that existed before it used dynsel: for each device a context, a
 * queue, a memory object, a program and a kernel, all its own. Nothing here knows dynsel.
 */
#ifndef ADOPT_OPENCL_PROGRAM_H
#define ADOPT_OPENCL_PROGRAM_H

#include <stddef.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

enum { MOST_DEVICES = 8, ELEMENTS = 4096, BYTES = ELEMENTS * sizeof(cl_uint) };

typedef struct device {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    cl_mem numbers; /* ELEMENTS of them, as the last piece of work left them */
    cl_program program;
    cl_kernel scale; /* numbers[i] = factor * i */
} device;

/* Opens the devices of all platforms, up to MOST_DEVICES. function: out, the call that failed. */
cl_int opencl_program_begin(device *devices, size_t *count, const char **function);

void opencl_program_end(const device *devices, size_t count);

/* Enqueues the kernel. Not on one device at the same time. */
cl_int opencl_program_scale(const device *on, cl_uint factor, cl_event *done);

#endif
