/* SPDX-License-Identifier: Apache-2.0 */
#include "tiles.h"

#include "../common/log.h"

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint64_t pieces(uint32_t length, uint32_t piece)
{
    return ((uint64_t)length + piece - 1) / piece;
}

static uint64_t count_of(const sepia_job *job, uint32_t width, uint32_t height)
{
    return pieces(job->width, width) * pieces(job->height, height);
}

/** The smallest square tile, at least as large as `side`, with which the table suffices. */
static uint32_t side_that_fits(const sepia_job *job, uint32_t side)
{
    while (count_of(job, side, side) > SEPIA_MAX_TILES) {
        side++;
    }
    return side;
}

static void add(sepia_job *job, uint32_t x, uint32_t y)
{
    job->tiles[job->tile_count++] = (sepia_tile){
        .job = job,
        .x = x,
        .y = y,
        .width = smaller(job->tile_width, job->width - x),
        .height = smaller(job->tile_height, job->height - y),
    };
}

bool tiles_cut(sepia_job *job, uint32_t width, uint32_t height, const char *name)
{
    if (width == 0) {
        width = height = side_that_fits(job, SEPIA_TILE);
    }
    uint64_t count = count_of(job, width, height);
    if (count > SEPIA_MAX_TILES) {
        log_error("%s: %u x %u pixels are %llu tiles of %u x %u, more than the table of %d holds; "
                  "use --tile %u or more",
                  name, job->width, job->height, (unsigned long long)count, width, height,
                  SEPIA_MAX_TILES, side_that_fits(job, 1));
        return false;
    }
    job->tile_width = smaller(width, job->width);
    job->tile_height = smaller(height, job->height);
    job->tile_count = 0;
    for (uint32_t y = 0; y < job->height; y += job->tile_height) {
        for (uint32_t x = 0; x < job->width; x += job->tile_width) {
            add(job, x, y);
        }
    }
    return true;
}

void tiles_reset(sepia_job *job)
{
    for (uint32_t i = 0; i < job->tile_count; i++) {
        sepia_tile *tile = &job->tiles[i];
        tile->state = SEPIA_WAITING;
        tile->timed = false;
        tile->busy_ns = 0;
    }
}

const sepia_tile *tiles_at(const sepia_job *job, uint32_t x, uint32_t y)
{
    uint32_t columns = (uint32_t)pieces(job->width, job->tile_width);

    return &job->tiles[y / job->tile_height * columns + x / job->tile_width];
}
