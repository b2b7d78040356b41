/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The completion of enqueued commands.
 *
 * A poll or wait that fails says nothing about the command: it may still run and use its memory. So
 * it is polled again until its end is known. After dynsel_opencl_options.patience_ms of failures
 * the device counts as lost.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_EVENTS_H
#define DYNSEL_BACKENDS_OPENCL_EVENTS_H

#include "backends/opencl/device_state.h"
#if CONFIG_DYNSEL_COMMAND_GROUPS
#include "backends/opencl/launch_batches.h"
#endif
#include "port/likely.h"

/* No function of this header may be called under the lock: each can mark the device as lost. */

/* After a failed clFlush: each poll repeats it until it succeeds. (entry->unflushed also counts the
 * enqueues since the last flush, where some may go without.) */
void dynsel_opencl_note_unflushed(dynsel_opencl_entry *entry, cl_int code);

/* Before polls and waits: some drivers start no command without it. False: it failed. */
static inline bool dynsel_opencl_flush(dynsel_opencl_entry *entry)
{
    if (dynsel_word_load_relaxed(&entry->unflushed) != 0) {
        dynsel_word_store_release(&entry->unflushed, 0); /* before, so that no enqueue is missed */
    }
    const cl_int code = clFlush(entry->queue);
    if (!DYNSEL_LIKELY(code == CL_SUCCESS)) {
        dynsel_opencl_note_unflushed(entry, code);
    }
    return code == CL_SUCCESS;
}

/* After an enqueue that nobody waits for yet. A flush takes about a seventh of a small command
 * group's time, so drivers that begin work without it get one for several, unless a wait has
 * flushed them; the next poll flushes the rest. Not for queues of the program, whose events other
 * queues of its own may wait for. */
static inline void dynsel_opencl_flush_in_time(dynsel_opencl_entry *entry)
{
    enum { MOST_UNFLUSHED = 2 * DYNSEL_MOST_ENDED };
    if (!entry->begins_unflushed || entry->adopted) {
        (void)dynsel_opencl_flush(entry);
        return;
    }
    /* no atomic addition: threads that enqueue at once may count too few, but never none */
    const uint32_t unflushed = dynsel_word_load_relaxed(&entry->unflushed) + 1;
    dynsel_word_store_release(&entry->unflushed, unflushed);
    if (unflushed >= MOST_UNFLUSHED) {
        (void)dynsel_opencl_flush(entry);
    }
}

/* record: of successive failures, zero before the first one. Returns true after enough failures in
 * enough time. Of two threads that call it at once, one may not be counted. */
bool dynsel_opencl_note_failed_poll(dynsel_word *record);

/* Polls once. DYNSEL_E_AGAIN: the command is running, or its state is unknown; else the result of
 * the command, or the loss of the device. */
dynsel_status dynsel_opencl_poll(dynsel_opencl_entry *entry, cl_event event);

/* Asks once about several commands of one device that have ended, or are about to: DYNSEL_OK: all
 * succeeded, and their results are visible; any other status says nothing. count: at most
 * DYNSEL_MOST_ENDED. */
dynsel_status dynsel_opencl_poll_ended(dynsel_opencl_entry *entry, const dynsel_work *const *works,
                                       size_t count);

/* Waits until the result is known; never DYNSEL_E_AGAIN. */
dynsel_status dynsel_opencl_wait(dynsel_opencl_entry *entry, cl_event event);

/* Whether work has an event of its own. */
static inline bool dynsel_opencl_is_own_event(cl_event of_work)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return dynsel_opencl_batch_of(of_work) == NULL;
#else
    (void)of_work;
    return true;
#endif
}

/* Keeps the event of a lost device: drivers hang when it is released. */
static inline void dynsel_opencl_release_event(const dynsel_opencl_entry *entry, cl_event event)
{
    const bool is_lost = dynsel_opencl_is_lost(entry);
#if CONFIG_DYNSEL_COMMAND_GROUPS
    struct dynsel_opencl_batch *const batch = dynsel_opencl_batch_of(event);
    if (!DYNSEL_LIKELY(batch == NULL)) {
        dynsel_opencl_leave_batch(batch, is_lost);
        return;
    }
#endif
    if (!is_lost) {
        (void)clReleaseEvent(event);
    }
}

/* OpenCL's event of work, for the time that the work has it. is_needed: see
 * dynsel_opencl_batch_event(). Returns OpenCL's code. */
static inline cl_int dynsel_opencl_find_event(cl_event of_work, bool is_needed, cl_event *event)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    struct dynsel_opencl_batch *const batch = dynsel_opencl_batch_of(of_work);
    if (!DYNSEL_LIKELY(batch == NULL)) {
        return dynsel_opencl_batch_event(batch, is_needed, event);
    }
#else
    (void)is_needed;
#endif
    *event = of_work;
    return CL_SUCCESS;
}

/* Waits, whatever the result is, and releases the event. */
void dynsel_opencl_wait_and_release(dynsel_opencl_entry *entry, cl_event event);

#endif
