/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "trace_file.h"

#define DIGITS "0123456789"

int arguments_wrong(const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    log_error("%s (see %s --help)", text, log_program());
    return EXIT_USAGE;
}

bool arguments_number(const char *text, size_t length, uint32_t least, uint32_t most, uint32_t *out)
{
    uint64_t value = 0;

    if (length == 0 || strspn(text, DIGITS) < length) {
        return false;
    }
    for (size_t i = 0; i < length && value <= most; i++) {
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    if (value < least || value > most) {
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

int arguments_trace_records(const char *text, uint32_t *out)
{
    return arguments_number(text, strlen(text), TRACE_FILE_LEAST_RECORDS, TRACE_FILE_MOST_RECORDS,
                            out)
               ? 0
               : arguments_wrong("--trace-records %s: give a number from %d to %d", text,
                                 TRACE_FILE_LEAST_RECORDS, TRACE_FILE_MOST_RECORDS);
}

int arguments_refuse_option(int answer, char *const *argv)
{
    const char *typed = argv[optind - 1];

    if (answer == ':') {
        return arguments_wrong("option '%s' needs a value", typed);
    }
    if (optopt != 0 && strncmp(typed, "--", 2) == 0) {
        return arguments_wrong("option '%s' takes no value", typed);
    }
    if (optopt != 0) {
        return arguments_wrong("there is no option '-%c'", optopt);
    }
    return arguments_wrong("there is no option '%s'", typed);
}
