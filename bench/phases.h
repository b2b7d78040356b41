/* SPDX-License-Identifier: Apache-2.0 */
/* One batch of work on an OpenCL device, by hand and through dynsel. */
#ifndef BENCH_PHASES_H
#define BENCH_PHASES_H

#include <stdbool.h>
#include <stddef.h>

#include <dynsel/dynsel.h>

enum { PHASES_BATCH = CONFIG_DYNSEL_MAX_IN_FLIGHT }; /* so that each batch reaps the one before */

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
    const char *name;                  /* what is done */
    const char *function;              /* its function, for callgrind */
    void (*run)(bench_device *device); /* PHASES_BATCH submits */
    bool by_hand;
    bool
        waits; /* for each submit by itself; else the device has to be idle before the next batch */
} bench_phase;

/* By hand and through dynsel in turn. */
enum { PHASES = 4 };
extern const bench_phase bench_phases[PHASES];

/* Opens the OpenCL devices; returns how many there are, at most `capacity`. */
size_t bench_phases_open(bench_device *devices, size_t capacity);
void bench_phases_close(bench_device *devices, size_t count);

/* Whose turn it is; before its first phase. */
void bench_phases_select(size_t device);

/* Waits until the device is idle. */
void bench_phases_idle(bench_device *device);

/* Gives the device something to do, so that it does not run beside what is measured next: a
 * driver's threads would wake up for each submit or not, as it happens. */
void bench_phases_busy(bench_device *device);

/* Takes finished work off the policy, so that no phase finds leftovers of another. */
void bench_phases_clear(void);

#endif
