/* SPDX-License-Identifier: Apache-2.0 */
/** Files of traces, in the format of doc/trace.md. */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/trace.h>

/** The records of a thread, the oldest first; of ring 0: the names. */
typedef struct trace_ring {
    uint64_t written; /**< also those that are lost */
    size_t count;
    dynsel_trace_record *records;
} trace_ring;

typedef struct trace_file {
    unsigned char *bytes; /**< the file */
    uint64_t first_ticks, first_ns, last_ticks, last_ns;
    uint32_t ring_count;
    trace_ring *rings;
} trace_file;

/** Reads and checks a file; `-`: standard input. Returns 0, or EXIT_WRONG after one line about what
 * is wrong. */
int trace_file_read(const char *path, trace_file *file);

/** The same from memory, which belongs to the file then and was made by malloc(). name: for
 * errors. */
int trace_file_take(const char *name, unsigned char *bytes, size_t count, trace_file *file);

void trace_file_free(trace_file *file);

/** A time of the trace's clock in ns of the recorded program's. */
uint64_t trace_file_ns(const trace_file *file, uint64_t ticks);

#endif
