/* SPDX-License-Identifier: Apache-2.0 */
/** The trace of a program on a host, in a file for dynsel-trace. Errors are one line each on
 * stderr. Needs CONFIG_DYNSEL_TRACE; programs are built without it, too, and then refuse --trace.
 */
#ifndef COMMON_TRACE_FILE_H
#define COMMON_TRACE_FILE_H

#include <stdint.h>

#include <dynsel/dynsel.h>

enum {
    TRACE_FILE_WRONG_USAGE = 2, /* an exit status */
    TRACE_FILE_LEAST_RECORDS = 1000,
    TRACE_FILE_RECORDS = 1 << 20, /* the default: 32 MiB */
    TRACE_FILE_MOST_RECORDS = 1 << 26
};

/** Opens the file, allocates the records and starts the trace. OpenCL devices that the program uses
 * for the first time afterwards profile all work, which takes a few us of each piece on some.
 *
 * program: its name, for errors; must stay, as the path.
 * path: NULL: no trace is wanted, and the other functions have no effect.
 * Returns 0; EXIT_FAILURE; or TRACE_FILE_WRONG_USAGE where the build has no trace. */
int trace_file_begin(const char *program, const char *path, uint32_t records);

/** Stops the trace and writes the file; says how many records were lost. No thread should be inside
 * of the library. Returns 0 or EXIT_FAILURE: the file cannot be written, and none is left. */
int trace_file_end(void);

/** A mark: the begin of a pass of something, such as "auto_tune 3". The name is cut so that all of
 * it takes 16 bytes. */
void trace_file_mark(const char *name, uint32_t number);

/** The name of a kind of task. */
void trace_file_name(const dynsel_task *task, const char *name);

#endif
