/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of dynsel-bench, dynsel-soak and the use cases: options that take a number or a
 * text, from tables. */
#ifndef BENCH_ARGUMENTS_H
#define BENCH_ARGUMENTS_H

#include <stdint.h>
#include <stdio.h>

typedef struct argument {
    const char *name;  /* "--runs" */
    const char *value; /* its placeholder in the help: "N"; NULL: it has none, and sets 1 */
    const char *help;
    uint64_t *number; /* NULL: a text */
    uint64_t least;
    uint64_t most;
    const char **text;
} argument;

typedef struct arguments {
    const char *program;
    const char *about; /* the help's first lines, without a line end */
    const char *notes; /* its last lines, with a line end */
    const argument *own;
    const argument *shared; /* both end with an entry without a name; NULL: no table */
} arguments;

/* Sets the variables of the tables, whose values before are the defaults. --help ends the program
 * with status 0, an error with a line on stderr and status 2. */
void arguments_parse(int argc, char **argv, const arguments *a);

/* Prints one line: the command as a shell takes it, with the program's name in place of argv[0]. */
void arguments_print(FILE *to, const char *program_name, int argc, char **argv);

#endif
