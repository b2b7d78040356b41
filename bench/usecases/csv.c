/* SPDX-License-Identifier: Apache-2.0 */
#include "csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynsel/opencl.h>

#include "../configuration.h"
#include "../machine.h"
#include "log.h"
#include "resources.h"

enum { MOST_COLUMNS = RESOURCES_MOST + 8 };

static FILE *file;
static const char *name;

typedef struct column {
    const char *policy;
    const char *resource;
} column;

typedef struct line {
    csv_figure common;           /* record, task, x and unit */
    double values[MOST_COLUMNS]; /* NAN: none */
} line;

static column columns[MOST_COLUMNS];
static size_t column_count;
static line *lines;
static size_t line_count;

typedef struct place {
    FILE *to;
    const char *before;
} place;

static void print_driver(const dynsel_opencl_device_info *info, void *context)
{
    const place *p = context;
    if (info->verdict == DYNSEL_OPENCL_CHOSEN) {
        (void)fprintf(p->to, "%sdevice         %s, %s, driver %s, %u units\n", p->before,
                      info->name, info->platform, info->driver_version, info->compute_units);
    }
}

static void print_facts(place p, const usecase_options *options, int argc, char **argv)
{
    machine_print(p.to, p.before);
    configuration_print(p.to, p.before, options->label);
    if (options->devices == NULL || strcmp(options->devices, "none") != 0) {
        log_check(dynsel_opencl_visit_devices(options->devices, print_driver, &p) == DYNSEL_OK,
                  "the devices");
    }
    (void)fprintf(p.to, "%scommand        ", p.before);
    arguments_print(p.to, log_program(), argc, argv);
    (void)fprintf(p.to, "%sseed           %" PRIu64 "\n", p.before, options->seed);
}

void csv_open(const usecase_options *options, int argc, char **argv)
{
    if (options->csv != NULL) {
        name = options->csv;
        file = fopen(name, "w");
        if (file == NULL) {
            log_exit(STATUS_FAILED, "--csv %s: cannot be written: %s", name, strerror(errno));
        }
        print_facts((place){file, "# "}, options, argc, argv);
    }
    print_facts((place){stdout, ""}, options, argc, argv);
}

static const char *text(const char *word)
{
    return word != NULL ? word : "";
}

static bool is_equal(const char *one, const char *other)
{
    return strcmp(text(one), text(other)) == 0;
}

static size_t column_of(const csv_figure *figure)
{
    size_t i = 0;
    while (i < column_count && !(is_equal(columns[i].policy, figure->policy) &&
                                 is_equal(columns[i].resource, figure->resource))) {
        i++;
    }
    if (i == column_count) {
        log_check(column_count < MOST_COLUMNS, "a column for each policy and resource");
        columns[column_count++] = (column){figure->policy, figure->resource};
    }
    return i;
}

static bool agrees(const csv_figure *one, const csv_figure *other)
{
    return is_equal(one->record, other->record) && is_equal(one->task, other->task) &&
           one->x == other->x && is_equal(one->unit, other->unit);
}

static line *line_of(const csv_figure *figure)
{
    for (size_t i = line_count; i > 0; i--) {
        if (agrees(&lines[i - 1].common, figure)) {
            return &lines[i - 1];
        }
    }
    lines = realloc(lines, (line_count + 1) * sizeof *lines);
    if (lines == NULL) {
        log_exit(STATUS_FAILED, "the host has no memory for %zu lines of figures", line_count + 1);
    }
    line *added = &lines[line_count++];
    added->common = *figure;
    for (size_t i = 0; i < MOST_COLUMNS; i++) {
        added->values[i] = NAN;
    }
    return added;
}

void csv_add(const csv_figure *figure)
{
    if (file != NULL) {
        double *value = &line_of(figure)->values[column_of(figure)];
        log_check(isnan(*value), "one figure in each place of the table");
        *value = figure->value;
    }
}

static void write_table(void)
{
    (void)fputs("record,task,x,unit", file);
    for (size_t i = 0; i < column_count; i++) {
        const char *resource = columns[i].resource;
        (void)fprintf(file, ",\"%s%s%s\"", columns[i].policy, resource != NULL ? " " : "",
                      text(resource));
    }
    for (const line *l = lines; l != NULL && l < lines + line_count; l++) {
        (void)fprintf(file, "\n%s,%s,%.10g,%s", l->common.record, text(l->common.task), l->common.x,
                      text(l->common.unit));
        for (size_t i = 0; i < column_count; i++) {
            (void)fputs(",", file);
            if (!isnan(l->values[i])) {
                (void)fprintf(file, "%.10g", l->values[i]);
            }
        }
    }
    (void)fputs("\n", file);
}

void csv_close(void)
{
    if (file == NULL) {
        return;
    }
    write_table();
    const bool was_written = ferror(file) == 0;
    const bool is_closed = fclose(file) == 0;
    if (!was_written || !is_closed) {
        log_exit(STATUS_FAILED, "--csv %s: cannot be written: %s", name, strerror(errno));
    }
    file = NULL;
    free(lines);
    lines = NULL;
}
