/* SPDX-License-Identifier: Apache-2.0 */
/* The errors of the use cases for a program without dynsel. */
#include "../usecases/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *name = "starpu-usecases";

void log_set_program(const char *program)
{
    name = program;
}

const char *log_program(void)
{
    return name;
}

static void print(const char *format, va_list arguments)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "%s: ", name);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
}

void log_note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
}

void log_exit(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print(format, arguments);
    va_end(arguments);
    exit(status);
}

void log_check(bool good, const char *what)
{
    if (!good) {
        log_exit(STATUS_FAILED, "%s failed", what);
    }
}
