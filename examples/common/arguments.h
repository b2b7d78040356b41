/* SPDX-License-Identifier: Apache-2.0 */
/** Mistakes in a command line, and its numbers. The program calls log_prepare() before. */
#ifndef COMMON_ARGUMENTS_H
#define COMMON_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXIT_USAGE 2 /* a wrong command line; failures are EXIT_FAILURE */

/** One line: `PROGRAM: ... (see PROGRAM --help)`. Returns EXIT_USAGE. */
int arguments_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A number from `least` to `most`, nothing else in the first `length` characters of the text. */
bool arguments_number(const char *text, size_t length, uint32_t least, uint32_t most,
                      uint32_t *out);

/** The value of --trace-records, see trace_file.h. Returns 0 or EXIT_USAGE. */
int arguments_trace_records(const char *text, uint32_t *out);

/** What is wrong with an option that getopt_long() answered with ':' or '?'. Returns EXIT_USAGE. */
int arguments_refuse_option(int answer, char *const *argv);

#endif
