/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <dynsel/dynsel.h>

static FILE *csv;
static bool csv_failed;
static unsigned budgets;
static unsigned missed;

static void print_processor(void)
{
    static const char key[] = "model name";
    char line[256] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        found = strncmp(line, key, sizeof key - 1) == 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    const char *colon = found ? strchr(line, ':') : NULL;
    printf("processor      %ld x %s", sysconf(_SC_NPROCESSORS_ONLN),
           colon != NULL ? colon + 2 : "unknown\n");
}

static void print_machine(const char *label)
{
    struct utsname system;
    char date[64] = "";
    const time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local) != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &local);
    }
    printf("date           %s\n", date);
    if (uname(&system) == 0) {
        printf("machine        %s %s %s\n", system.sysname, system.release, system.machine);
    }
    print_processor();
    printf("compiler       %s %s\n", CONFIG_DYNSEL_COMPILER_CLANG ? "clang" : "gcc", __VERSION__);
    printf("configuration  %s, statistics %s, %s, tag %s\n", label != NULL ? label : "not named",
           CONFIG_DYNSEL_STATISTICS ? "on" : "off",
           CONFIG_DYNSEL_OPTIMIZE_SPEED ? "for speed" : "NOT FOR SPEED", DYNSEL_CONFIG_TAG_TEXT);
}

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
    print_machine(label);
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
    if (csv != NULL) {
        (void)fprintf(csv, "%s,\"%s\",%u,%u,%.2f,%.2f,%.3f,%.3f,%.2f\n", row->table, row->subject,
                      row->resources, row->threads, row->reference, row->measured, ratio,
                      row->overlap, row->limit);
    }
}

void report_nothing(const char *subject, unsigned resources, unsigned threads, const char *why)
{
    printf("%-34s %9u %7u  not measured: %s\n", subject, resources, threads, why);
}

void report_fact(const char *subject, const char *text, bool met)
{
    budgets++;
    missed += met ? 0 : 1;
    printf("%-34s %s  %s\n", subject, text, met ? "met" : "MISSED");
    (void)fflush(stdout);
}

bool report_close(void)
{
    printf("\n%u of %u budgets missed\n", missed, budgets);
    if (csv != NULL && (ferror(csv) != 0 || fclose(csv) != 0)) {
        csv_failed = true;
        (void)fputs("bench: the CSV file could not be written\n", stderr);
    }
    return !csv_failed;
}

void report_must(bool good, const char *what)
{
    if (!good) {
        char text[256];
        (void)dynsel_error_text(NULL, text, sizeof text);
        (void)fprintf(stderr, "bench: %s: %s\n", what, text);
        exit(1);
    }
}
