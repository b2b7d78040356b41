/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name = "usecase";

void log_set_program(const char *program)
{
    const char *slash = strrchr(program, '/');
    name = slash != NULL ? slash + 1 : program;
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
