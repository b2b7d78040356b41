/* SPDX-License-Identifier: Apache-2.0 */
/* Work of a known length on one OpenCL device, through dynsel and by hand. */
#ifndef BENCH_TIMED_WORK_H
#define BENCH_TIMED_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/dynsel.h>

#include "sampling_policy.h"

enum { TIMED_MOST_IN_STREAM = 2048, TIMED_DATA_WORDS = 1024, TIMED_ITEMS = 64 };

typedef enum timed_kind {
    TIMED_GROUP,       /* a command group with one kernel */
    TIMED_TASK,        /* a task function that enqueues one kernel */
    TIMED_TASK_COPIES, /* one that enqueues a write, a kernel and a read */
    TIMED_KINDS
} timed_kind;

typedef struct timed_device {
    const dynsel_resource *where;
    sampling_policy *policy;
    cl_command_queue plain;     /* of the bench */
    cl_command_queue profiling; /* of the bench; NULL: the device has no profiling */
    cl_program program;
    cl_kernel kernel;
    cl_mem memory;
    cl_uint steps;    /* of the kernel's loop */
    timed_kind kind;  /* of the next work */
    uint32_t runs[2]; /* of the kernel, on `memory` and in command groups */
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_buffer buffer; /* of command groups */
    dynsel_accessor data; /* a placeholder for it */
#endif
    uint32_t words[TIMED_DATA_WORDS + TIMED_ITEMS];
    uint32_t from[TIMED_DATA_WORDS]; /* of the write and the read */
    uint32_t to[TIMED_DATA_WORDS];
} timed_device;

/* Whether this build has such work. */
bool timed_kind_exists(timed_kind kind);
const char *timed_kind_name(timed_kind kind);

/* d: must stay; policy: of this device. A failure ends the program. */
void timed_open(timed_device *d, const dynsel_resource *where, sampling_policy *policy);

/* Checks how often the kernel ran. */
void timed_close(timed_device *d);

/* The length of the loop for which the kernel takes about `ns`. */
cl_uint timed_calibrate(timed_device *d, double ns);

/* Sets the next work. */
void timed_set(timed_device *d, timed_kind kind, cl_uint steps);

/* One piece of work through dynsel, until it is complete. */
void timed_run_one(timed_device *d);

/* A stream of `count` pieces, until all are complete; returns nanoseconds for each. */
double timed_run_stream(timed_device *d, unsigned count);

/* The same by hand, without events. 0: the device waited for the host, so that the time is not that
 * of the work. */
double timed_run_by_hand(timed_device *d, unsigned count);

/* The same by hand in the queue with profiling, TIMED_MOST_IN_STREAM at most. Writes the
 * nanoseconds of each piece, from its first command's start to its last one's end; and to `whole`,
 * if not NULL, those from its first command's enqueue on. */
void timed_profile(timed_device *d, unsigned count, double *ns, double *whole);

#endif
