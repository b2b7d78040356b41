/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

static void print_line(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

static void print_line(const char *format, va_list arguments)
{
    char line[1024];
    (void)vsnprintf(line, sizeof line, format, arguments);
    for (char *c = line; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) {
            *c = '?';
        }
    }
    (void)fprintf(stderr, "dynsel-replay: %s\n", line);
}

void log_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
}

int log_wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
    return EXIT_WRONG;
}
