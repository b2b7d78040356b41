/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "../common/log.h"
#include "tone.h"

uint64_t host_tone(const sepia_tile *tile)
{
    uint64_t start = log_now_ns();
    const sepia_job *job = tile->job;

    for (uint32_t row = 0; row < tile->height; row++) {
        size_t at = (tile->y + row) * sepia_stride(job) + (size_t)tile->x * PICTURE_CHANNELS;
        tone_pixels(job->source + at, job->result + at, tile->width);
    }
    return log_now_ns() - start;
}

dynsel_status host_form(const dynsel_resource *where, void *args, dynsel_event *done)
{
    sepia_tile *tile = args;

    (void)done; /* left alone: the work is done when this function returns */
    tile->resource = sepia_index_of(tile->job, where);
    tile->busy_ns = host_tone(tile);
    tile->timed = true;
    tile->state = SEPIA_DONE;
    return DYNSEL_OK;
}
