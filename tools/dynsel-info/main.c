/* SPDX-License-Identifier: Apache-2.0 */
/** dynsel-info: what this machine has, and what this build was told about it. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "collect.h"
#include "emit.h"
#include "json.h"
#include "options.h"
#include "people.h"
#include "say.h"
#include "targets.h"

static info_list list; /* large, and of fixed size: not on the stack */

static void print_version(void)
{
    char names[1024];

    targets_list(names, sizeof names);
    printf("dynsel-info, configuration " DYNSEL_CONFIG_HASH_TEXT
           ", built for the device targets %s\n",
           names);
}

/** Nothing is chosen that could be proved or measured: says why. */
static int complain_of_nothing(void)
{
    if (list.devices == 0) {
        if (list.note[0] != '\0') { /* else list.problem says why, and is told anyway */
            say_error("%s", list.note);
        }
    } else if (list.selector != NULL) {
        say_error("%s '%s' chooses none of the OpenCL devices; dynsel-info --device all lists them",
                  list.selector_from, list.selector);
    } else {
        say_error("none of the OpenCL devices can be used; dynsel-info tells why");
    }
    return EXIT_FAILURE;
}

static int check(const options *o)
{
    const bool devices = collect_chose_any(&list, INFO_OPENCL);
    const bool host = collect_chose_any(&list, INFO_HOST) || collect_chose_any(&list, INFO_WORKERS);

    if (!devices && (o->selector != NULL || !host)) {
        return complain_of_nothing();
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
        return emit_print(&list) > 0 ? EXIT_SUCCESS : complain_of_nothing();
    case OPTIONS_PEOPLE:
    case OPTIONS_HELP:
    case OPTIONS_VERSION:
        people_print(&list);
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
    if (list.problem[0] != '\0') {
        (void)fflush(stdout);
        say_error("%s", list.problem);
        status = status == 0 ? EXIT_FAILURE : status;
    }
    if (!collect_close() && status == 0) {
        say_error("the devices cannot be given back");
        status = EXIT_FAILURE;
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
    return collect_and_print(o);
}

int main(int argc, char **argv)
{
    options o;
    int status = options_parse(&o, argc, argv);

    if (status != 0) {
        return status;
    }
    status = run(&o);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        say_error("standard output cannot be written");
        return EXIT_FAILURE;
    }
    return status;
}
