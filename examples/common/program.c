/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <dynsel/error.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void program_complain(const char *name, const char *format, ...)
{
    char line[1024];
    char clean[1024];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "%s: %s\n", name, dynsel_printable(line, clean, sizeof clean));
}

void program_takes_nothing(int argc, char **argv, const char *name, const char *about)
{
    if (argc < 2) {
        return;
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        (void)printf("Usage: %s\n%s", name, about);
        exit(program_end(name, EXIT_SUCCESS));
    }
    program_complain(name, "'%.100s': there are no arguments but --help",
                     argv[strcmp(argv[1], "--help") == 0 ? 2 : 1]);
    exit(PROGRAM_WRONG_USAGE);
}

int program_end(const char *name, int status)
{
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        program_complain(name, "standard output cannot be written");
        return EXIT_FAILURE;
    }
    return status;
}
