/* SPDX-License-Identifier: Apache-2.0 */
/** Lines for people on stderr: complaints, and the progress bar. */
#ifndef SEPIA_SAY_H
#define SEPIA_SAY_H

#include <stdbool.h>
#include <stdint.h>

/** To be called first: standard streams that are closed must not share their numbers with files
 * that are opened later, or complaints would go into a picture. */
void say_prepare(void);

/** One line: `sepia: ...`. Erases the progress bar first. */
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** One line: `sepia: WHAT: the details of the library's last failure`. */
void say_dynsel_error(const char *what);

/** Shows progress from now on, if stderr is a terminal. */
void say_progress_enable(void);

void say_progress_begin(const char *what, const char *unit, uint64_t total);

/** Cheap enough for each tile and row: draws at most 20 times a second. */
void say_progress(uint64_t done);

void say_progress_end(void);

/** Erases the bar; may be called in a signal handler. */
void say_progress_erase(void);

#endif
