/* SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include <stdlib.h>

#include "../common/log.h"

static int tone(const uint8_t *rgb, double red, double green, double blue)
{
    double value = rgb[0] * red + rgb[1] * green + rgb[2] * blue + 0.5;

    return value < 255.0 ? (int)value : 255;
}

static int largest_of(const uint8_t *in, const uint8_t *out)
{
    const int wanted[PICTURE_CHANNELS] = {
        tone(in, 0.393, 0.769, 0.189),
        tone(in, 0.349, 0.686, 0.168),
        tone(in, 0.272, 0.534, 0.131),
        in[3],
    };
    int largest = 0;

    for (int i = 0; i < PICTURE_CHANNELS; i++) {
        int difference = abs(wanted[i] - out[i]);
        largest = difference > largest ? difference : largest;
    }
    return largest;
}

reference_difference reference_compare(const picture *source, const picture *result)
{
    reference_difference found = {0};
    const uint8_t *in = source->pixels;
    const uint8_t *out = result->pixels;

    log_progress_begin("Checking", "rows", source->height);
    for (uint32_t y = 0; y < source->height; y++) {
        for (uint32_t x = 0; x < source->width;
             x++, in += PICTURE_CHANNELS, out += PICTURE_CHANNELS) {
            int difference = largest_of(in, out);
            if (difference > found.largest) {
                found = (reference_difference){.largest = difference, .x = x, .y = y};
            }
        }
        log_progress(y + 1);
    }
    log_progress_end();
    return found;
}
