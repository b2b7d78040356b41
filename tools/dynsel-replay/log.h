/* SPDX-License-Identifier: Apache-2.0 */
/** Errors, on stderr. */
#ifndef LOG_H
#define LOG_H

enum {
    EXIT_DIFFERENT = 1, /**< a choice differs, or an output cannot be written */
    EXIT_WRONG = 2      /**< the command line or the trace */
};

/** Prints one line: `dynsel-replay: ...`; unprintable characters become '?'. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The same, and returns EXIT_WRONG. */
int log_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
