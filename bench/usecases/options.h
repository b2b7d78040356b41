/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of the use cases: shared options, and those of one program. */
#ifndef USECASES_OPTIONS_H
#define USECASES_OPTIONS_H

#include <stdint.h>

#include "../arguments.h"

typedef struct usecase_options {
    const char *devices; /* a selector, "none", or NULL for all */
    const char *csv;     /* NULL: none */
    const char *label;   /* NULL: none */
    const char *trace;   /* NULL: none */
    uint64_t trace_records;
    uint64_t workers;
    uint64_t seed;
} usecase_options;

/* options: the defaults. own: the options of this program; the last one has no name. --help and
 * errors end the program. */
void usecase_options_parse(int argc, char **argv, const char *about, const argument *own,
                           usecase_options *options);

#endif
