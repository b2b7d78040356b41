/* SPDX-License-Identifier: Apache-2.0 */
/* One batch of work on an OpenCL device, by hand and through dynsel. */
#ifndef BENCH_PHASES_H
#define BENCH_PHASES_H

#include <stdbool.h>
#include <stddef.h>

#include <dynsel/dynsel.h>

enum { PHASES_BATCH = CONFIG_DYNSEL_MAX_IN_FLIGHT }; /* so that each batch reaps the previous one */

/* One device, with a kernel that does nothing. */
typedef struct bench_device {
    const dynsel_resource *where;
    const char *name;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_kernel delay;
    cl_mem buffer; /* of the delay */
} bench_device;

typedef struct bench_phase {
    const char *name;                  /* in tables */
    const char *function;              /* its function, for callgrind */
    void (*run)(bench_device *device); /* PHASES_BATCH submits */
    bool by_hand;
    bool
        waits; /* for each submit by itself; else the device has to be idle before the next batch */
} bench_phase;

/* By hand and through dynsel in turn. */
enum { PHASES = 4 };
extern const bench_phase bench_phases[PHASES];

enum { BENCH_MOST_DEVICES = 4 }; /* that a table shows */

/* The OpenCL devices that DYNSEL_OPENCL selects, `most` of them at most; count: out, 0 if there is
 * none. Another failure ends the program. */
const dynsel_resource *bench_devices(size_t most, size_t *count);

/* Opens at most `capacity` OpenCL devices; returns their number. */
size_t bench_phases_open(bench_device *devices, size_t capacity);
void bench_phases_close(bench_device *devices, size_t count);

/* Selects the device for the next phases. */
void bench_phases_select(size_t device);

/* Waits until the device is idle. */
void bench_phases_idle(bench_device *device);

/* Keeps the device busy during the next measurement; else a driver's threads would wake up for some
 * submits and not for others. */
void bench_phases_busy(bench_device *device);

/* Collects finished work, so that no phase finds work of another one. */
void bench_phases_clear(void);

#endif
