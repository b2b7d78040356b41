/* SPDX-License-Identifier: Apache-2.0 */
/* The figures for programs: one row each, and lines about the machine in front, which begin with
 * '#'. */
#ifndef USECASES_CSV_H
#define USECASES_CSV_H

#include "options.h"

typedef struct csv_row {
    const char *record;   /* what it is about: "alone", "policy", ... */
    const char *policy;   /* NULL: none; so with the next two */
    const char *resource; /* its name */
    const char *task;
    double x; /* runs, elements, devices: what the record says */
    double value;
    const char *unit;
} csv_row;

/* Prints the lines about the machine, the command and the seed; into the file too, if there is to
 * be one. */
void csv_open(const usecase_options *options, int argc, char **argv);
void csv_add(const csv_row *row);

/* A file that could not be written whole ends the program. */
void csv_close(void);

#endif
