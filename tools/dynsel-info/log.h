/* SPDX-License-Identifier: Apache-2.0 */
/** Errors, on stderr. */
#ifndef LOG_H
#define LOG_H

#include <stdbool.h>

/** Keeps quiet from here on, or no longer: what one process says, others need not repeat. */
void log_silence(bool silent);

/** Prints one line; unprintable characters become '?'. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
