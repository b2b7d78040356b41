/* SPDX-License-Identifier: Apache-2.0 */
#include "filters.h"

#include <stdlib.h>
#include <string.h>

#include "../common/picture.h"

enum { COLOURS = 3, OPAQUE = 3 }; /* the channel behind the colours is alpha */

/* What a filter works on, on the host. */
typedef struct plane {
    const uint8_t *in;
    uint8_t *out;
    int32_t width, height;
} plane;

static plane plane_of(const dynsel_launch *launch)
{
    return (plane){.in = dynsel_launch_data(launch, 0),
                   .out = dynsel_launch_data(launch, 1),
                   .width = DYNSEL_LAUNCH_VALUE(launch, 2, int32_t),
                   .height = DYNSEL_LAUNCH_VALUE(launch, 3, int32_t)};
}

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static size_t offset_of(const plane *p, int32_t x, int32_t y)
{
    return ((size_t)y * (size_t)p->width + (size_t)x) * PICTURE_CHANNELS;
}

static int32_t brightness(const uint8_t *pixel)
{
    return (pixel[0] * FILTER_RED + pixel[1] * FILTER_GREEN + pixel[2] * FILTER_BLUE + 128) >> 8;
}

static void put_grey(const plane *p, int32_t x, int32_t y, int32_t value)
{
    uint8_t *pixel = p->out + offset_of(p, x, y);

    memset(pixel, value, COLOURS);
    pixel[OPAQUE] = p->in[offset_of(p, x, y) + OPAQUE];
}

static dynsel_status grey(const dynsel_launch *launch)
{
    const plane p = plane_of(launch);

    for (int32_t y = 0; y < p.height; y++) {
        for (int32_t x = 0; x < p.width; x++) {
            put_grey(&p, x, y, brightness(p.in + offset_of(&p, x, y)));
        }
    }
    return DYNSEL_OK;
}

/* The brightness at a place, of the nearest pixel where that is outside. */
static int32_t near_brightness(const plane *p, int32_t x, int32_t y)
{
    const int32_t column = larger(0, smaller(x, p->width - 1));
    const int32_t row = larger(0, smaller(y, p->height - 1));

    return brightness(p->in + offset_of(p, column, row));
}

/* Sobel's operator. */
static int32_t edge_at(const plane *p, int32_t x, int32_t y)
{
    const int32_t above_left = near_brightness(p, x - 1, y - 1);
    const int32_t above_right = near_brightness(p, x + 1, y - 1);
    const int32_t below_left = near_brightness(p, x - 1, y + 1);
    const int32_t below_right = near_brightness(p, x + 1, y + 1);
    const int32_t across = above_right + 2 * near_brightness(p, x + 1, y) + below_right -
                           above_left - 2 * near_brightness(p, x - 1, y) - below_left;
    const int32_t down = below_left + 2 * near_brightness(p, x, y + 1) + below_right - above_left -
                         2 * near_brightness(p, x, y - 1) - above_right;

    return smaller(abs(across) + abs(down), UINT8_MAX);
}

static dynsel_status edges(const dynsel_launch *launch)
{
    const plane p = plane_of(launch);

    for (int32_t y = 0; y < p.height; y++) {
        for (int32_t x = 0; x < p.width; x++) {
            put_grey(&p, x, y, edge_at(&p, x, y));
        }
    }
    return DYNSEL_OK;
}

static void blur_at(const plane *p, int32_t x, int32_t y)
{
    const int32_t left = larger(x - FILTER_RADIUS, 0);
    const int32_t right = smaller(x + FILTER_RADIUS, p->width - 1);
    const int32_t top = larger(y - FILTER_RADIUS, 0);
    const int32_t bottom = smaller(y + FILTER_RADIUS, p->height - 1);
    const uint32_t count = (uint32_t)((right - left + 1) * (bottom - top + 1));
    uint32_t sum[COLOURS] = {count / 2, count / 2, count / 2}; /* to round */
    uint8_t *out = p->out + offset_of(p, x, y);

    for (int32_t row = top; row <= bottom; row++) {
        const uint8_t *pixel = p->in + offset_of(p, left, row);
        for (int32_t column = left; column <= right; column++, pixel += PICTURE_CHANNELS) {
            sum[0] += pixel[0];
            sum[1] += pixel[1];
            sum[2] += pixel[2];
        }
    }
    for (int i = 0; i < COLOURS; i++) {
        out[i] = (uint8_t)(sum[i] / count);
    }
    out[OPAQUE] = p->in[offset_of(p, x, y) + OPAQUE];
}

static dynsel_status blur(const dynsel_launch *launch)
{
    const plane p = plane_of(launch);

    for (int32_t y = 0; y < p.height; y++) {
        for (int32_t x = 0; x < p.width; x++) {
            blur_at(&p, x, y);
        }
    }
    return DYNSEL_OK;
}

const dynsel_kernel filters[FILTER_COUNT] = {
    [FILTER_GREY] = {.name = "grey", .function = grey, .source = filters_source, .id = 1},
    [FILTER_EDGES] = {.name = "edges", .function = edges, .source = filters_source, .id = 2},
    [FILTER_BLUR] = {.name = "blur", .function = blur, .source = filters_source, .id = 3},
};
