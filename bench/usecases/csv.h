/* SPDX-License-Identifier: Apache-2.0 */
/* CSV output: lines about the machine, which begin with '#', then a table with a column for each
 * policy and resource, such as "auto_tune" or "fixed host". Each line has the figures with equal
 * record, task, x and unit. */
#ifndef USECASES_CSV_H
#define USECASES_CSV_H

#include "options.h"

/* One value. The texts stay until csv_close(). */
typedef struct csv_figure {
    const char *record; /* what it is about: "alone", "share", ... */
    const char *policy;
    const char *resource; /* its name; NULL: none; so with the task */
    const char *task;
    double x; /* runs, elements, devices: what the record says */
    double value;
    const char *unit;
} csv_figure;

/* Prints the lines about the machine, the command and the seed; into the file too, if there is to
 * be one. */
void csv_open(const usecase_options *options, int argc, char **argv);
void csv_add(const csv_figure *figure);

/* Writes the table. A file that could not be written whole ends the program. */
void csv_close(void);

#endif
