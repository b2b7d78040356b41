/* SPDX-License-Identifier: Apache-2.0 */
#include "data/regions.h"

#include <stdint.h>

bool dynsel_multiply(size_t a, size_t b, size_t *product)
{
    *product = a * b;
    return a == 0 || b <= SIZE_MAX / a;
}

bool dynsel_range_is_whole(const dynsel_range *range)
{
    if (range->dimensions < 1 || range->dimensions > DYNSEL_MAX_DIMENSIONS) {
        return false;
    }
    size_t count = 1;
    bool fits = true;
    for (uint32_t i = 0; i < range->dimensions; i++) {
        if (range->size[i] == 0) {
            return true;
        }
        fits = fits && dynsel_multiply(count, range->size[i], &count);
    }
    return fits;
}

/* Extends to 3 dimensions. front: the size of the added dimensions. */
static void widen(size_t wide[DYNSEL_MAX_DIMENSIONS], const dynsel_range *range,
                  uint32_t dimensions, size_t front)
{
    const uint32_t missing = DYNSEL_MAX_DIMENSIONS - dimensions;
    for (uint32_t i = 0; i < DYNSEL_MAX_DIMENSIONS; i++) {
        wide[i] = i < missing ? front : range->size[i - missing];
    }
}

static bool is_within(const dynsel_region *region, const size_t whole[DYNSEL_MAX_DIMENSIONS])
{
    bool within = true;
    for (uint32_t i = 0; i < DYNSEL_MAX_DIMENSIONS; i++) {
        within =
            within && region->size[i] <= whole[i] && region->first[i] <= whole[i] - region->size[i];
    }
    return within;
}

static bool fits(uint32_t dimensions, const dynsel_shape *shape)
{
    return dimensions == 0 || dimensions == shape->range.dimensions;
}

dynsel_region_check dynsel_region_find(const dynsel_accessor *accessor, const dynsel_shape *shape,
                                       dynsel_region *region)
{
    static const dynsel_range nothing = {.size = {0}};
    const uint32_t dimensions = shape->range.dimensions;
    if (!fits(accessor->range.dimensions, shape) || !fits(accessor->offset.dimensions, shape)) {
        return DYNSEL_REGION_HAS_OTHER_DIMENSIONS;
    }
    size_t whole[DYNSEL_MAX_DIMENSIONS];
    widen(whole, &shape->range, dimensions, 1);
    widen(region->size, accessor->range.dimensions != 0 ? &accessor->range : &shape->range,
          dimensions, 1);
    widen(region->first, accessor->offset.dimensions != 0 ? &accessor->offset : &nothing,
          dimensions, 0);
    return is_within(region, whole) ? DYNSEL_REGION_FITS : DYNSEL_REGION_IS_OUTSIDE;
}

bool dynsel_region_is_all(const dynsel_region *region, const dynsel_shape *shape)
{
    size_t whole[DYNSEL_MAX_DIMENSIONS];
    widen(whole, &shape->range, shape->range.dimensions, 1);
    return region->size[0] == whole[0] && region->size[1] == whole[1] &&
           region->size[2] == whole[2];
}

bool dynsel_region_is_empty(const dynsel_region *region)
{
    return region->size[0] == 0 || region->size[1] == 0 || region->size[2] == 0;
}

bool dynsel_regions_overlap(const dynsel_region *a, const dynsel_region *b)
{
    bool overlap = true;
    for (uint32_t i = 0; i < DYNSEL_MAX_DIMENSIONS; i++) {
        overlap = overlap && a->size[i] != 0 && b->size[i] != 0 &&
                  a->first[i] < b->first[i] + b->size[i] && b->first[i] < a->first[i] + a->size[i];
    }
    return overlap;
}

dynsel_box dynsel_box_of(const dynsel_region *region, const dynsel_shape *shape)
{
    size_t whole[DYNSEL_MAX_DIMENSIONS];
    widen(whole, &shape->range, shape->range.dimensions, 1);
    const size_t element = shape->element_bytes;
    const size_t first =
        (region->first[0] * whole[1] + region->first[1]) * whole[2] + region->first[2];
    return (dynsel_box){
        .first = first * element,
        .size = {region->size[0], region->size[1], region->size[2] * element},
        .row_pitch = whole[2] * element,
        .slice_pitch = whole[1] * whole[2] * element,
    };
}
