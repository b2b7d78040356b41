/* SPDX-License-Identifier: Apache-2.0 */
/** How pixels are toned: on the host, and in OpenCL C. */
#ifndef SEPIA_TONE_H
#define SEPIA_TONE_H

#include <stddef.h>
#include <stdint.h>

#include "../common/picture.h"

/* Sepia in integers, so that every device computes the same: shares of red, green and blue in each
 * channel of the result, times 65536. */
#define TONE_SHIFT     16
#define TONE_TO_RED    25756, 50397, 12386 /* 0.393 0.769 0.189 */
#define TONE_TO_GREEN  22872, 44958, 11010 /* 0.349 0.686 0.168 */
#define TONE_TO_BLUE   17826, 34996, 8585  /* 0.272 0.534 0.131 */
#define TONE_TOLERANCE 1                   /* of 255, between any device and the reference */

/** Tones pixels in the calling thread; RGBA both. */
void tone_pixels(const uint8_t *in, uint8_t *out, size_t pixels);

/** The same as the kernel `sepia`; arguments: in, out, the number of pixels (uint). Work-items
 * behind that do nothing. */
extern const char tone_source[];

#endif
