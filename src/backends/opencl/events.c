/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/events.h"

#include "backends/opencl/error_codes.h"
#include "base/fail.h"
#include "port/cancel.h"
#include "port/pause.h"

/* A record of successive failed polls, in one word: their number, and the time of the first. Zero:
 * the last poll succeeded. */
enum {
    TIME_BITS = 24, /* milliseconds; the bits above count failures */
    TIME_MASK = (1 << TIME_BITS) - 1,
    MOST_COUNTED = 127,
    FEWEST_FAILURES = 16, /* before the device counts as lost, however much time passed */
    NS_PER_MS = 1000000,
    PATIENCE_MS = 1000
};

bool dynsel_opencl_note_failed_poll(dynsel_word *record)
{
    const uint32_t chosen_ms = dynsel_opencl_known.options.patience_ms;
    const uint32_t seen = dynsel_word_load_relaxed(record);
    const uint32_t now_ms = (uint32_t)(dynsel_now_ns() / NS_PER_MS) & TIME_MASK;
    const uint32_t first_ms = seen != 0 ? seen & TIME_MASK : now_ms;
    const uint32_t count = (seen >> TIME_BITS) + 1;
    const uint32_t kept = count < MOST_COUNTED ? count : MOST_COUNTED;
    dynsel_word_store_relaxed(record, kept << TIME_BITS | first_ms);
    return count >= FEWEST_FAILURES &&
           ((now_ms - first_ms) & TIME_MASK) >= (chosen_ms != 0 ? chosen_ms : PATIENCE_MS);
}

/* CL_OUT_OF_RESOURCES of a poll can be a temporary lack. */
static bool loses(dynsel_opencl_entry *entry, const char *function, cl_int code)
{
    return code != CL_OUT_OF_RESOURCES && dynsel_opencl_loses(entry, function, code);
}

/* The state of the command is unknown. */
DYNSEL_RARE static dynsel_status fail_poll(dynsel_opencl_entry *entry, dynsel_word *record,
                                           const char *function, cl_int code)
{
    if (!loses(entry, function, code)) {
        if (!dynsel_opencl_note_failed_poll(record)) {
            return DYNSEL_E_AGAIN;
        }
        dynsel_opencl_lose(entry, function, code);
    }
    return dynsel_opencl_fail_lost(entry);
}

void dynsel_opencl_note_unflushed(dynsel_opencl_entry *entry, cl_int code)
{
    dynsel_word_store_release(&entry->unflushed, 1);
    (void)dynsel_opencl_failure(entry, "clFlush", code);
}

/* Without the flush the command would never start. */
DYNSEL_RARE static dynsel_status flush_again(dynsel_opencl_entry *entry)
{
    dynsel_word_store_release(&entry->unflushed, 0);
    const cl_int code = clFlush(entry->queue);
    if (code == CL_SUCCESS) {
        return DYNSEL_OK;
    }
    dynsel_word_store_release(&entry->unflushed, 1);
    if (dynsel_opencl_loses(entry, "clFlush", code)) {
        return dynsel_opencl_fail_lost(entry);
    }
    return fail_poll(entry, &entry->failed_polls, "clFlush", code);
}

/* The command ended with a failure, or did not run because a dependency failed. Also full memory of
 * the device is DYNSEL_E_DEVICE here: DYNSEL_E_FULL says that nothing was begun. */
DYNSEL_RARE static dynsel_status fail_command(dynsel_opencl_entry *entry, cl_int code)
{
    dynsel_error error = dynsel_opencl_failure(entry, "the enqueued command", code);
    error.status = code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ? DYNSEL_E_DEPENDENCY
                                                                        : DYNSEL_E_DEVICE;
    return dynsel_fail(&error);
}

static const char marker_function[] = "clEnqueueMarkerWithWaitList"; /* ends of batches */

/* is_needed: else the status may stay as it is. function: out, what the code is from. */
static inline cl_int ask(cl_event of_work, bool is_needed, cl_int *status, const char **function)
{
    cl_event event = NULL;
    const cl_int code = dynsel_opencl_find_event(of_work, is_needed, &event);
    *function = event != NULL ? "clGetEventInfo" : marker_function;
    return event == NULL ? code
                         : clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(*status),
                                          status, NULL);
}

dynsel_status dynsel_opencl_poll(dynsel_opencl_entry *entry, cl_event event)
{
    cl_int status = CL_QUEUED;
    if (dynsel_opencl_is_lost(entry)) {
        return dynsel_opencl_fail_lost(entry);
    }
    const char *function = NULL;
    const cl_int code = ask(event, false, &status, &function);
    if (!DYNSEL_LIKELY(code == CL_SUCCESS)) {
        return fail_poll(entry, &entry->failed_polls, function, code);
    }
    /* only now, because a flush takes 0.9 us on an H200, and what has ended needs none */
    if (status > CL_COMPLETE && dynsel_word_load_relaxed(&entry->unflushed) != 0) {
        const dynsel_status flushed = flush_again(entry);
        if (flushed != DYNSEL_OK) {
            return flushed;
        }
    }
    if (!DYNSEL_LIKELY(dynsel_word_load_relaxed(&entry->failed_polls) == 0)) {
        dynsel_word_store_relaxed(&entry->failed_polls, 0);
    }
    if (!DYNSEL_LIKELY(status >= CL_COMPLETE)) {
        return fail_command(entry, status);
    }
    return status == CL_COMPLETE ? DYNSEL_OK : DYNSEL_E_AGAIN;
}

