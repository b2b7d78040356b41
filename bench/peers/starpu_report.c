/* SPDX-License-Identifier: Apache-2.0 */
#define CL_TARGET_OPENCL_VERSION 120

#include "starpu_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../machine.h"
#include "../measure.h"
#include "../usecases/log.h"

enum { NAME = 128 };

static FILE *file;
static const char *file_name;
static char column[2 * NAME];

static void print_configuration(FILE *to, const char *before, const peer_options *options)
{
    int version[3];
    (void)fprintf(to, "%scompiler       gcc %s\n", before, __VERSION__);
    starpu_get_version(&version[0], &version[1], &version[2]);
    (void)fprintf(to, "%sconfiguration  %s, StarPU %d.%d.%d, scheduler %s, STARPU_CALIBRATE %s\n",
                  before, options->label != NULL ? options->label : "not named", version[0],
                  version[1], version[2], options->scheduler,
                  getenv("STARPU_CALIBRATE") != NULL ? getenv("STARPU_CALIBRATE") : "not set");
}

static void print_facts(FILE *to, const char *before, const peer_options *options, int argc,
                        char **argv)
{
    machine_print(to, before);
    print_configuration(to, before, options);
    for (unsigned i = 0; i < starpu_worker_get_count(); i++) {
        char name[NAME];
        peer_worker_name(i, name, sizeof name);
        (void)fprintf(to, "%sdevice         %s\n", before, name);
    }
    (void)fprintf(to, "%scommand        ", before);
    arguments_print(to, log_program(), argc, argv);
    (void)fprintf(to, "%sseed           %" PRIu64 "\n", before, options->seed);
}

/* "starpu_dmda"; with a single worker "starpu_alone NAME". */
static void name_column(const peer_options *options)
{
    char name[NAME] = "host workers";
    const unsigned count = starpu_worker_get_count();
    if (count == 1) {
        peer_worker_name(0, name, sizeof name);
    }
    if (options->column != NULL) {
        (void)snprintf(column, sizeof column, "%s", options->column);
    } else if (count == 1 || starpu_opencl_worker_get_count() == 0) {
        (void)snprintf(column, sizeof column, "starpu_alone %s", name);
    } else {
        (void)snprintf(column, sizeof column, "starpu_%s", options->scheduler);
    }
}

void peer_report_open(const peer_options *options, int argc, char **argv)
{
    name_column(options);
    print_facts(stdout, "", options, argc, argv);
    if (options->csv == NULL) {
        return;
    }
    file_name = options->csv;
    file = fopen(file_name, "w");
    if (file == NULL) {
        log_exit(STATUS_FAILED, "--csv %s: cannot be written: %s", file_name, strerror(errno));
    }
    print_facts(file, "# ", options, argc, argv);
    (void)fprintf(file, "record,task,x,unit,\"%s\"\n", column);
}

static void add(const char *record, const char *task, double x, const char *unit, double value)
{
    if (file != NULL) {
        (void)fprintf(file, "%s,%s,%.10g,%s,%.10g\n", record, task, x, unit, value);
    }
}

static double do_pass(const peer_work *work)
{
    if (work->before != NULL) {
        work->before();
    }
    const uint64_t began = measure_now_ns();
    work->run();
    const double ns = (double)(measure_now_ns() - began);
    if (work->after != NULL) {
        work->after();
    }
    return ns;
}

static void tell_tasks(uint64_t passes)
{
    for (unsigned i = 0; i < starpu_worker_get_count(); i++) {
        char name[NAME];
        peer_worker_name(i, name, sizeof name);
        printf("%-40s %lu tasks\n", name, peer_tasks_of(i));
        add("tasks", name, (double)passes, "tasks", (double)peer_tasks_of(i));
    }
}

void peer_measure(const peer_work *work, uint64_t passes)
{
    double last[MEASURE_MAX_SAMPLES];
    double total_ns = 0;
    printf("\n%s: %" PRIu64 " passes, %.3f %s each\n\n", work->name, passes, work->units,
           work->unit);
    for (uint64_t i = 0; i < passes; i++) {
        const double ns = do_pass(work);
        last[i % MEASURE_MAX_SAMPLES] = ns;
        total_ns += ns;
        printf("pass %-35" PRIu64 " %10.4f s %10.2f %s/s\n", i + 1, ns / 1e9,
               work->units / (ns / 1e9), work->unit);
        add("pass", work->name, (double)(i + 1), "ns", ns);
    }
    const unsigned known = passes < MEASURE_MAX_SAMPLES ? (unsigned)passes : MEASURE_MAX_SAMPLES;
    const double rate = work->units / (measure_median(last, known) / 1e9);
    printf("%-40s %10.4f s %10.2f %s/s (median)\n", column, total_ns / 1e9, rate, work->unit);
    add("rate", work->name, (double)passes, work->unit, rate);
    add("total", work->name, (double)passes, "ns", total_ns);
    tell_tasks(passes);
}

void peer_report_close(void)
{
    if (file == NULL) {
        return;
    }
    const bool was_written = ferror(file) == 0;
    const bool is_closed = fclose(file) == 0;
    file = NULL;
    if (!was_written || !is_closed) {
        log_exit(STATUS_FAILED, "--csv %s: cannot be written: %s", file_name, strerror(errno));
    }
}
