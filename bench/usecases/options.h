/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of all use cases: what they share, and what each adds. */
#ifndef USECASES_OPTIONS_H
#define USECASES_OPTIONS_H

#include <stdint.h>

#include "../arguments.h"

typedef struct usecase_options {
    const char *devices; /* a selector, "none", or NULL for all */
    const char *csv;     /* NULL: none */
    const char *label;   /* NULL: none */
    uint64_t workers;
    uint64_t seed;
} usecase_options;

/* options: what is used where nothing is said. own: those of this program, ending with one without
 * a name. --help and mistakes end the program. */
void usecase_options_parse(int argc, char **argv, const char *about, const argument *own,
                           usecase_options *options);

#endif
