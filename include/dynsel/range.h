/* SPDX-License-Identifier: Apache-2.0 */
/** How many elements or work items there are, in 1 to 3 dimensions. The last dimension is the one
 * whose neighbours lie side by side in memory, as in a C array `a[rows][columns]`. */
#ifndef DYNSEL_RANGE_H
#define DYNSEL_RANGE_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/config.h>

DYNSEL_BEGIN_DECLS

enum { DYNSEL_MAX_DIMENSIONS = 3 };

typedef struct dynsel_range {
    /** In each dimension; those past `dimensions` are ignored. */
    size_t size[DYNSEL_MAX_DIMENSIONS];
    uint32_t dimensions; /**< 1 to 3; 0: not given */
} dynsel_range;

/** Ranges, and offsets: `DYNSEL_RANGE_2D(rows, columns)`. The sizes are of type size_t. */
#define DYNSEL_RANGE(count)                    DYNSEL_RANGE_(1, (count))
#define DYNSEL_RANGE_2D(rows, columns)         DYNSEL_RANGE_(2, (rows), (columns))
#define DYNSEL_RANGE_3D(slices, rows, columns) DYNSEL_RANGE_(3, (slices), (rows), (columns))

#define DYNSEL_RANGE_(dimensions, ...) DYNSEL_VALUE_OF_(dynsel_range, {__VA_ARGS__}, (dimensions))

/** The number of elements: the product of the sizes; 0 if not given. Does not check for overflow.
 * Context: any. Cost: constant. */
static inline size_t dynsel_range_count(const dynsel_range *range)
{
    size_t count = range->dimensions > 0 ? 1 : 0;
    for (uint32_t i = 0; i < range->dimensions; i++) {
        count *= range->size[i];
    }
    return count;
}

DYNSEL_END_DECLS

#endif
