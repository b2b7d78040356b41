/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of buffers: from the range and offset of an accessor to a box of bytes. */
#ifndef DYNSEL_DATA_REGIONS_H
#define DYNSEL_DATA_REGIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <dynsel/accessor.h>
#include <dynsel/memory.h>

/* The properties of a buffer that do not change. */
typedef struct dynsel_shape {
    size_t element_bytes;
    size_t bytes;
    dynsel_range range;
    const void *data; /* the host's memory */
} dynsel_shape;

/* A region of a buffer, in 3 dimensions: missing dimensions stand in front, with size 1. */
typedef struct dynsel_region {
    size_t first[DYNSEL_MAX_DIMENSIONS];
    size_t size[DYNSEL_MAX_DIMENSIONS];
} dynsel_region;

typedef enum dynsel_region_check {
    DYNSEL_REGION_FITS,
    DYNSEL_REGION_HAS_OTHER_DIMENSIONS,
    DYNSEL_REGION_IS_OUTSIDE /* at least partly */
} dynsel_region_check;

/* Whether the range has 1 to 3 dimensions, and a count of elements that fits in size_t; 0 is such a
 * count. */
bool dynsel_range_is_whole(const dynsel_range *range);

/* *product = a * b. False: the product does not fit. */
bool dynsel_multiply(size_t a, size_t b, size_t *product);

/* Finds the region of an accessor, and checks it. */
dynsel_region_check dynsel_region_find(const dynsel_accessor *accessor, const dynsel_shape *shape,
                                       dynsel_region *region);

bool dynsel_region_is_all(const dynsel_region *region, const dynsel_shape *shape);

/* Whether it has no elements. */
bool dynsel_region_is_empty(const dynsel_region *region);

bool dynsel_regions_overlap(const dynsel_region *a, const dynsel_region *b);

dynsel_box dynsel_box_of(const dynsel_region *region, const dynsel_shape *shape);

#endif
