/* SPDX-License-Identifier: Apache-2.0 */
/** What each result has to be: the filters written another way, by one thread. */
#ifndef GALLERY_REFERENCE_H
#define GALLERY_REFERENCE_H

#include "../common/picture.h"
#include "filters.h"

/** Fills in the pixels of a picture of the same size. Not from two threads at once. */
void reference_make(const picture *source, filter_kind filter, picture *result);

/** A checksum of a picture's pixels. */
uint64_t reference_sum(const picture *p);

/** The number of the first pixel in which two pictures of one size differ; their number of pixels,
 * if there is none. */
size_t reference_first_difference(const picture *a, const picture *b);

#endif
