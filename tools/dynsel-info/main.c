/* SPDX-License-Identifier: Apache-2.0 */
/** dynsel-info: lists the devices of this machine, and compares them with the targets of this
 * build. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "collect.h"
#include "emit.h"
#include "json.h"
#include "log.h"
#include "options.h"
#include "ranks.h"
#include "table.h"
#include "targets.h"
#include "trial.h"

static info_list list; /* large, and of fixed size: not on the stack */

static void print_version(void)
{
    char names[1024];

    targets_list(names, sizeof names);
    printf("dynsel-info " DYNSEL_VERSION_TEXT ", configuration " DYNSEL_CONFIG_HASH_TEXT
           ", built for the device targets %s\n",
           names);
}

/** Reports why no device is chosen. */
static int report_no_device(void)
{
    if (list.devices == 0) {
        if (list.note[0] != '\0') { /* else list.problem has the reason, which is printed anyway */
            log_error("%s", list.note);
        }
    } else if (list.selector != NULL) {
        log_error("%s '%s' chooses none of the OpenCL devices; dynsel-info --device all lists them",
                  list.selector_from, list.selector);
    } else {
        log_error("no OpenCL device can be used; dynsel-info lists the reasons");
    }
    return EXIT_FAILURE;
}

static int check(const options *o)
{
    const bool devices = collect_chose_any(&list, INFO_OPENCL);
    const bool host = collect_chose_any(&list, INFO_HOST) || collect_chose_any(&list, INFO_WORKERS);

    if (!devices && (o->selector != NULL || !host)) {
        return report_no_device();
    }
    return check_print(&list) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int print(const options *o)
{
    switch (o->form) {
    case OPTIONS_JSON:
        json_print(&list);
        break;
    case OPTIONS_CHECK:
        return check(o);
    case OPTIONS_EMIT_TARGET:
        return emit_print(&list) > 0 ? EXIT_SUCCESS : report_no_device();
    case OPTIONS_TABLE:
    case OPTIONS_HELP:
    case OPTIONS_VERSION:
        table_print(&list);
        break;
    }
    return EXIT_SUCCESS;
}

static int collect_and_print(const options *o)
{
    int status = collect(&list, o->selector);

    if (status == 0) {
        status = print(o);
    }
    if (status == 0 && o->trace != NULL) {
        (void)fflush(stdout);
        status = trial_run(&list);
    }
    if (list.problem[0] != '\0') {
        (void)fflush(stdout);
        log_error("%s", list.problem);
        status = status == 0 ? EXIT_FAILURE : status;
    }
    if (!collect_close() && status == 0) {
        log_error("the devices cannot be released; check their drivers");
        status = EXIT_FAILURE;
    }
    return status;
}

static int collect_and_trace(const options *o)
{
    int status = trial_begin(o->trace);

    if (status == 0) {
        status = collect_and_print(o);
        const int written = trial_end();
        status = status == 0 ? written : status;
    }
    return status;
}

static int connect_and_collect(const options *o)
{
    int status = ranks_begin();

    if (status == 0) {
        status = o->trace != NULL ? collect_and_trace(o) : collect_and_print(o);
        status = !ranks_end() && status == 0 ? EXIT_FAILURE : status;
    }
    return status;
}

static int run(const options *o)
{
    if (o->form == OPTIONS_HELP) {
        options_help();
        return EXIT_SUCCESS;
    }
    if (o->form == OPTIONS_VERSION) {
        print_version();
        return EXIT_SUCCESS;
    }
    return connect_and_collect(o);
}

/** In a process that is not the first one of an MPI program: what it would say, that one says. */
static int serve(int argc, char **argv)
{
    options o;

    log_silence(true);
    int status = options_parse(&o, argc, argv);
    if (status == 0 && o.form != OPTIONS_HELP && o.form != OPTIONS_VERSION) {
        status = ranks_begin();
        log_silence(false);
        status = status == 0 ? ranks_serve() : status;
    }
    return status;
}

int main(int argc, char **argv)
{
    options o;

    if (ranks_is_other()) {
        return serve(argc, argv);
    }
    int status = options_parse(&o, argc, argv);

    if (status != 0) {
        return status;
    }
    status = run(&o);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        log_error("standard output cannot be written");
        return EXIT_FAILURE;
    }
    return status;
}
