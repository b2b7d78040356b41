/* SPDX-License-Identifier: Apache-2.0 */
/* What both programs share: the points, the kernel, and one step of the means. Coordinates are
 * whole numbers, so that the order of additions does not change results. */
#ifndef KMEANS_H
#define KMEANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    POINTS = 1 << 18,
    MEANS = 12,
    STRIP = 1024,    /* points of one work-item */
    MOST_STEPS = 40, /* if the means do not come to rest before */
    SUMS = MEANS * 3 /* of one work-item: x, y and number of the points of each mean */
};

typedef struct point {
    int32_t x;
    int32_t y;
} point;

/* Adds up, for each strip of points, those that are nearest to each mean. OpenCL C. */
extern const char kmeans_source[];

/* Makes the points: the same ones each time. */
void kmeans_make_points(point *points, size_t count);

/* The first means: points, spread over the table. */
void kmeans_first_means(const point *points, size_t count, point *means);

/* Makes new means from the sums of all strips. Returns whether one moved. */
bool kmeans_move(point *means, const int64_t *totals);

/* Adds the sums of some strips to the totals. */
void kmeans_add(int64_t *totals, const int64_t *sums, size_t strips);

void kmeans_print(const point *means, const int64_t *totals, int steps);

#endif
