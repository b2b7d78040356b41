/* SPDX-License-Identifier: Apache-2.0 */
/** The command line; all ranks have the same one. */
#ifndef RANKS_OPTIONS_H
#define RANKS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/arguments.h"
#include "../common/trace_file.h"

typedef struct options {
    const char *input;  /**< NULL: a picture that the program makes */
    const char *output; /**< NULL: nothing is written */
    const char *trace;  /**< NULL: nothing is traced */
    int policy;         /**< see ../sepia/policies.h */
    uint32_t repeat, rows, workers, silence_s, trace_records;
    bool help;
} options;

/** Returns 0 or EXIT_USAGE; stderr says what is wrong. */
int options_parse(options *o, int argc, char **argv);

void options_help(void);

#endif
