/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynsel/config.h>

#include "say.h"

enum { SHARED = 6 };

static void print_options(const usecase_option *option)
{
    for (; option->name != NULL; option++) {
        char left[40];
        (void)snprintf(left, sizeof left, "%s %s", option->name, option->value);
        printf("  %-22s %s", left, option->help);
        if (option->number != NULL && option->most != UINT64_MAX) {
            printf(" (%llu to %llu, default %llu)", (unsigned long long)option->least,
                   (unsigned long long)option->most, (unsigned long long)*option->number);
        } else if (option->text != NULL && *option->text != NULL) {
            printf(" (default: %s)", *option->text);
        }
        printf("\n");
    }
}

static void print_help(const char *about, const usecase_option *own, const usecase_option *shared)
{
    printf("Usage: %s [OPTION VALUE]...\n%s\n\n", say_program(), about);
    print_options(own);
    print_options(shared);
    printf(
        "  %-22s print this\n\n"
        "DYNSEL_OPENCL may hold a selector for what --devices does not say.\n"
        "Exit status: 0; 1 when a result is wrong, a device fails or the file cannot be written; "
        "2 for\na wrong command line, or when there is nothing to choose from.\n",
        "--help");
    exit(EXIT_SUCCESS);
}

static void take_number(const usecase_option *option, const char *text)
{
    char *end = NULL;
    const unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || strlen(text) > 19 || number < option->least ||
        number > option->most) {
        say_end(SAY_USAGE, "%s: '%s' is not a number from %llu to %llu", option->name, text,
                (unsigned long long)option->least, (unsigned long long)option->most);
    }
    *option->number = number;
}

static const usecase_option *find(const usecase_option *options, const char *name)
{
    while (options->name != NULL && strcmp(options->name, name) != 0) {
        options++;
    }
    return options->name != NULL ? options : NULL;
}

static void take(const usecase_option *option, const char *name, const char *text)
{
    if (option == NULL) {
        say_end(SAY_USAGE, "unknown option '%s'; --help lists them", name);
    }
    if (text == NULL) {
        say_end(SAY_USAGE, "%s needs a value", name);
    }
    if (option->number != NULL) {
        take_number(option, text);
    } else if (option->text != NULL) {
        *option->text = text;
    }
}

void usecase_options_parse(int argc, char **argv, const char *about, const usecase_option *own,
                           usecase_options *options)
{
    const usecase_option shared[SHARED] = {
        {.name = "--devices",
         .value = "WHICH",
         .help = "OpenCL devices, as in <dynsel/opencl.h>; none; nothing said: all",
         .text = &options->devices},
        {.name = "--workers",
         .value = "N",
         .help = "host workers",
         .number = &options->workers,
         .most = CONFIG_DYNSEL_THREADS_WORKERS},
        {.name = "--seed",
         .value = "N",
         .help = "of the random choices; it is printed",
         .number = &options->seed,
         .most = UINT64_MAX},
        {.name = "--csv", .value = "FILE", .help = "all figures as CSV", .text = &options->csv},
        {.name = "--label", .value = "TEXT", .help = "the machine's name", .text = &options->label},
        {.name = NULL}};
    say_name(argv[0]);
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--help") == 0) {
            print_help(about, own, shared);
        }
        const usecase_option *option = find(own, argv[i]);
        take(option != NULL ? option : find(shared, argv[i]), argv[i],
             i + 1 < argc ? argv[i + 1] : NULL);
    }
}
