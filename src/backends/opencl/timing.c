/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/timing.h"

#include "backends/opencl/events.h"
#include "backends/opencl/profiling.h"
#include "backends/opencl/traced_times.h"
#include "submission/call_task.h"
#include "submission/slot.h"

enum {
    NS_PER_US = 1000,
    MOST_GAP_NS = 3 * NS_PER_US, /* what a device needs between a gate and the next command */
    SOON_NS = 20 * NS_PER_US, /* an idle device begins a command, and a task function enqueues its
                                 only one (NVIDIA's H100: 11 us, 5 us) */
    SLACK = 8                 /* by one part in this many the clocks may differ */
};

/* Work that this thread is starting, and times. */
typedef struct timed_start {
    dynsel_opencl_entry *entry;
    uint32_t depth;         /* of its task function */
    cl_command_queue queue; /* NULL: its task function has asked for none yet */
    cl_event first;         /* its begin; NULL: that of the work's event */
    bool is_gate;           /* `first` ends where the work begins */
    bool without_transfers; /* in its time */
} timed_start;

/* What is needed at the end, for each slot. */
typedef struct timed_work {
    cl_event first;
    bool is_gate;
    bool is_profiled;
} timed_work;

static timed_work works[CONFIG_DYNSEL_MAX_IN_FLIGHT];

static timed_work *record_of(const dynsel_work *work)
{
    return &works[dynsel_slot_number_in(work->token) - 1];
}

#if CONFIG_DYNSEL_CONTEXT_THREADS

/* Runs in a thread of the driver, which must not call OpenCL: it records the time of the end, and
 * poll or wait read the result. */
static void CL_CALLBACK note_end(cl_event event, cl_int status, void *token)
{
    (void)event;
    (void)status;
    (void)dynsel_complete((uint32_t)(uintptr_t)token, DYNSEL_OK, dynsel_now_ns());
}

/* If the driver refuses the callback, the work completes without a time. */
static void call_back(const dynsel_work *work)
{
    void *const token = (void *)(uintptr_t)work->token; // NOLINT(performance-no-int-to-ptr)
    (void)clSetEventCallback(work->done.opencl, CL_COMPLETE, note_end, token);
}

#else

/* In this context a thread of the driver must not call the library; see `poll`. */
static void call_back(const dynsel_work *work)
{
    (void)work;
}

#endif

static timed_start *start_on(const dynsel_opencl_entry *entry)
{
    const dynsel_thread *const thread = dynsel_this_thread();
    timed_start *const start = thread->timed_start;
    return start != NULL && start->entry == entry && start->depth == thread->task_depth ? start
                                                                                        : NULL;
}

bool dynsel_opencl_enter_timing_queue(dynsel_opencl_entry *entry)
{
    cl_event before = NULL;
    if (entry->timing.queue == entry->queue) {
        return true;
    }
    cl_int code = clEnqueueMarkerWithWaitList(entry->queue, 0, NULL, &before);
    if (code != CL_SUCCESS) {
        (void)dynsel_opencl_loses(entry, "clEnqueueMarkerWithWaitList", code);
        return false;
    }
    bool joined = false;
    if (dynsel_opencl_flush(entry)) {
        code = clEnqueueBarrierWithWaitList(entry->timing.queue, 1, &before, NULL);
        joined = code == CL_SUCCESS;
        if (!joined) {
            (void)dynsel_opencl_loses(entry, "clEnqueueBarrierWithWaitList", code);
        }
    }
    dynsel_opencl_release_event(entry, before);
    return joined;
}

cl_command_queue dynsel_opencl_timed_queue(const dynsel_opencl_entry *entry)
{
    timed_start *const start = start_on(entry);
    if (start == NULL) {
        return entry->queue;
    }
    if (start->queue == NULL) {
        start->queue =
            dynsel_opencl_enter_timing_queue(start->entry) ? entry->timing.queue : entry->queue;
    }
    return start->queue;
}

void dynsel_opencl_mark_timed_begin(const dynsel_opencl_entry *entry)
{
    timed_start *const start = start_on(entry);
    if (start != NULL && start->first == NULL &&
        dynsel_opencl_timed_queue(entry) == entry->timing.queue) {
        start->is_gate = dynsel_opencl_write_gate(start->entry, &start->first) == DYNSEL_OK;
    }
}

void dynsel_opencl_keep_transfer(const dynsel_opencl_entry *entry, cl_event event)
{
    timed_start *const start = start_on(entry);
    if (start != NULL && start->first == NULL && !start->without_transfers &&
        clRetainEvent(event) == CL_SUCCESS) {
        start->first = event;
    }
}

/* What the device's own queue cannot be told is waited for. */
void dynsel_opencl_leave_timing_queue(dynsel_opencl_entry *entry, cl_event done)
{
    const cl_command_queue queue = entry->timing.queue;
    const char *function = "clEnqueueMarkerWithWaitList";
    cl_event last = done;
    cl_int code = CL_SUCCESS;
    if (queue == entry->queue) {
        return;
    }
    if (done == NULL) { /* the task function may have enqueued something all the same */
        code = clEnqueueMarkerWithWaitList(queue, 0, NULL, &last);
    }
    if (code == CL_SUCCESS) {
        function = "clFlush";
        code = clFlush(queue);
    }
    if (code == CL_SUCCESS) {
        function = "clEnqueueBarrierWithWaitList";
        code = clEnqueueBarrierWithWaitList(entry->queue, 1, &last, NULL);
    }
    if (code != CL_SUCCESS && !dynsel_opencl_loses(entry, function, code) && last != NULL) {
        (void)dynsel_opencl_wait(entry, last);
    }
    if (done == NULL && last != NULL) {
        dynsel_opencl_release_event(entry, last);
    }
}

