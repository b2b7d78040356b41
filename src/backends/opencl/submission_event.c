/* SPDX-License-Identifier: Apache-2.0 */
/* The event of a submission, for commands of the program. */
#include <dynsel/opencl.h>

#include "backends/opencl/events.h"
#include "base/fail.h"
#include "port/context.h"
#include "submission/handle.h"
#include "submission/slot_table.h"

#define NAME DYNSEL_TEXT("dynsel_opencl_submission_event")

/* For work without a slot. */
static dynsel_status refuse(uint32_t word)
{
    switch (word) {
    case DYNSEL_SUBMISSION_NONE:
        return dynsel_refuse_unsubmitted(NAME);
    case DYNSEL_SUBMISSION_COMPLETE:
        return DYNSEL_FAIL_IN(NAME, DYNSEL_E_UNSUPPORTED,
                              "the work was complete at once, and has no event", 0);
    default:
        return dynsel_refuse_stale(NAME);
    }
}

/* A command in another queue never begins if it waits for one that is not flushed. The poll flushes
 * again, and gives the device up if that fails for too long. */
static bool is_flushed(dynsel_opencl_entry *entry, cl_event event)
{
    return dynsel_opencl_is_lost(entry) || dynsel_word_load_relaxed(&entry->unflushed) == 0 ||
           dynsel_opencl_flush(entry) || dynsel_opencl_poll(entry, event) != DYNSEL_E_AGAIN;
}

static dynsel_status retain(dynsel_opencl_entry *entry, cl_event event)
{
    const bool flushed = is_flushed(entry, event);
    if (dynsel_opencl_is_lost(entry)) {
        return dynsel_opencl_fail_lost(entry);
    }
    if (!flushed) {
        return DYNSEL_FAIL_IN(NAME, DYNSEL_E_AGAIN, "the queue cannot be flushed now: try again",
                              0);
    }
    const cl_int code = clRetainEvent(event);
    return code == CL_SUCCESS ? DYNSEL_OK
                              : dynsel_fail(&(const dynsel_error){
                                    .status = DYNSEL_E_DEVICE,
                                    .code = code,
                                    .function = DYNSEL_TEXT("clRetainEvent"),
                                    .subject = DYNSEL_TEXT(entry->name),
                                    .detail = DYNSEL_TEXT(dynsel_opencl_code_name(code)),
                                });
}

static dynsel_status look_at(const dynsel_slot *slot, cl_event *event)
{
    if (dynsel_slot_is_pending(dynsel_word_load_acquire(&slot->word))) {
        return DYNSEL_FAIL_IN(NAME, DYNSEL_E_AGAIN,
                              "the command group waits for its dependencies, and has no event "
                              "before it starts: call dynsel_progress() until then",
                              0);
    }
    if (slot->work.where->backend != &dynsel_opencl_backend) {
        return DYNSEL_FAIL_IN(NAME, DYNSEL_E_UNSUPPORTED,
                              "the work is not on an OpenCL device: dynsel_submission_resource() "
                              "tells where it is",
                              0);
    }
    const cl_event left =
        dynsel_in_flight_has_left_event(slot) ? slot->work.done.opencl : (cl_event)NULL;
    if (left == NULL) {
        return DYNSEL_FAIL_IN(NAME, DYNSEL_E_UNSUPPORTED,
                              "the work left no event: it was not started, or its task function "
                              "set none",
                              0);
    }
    const dynsel_status status = retain(slot->work.own, left);
    *event = status == DYNSEL_OK ? left : NULL;
    return status;
}

dynsel_status dynsel_opencl_submission_event(const dynsel_submission *submission, cl_event *event)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (event == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the event is NULL");
    }
    *event = NULL;
    const uint32_t word = submission != NULL ? dynsel_word_load_acquire(&submission->slot)
                                             : (uint32_t)DYNSEL_SUBMISSION_NONE;
    if (word < DYNSEL_SUBMISSION_IN_SLOT) {
        return refuse(word);
    }
    dynsel_slot *const slot = dynsel_in_flight_ref(submission, NAME);
    if (slot == NULL) {
        return DYNSEL_E_STALE;
    }
    const dynsel_status status = look_at(slot, event);
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return status;
}
