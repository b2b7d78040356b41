/* SPDX-License-Identifier: Apache-2.0 */
/** What the parts of this program share: the job and its tiles. */
#ifndef SEPIA_H
#define SEPIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/dynsel.h>

#include "../common/picture.h"

/* Everything below has a fixed size, as on a device without a heap; only pictures are allocated. */
#define SEPIA_MAX_TILES 4096
#define SEPIA_TILE      128 /* the side of a tile, when the user gives none */

typedef enum sepia_state {
    SEPIA_WAITING, /**< not given to any resource */
    SEPIA_RUNNING, /**< enqueued on a device */
    SEPIA_DONE,
    SEPIA_FAILED
} sepia_state;

typedef struct sepia_job sepia_job;

/** One piece of work: `args` of the task functions. */
typedef struct sepia_tile {
    sepia_job *job;
    uint32_t x, y, width, height;
    uint32_t resource; /**< index of the resource that works on it */
    sepia_state state;
    bool timed;
    uint64_t busy_ns;
    struct _cl_event *first, *last; /**< of its commands on a device, retained */
} sepia_tile;

/** The work of one resource. */
typedef struct sepia_share {
    uint64_t tiles, pixels, busy_ns, failures;
    bool untimed; /**< the driver reported no times for some tile */
} sepia_share;

struct sepia_job {
    const uint8_t *source; /**< RGBA, rows without gaps; so is the result */
    uint8_t *result;
    uint32_t width, height;
    uint32_t tile_width, tile_height;
    const dynsel_resource *resources; /**< the policy's */
    size_t resource_count;
    sepia_share shares[CONFIG_DYNSEL_MAX_RESOURCES];
    sepia_share redone; /**< tiles that failed elsewhere, done again on the host */
    uint64_t wall_ns;
    uint32_t tile_count;
    sepia_tile tiles[SEPIA_MAX_TILES];
};

/** Bytes from one row of the picture to the next. */
static inline size_t sepia_stride(const sepia_job *job)
{
    return (size_t)job->width * PICTURE_CHANNELS;
}

/** Index of a resource: task functions get an entry of the policy's table. */
static inline uint32_t sepia_index_of(const sepia_job *job, const dynsel_resource *where)
{
    return (uint32_t)(where - job->resources);
}

#endif
