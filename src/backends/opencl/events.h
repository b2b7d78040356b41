/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ends of enqueued commands.
 *
 * A poll or wait that fails says nothing about the command: it may still run and use its memory. So
 * it is polled again until its end is known. After dynsel_opencl_options.patience_ms of failures,
 * the device is given up.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_EVENTS_H
#define DYNSEL_BACKENDS_OPENCL_EVENTS_H

#include "backends/opencl/table.h"

/* The queue could not be flushed: it is flushed again with each look. A loss is remembered. Not
 * under the lock. */
void dynsel_opencl_note_unflushed(dynsel_opencl_entry *entry, cl_int code);

/* Polls once. DYNSEL_E_AGAIN: the command is running, or its state is unknown; else how it ended,
 * or that the device is lost. Not under the lock. */
dynsel_status dynsel_opencl_look(dynsel_opencl_entry *entry, cl_event event);

/* Waits until the end is known; never DYNSEL_E_AGAIN. Not under the lock. */
dynsel_status dynsel_opencl_wait(dynsel_opencl_entry *entry, cl_event event);

#endif
