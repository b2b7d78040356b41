/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

#define EXIT_USAGE 2

typedef enum options_form {
    OPTIONS_PEOPLE,
    OPTIONS_JSON,
    OPTIONS_EMIT_TARGET,
    OPTIONS_CHECK,
    OPTIONS_HELP,
    OPTIONS_VERSION
} options_form;

typedef struct options {
    options_form form;
    const char *selector; /**< NULL: the library's default */
} options;

/** Returns 0, or EXIT_USAGE with the error told. */
int options_parse(options *o, int argc, char **argv);

void options_help(void);

/** The name of a form's option; "" for the list for people, which has none. */
const char *options_form_name(options_form form);

#endif