/* The wait has flushed the event's queue, and what else is enqueued begins without it. So the next
 * poll need not flush, which takes 1.6 us on an H100. */
static void note_flushed_by_wait(dynsel_opencl_entry *entry)
{
    if (entry->begins_unflushed && dynsel_word_load_relaxed(&entry->unflushed) != 0) {
        dynsel_word_store_release(&entry->unflushed, 0);
    }
}

/* The event of work that is said to have ended. That of a batch may be one from behind later work,
 * which nobody is to wait for: NULL if it has not ended, or there is none yet. */
static cl_event find_ended_event(dynsel_opencl_entry *entry, cl_event of_work)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    const struct dynsel_opencl_batch *const batch = dynsel_opencl_batch_of(of_work);
    if (batch != NULL) {
        const cl_event event = dynsel_opencl_batch_event_so_far(batch);
        return event != NULL && dynsel_opencl_poll(entry, of_work) == DYNSEL_OK ? event : NULL;
    }
#else
    (void)entry;
#endif
    return of_work;
}

dynsel_status dynsel_opencl_poll_ended(dynsel_opencl_entry *entry, const dynsel_work *const *works,
                                       size_t count)
{
    cl_event events[DYNSEL_MOST_ENDED];
    /* in a queue without order, later work says nothing */
    if (entry->out_of_order || dynsel_opencl_is_lost(entry)) {
        return DYNSEL_E_AGAIN;
    }
    cl_uint found = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || works[i]->done.opencl != works[i - 1]->done.opencl) {
            events[found] = find_ended_event(entry, works[i]->done.opencl);
            if (events[found] == NULL) {
                return DYNSEL_E_AGAIN;
            }
            found++;
        }
    }
    const int before = dynsel_cancel_defer();
    const cl_int code = clWaitForEvents(found, events);
    dynsel_cancel_allow(before);
    if (!DYNSEL_LIKELY(code == CL_SUCCESS)) {
        (void)loses(entry, "clWaitForEvents", code);
        return DYNSEL_E_AGAIN;
    }
    note_flushed_by_wait(entry);
    return DYNSEL_OK;
}

/* A wait that failed. */
typedef struct failed_wait {
    const char *function;
    cl_int code;
    uint32_t tries; /* so many did */
} failed_wait;

/* Reads the status from the event itself. record: of this wait alone, because polls of other
 * commands may succeed in the meantime. */
DYNSEL_RARE static dynsel_status poll_after_failed_wait(dynsel_opencl_entry *entry, cl_event event,
                                                        const failed_wait *failed,
                                                        dynsel_word *record)
{
    cl_int status = CL_QUEUED;
    const char *function = NULL;
    if (loses(entry, failed->function, failed->code)) {
        return dynsel_opencl_fail_lost(entry);
    }
    const dynsel_status flushed = flush_again(entry); /* the failed wait did not */
    if (flushed != DYNSEL_OK) {
        return flushed;
    }
    const cl_int code = ask(event, true, &status, &function);
    if (code == CL_SUCCESS && status < CL_COMPLETE) {
        return fail_command(entry, status);
    }
    if (failed->code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST &&
        (code != CL_SUCCESS || status == CL_COMPLETE)) {
        return dynsel_opencl_fail(entry, failed->function, failed->code);
    }
    if (code != CL_SUCCESS) {
        return loses(entry, function, code)
                   ? dynsel_opencl_fail_lost(entry)
                   : fail_poll(entry, record, failed->function, failed->code);
    }
    dynsel_word_store_relaxed(record, 0);
    /* Complete, but only a successful wait makes the results visible: tries once more. */
    return status == CL_COMPLETE && failed->tries > 1 ? DYNSEL_OK : DYNSEL_E_AGAIN;
}

/* function: out, what the code is from. */
static inline cl_int wait_for(cl_event of_work, const char **function)
{
    cl_event event = NULL;
    cl_int code = dynsel_opencl_find_event(of_work, true, &event);
    *function = marker_function;
    if (DYNSEL_LIKELY(event != NULL)) {
        const int before = dynsel_cancel_defer();
        code = clWaitForEvents(1, &event);
        dynsel_cancel_allow(before);
        *function = "clWaitForEvents";
    }
    return code;
}

dynsel_status dynsel_opencl_wait(dynsel_opencl_entry *entry, cl_event event)
{
    dynsel_word record = {0};
    for (uint32_t tries = 1; !dynsel_opencl_is_lost(entry); tries++) {
        const char *function = NULL;
        const cl_int code = wait_for(event, &function);
        if (DYNSEL_LIKELY(code == CL_SUCCESS)) {
            note_flushed_by_wait(entry);
            return DYNSEL_OK;
        }
        const failed_wait failed = {.function = function, .code = code, .tries = tries};
        const dynsel_status status = poll_after_failed_wait(entry, event, &failed, &record);
        if (status != DYNSEL_E_AGAIN) {
            return status;
        }
        dynsel_pause(tries - 1);
    }
    return dynsel_opencl_fail_lost(entry);
}

void dynsel_opencl_wait_and_release(dynsel_opencl_entry *entry, cl_event event)
{
    (void)dynsel_opencl_wait(entry, event);
    dynsel_opencl_release_event(entry, event);
}
