/* SPDX-License-Identifier: Apache-2.0 */
/* Traces for dynsel-replay. */
#ifndef DYNSEL_TESTS_REPLAYED_TRACE_H
#define DYNSEL_TESTS_REPLAYED_TRACE_H

/* Begins a trace, in memory of its own. */
void replayed_trace_begin(void);

/* Writes the trace that was stopped last. path: of the file. */
void replayed_trace_write(const char *path);

/* The exit status of dynsel-replay with these arguments, a command line of a shell. */
int replayed_trace_replay(const char *arguments);

#endif
