/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#define EXIT_USAGE 2

/** The form of the output; the values are the letters of the options. */
typedef enum options_form {
    OPTIONS_TABLE = 0, /* no option */
    OPTIONS_JSON = 'j',
    OPTIONS_EMIT_TARGET = 'e',
    OPTIONS_CHECK = 'c',
    OPTIONS_HELP = 'h',
    OPTIONS_VERSION = 'V'
} options_form;

typedef struct options {
    options_form form;
    const char *selector; /**< NULL: the library's default */
    const char *trace;    /**< the file for a trace of a trial; NULL: none */
} options;

/** Returns 0, or EXIT_USAGE after an error was printed. */
int options_parse(options *o, int argc, char **argv);

void options_help(void);

#endif
