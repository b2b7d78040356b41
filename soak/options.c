/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const USAGE =
    "Usage: dynsel-soak [options]\n"
    "Submits from several threads over every backend and policy, and counts. Exit status 0 when "
    "all\n"
    "counts add up and memory did not grow, 1 when not, 2 for wrong arguments.\n"
    "\n"
    "  --count N     submissions (default 10000000)\n"
    "  --threads N   that submit (1 to 64, default 4)\n"
    "  --seed N      of the random choices (default: the time); it is printed\n"
    "  --help        this text\n";

static bool parse(const char *name, const char *text, unsigned long long most,
                  unsigned long long *number)
{
    char *end = NULL;
    if (text == NULL) {
        (void)fprintf(stderr, "dynsel-soak: %s needs a value\n", name);
        return false;
    }
    *number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || *number > most) {
        (void)fprintf(stderr, "dynsel-soak: %s: '%s' is not a number from 0 to %llu\n", name, text,
                      most);
        return false;
    }
    return true;
}

static bool take(const char *name, const char *text, soak_options *options)
{
    unsigned long long number = 0;
    if (strcmp(name, "--seed") == 0) {
        if (parse(name, text, UINT64_MAX, &number)) {
            options->seed = number;
            return true;
        }
        return false;
    }
    if (strcmp(name, "--count") == 0) {
        if (parse(name, text, 3000000000u, &number)) {
            options->count = number;
            return true;
        }
        return false;
    }
    if (strcmp(name, "--threads") == 0) {
        if (parse(name, text, SOAK_MOST_THREADS, &number) && number != 0) {
            options->threads = (unsigned)number;
            return true;
        }
        return false;
    }
    (void)fprintf(stderr, "dynsel-soak: unknown option '%s'; --help lists them\n", name);
    return false;
}

bool soak_options_parse(int argc, char **argv, soak_options *options)
{
    *options = (soak_options){.count = 10000000, .seed = (uint64_t)time(NULL), .threads = 4};
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--help") == 0) {
            options->help = true;
            (void)fputs(USAGE, stdout);
            return true;
        }
        if (!take(argv[i], i + 1 < argc ? argv[i + 1] : NULL, options)) {
            return false;
        }
    }
    return true;
}
