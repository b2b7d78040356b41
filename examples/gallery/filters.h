/* SPDX-License-Identifier: Apache-2.0 */
/** The filters, each for the host and as OpenCL C. All compute in integers, so that every device
 * gets the same pixels. */
#ifndef GALLERY_FILTERS_H
#define GALLERY_FILTERS_H

#include <dynsel/dynsel.h>

#define FILTER_COUNT 3

/** Shares of red, green and blue in the brightness of a pixel, times 256. */
#define FILTER_RED   77
#define FILTER_GREEN 150
#define FILTER_BLUE  29
/** `blur` takes the mean of the pixels that are at most so far away. */
#define FILTER_RADIUS 4

typedef enum filter_kind { FILTER_GREY, FILTER_EDGES, FILTER_BLUR } filter_kind;

/** By filter_kind, from the cheapest to the most expensive. Arguments: the picture, the result
 * (RGBA, rows without gaps), width and height; launched over height x width. The ids are the
 * program's own, so that a table of learned times knows them in the next run. */
extern const dynsel_kernel filters[FILTER_COUNT];

/** The OpenCL C of all of them. */
extern const char filters_source[];

#endif
