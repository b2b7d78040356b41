/* SPDX-License-Identifier: Apache-2.0 */
#include "kmeans.h"

#include <stdio.h>

const char kmeans_source[] =
    "kernel void nearest(global const int2 *points, global const int2 *means, int mean_count,\n"
    "                    int strip, global long *sums)\n"
    "{\n"
    "    global const int2 *own = points + get_global_id(0) * strip;\n"
    "    global long *sum = sums + get_global_id(0) * mean_count * 3;\n"
    "    for (int i = 0; i < mean_count * 3; i++)\n"
    "        sum[i] = 0;\n"
    "    for (int p = 0; p < strip; p++) {\n"
    "        int best = 0;\n"
    "        long least = LONG_MAX;\n"
    "        for (int m = 0; m < mean_count; m++) {\n"
    "            const long dx = own[p].x - means[m].x, dy = own[p].y - means[m].y;\n"
    "            const long distance = dx * dx + dy * dy;\n"
    "            if (distance < least) {\n"
    "                least = distance;\n"
    "                best = m;\n"
    "            }\n"
    "        }\n"
    "        sum[best * 3] += own[p].x;\n"
    "        sum[best * 3 + 1] += own[p].y;\n"
    "        sum[best * 3 + 2] += 1;\n"
    "    }\n"
    "}\n";

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

void kmeans_make_points(point *points, size_t count)
{
    uint32_t state = 7;
    for (size_t i = 0; i < count; i++) {
        const uint32_t cluster = next(&state) % MEANS; /* scattered around a place of its own */
        const int32_t spread = (int32_t)(next(&state) % 9000 + next(&state) % 9000) - 9000;
        const int32_t slant = (int32_t)(next(&state) % 9000 + next(&state) % 9000) - 9000;
        points[i] = (point){(int32_t)(cluster * 7919 % 97 * 1000) + spread,
                            (int32_t)(cluster * 104729 % 89 * 1000) + slant};
    }
}

void kmeans_first_means(const point *points, size_t count, point *means)
{
    for (size_t m = 0; m < MEANS; m++) {
        means[m] = points[m * count / MEANS];
    }
}

bool kmeans_move(point *means, const int64_t *totals)
{
    bool moved = false;
    for (size_t m = 0; m < MEANS; m++) {
        const int64_t count = totals[m * 3 + 2];
        if (count > 0) {
            const point to = {(int32_t)(totals[m * 3] / count),
                              (int32_t)(totals[m * 3 + 1] / count)};
            moved = moved || to.x != means[m].x || to.y != means[m].y;
            means[m] = to;
        }
    }
    return moved;
}

void kmeans_add(int64_t *totals, const int64_t *sums, size_t strips)
{
    for (size_t i = 0; i < strips * SUMS; i++) {
        totals[i % SUMS] += sums[i];
    }
}

void kmeans_print(const point *means, const int64_t *totals, int steps)
{
    (void)printf("%d points, %d steps\n", POINTS, steps);
    for (size_t m = 0; m < MEANS; m++) {
        (void)printf("mean %2zu  %6d %6d  %7lld points\n", m, (int)means[m].x, (int)means[m].y,
                     (long long)totals[m * 3 + 2]);
    }
}
