/* SPDX-License-Identifier: Apache-2.0 */
/** The command line. */
#ifndef GALLERY_OPTIONS_H
#define GALLERY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/arguments.h"
#include "../common/trace_file.h"

typedef struct options {
    const char *learned; /**< NULL: nothing is kept */
    const char *output;  /**< NULL: nothing is written */
    const char *only;    /**< NULL: all resources */
    const char *trace;   /**< NULL: nothing is traced */
    uint32_t repeat, in_flight, trace_records;
    bool compare, help;
    char *const *operands;
    int operand_count;
} options;

/** Returns 0 or EXIT_USAGE; stderr says what is wrong. */
int options_parse(options *o, int argc, char **argv);

void options_help(void);

#endif
