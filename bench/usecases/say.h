/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong: one line on stderr, and the end of the program. */
#ifndef USECASES_SAY_H
#define USECASES_SAY_H

#include <stdbool.h>

enum {
    SAY_FAILED = 1, /* a wrong result, a device that fails, a file that cannot be written */
    SAY_USAGE = 2   /* a wrong command line, or nothing to choose from */
};

/* Before anything else: the name that stands in front of each line. */
void say_name(const char *program);
const char *say_program(void);

/* One line on stderr. */
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, then the end of the program. */
_Noreturn void say_end(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* When not good: the library's last error, and the end of the program. */
void say_must(bool good, const char *what);

#endif
