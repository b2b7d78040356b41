/* SPDX-License-Identifier: Apache-2.0 */
/* CSV output: lines about the machine, which begin with '#', then a table with a column for each
 * policy and resource, such as "auto_tune" or "fixed host". Each line has the figures with equal
 * record, task, x and unit. */
#ifndef USECASES_CSV_H
#define USECASES_CSV_H

#include "options.h"

/* One value. The texts stay until csv_close(). */
typedef struct csv_figure {
    const char *record; /* the measured quantity: "alone", "share", ... */
    const char *policy;
    const char *resource; /* its name; NULL: none; the same for the task */
    const char *task;
    double x; /* runs, elements or devices, by the record */
    double value;
    const char *unit;
} csv_figure;

/* Prints the lines about the machine, the command and the seed, and writes them to the CSV file. */
void csv_open(const usecase_options *options, int argc, char **argv);
void csv_add(const csv_figure *figure);

/* Writes the table. A write error ends the program. */
void csv_close(void);

#endif
