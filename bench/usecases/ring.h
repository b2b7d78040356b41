/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal tasks, several in flight. Each adds its results to the sums of its resource, which are read
 * after all tasks are complete: reading each result would wait for all tasks enqueued after it. The
 * sums show whether every task ran exactly once, with a correct result.
 */
#ifndef USECASES_RING_H
#define USECASES_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/dynsel.h>

#include "resources.h"

enum {
    RING_ELEMENTS = 1024,
    RING_DEPTH = 4, /* tasks for each device */
    RING_ROOM = CONFIG_DYNSEL_MAX_IN_FLIGHT - 8,
    RING_MOST = RING_ROOM < 64 ? RING_ROOM : 64
};

typedef struct ring_slot {
    dynsel_submission submission;
    bool is_out;
} ring_slot;

/* One resource and its sums. */
typedef struct ring_queue {
    dynsel_resource where;
    uint32_t sums[RING_ELEMENTS];
    uint32_t scratch[RING_ELEMENTS];
    cl_program program; /* of an OpenCL device, as the next members */
    cl_kernel kernel;
    cl_mem in;
    cl_mem out;
    uint64_t done;
} ring_queue;

typedef struct ring {
    uint32_t in[RING_ELEMENTS];
    uint32_t expected[RING_ELEMENTS];
    ring_slot slots[RING_MOST];
    ring_queue queues[RESOURCES_MOST];
    size_t queue_count;
    uint32_t count;
    uint32_t limit; /* slots in use */
    uint32_t operations;
    uint64_t done;
    uint64_t by_resource[RESOURCES_MOST];
} ring;

/* The operations for each element with which one task takes about `ns` on the first resource. */
uint32_t ring_calibrate(const resources *r, double ns, uint64_t seed);

void ring_open(ring *self, const resources *r, uint32_t count, uint32_t operations, uint64_t seed);

/* Limits the tasks in flight to those for this number of devices. */
void ring_limit(ring *self, size_t devices);

/* Submits for this time. A failure ends the program. */
void ring_keep_busy(ring *self, dynsel_policy *policy, const resources *r, double seconds);

/* Waits for the tasks in flight. */
void ring_finish(ring *self, const resources *r);

/* Checks every result and releases everything. No task may be in flight. */
void ring_close(ring *self, const resources *r);

#endif
