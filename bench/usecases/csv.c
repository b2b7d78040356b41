/* SPDX-License-Identifier: Apache-2.0 */
#include "csv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <dynsel/opencl.h>

#include "../machine.h"
#include "say.h"

static FILE *file;
static const char *name;

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
    machine_print(p.to, p.before, options->label);
    if (options->devices == NULL || strcmp(options->devices, "none") != 0) {
        say_must(dynsel_opencl_visit_devices(options->devices, print_driver, &p) == DYNSEL_OK,
                 "the devices");
    }
    (void)fprintf(p.to, "%scommand       ", p.before);
    for (int i = 0; i < argc; i++) {
        const char *word = i == 0 ? say_program() : argv[i];
        const char *quote = strpbrk(word, " ;*$'") != NULL ? "\"" : "";
        (void)fprintf(p.to, " %s%s%s", quote, word, quote);
    }
    (void)fprintf(p.to, "\n%sseed           %" PRIu64 "\n", p.before, options->seed);
}

void csv_open(const usecase_options *options, int argc, char **argv)
{
    if (options->csv != NULL) {
        name = options->csv;
        file = fopen(name, "w");
        if (file == NULL) {
            say_end(SAY_FAILED, "%s: cannot be written: %s", name, strerror(errno));
        }
        print_facts((place){file, "# "}, options, argc, argv);
        (void)fputs("record,policy,resource,task,x,value,unit\n", file);
    }
    print_facts((place){stdout, ""}, options, argc, argv);
}

static const char *text(const char *word)
{
    return word != NULL ? word : "";
}

void csv_add(const csv_row *row)
{
    if (file != NULL) {
        (void)fprintf(file, "%s,%s,\"%s\",%s,%.10g,%.10g,%s\n", row->record, text(row->policy),
                      text(row->resource), text(row->task), row->x, row->value, text(row->unit));
    }
}

void csv_close(void)
{
    const bool was_written = file == NULL || ferror(file) == 0;
    const bool is_closed = file == NULL || fclose(file) == 0;
    if (!was_written || !is_closed) {
        say_end(SAY_FAILED, "%s: cannot be written: %s", name, strerror(errno));
    }
    file = NULL;
}
