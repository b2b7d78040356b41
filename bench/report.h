/* SPDX-License-Identifier: Apache-2.0 */
/* The output of the bench: tables, and the same rows as CSV. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdbool.h>

typedef struct report_row {
    const char *table;   /* "inline", "opencl" */
    const char *subject; /* the policy, or the device and the operation */
    unsigned resources;
    unsigned threads;
    double reference; /* nanoseconds: the floor, or by hand */
    double measured;  /* nanoseconds: through dynsel */
    double overlap;   /* of the threads, 0 to 1; negative: one thread */
    double limit;     /* most nanoseconds for `measured`; 0: no budget */
} report_row;

/* csv: a file's name or NULL. label: what was built, or NULL. */
bool report_open(const char *csv, const char *label);
void report_table(const char *title, const char *reference);
void report_add(const report_row *row);

/* The row in the CSV file alone, for a table with other columns. */
void report_csv(const report_row *row);

/* Counts a budget; returns the word for the table. */
const char *report_budget(bool met);

/* A row that could not be measured. */
void report_nothing(const char *subject, unsigned resources, unsigned threads, const char *why);

/* A result that is not a time, and whether it meets its budget. */
void report_fact(const char *subject, const char *text, bool met);

/* One line about the budgets. Returns false when the CSV file could not be written. */
bool report_close(void);

/* A failure of the library ends the program. */
void report_check(bool good, const char *what);

#endif
