/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "../common/log.h"

static uint8_t mix(const uint8_t *rgb, uint32_t red, uint32_t green, uint32_t blue)
{
    uint32_t sum = rgb[0] * red + rgb[1] * green + rgb[2] * blue + (1u << (SEPIA_SHIFT - 1));
    uint32_t value = sum >> SEPIA_SHIFT;

    return (uint8_t)(value < 255 ? value : 255);
}

static void tone_row(const uint8_t *in, uint8_t *out, uint32_t pixels)
{
    for (uint32_t i = 0; i < pixels; i++, in += PICTURE_CHANNELS, out += PICTURE_CHANNELS) {
        out[0] = mix(in, SEPIA_TO_RED);
        out[1] = mix(in, SEPIA_TO_GREEN);
        out[2] = mix(in, SEPIA_TO_BLUE);
        out[3] = in[3];
    }
}

uint64_t host_tone(const sepia_tile *tile)
{
    uint64_t start = log_now_ns();
    const sepia_job *job = tile->job;

    for (uint32_t row = 0; row < tile->height; row++) {
        size_t at = (tile->y + row) * sepia_stride(job) + (size_t)tile->x * PICTURE_CHANNELS;
        tone_row(job->source + at, job->result + at, tile->width);
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
