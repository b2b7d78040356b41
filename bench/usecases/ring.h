/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal pieces of work, several at a time. Each adds its results to those of its resource, where
 * they stay until nothing is out: bringing them back one by one would wait for all that was
 * enqueued after them. Then the sums tell whether every piece was done, once and right.
 */
#ifndef USECASES_RING_H
#define USECASES_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/dynsel.h>

#include "resources.h"

enum {
    RING_ELEMENTS = 1024,
    RING_DEPTH = 4, /* pieces of work for each device */
    RING_ROOM = CONFIG_DYNSEL_MAX_IN_FLIGHT - 8,
    RING_MOST = RING_ROOM < 64 ? RING_ROOM : 64
};

typedef struct ring_slot {
    dynsel_submission submission;
    bool is_out;
} ring_slot;

/* One resource and what was added up there. */
typedef struct ring_lane {
    dynsel_resource where;
    uint32_t sums[RING_ELEMENTS];
    uint32_t scratch[RING_ELEMENTS];
    cl_program program; /* of an OpenCL device; so the rest */
    cl_kernel kernel;
    cl_mem in;
    cl_mem out;
    uint64_t done;
} ring_lane;

typedef struct ring {
    uint32_t in[RING_ELEMENTS];
    uint32_t expected[RING_ELEMENTS];
    ring_slot slots[RING_MOST];
    ring_lane lanes[RESOURCES_MOST];
    size_t lane_count;
    uint32_t count;
    uint32_t limit; /* so many are used */
    uint32_t operations;
    uint64_t done;
    uint64_t by_resource[RESOURCES_MOST];
} ring;

/* How many operations an element needs to have so that one piece takes about `ns` on the first
 * resource. */
uint32_t ring_calibrate(const resources *r, double ns, uint64_t seed);

void ring_open(ring *self, const resources *r, uint32_t count, uint32_t operations, uint64_t seed);

/* As many pieces at a time as so many devices need. */
void ring_limit(ring *self, size_t devices);

/* Submits for so long. A failure ends the program. */
void ring_keep_busy(ring *self, dynsel_policy *policy, const resources *r, double seconds);

/* Waits for what is out. */
void ring_finish(ring *self, const resources *r);

/* Checks every result, and gives everything back. Nothing is out. */
void ring_close(ring *self, const resources *r);

#endif
