/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/external_events.h"

#include "backends/opencl/error_codes.h"
#include "backends/opencl/events.h"
#include "base/fail.h"

/* Whether the failure shows that a device of the event's context is lost. */
static bool loses(const dynsel_external_event *event, const char *function, cl_int code)
{
    dynsel_opencl_entry *const entry = dynsel_opencl_entry_in(event->own, DYNSEL_OPENCL_OPEN);
    return entry != NULL && dynsel_opencl_loses(entry, function, code);
}

static dynsel_status fail(const char *function, cl_int code, const char *detail)
{
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)detail;
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_DEPENDENCY,
        .code = code,
        .function = DYNSEL_TEXT(function),
        .subject = DYNSEL_TEXT(dynsel_opencl_code_name(code)),
        .detail = DYNSEL_TEXT(detail),
    });
}

/* A look that fails says nothing about the event, unless its device is lost. */
DYNSEL_RARE static dynsel_status fail_poll(dynsel_external_event *event, cl_int code)
{
    dynsel_word record = {0};
    dynsel_word_store_relaxed(&record, event->record);
    const bool lost = code != CL_OUT_OF_RESOURCES && loses(event, "clGetEventInfo", code);
    if (!lost && !dynsel_opencl_note_failed_poll(&record)) {
        event->record = dynsel_word_load_relaxed(&record);
        return DYNSEL_E_AGAIN;
    }
    return fail("clGetEventInfo", code,
                "the state of an event that the command group depends on cannot be read");
}

static dynsel_status poll(dynsel_external_event *event)
{
    cl_int status = CL_QUEUED;
    const cl_int code = clGetEventInfo(event->event.opencl, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                       sizeof(status), &status, NULL);
    if (code != CL_SUCCESS) {
        return fail_poll(event, code);
    }
    event->record = 0;
    if (status < CL_COMPLETE) {
        return fail("the event's command", status,
                    "an event that the command group depends on has failed");
    }
    return status == CL_COMPLETE ? DYNSEL_OK : DYNSEL_E_AGAIN;
}

/* event->own: its context; NULL: a user event. */
static bool joins(const dynsel_external_event *event, dynsel_backend *backend, void *own)
{
    const dynsel_opencl_entry *const entry = own;
    return event->own != NULL && backend == &dynsel_opencl_backend && !entry->hangs_on_events &&
           dynsel_word_load_acquire(&entry->state) == DYNSEL_OPENCL_OPEN &&
           (void *)entry->context == event->own;
}

/* Of a lost device, the event is kept: drivers hang. */
static void release(dynsel_external_event *event)
{
    if (event->own == NULL || dynsel_opencl_entry_in(event->own, DYNSEL_OPENCL_DEAD) == NULL) {
        (void)clReleaseEvent(event->event.opencl);
    }
}

static dynsel_status refuse(const char *function, cl_int code)
{
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return dynsel_fail(&(const dynsel_error){
        .status = code == CL_INVALID_EVENT ? DYNSEL_E_INVALID : DYNSEL_E_DEVICE,
        .code = code,
        .function = DYNSEL_TEXT(function),
        .subject = DYNSEL_TEXT("dynsel_opencl_depend_on"),
        .detail = DYNSEL_TEXT(dynsel_opencl_code_name(code)),
    });
}

/* Its command would not begin if its queue is not flushed. queue: NULL: of a user event. */
static void flush(const dynsel_external_event *event, cl_command_queue queue)
{
    const cl_int code = queue != NULL ? clFlush(queue) : CL_SUCCESS;
    if (code != CL_SUCCESS) {
        (void)loses(event, "clFlush", code);
    }
}

static dynsel_status take(dynsel_external_event *event)
{
    const cl_event its = event->event.opencl;
    cl_context context = NULL;
    cl_command_queue queue = NULL;
    cl_command_type type = 0;
    if (its == NULL) {
        return refuse("clGetEventInfo", CL_INVALID_EVENT);
    }
    cl_int code = clGetEventInfo(its, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL);
    if (code == CL_SUCCESS) {
        code = clGetEventInfo(its, CL_EVENT_CONTEXT, sizeof(cl_context), &context, NULL);
    }
    if (code == CL_SUCCESS) {
        code = clGetEventInfo(its, CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue), &queue, NULL);
    }
    if (code != CL_SUCCESS) {
        return refuse("clGetEventInfo", code);
    }
    code = clRetainEvent(its);
    if (code != CL_SUCCESS) {
        return refuse("clRetainEvent", code);
    }
    event->own = type != CL_COMMAND_USER ? context : NULL;
    flush(event, queue);
    return DYNSEL_OK;
}

const dynsel_external_event_ops dynsel_opencl_external_events = {
    .take = take, .poll = poll, .joins = joins, .release = release};
