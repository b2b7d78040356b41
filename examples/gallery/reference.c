/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <stdlib.h>
#include <string.h>

enum { COLOURS = 3 };

static uint32_t columns[PICTURE_MAX_SIDE][COLOURS]; /* sums over the rows of the window */

static const uint8_t *row_of(const picture *p, int64_t y)
{
    return p->pixels + (size_t)y * p->width * PICTURE_CHANNELS;
}

static int brightness_at(const picture *p, int64_t x, int64_t y)
{
    const int64_t column = x < 0 ? 0 : x < p->width ? x : p->width - 1;
    const int64_t row = y < 0 ? 0 : y < p->height ? y : p->height - 1;
    const uint8_t *pixel = row_of(p, row) + column * PICTURE_CHANNELS;

    return (int)(pixel[0] * (FILTER_RED / 256.0) + pixel[1] * (FILTER_GREEN / 256.0) +
                 pixel[2] * (FILTER_BLUE / 256.0) + 0.5);
}

static int edge_at(const picture *p, int64_t x, int64_t y)
{
    static const int smooth[] = {1, 2, 1};
    int across = 0;
    int down = 0;

    for (int i = -1; i <= 1; i++) {
        const int share = smooth[i + 1];
        across += share * (brightness_at(p, x + 1, y + i) - brightness_at(p, x - 1, y + i));
        down += share * (brightness_at(p, x + i, y + 1) - brightness_at(p, x + i, y - 1));
    }
    const int edge = abs(across) + abs(down);
    return edge < UINT8_MAX ? edge : UINT8_MAX;
}

static void make_grey(const picture *source, filter_kind filter, picture *result)
{
    uint8_t *out = result->pixels;

    for (int64_t y = 0; y < source->height; y++) {
        const uint8_t *in = row_of(source, y);
        for (int64_t x = 0; x < source->width; x++) {
            const int value =
                filter == FILTER_GREY ? brightness_at(source, x, y) : edge_at(source, x, y);
            memset(out, value, COLOURS);
            out[COLOURS] = in[COLOURS];
            in += PICTURE_CHANNELS;
            out += PICTURE_CHANNELS;
        }
    }
}

/* Adds a row to the sums of columns, or takes it away. Outside the picture there is none. */
static int enter_row(const picture *p, int64_t y, int sign)
{
    if (y < 0 || y >= p->height) {
        return 0;
    }
    const uint8_t *in = row_of(p, y);
    for (uint32_t x = 0; x < p->width; x++, in += PICTURE_CHANNELS) {
        for (int i = 0; i < COLOURS; i++) {
            columns[x][i] += (uint32_t)(sign * in[i]);
        }
    }
    return sign;
}

static void blur_row(const picture *source, int64_t y, int rows, uint8_t *out)
{
    const int64_t width = source->width;
    const uint8_t *in = row_of(source, y);
    uint32_t sum[COLOURS] = {0};
    uint32_t count = 0;

    for (int64_t x = -FILTER_RADIUS; x < width; x++) {
        const int64_t enters = x + FILTER_RADIUS;
        const int64_t leaves = x - FILTER_RADIUS - 1;
        for (int i = 0; i < COLOURS; i++) {
            sum[i] += enters < width ? columns[enters][i] : 0;
            sum[i] -= leaves >= 0 ? columns[leaves][i] : 0;
        }
        count += (enters < width ? 1u : 0u) - (leaves >= 0 ? 1u : 0u);
        if (x >= 0) {
            for (int i = 0; i < COLOURS; i++) {
                out[i] = (uint8_t)(sum[i] / ((double)count * rows) + 0.5);
            }
            out[COLOURS] = in[COLOURS];
            in += PICTURE_CHANNELS;
            out += PICTURE_CHANNELS;
        }
    }
}

static void make_blur(const picture *source, picture *result)
{
    int rows = 0;

    memset(columns, 0, sizeof columns);
    for (int64_t y = -FILTER_RADIUS; y < source->height; y++) {
        rows += enter_row(source, y + FILTER_RADIUS, 1);
        rows += enter_row(source, y - FILTER_RADIUS - 1, -1);
        if (y >= 0) {
            blur_row(source, y, rows,
                     result->pixels + (size_t)y * source->width * PICTURE_CHANNELS);
        }
    }
}

void reference_make(const picture *source, filter_kind filter, picture *result)
{
    if (filter == FILTER_BLUR) {
        make_blur(source, result);
    } else {
        make_grey(source, filter, result);
    }
}

uint64_t reference_sum(const picture *p)
{
    const uint64_t factor = 0x9e3779b97f4a7c15u;
    const size_t bytes = picture_bytes(p);
    uint64_t sum = bytes;
    uint64_t word = 0;

    for (size_t i = 0; i < bytes; i += sizeof word) {
        const size_t rest = bytes - i < sizeof word ? bytes - i : sizeof word;
        word = 0;
        memcpy(&word, p->pixels + i, rest);
        sum = (sum ^ word) * factor;
        sum ^= sum >> 29;
    }
    return sum;
}

size_t reference_first_difference(const picture *a, const picture *b)
{
    const size_t count = (size_t)a->width * a->height;
    size_t i = 0;

    while (i < count && memcmp(a->pixels + i * PICTURE_CHANNELS, b->pixels + i * PICTURE_CHANNELS,
                               PICTURE_CHANNELS) == 0) {
        i++;
    }
    return i;
}
