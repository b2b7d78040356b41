/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>

#include <dynsel/dynsel.h>

#include "configuration.h"
#include "machine.h"

static FILE *csv;
static bool csv_failed;
static unsigned budgets;
static unsigned missed;

bool report_open(const char *file, const char *label)
{
    if (file != NULL) {
        csv = fopen(file, "w");
        if (csv == NULL) {
            perror(file);
            return false;
        }
        (void)fputs("table,subject,resources,threads,reference_ns,measured_ns,ratio,overlap,"
                    "limit_ns\n",
                    csv);
    }
    machine_print(stdout, "");
    configuration_print(stdout, "", label);
    return true;
}

void report_table(const char *title, const char *reference)
{
    printf("\n%s\n\n%-34s %9s %7s %9s %9s %6s %7s %7s\n", title, "", "resources", "threads",
           reference, "dynsel ns", "ratio", "overlap", "budget");
}

static void print_budget(const report_row *row)
{
    if (row->limit <= 0) {
        printf("       -\n");
        return;
    }
    budgets++;
    if (row->measured <= row->limit) {
        printf("     met\n");
        return;
    }
    missed++;
    printf("  MISSED by %.1f ns (limit %.1f)\n", row->measured - row->limit, row->limit);
}

void report_csv(const report_row *row)
{
    if (csv != NULL) {
        (void)fprintf(csv, "%s,\"%s\",%u,%u,%.2f,%.2f,%.3f,%.3f,%.2f\n", row->table, row->subject,
                      row->resources, row->threads, row->reference, row->measured,
                      row->reference > 0 ? row->measured / row->reference : 0, row->overlap,
                      row->limit);
    }
}

const char *report_budget(bool met)
{
    budgets++;
    missed += met ? 0 : 1;
    return met ? "met" : "MISSED";
}

void report_add(const report_row *row)
{
    const double ratio = row->measured / row->reference;
    printf("%-34s %9u %7u %9.1f %9.1f %6.2f", row->subject, row->resources, row->threads,
           row->reference, row->measured, ratio);
    if (row->overlap >= 0) {
        printf(" %6.0f%%", row->overlap * 100);
    } else {
        printf(" %7s", "");
    }
    print_budget(row);
    (void)fflush(stdout);
    report_csv(row);
}

void report_nothing(const char *subject, unsigned resources, unsigned threads, const char *why)
{
    printf("%-34s %9u %7u  not measured: %s\n", subject, resources, threads, why);
}

void report_fact(const char *subject, const char *text, bool met)
{
    printf("%-34s %s  %s\n", subject, text, report_budget(met));
    (void)fflush(stdout);
}

bool report_close(void)
{
    printf("\n%u of %u budgets missed\n", missed, budgets);
    if (csv != NULL && (ferror(csv) != 0 || fclose(csv) != 0)) {
        csv_failed = true;
        (void)fputs("bench: --csv: the file cannot be written; is the disk full?\n", stderr);
    }
    return !csv_failed;
}

void report_check(bool good, const char *what)
{
    if (!good) {
        char text[256];
        (void)dynsel_error_text(NULL, text, sizeof text);
        (void)fprintf(stderr, "bench: %s: %s\n", what, text);
        exit(1);
    }
}
