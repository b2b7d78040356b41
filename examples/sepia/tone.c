/* SPDX-License-Identifier: Apache-2.0 */
#include "tone.h"

static uint8_t mix(const uint8_t *rgb, uint32_t red, uint32_t green, uint32_t blue)
{
    uint32_t sum = rgb[0] * red + rgb[1] * green + rgb[2] * blue + (1u << (TONE_SHIFT - 1));
    uint32_t value = sum >> TONE_SHIFT;

    return (uint8_t)(value < 255 ? value : 255);
}

void tone_pixels(const uint8_t *in, uint8_t *out, size_t pixels)
{
    for (size_t i = 0; i < pixels; i++, in += PICTURE_CHANNELS, out += PICTURE_CHANNELS) {
        out[0] = mix(in, TONE_TO_RED);
        out[1] = mix(in, TONE_TO_GREEN);
        out[2] = mix(in, TONE_TO_BLUE);
        out[3] = in[3];
    }
}
