/* SPDX-License-Identifier: Apache-2.0 */
/* Errors on stderr, which end the program. */
#ifndef USECASES_LOG_H
#define USECASES_LOG_H

#include <stdbool.h>

enum {
    STATUS_FAILED = 1, /* a wrong result, a device that fails, a file that cannot be written */
    STATUS_USAGE = 2   /* a wrong command line, or fewer resources than needed */
};

/* Call this first. program: argv[0]; its last part begins each line. */
void log_set_program(const char *program);
const char *log_program(void);

/* Prints one line on stderr. */
void log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, and ends the program. */
_Noreturn void log_exit(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* If not good, prints what failed, with the runtime's last error if it keeps one, and ends the
 * program. log_check.c is dynsel's; other runtimes have their own. */
void log_check(bool good, const char *what);

#endif
