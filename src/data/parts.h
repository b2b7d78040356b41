/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of buffers: from ranges and offsets to boxes of bytes. */
#ifndef DYNSEL_DATA_PARTS_H
#define DYNSEL_DATA_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include <dynsel/accessor.h>
#include <dynsel/memory.h>

/* What does not change while a buffer lives. */
typedef struct dynsel_shape {
    size_t element_bytes;
    size_t bytes;
    dynsel_range range;
} dynsel_shape;

/* A part of a buffer, in 3 dimensions: those that it lacks stand in front, one element long. */
typedef struct dynsel_area {
    size_t first[DYNSEL_MAX_DIMENSIONS];
    size_t size[DYNSEL_MAX_DIMENSIONS];
} dynsel_area;

typedef enum dynsel_part_check {
    DYNSEL_PART_FITS,
    DYNSEL_PART_HAS_OTHER_DIMENSIONS,
    DYNSEL_PART_IS_OUTSIDE /* in part, or holds no element */
} dynsel_part_check;

/* 1 to 3 dimensions, none of them 0, and so few elements that they can be counted. */
bool dynsel_range_is_whole(const dynsel_range *range);

/* a * b in *product; false when that cannot be counted. a: not 0. */
bool dynsel_multiply(size_t a, size_t b, size_t *product);

/* The part that an accessor is for. */
dynsel_part_check dynsel_part_find(const dynsel_accessor *accessor, const dynsel_shape *shape,
                                   dynsel_area *part);

bool dynsel_part_is_all(const dynsel_area *part, const dynsel_shape *shape);

bool dynsel_parts_overlap(const dynsel_area *a, const dynsel_area *b);

dynsel_box dynsel_box_of(const dynsel_area *part, const dynsel_shape *shape);

#endif
