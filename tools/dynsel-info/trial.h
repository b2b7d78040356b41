/* SPDX-License-Identifier: Apache-2.0 */
/** A short trial of the chosen devices, with a trace for dynsel-trace: what a submit and a wait
 * cost on each, and whether its driver tells times. */
#ifndef TRIAL_H
#define TRIAL_H

#include "info.h"

/** Begins the trace; before collect(), so that OpenCL's queues tell times. Returns an exit status;
 * an error was printed. */
int trial_begin(const char *path);

/** Gives each chosen resource empty work, one by one and then together. Returns as
 * trial_begin(). */
int trial_run(const info_list *list);

/** Writes the trace; after collect_close(). Returns as trial_begin(). */
int trial_end(void);

#endif
