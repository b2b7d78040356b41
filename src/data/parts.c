/* SPDX-License-Identifier: Apache-2.0 */
#include "data/parts.h"

#include <stdint.h>

bool dynsel_multiply(size_t a, size_t b, size_t *product)
{
    *product = a * b;
    return b <= SIZE_MAX / a;
}

bool dynsel_range_is_whole(const dynsel_range *range)
{
    if (range->dimensions < 1 || range->dimensions > DYNSEL_MAX_DIMENSIONS) {
        return false;
    }
    size_t count = 1;
    for (uint32_t i = 0; i < range->dimensions; i++) {
        if (range->size[i] == 0 || !dynsel_multiply(count, range->size[i], &count)) {
            return false;
        }
    }
    return true;
}

/* In 3 dimensions. front: the sizes of those that are not there. */
static void widen(size_t wide[DYNSEL_MAX_DIMENSIONS], const dynsel_range *range,
                  uint32_t dimensions, size_t front)
{
    const uint32_t missing = DYNSEL_MAX_DIMENSIONS - dimensions;
    for (uint32_t i = 0; i < DYNSEL_MAX_DIMENSIONS; i++) {
        wide[i] = i < missing ? front : range->size[i - missing];
    }
}

static bool is_within(const dynsel_area *part, const size_t whole[DYNSEL_MAX_DIMENSIONS])
{
    bool within = true;
    for (uint32_t i = 0; i < DYNSEL_MAX_DIMENSIONS; i++) {
        within = within && part->size[i] != 0 && part->size[i] <= whole[i] &&
                 part->first[i] <= whole[i] - part->size[i];
    }
    return within;
}

static bool fits(uint32_t dimensions, const dynsel_shape *shape)
{
    return dimensions == 0 || dimensions == shape->range.dimensions;
}

dynsel_part_check dynsel_part_find(const dynsel_accessor *accessor, const dynsel_shape *shape,
                                   dynsel_area *part)
{
    static const dynsel_range nothing = {.size = {0}};
    const uint32_t dimensions = shape->range.dimensions;
    if (!fits(accessor->range.dimensions, shape) || !fits(accessor->offset.dimensions, shape)) {
        return DYNSEL_PART_HAS_OTHER_DIMENSIONS;
    }
    size_t whole[DYNSEL_MAX_DIMENSIONS];
    widen(whole, &shape->range, dimensions, 1);
    widen(part->size, accessor->range.dimensions != 0 ? &accessor->range : &shape->range,
          dimensions, 1);
    widen(part->first, accessor->offset.dimensions != 0 ? &accessor->offset : &nothing, dimensions,
          0);
    return is_within(part, whole) ? DYNSEL_PART_FITS : DYNSEL_PART_IS_OUTSIDE;
}

bool dynsel_part_is_all(const dynsel_area *part, const dynsel_shape *shape)
{
    size_t whole[DYNSEL_MAX_DIMENSIONS];
    widen(whole, &shape->range, shape->range.dimensions, 1);
    return part->size[0] == whole[0] && part->size[1] == whole[1] && part->size[2] == whole[2];
}

bool dynsel_parts_overlap(const dynsel_area *a, const dynsel_area *b)
{
    bool overlap = true;
    for (uint32_t i = 0; i < DYNSEL_MAX_DIMENSIONS; i++) {
        overlap = overlap && a->first[i] < b->first[i] + b->size[i] &&
                  b->first[i] < a->first[i] + a->size[i];
    }
    return overlap;
}

dynsel_box dynsel_box_of(const dynsel_area *part, const dynsel_shape *shape)
{
    size_t whole[DYNSEL_MAX_DIMENSIONS];
    widen(whole, &shape->range, shape->range.dimensions, 1);
    const size_t element = shape->element_bytes;
    const size_t first = (part->first[0] * whole[1] + part->first[1]) * whole[2] + part->first[2];
    return (dynsel_box){
        .first = first * element,
        .size = {part->size[0], part->size[1], part->size[2] * element},
        .row_pitch = whole[2] * element,
        .slice_pitch = whole[1] * whole[2] * element,
    };
}
