/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/events.h"

#include "backends/opencl/codes.h"
#include "backends/opencl/device.h"
#include "backends/opencl/failure.h"
#include "base/fail.h"
#include "port/likely.h"
#include "port/pause.h"

/* A trace of looks that failed one after the other: how many, and when the first one did. All zero:
 * none. Two threads that note at once may count one. */
enum {
    TIME_BITS = 24, /* of milliseconds; what is left counts looks */
    TIME_MASK = (1 << TIME_BITS) - 1,
    MOST_COUNTED = 127,
    FEWEST_LOOKS = 16, /* before a device is given up, however long they took */
    NS_PER_MS = 1000000,
    PATIENCE_MS = 1000
};

static uint32_t now_ms(void)
{
    return (uint32_t)(dynsel_now_ns() / NS_PER_MS) & TIME_MASK;
}

static uint32_t patience_ms(void)
{
    const uint32_t chosen = dynsel_opencl_known.options.patience_ms;
    return chosen != 0 ? chosen : PATIENCE_MS;
}

/* True: there were enough of them, for long enough. */
static bool note_failed_look(dynsel_word *trace)
{
    const uint32_t seen = dynsel_word_load_relaxed(trace);
    const uint32_t now = now_ms();
    const uint32_t first = seen != 0 ? seen & TIME_MASK : now;
    const uint32_t count = (seen >> TIME_BITS) + 1;
    const uint32_t kept = count < MOST_COUNTED ? count : MOST_COUNTED;
    dynsel_word_store_relaxed(trace, kept << TIME_BITS | first);
    return count >= FEWEST_LOOKS && ((now - first) & TIME_MASK) >= patience_ms();
}

/* After such an answer the device is gone; memory that ran out may be there the next time. */
static bool is_final(cl_int code)
{
    return dynsel_opencl_code_is_loss(code) && code != CL_OUT_OF_RESOURCES;
}

/* Nothing was learned of the command. */
DYNSEL_RARE static dynsel_status fail_to_look(dynsel_opencl_entry *entry, dynsel_word *trace,
                                              const char *function, cl_int code)
{
    if (!is_final(code) && !note_failed_look(trace)) {
        return DYNSEL_E_AGAIN;
    }
    dynsel_opencl_lose(entry, function, code);
    return dynsel_opencl_fail_lost(entry);
}

void dynsel_opencl_note_unflushed(dynsel_opencl_entry *entry, cl_int code)
{
    dynsel_word_store_release(&entry->unflushed, 1);
    (void)dynsel_opencl_failure(entry, "clFlush", code);
}

/* Else a poll would never see an end. */
DYNSEL_RARE static dynsel_status flush(dynsel_opencl_entry *entry)
{
    dynsel_word_store_release(&entry->unflushed, 0);
    const cl_int code = clFlush(entry->queue);
    if (code == CL_SUCCESS) {
        return DYNSEL_OK;
    }
    dynsel_word_store_release(&entry->unflushed, 1);
    if (dynsel_opencl_code_is_loss(code)) {
        dynsel_opencl_lose(entry, "clFlush", code);
        return dynsel_opencl_fail_lost(entry);
    }
    return fail_to_look(entry, &entry->unseen, "clFlush", code);
}

/* The command came to an end that is a failure; behind other work that failed it did not run. */
DYNSEL_RARE static dynsel_status fail_command(dynsel_opencl_entry *entry, cl_int code)
{
    dynsel_error error = dynsel_opencl_failure(entry, "the enqueued command", code);
    if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
        error.status = DYNSEL_E_DEPENDENCY;
    }
    return dynsel_fail(&error);
}

static inline cl_int ask(cl_event event, cl_int *status)
{
    return clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(*status), status, NULL);
}

dynsel_status dynsel_opencl_look(dynsel_opencl_entry *entry, cl_event event)
{
    cl_int status = CL_QUEUED;
    if (dynsel_opencl_is_lost(entry)) {
        return dynsel_opencl_fail_lost(entry);
    }
    if (!DYNSEL_LIKELY(dynsel_word_load_relaxed(&entry->unflushed) == 0)) {
        const dynsel_status flushed = flush(entry);
        if (flushed != DYNSEL_OK) {
            return flushed;
        }
    }
    const cl_int code = ask(event, &status);
    if (!DYNSEL_LIKELY(code == CL_SUCCESS)) {
        return fail_to_look(entry, &entry->unseen, "clGetEventInfo", code);
    }
    if (!DYNSEL_LIKELY(dynsel_word_load_relaxed(&entry->unseen) == 0)) {
        dynsel_word_store_relaxed(&entry->unseen, 0);
    }
    if (!DYNSEL_LIKELY(status >= CL_COMPLETE)) {
        return fail_command(entry, status);
    }
    return status == CL_COMPLETE ? DYNSEL_OK : DYNSEL_E_AGAIN;
}

/* The event's own status says whether it ended, and how. trace: of this wait, because other work of
 * the device may well be seen meanwhile. tries: waits that failed. */
DYNSEL_RARE static dynsel_status look_instead(dynsel_opencl_entry *entry, cl_event event,
                                              cl_int waited, uint32_t tries, dynsel_word *trace)
{
    cl_int status = CL_QUEUED;
    if (is_final(waited)) {
        return fail_to_look(entry, trace, "clWaitForEvents", waited);
    }
    const dynsel_status flushed = flush(entry); /* as the wait would have done */
    if (flushed != DYNSEL_OK) {
        return flushed;
    }
    const cl_int code = ask(event, &status);
    if (code == CL_SUCCESS && status < CL_COMPLETE) {
        return fail_command(entry, status);
    }
    if (waited == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST &&
        (code != CL_SUCCESS || status == CL_COMPLETE)) {
        return dynsel_opencl_fail(entry, "clWaitForEvents", waited);
    }
    if (code != CL_SUCCESS) {
        return is_final(code) ? fail_to_look(entry, trace, "clGetEventInfo", code)
                              : fail_to_look(entry, trace, "clWaitForEvents", waited);
    }
    dynsel_word_store_relaxed(trace, 0);
    /* another wait makes the results visible, if it succeeds */
    return status == CL_COMPLETE && tries > 1 ? DYNSEL_OK : DYNSEL_E_AGAIN;
}

dynsel_status dynsel_opencl_wait(dynsel_opencl_entry *entry, cl_event event)
{
    dynsel_word trace = {0};
    for (uint32_t tries = 1; !dynsel_opencl_is_lost(entry); tries++) {
        const cl_int code = clWaitForEvents(1, &event);
        if (DYNSEL_LIKELY(code == CL_SUCCESS)) {
            return DYNSEL_OK;
        }
        const dynsel_status status = look_instead(entry, event, code, tries, &trace);
        if (status != DYNSEL_E_AGAIN) {
            return status;
        }
        dynsel_pause(tries - 1);
    }
    return dynsel_opencl_fail_lost(entry);
}
