/* SPDX-License-Identifier: Apache-2.0 */
/* The image filter, for the host and as OpenCL C. Other runtimes get the same one. */
#ifndef USECASES_FILTER_KERNEL_H
#define USECASES_FILTER_KERNEL_H

#include <stdint.h>

/* The mean of the square around a pixel, toned: C, and OpenCL C. Whole numbers only, so that every
 * device gets the same. */
#define FILTER_COMMON                                                                              \
    static inline void filter_one(global const unsigned char *in, global unsigned char *out,       \
                                  int width, int height, int radius, int x, int y)                 \
    {                                                                                              \
        unsigned sum[3] = {0, 0, 0};                                                               \
        const int left = x < radius ? 0 : x - radius;                                              \
        const int right = x + radius < width ? x + radius : width - 1;                             \
        const int top = y < radius ? 0 : y - radius;                                               \
        const int bottom = y + radius < height ? y + radius : height - 1;                          \
        const unsigned pixels = (unsigned)((right - left + 1) * (bottom - top + 1));               \
        for (int row = top; row <= bottom; row++) {                                                \
            for (int column = left; column <= right; column++) {                                   \
                global const unsigned char *pixel = in + 3l * ((long)row * width + column);        \
                sum[0] += pixel[0];                                                                \
                sum[1] += pixel[1];                                                                \
                sum[2] += pixel[2];                                                                \
            }                                                                                      \
        }                                                                                          \
        const unsigned r = sum[0] / pixels;                                                        \
        const unsigned g = sum[1] / pixels;                                                        \
        const unsigned b = sum[2] / pixels;                                                        \
        const unsigned red = (r * 403u + g * 787u + b * 194u + 512u) >> 10;                        \
        const unsigned green = (r * 357u + g * 702u + b * 172u + 512u) >> 10;                      \
        const unsigned blue = (r * 279u + g * 547u + b * 134u + 512u) >> 10;                       \
        global unsigned char *to = out + 3l * ((long)y * width + x);                               \
        to[0] = (unsigned char)(red < 255u ? red : 255u);                                          \
        to[1] = (unsigned char)(green < 255u ? green : 255u);                                      \
        to[2] = (unsigned char)(blue < 255u ? blue : 255u);                                        \
    }

#define FILTER_TEXT(...)          FILTER_TEXT_EXPANDED(__VA_ARGS__)
#define FILTER_TEXT_EXPANDED(...) #__VA_ARGS__

#define FILTER_SOURCE                                                                              \
    FILTER_TEXT(FILTER_COMMON)                                                                     \
    "kernel void filter(global const unsigned char *in,"                                           \
    "global unsigned char *out, int width, int height, int radius)"                                \
    "{ filter_one(in, out, width, height, radius, (int)get_global_id(0),"                          \
    "(int)get_global_id(1)); }"

#define global /* the host has one kind of memory */
FILTER_COMMON
#undef global

static inline void filter_all(const uint8_t *in, uint8_t *out, int width, int height, int radius)
{
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            filter_one(in, out, width, height, radius, x, y);
        }
    }
}

#endif
