/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of sampled work. Where the driver's profiles are true (profiling.h), timed work goes to
 * a queue with profiling, which takes its place in the order of the device's own queue: it begins
 * after all that was enqueued there, and what is enqueued there later begins after it. So only
 * timed work pays for profiling. Elsewhere the driver calls back at the end.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_TIMING_H
#define DYNSEL_BACKENDS_OPENCL_TIMING_H

#include <dynsel/backend.h>

#include "backends/opencl/device_table.h"
#include "port/likely.h"
#include "port/thread.h"

/* Calls the task function of work whose time is wanted, on an open device, and flushes. */
void dynsel_opencl_start_timed(dynsel_opencl_entry *entry, dynsel_work *work);

/* See `measure` of dynsel_backend_ops. */
void dynsel_opencl_measure(dynsel_backend *backend, dynsel_work *work);

/* Where the device's profiles are true: the queue with profiling continues after all that is in the
 * device's own queue. False: it does not. */
bool dynsel_opencl_enter_timing_queue(dynsel_opencl_entry *entry);

/* Then: the device's own queue continues after what was enqueued there; done: the event of the last
 * of it, or NULL. */
void dynsel_opencl_leave_timing_queue(dynsel_opencl_entry *entry, cl_event done);

/* The queue that timed work of this thread uses, if it is on this device; else the device's own. */
cl_command_queue dynsel_opencl_timed_queue(const dynsel_opencl_entry *entry);

/* The queue for the commands of the work that this thread is starting. */
static inline cl_command_queue dynsel_opencl_queue_now(const dynsel_opencl_entry *entry)
{
    return DYNSEL_LIKELY(dynsel_this_thread()->timed_start == NULL)
               ? entry->queue
               : dynsel_opencl_timed_queue(entry);
}

/* Of timed work: marks the begin before a first command that has no event, unless it is marked; or
 * keeps the event of a transfer, if that is the begin. */
void dynsel_opencl_mark_timed_begin(const dynsel_opencl_entry *entry);
void dynsel_opencl_keep_transfer(const dynsel_opencl_entry *entry, cl_event event);

/* The same for any work. */
static inline void dynsel_opencl_mark_begin(const dynsel_opencl_entry *entry)
{
    if (!DYNSEL_LIKELY(dynsel_this_thread()->timed_start == NULL)) {
        dynsel_opencl_mark_timed_begin(entry);
    }
}

static inline void dynsel_opencl_note_transfer(const dynsel_opencl_entry *entry, cl_event event)
{
    if (!DYNSEL_LIKELY(dynsel_this_thread()->timed_start == NULL)) {
        dynsel_opencl_keep_transfer(entry, event);
    }
}

#endif
