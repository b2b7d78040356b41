/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

#include <dynsel/error.h>

static bool is_silent;

void log_silence(bool silent)
{
    is_silent = silent;
}

void log_error(const char *format, ...)
{
    char line[2048], clean[2048];
    va_list arguments;

    if (is_silent) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    (void)dynsel_printable(line, clean, sizeof clean);
    (void)fprintf(stderr, "dynsel-info: %s\n", clean);
}