/* A task function may use a queue that it knows from before. A refused question says nothing about
 * the device. */
static bool is_profiled(const dynsel_opencl_entry *entry, cl_event done)
{
    cl_command_queue queue = NULL;
    const cl_int code =
        clGetEventInfo(done, CL_EVENT_COMMAND_QUEUE, sizeof(cl_command_queue), &queue, NULL);
    return code == CL_SUCCESS && queue == entry->timing.queue;
}

/* Its end is to be profiled, or the driver calls back. Not inlined, so that its locals are not on
 * the stack of the task function. */
static DYNSEL_ASIDE void end_start(const timed_start *start, const dynsel_work *work)
{
    dynsel_opencl_entry *const entry = start->entry;
    timed_work *const record = record_of(work);
    const bool goes_on = work->done.opencl != NULL;
    const bool asked = start->queue != NULL && !dynsel_opencl_is_lost(entry);
    if (asked && start->queue != entry->queue) {
        dynsel_opencl_leave_timing_queue(entry, work->done.opencl);
    }
    if (asked && goes_on && !dynsel_opencl_is_lost(entry) &&
        is_profiled(entry, work->done.opencl)) {
        *record =
            (timed_work){.first = start->first, .is_gate = start->is_gate, .is_profiled = true};
        if (start->queue == entry->queue) {
            (void)dynsel_opencl_flush(entry);
        }
        return;
    }
    if (start->first != NULL) {
        dynsel_opencl_release_event(entry, start->first);
    }
    if (goes_on && !dynsel_opencl_is_lost(entry)) {
        call_back(work);
        (void)dynsel_opencl_flush(entry);
    }
}

void dynsel_opencl_start_timed(dynsel_opencl_entry *entry, dynsel_work *work)
{
    dynsel_thread *const thread = dynsel_this_thread();
    void *const before = thread->timed_start;
    timed_start start = {.entry = entry,
                         .depth = thread->task_depth + 1,
                         .without_transfers = (work->wants & DYNSEL_TASK_WITHOUT_COPIES) != 0};
    record_of(work)->is_profiled = false;
    thread->timed_start = dynsel_opencl_has_profiles(entry) ? &start : NULL;
    dynsel_call_inline(work);
    thread->timed_start = before;
    if (work->error.status == DYNSEL_E_DEVICE) {
        (void)dynsel_opencl_loses(entry, "the task function", work->error.code);
    }
    end_start(&start, work);
}

/*
 * The begin of a task function's work is the end of the gate before it; the time that the device
 * needs from a gate to the next command does not count. But a device that was idle waits for the
 * host behind the gate: if the work is one command, as far as its profile tells, the begin of that
 * counts. Where it was the last of several, the time is that command's, which is more than half.
 */
static cl_ulong begin_after_gate(dynsel_opencl_entry *entry, const dynsel_opencl_profile *gate,
                                 const dynsel_opencl_profile *last)
{
    if (last->start_ns < gate->end_ns || last->queued_ns < gate->queued_ns) {
        return gate->end_ns;
    }
    const cl_ulong apart_ns = last->start_ns - gate->end_ns;
    cl_ulong gap_ns = dynsel_word_load_relaxed(&entry->timing.gap_ns);
    gap_ns = gap_ns == 0 ? MOST_GAP_NS : gap_ns;
    if (apart_ns != 0 && apart_ns < gap_ns) {
        gap_ns = apart_ns;
        dynsel_word_store_relaxed(&entry->timing.gap_ns, (uint32_t)apart_ns);
    }
    const bool found_idle =
        last->queued_ns <= last->start_ns && last->start_ns - last->queued_ns <= SOON_NS;
    const bool is_alone = last->queued_ns - gate->queued_ns <= SOON_NS;
    const bool is_most = apart_ns <= last->end_ns - last->start_ns;
    return found_idle && is_alone && is_most ? last->start_ns : gate->end_ns + gap_ns;
}

/* 0: not known. */
static uint64_t time_of(dynsel_opencl_entry *entry, const timed_work *record,
                        const dynsel_work *work)
{
    dynsel_opencl_profile first;
    dynsel_opencl_profile last;
    if (!dynsel_opencl_read_profile(work->done.opencl, &last)) {
        return 0;
    }
    cl_ulong begin_ns = last.start_ns;
    if (record->first != NULL) {
        if (!dynsel_opencl_read_profile(record->first, &first)) {
            return 0;
        }
        begin_ns = record->is_gate ? begin_after_gate(entry, &first, &last) : first.start_ns;
    }
    dynsel_opencl_trace_profile(work, begin_ns, &last);
    return last.end_ns > begin_ns ? last.end_ns - begin_ns : 1;
}

void dynsel_opencl_measure(dynsel_backend *backend, dynsel_work *work)
{
    dynsel_opencl_entry *const entry = work->own;
    timed_work *const record = record_of(work);
    (void)backend;
    if (!record->is_profiled || dynsel_opencl_is_lost(entry)) {
        return;
    }
    record->is_profiled = false;
    if (work->error.status == DYNSEL_OK) {
        const uint64_t now_ns = dynsel_now_ns();
        const uint64_t most_ns = (now_ns - work->ready_ns) / SLACK * (SLACK + 1) + SLACK;
        const uint64_t took_ns = time_of(entry, record, work);
        const bool is_true = took_ns != 0 && took_ns <= most_ns;
        dynsel_opencl_note_profile(entry, is_true);
        work->ended_ns = is_true ? now_ns : 0;
        work->ready_ns = is_true ? now_ns - took_ns : work->ready_ns;
        work->began = is_true;
    }
    if (record->first != NULL) {
        dynsel_opencl_release_event(entry, record->first);
    }
}
