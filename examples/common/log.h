/* SPDX-License-Identifier: Apache-2.0 */
/** Errors and the progress bar, on stderr. */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdbool.h>
#include <stdint.h>

/** Call this first: opens closed standard streams, whose descriptors files would get otherwise, so
 * that errors would be written into a picture. program: its name, for errors; must stay. */
void log_prepare(const char *program);

/** Whether errors are silent, as in processes of a program whose first one tells them. */
void log_silence(bool silent);

/** The name of the program. */
const char *log_program(void);

/** One line: `PROGRAM: ...`. Erases the progress bar first. */
void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** One line: `PROGRAM: WHAT: details of the library's last error`. */
void log_dynsel_error(const char *what);

/** Shows progress from now on, if stderr is a terminal. */
void log_progress_enable(void);

void log_progress_begin(const char *what, const char *unit, uint64_t total);

/** Cheap enough for each tile and row: draws at most 20 times a second. */
void log_progress(uint64_t done);

void log_progress_end(void);

/** Erases the bar; may be called in a signal handler. */
void log_progress_erase(void);

/** A clock that only goes forward. */
uint64_t log_now_ns(void);

#endif
