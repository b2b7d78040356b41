/* SPDX-License-Identifier: Apache-2.0 */
/** The filters as text. It is compiled by the driver of each device, with the numbers of filters.h.
 */
#include "filters.h"

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...)    TEXT_OF(__VA_ARGS__)

/* clang-format off */
const char filters_source[] =
    "#define RADIUS " TEXT(FILTER_RADIUS) "\n"
    "#define SHARES (int4)(" TEXT(FILTER_RED) ", " TEXT(FILTER_GREEN) ", "
    TEXT(FILTER_BLUE) ", 0)\n"
    "\n"
    "int brightness(uchar4 pixel)\n"
    "{\n"
    "    int4 parts = convert_int4(pixel) * SHARES;\n"
    "    return (parts.x + parts.y + parts.z + 128) >> 8;\n"
    "}\n"
    "\n"
    "kernel void grey(global const uchar4 *in, global uchar4 *out, int width, int height)\n"
    "{\n"
    "    size_t i = get_global_id(1) * width + get_global_id(0);\n"
    "    out[i] = (uchar4)((uchar3)(brightness(in[i])), in[i].w);\n"
    "}\n"
    "\n"
    "kernel void edges(global const uchar4 *in, global uchar4 *out, int width, int height)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1);\n"
    "    int left = max(x - 1, 0), right = min(x + 1, width - 1);\n"
    "    global const uchar4 *above = in + (size_t)max(y - 1, 0) * width;\n"
    "    global const uchar4 *row = in + (size_t)y * width;\n"
    "    global const uchar4 *below = in + (size_t)min(y + 1, height - 1) * width;\n"
    "    int above_left = brightness(above[left]), above_right = brightness(above[right]);\n"
    "    int below_left = brightness(below[left]), below_right = brightness(below[right]);\n"
    "    int across = above_right + 2 * brightness(row[right]) + below_right\n"
    "                 - above_left - 2 * brightness(row[left]) - below_left;\n"
    "    int down = below_left + 2 * brightness(below[x]) + below_right\n"
    "               - above_left - 2 * brightness(above[x]) - above_right;\n"
    "    uchar edge = (uchar)min(abs(across) + abs(down), 255u);\n"
    "    out[(size_t)y * width + x] = (uchar4)((uchar3)(edge), row[x].w);\n"
    "}\n"
    "\n"
    "kernel void blur(global const uchar4 *in, global uchar4 *out, int width, int height)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1);\n"
    "    int left = max(x - RADIUS, 0), right = min(x + RADIUS, width - 1);\n"
    "    int top = max(y - RADIUS, 0), bottom = min(y + RADIUS, height - 1);\n"
    "    uint count = (right - left + 1) * (bottom - top + 1);\n"
    "    uint3 sum = (uint3)(count / 2); /* to round */\n"
    "    for (int row = top; row <= bottom; row++) {\n"
    "        for (int column = left; column <= right; column++)\n"
    "            sum += convert_uint3(in[(size_t)row * width + column].xyz);\n"
    "    }\n"
    "    size_t i = (size_t)y * width + x;\n"
    "    out[i] = (uchar4)(convert_uchar3(sum / count), in[i].w);\n"
    "}\n";
/* clang-format on */
