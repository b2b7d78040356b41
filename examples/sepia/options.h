/* SPDX-License-Identifier: Apache-2.0 */
/** The command line. */
#ifndef SEPIA_OPTIONS_H
#define SEPIA_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/arguments.h"
#include "../common/trace_file.h"

typedef struct options {
    const char *input;
    char output[4096];
    int policy; /**< see policies.h */
    size_t offset;
    const char *trace; /**< NULL: nothing is traced */
    uint32_t trace_records;
    uint32_t repeat;
    uint32_t tile_width, tile_height; /**< 0: chosen to suit the picture */
    bool list, quiet, help;
    bool devices_given;  /**< with --device; else host and all OpenCL devices */
    bool host, opencl;   /**< what --device asks for */
    char selector[1024]; /**< for the OpenCL devices */
} options;

/** Returns 0 or EXIT_USAGE; stderr says what is wrong. */
int options_parse(options *o, int argc, char **argv);

void options_help(void);

#endif
