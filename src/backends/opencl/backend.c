/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operations of the backend: starts work, polls it, waits for it. */
#include <dynsel/opencl.h>

#include "backends/opencl/aspects.h"
#include "backends/opencl/device_info.h"
#include "backends/opencl/device_selection.h"
#include "backends/opencl/error_codes.h"
#include "backends/opencl/events.h"
#include "backends/opencl/timing.h"
#include "backends/opencl/traced_times.h"
#include "base/fail.h"
#include "policy/report.h"
#include "port/atomic.h"
#include "submission/call_task.h"

#if CONFIG_DYNSEL_COMMAND_GROUPS
#include "backends/opencl/device_memory.h"

#pragma weak dynsel_opencl_memory /* see backends/default_memory.h */
#endif

static const char *resource_name(dynsel_backend *backend, const void *handle)
{
    const dynsel_opencl_entry *const entry = dynsel_opencl_entry_of_handle(handle);
    (void)backend;
    return entry != NULL ? entry->label : NULL;
}

static dynsel_status attach(dynsel_backend *backend, void *own)
{
    dynsel_opencl_entry *const entry = dynsel_opencl_entry_at(own);
    (void)backend;
    if (entry == NULL) {
        return dynsel_opencl_refuse_handle();
    }
    if (dynsel_opencl_is_too_old(entry)) {
        return dynsel_opencl_refuse_old(entry, "dynsel_policy_init");
    }
    (void)dynsel_word_add_relaxed(&entry->users, 1);
    return DYNSEL_OK;
}

static void detach(dynsel_backend *backend, void *own)
{
    dynsel_opencl_entry *const entry = own;
    (void)backend;
    (void)dynsel_word_add_relaxed(&entry->users, (uint32_t)-1);
}

/* Where no thread of a driver may call the library. Not exact: the work ended at any time since the
 * last poll. */
static void time_polled_end(const dynsel_work *work)
{
    if (!CONFIG_DYNSEL_CONTEXT_THREADS && (work->wants & DYNSEL_TASK_TIME) != 0) {
        (void)dynsel_complete(work->token, DYNSEL_OK, dynsel_now_ns());
    }
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    dynsel_opencl_entry *const entry = work->own;
    (void)backend;
    const dynsel_status status = dynsel_opencl_open(entry);
    if (status != DYNSEL_OK) {
        return status;
    }
    const uint64_t since_ns = dynsel_opencl_traced_now();
    if ((work->wants & DYNSEL_TASK_TIME) != 0) {
        dynsel_opencl_start_timed(entry, work);
        dynsel_opencl_trace_start(work, since_ns);
        return DYNSEL_OK;
    }
    dynsel_call_inline(work);
    dynsel_opencl_trace_start(work, since_ns);
    if (work->error.status == DYNSEL_E_DEVICE) {
        (void)dynsel_opencl_loses(entry, "the task function", work->error.code);
    }
    if (work->done.opencl == NULL || dynsel_opencl_is_lost(entry)) {
        return DYNSEL_OK;
    }
    work->over = entry->runs_in_caller && work->error.status == DYNSEL_OK &&
                 dynsel_opencl_poll(entry, work->done.opencl) == DYNSEL_OK;
    if (!work->over) {
        dynsel_opencl_flush_in_time(entry);
    }
    return DYNSEL_OK;
}

static dynsel_status poll(dynsel_backend *backend, const dynsel_work *work)
{
    dynsel_opencl_entry *const entry = work->own;
    (void)backend;
    const dynsel_status status = dynsel_opencl_poll(entry, work->done.opencl);
    if (status != DYNSEL_OK) {
        return status;
    }
    time_polled_end(work);
    /* In an out-of-order queue, a wait for later work does not make these results visible. The work
     * is complete, so this wait does not block. */
    return entry->out_of_order ? dynsel_opencl_wait(entry, work->done.opencl) : DYNSEL_OK;
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
static dynsel_status poll_ended(dynsel_backend *backend, const dynsel_work *const *works,
                                size_t count)
{
    (void)backend;
    return dynsel_opencl_poll_ended(works[0]->own, works, count);
}
#endif

static dynsel_status wait(dynsel_backend *backend, const dynsel_work *work)
{
    (void)backend;
    return dynsel_opencl_wait(work->own, work->done.opencl);
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_opencl_release_event(work->own, work->done.opencl);
}

static bool is_lost(dynsel_backend *backend, const void *own)
{
    (void)backend;
    return dynsel_opencl_is_lost(own);
}

#if CONFIG_DYNSEL_TIME_LIMITS
static void give_up(dynsel_backend *backend, void *own)
{
    (void)backend;
    dynsel_opencl_lose(own, "the time limit", 0);
}
#endif

static bool retain(dynsel_backend *backend, const dynsel_work *work)
{
    (void)backend;
    return !dynsel_opencl_is_lost(work->own) && clRetainEvent(work->done.opencl) == CL_SUCCESS;
}

DYNSEL_ASSERT_REPORTS(DYNSEL_OPENCL_REPORTS, DYNSEL_NEEDS_OF_POLICIES);

static const dynsel_backend_ops ops = {
    .name = "opencl",
    .reports = DYNSEL_OPENCL_REPORTS,
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    .times_runs_alone = true,
    .first_start_ns = 2000000, /* less where a kernel is built, 20 to 1000 ms where it is not */
#endif
    .timing_ns = 14000, /* NVIDIA's H100, in a stream of kernels of 6 us; PoCL 2000 */
    .outlives_submit = true,
    .poll_synchronizes = false,
    .get_default_resources = dynsel_opencl_select_defaults,
    .resource_name = resource_name,
#if CONFIG_DYNSEL_ASPECTS
    .describe = dynsel_opencl_describe,
#endif
    .attach = attach,
    .detach = detach,
    .start = start,
    .poll = poll,
    .wait = wait,
    .measure = dynsel_opencl_measure,
#if CONFIG_DYNSEL_TRACE
    .tell_run = dynsel_opencl_tell_run,
#endif
    .release = release,
    .retain = retain,
    .is_lost = is_lost,
#if CONFIG_DYNSEL_TIME_LIMITS
    .give_up = give_up,
#endif
#if CONFIG_DYNSEL_COMMAND_GROUPS
    .poll_ended = poll_ended,
    .memory = &dynsel_opencl_memory,
#endif
};

dynsel_backend dynsel_opencl_backend = {&ops};
