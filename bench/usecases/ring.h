/* SPDX-License-Identifier: Apache-2.0 */
/* Equal pieces of work, several at a time, each with results of its own. */
#ifndef USECASES_RING_H
#define USECASES_RING_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/dynsel.h>

#include "resources.h"

enum {
    RING_ELEMENTS = 1024,
    RING_DEPTH = 4, /* pieces of work for each device */
    RING_ROOM = CONFIG_DYNSEL_MAX_BUFFERS - 7 < CONFIG_DYNSEL_MAX_IN_FLIGHT - 8
                    ? CONFIG_DYNSEL_MAX_BUFFERS - 7
                    : CONFIG_DYNSEL_MAX_IN_FLIGHT - 8,
    RING_MOST = RING_ROOM < 64 ? RING_ROOM : 64
};

/* One piece of work and what it writes. */
typedef struct ring_slot {
    _Alignas(4096) uint32_t out[RING_ELEMENTS];
    dynsel_accessor written;
    dynsel_submission submission;
    bool is_out;
} ring_slot;

typedef struct ring {
    ring_slot slots[RING_MOST];
    uint32_t in[RING_ELEMENTS];
    uint32_t expected[RING_ELEMENTS];
    dynsel_accessor read;
    uint32_t count;
    uint32_t limit; /* so many are used */
    uint32_t operations;
    uint64_t done;
    uint64_t by_resource[RESOURCES_MOST];
} ring;

/* How many operations an element needs to have so that one piece takes about `ns` on the first
 * resource. */
uint32_t ring_calibrate(const resources *r, double ns, uint64_t seed);

void ring_open(ring *self, uint32_t count, uint32_t operations, uint64_t seed);

/* As many pieces at a time as so many devices need. */
void ring_limit(ring *self, size_t devices);

/* Submits for so long. A failure or a wrong result ends the program. */
void ring_keep_busy(ring *self, dynsel_policy *policy, const resources *r, double seconds);

/* Waits for what is out. */
void ring_finish(ring *self, const resources *r);

void ring_close(ring *self);

#endif
