/* SPDX-License-Identifier: Apache-2.0 */
/** The same picture once more, in plain C and floating point, to compare with. */
#ifndef SEPIA_REFERENCE_H
#define SEPIA_REFERENCE_H

#include "../common/picture.h"

typedef struct reference_difference {
    int largest;   /**< over all channels of all pixels, 0 to 255 */
    uint32_t x, y; /**< where that is, the first time */
} reference_difference;

/** Of two pictures of one size: what is toned, and the result. */
reference_difference reference_compare(const picture *source, const picture *result);

#endif
