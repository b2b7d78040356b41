/* SPDX-License-Identifier: Apache-2.0 */
/** The kernel as text. It is compiled by the driver of each device, with the numbers of tone.h. */
#include "tone.h"

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...)    TEXT_OF(__VA_ARGS__)

/* clang-format off */
const char tone_source[] =
    "#define SHIFT " TEXT(TONE_SHIFT) "\n"
    "#define TO_RED (uint3)(" TEXT(TONE_TO_RED) ")\n"
    "#define TO_GREEN (uint3)(" TEXT(TONE_TO_GREEN) ")\n"
    "#define TO_BLUE (uint3)(" TEXT(TONE_TO_BLUE) ")\n"
    "\n"
    "uchar mix_of(uint3 rgb, uint3 shares)\n"
    "{\n"
    "    uint3 parts = rgb * shares;\n"
    "    uint value = (parts.x + parts.y + parts.z + (1u << (SHIFT - 1))) >> SHIFT;\n"
    "    return (uchar)min(value, 255u);\n"
    "}\n"
    "\n"
    "__kernel void sepia(__global const uchar4 *in, __global uchar4 *out, uint pixels)\n"
    "{\n"
    "    size_t i = get_global_id(0);\n"
    "    if (i >= pixels) /* the last group goes past the tile */\n"
    "        return;\n"
    "    uint3 rgb = convert_uint3(in[i].xyz);\n"
    "    out[i] = (uchar4)(mix_of(rgb, TO_RED), mix_of(rgb, TO_GREEN), mix_of(rgb, TO_BLUE),\n"
    "                      in[i].w);\n"
    "}\n";
/* clang-format on */
