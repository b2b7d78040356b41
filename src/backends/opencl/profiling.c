/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/profiling.h"

#include "backends/opencl/events.h"
#include "base/fail.h"
#include "port/context.h"
#include "port/likely.h"
#include "port/pause.h"

enum {
    ANSWER_NS = 100000000,       /* then the device is busy, or hangs */
    FIRST_INTERVAL_NS = 100000,  /* between two marks of both clocks */
    MOST_INTERVAL_NS = 32000000, /* no interval is longer */
    LONGER = 4,                  /* further ones are so many times as long: the host may be busy */
    TOLERANCE = 8,               /* the clocks may differ by one part in this many */
    MOST_FAILURES = 8,           /* in a row, before profiles are not used any more */
    LATE_COUNTS = 3              /* an answer that does not come counts as so many failures */
};

bool dynsel_opencl_read_profile(cl_event event, dynsel_opencl_profile *profile)
{
    const struct {
        cl_profiling_info what;
        cl_ulong *to;
    } all[] = {{CL_PROFILING_COMMAND_QUEUED, &profile->queued_ns},
               {CL_PROFILING_COMMAND_START, &profile->start_ns},
               {CL_PROFILING_COMMAND_END, &profile->end_ns}};
    for (uint32_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (clGetEventProfilingInfo(event, all[i].what, sizeof(cl_ulong), all[i].to, NULL) !=
            CL_SUCCESS) {
            return false;
        }
    }
    return profile->start_ns != 0 && profile->start_ns <= profile->end_ns;
}

/* The status of a call; the device is marked as lost if the code shows that. */
static dynsel_status status_of(dynsel_opencl_entry *entry, const char *function, cl_int code)
{
    if (code == CL_SUCCESS) {
        return DYNSEL_OK;
    }
    (void)dynsel_opencl_loses(entry, function, code);
    return DYNSEL_E_DEVICE;
}

/* Looks without a pause, because the time of the end is wanted. DYNSEL_E_TIMEOUT: no end was seen.
 */
static dynsel_status wait_for_end(dynsel_opencl_entry *entry, cl_event event, uint64_t *end_ns)
{
    const uint64_t deadline_ns = dynsel_now_ns() + ANSWER_NS;
    while (dynsel_now_ns() < deadline_ns) {
        cl_int status = CL_QUEUED;
        const cl_int code =
            clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
        if (code != CL_SUCCESS || status < CL_COMPLETE) {
            return status_of(entry, "clGetEventInfo", code != CL_SUCCESS ? code : status);
        }
        if (status == CL_COMPLETE) {
            *end_ns = dynsel_now_ns();
            return DYNSEL_OK;
        }
        dynsel_pause(0);
    }
    return DYNSEL_E_TIMEOUT;
}

/* One moment on both clocks: the end of a small write. */
typedef struct mark {
    uint64_t begin_ns; /* on the host: before the write, */
    uint64_t host_ns;  /* and when its end was seen */
    cl_ulong device_ns;
} mark;

static const char refuses[] = "its driver refuses to profile a small write";
static const char nonsense[] = "its driver reports no profile, 0, or an end before the start";

dynsel_status dynsel_opencl_write_gate(dynsel_opencl_entry *entry, cl_event *done)
{
    static const cl_uint anything = 0;
    const cl_int code = clEnqueueWriteBuffer(entry->timing.queue, entry->timing.gate, CL_FALSE, 0,
                                             sizeof(anything), &anything, 0, NULL, done);
    return status_of(entry, "clEnqueueWriteBuffer", code);
}

/* Sets the mark; else says why not in timing.reason. */
DYNSEL_RARE static dynsel_status set_mark(dynsel_opencl_entry *entry, mark *m)
{
    dynsel_opencl_times *const timing = &entry->timing;
    cl_event event = NULL;
    dynsel_opencl_profile profile = {.end_ns = 0};
    timing->reason = refuses;
    m->begin_ns = dynsel_now_ns();
    dynsel_status status = dynsel_opencl_write_gate(entry, &event);
    if (status != DYNSEL_OK) {
        return status;
    }
    status = status_of(entry, "clFlush", clFlush(timing->queue));
    if (status == DYNSEL_OK) {
        status = wait_for_end(entry, event, &m->host_ns);
    }
    if (status == DYNSEL_OK && !dynsel_opencl_read_profile(event, &profile)) {
        timing->reason = nonsense;
        status = DYNSEL_E_DEVICE;
    }
    m->device_ns = profile.end_ns;
    dynsel_opencl_release_event(entry, event);
    return status;
}

static void let_pass(uint64_t ns)
{
    const uint64_t begin_ns = dynsel_now_ns();
    while (dynsel_now_ns() - begin_ns < ns) {
        dynsel_pause(0);
    }
}

/* Whether the time between both marks may be what the device says, where a busy host saw their ends
 * late, but not so late that any time is possible. */
DYNSEL_RARE static bool is_possible(const mark *first, const mark *second)
{
    const cl_ulong device_ns = second->device_ns - first->device_ns; /* backward: enormous */
    const uint64_t least_ns = second->begin_ns - first->host_ns;
    const uint64_t most_ns = second->host_ns - first->begin_ns;
    return most_ns <= 2 * least_ns && device_ns >= least_ns - least_ns / TOLERANCE &&
           device_ns <= most_ns + most_ns / TOLERANCE;
}

/* Whether the device's clock goes like the host's, as seen from two marks. In the longest interval
 * a wrong clock shows even if the host is busy. */
DYNSEL_RARE static dynsel_status compare_clocks(dynsel_opencl_entry *entry)
{
    for (uint64_t ns = FIRST_INTERVAL_NS; ns <= MOST_INTERVAL_NS; ns *= LONGER) {
        mark first = {.host_ns = 0};
        mark second = {.host_ns = 0};
        dynsel_status status = set_mark(entry, &first);
        if (status == DYNSEL_OK) {
            let_pass(ns);
            status = set_mark(entry, &second);
        }
        if (status != DYNSEL_OK) {
            return status;
        }
        const uint64_t host_ns = second.host_ns - first.host_ns;
        const cl_ulong device_ns = second.device_ns - first.device_ns; /* backward: enormous */
        const uint64_t apart_ns = device_ns > host_ns ? device_ns - host_ns : host_ns - device_ns;
        if (apart_ns <= host_ns / TOLERANCE ||
            (ns > MOST_INTERVAL_NS / LONGER && is_possible(&first, &second))) {
            return DYNSEL_OK;
        }
    }
    entry->timing.reason = "its clock does not go like the host's";
    return DYNSEL_E_DEVICE;
}

/* Makes what profiles need: a queue beside the device's own, unless that has profiles. */
DYNSEL_RARE static dynsel_status make(dynsel_opencl_entry *entry)
{
    dynsel_opencl_times *const timing = &entry->timing;
    const cl_command_queue_properties chosen = dynsel_opencl_known.options.queue_properties;
    cl_int code = CL_SUCCESS;
    timing->queue = entry->queue;
    if ((chosen & CL_QUEUE_PROFILING_ENABLE) == 0) {
        timing->queue = clCreateCommandQueue(entry->context, entry->device,
                                             chosen | CL_QUEUE_PROFILING_ENABLE, &code);
    }
    if (timing->queue == NULL) {
        timing->reason = "its driver makes no queue with profiling";
        return DYNSEL_E_DEVICE;
    }
    timing->gate = clCreateBuffer(entry->context, CL_MEM_READ_WRITE, sizeof(cl_uint), NULL, &code);
    timing->reason = refuses;
    return timing->gate != NULL ? DYNSEL_OK : DYNSEL_E_DEVICE;
}

/* Why profiles are out of the question; NULL: they are not. */
static const char *find_objection(const dynsel_opencl_entry *entry)
{
    const dynsel_opencl_timing chosen = dynsel_opencl_known.options.timing;
    if (entry->adopted) {
        return "its queue is the program's";
    }
    if (chosen == DYNSEL_OPENCL_TIMES_BY_CALLBACK) {
        return "the program chose callbacks";
    }
    return chosen == DYNSEL_OPENCL_TIMES_DEFAULT && entry->hangs_on_events
               ? "its driver may hang where one queue waits for another"
               : NULL;
}

DYNSEL_RARE void dynsel_opencl_find_source(dynsel_opencl_entry *entry)
{
    dynsel_opencl_times *const timing = &entry->timing;
    uint32_t expected = DYNSEL_OPENCL_SOURCE_UNKNOWN;
    if (!dynsel_word_swap(&timing->source, &expected, DYNSEL_OPENCL_SOURCE_CHECKED)) {
        return;
    }
    dynsel_status status = DYNSEL_E_DEVICE;
    timing->reason = find_objection(entry);
    if (timing->reason == NULL) {
        status = make(entry);
        if (status == DYNSEL_OK) {
            status = compare_clocks(entry);
        }
        if (status != DYNSEL_OK && !dynsel_opencl_is_lost(entry)) {
            dynsel_opencl_release_profiling(entry);
        }
    }
    uint32_t source = DYNSEL_OPENCL_SOURCE_CALLBACKS;
    if (status == DYNSEL_OK) {
        dynsel_word_store_relaxed(&timing->failures, 0);
        source = DYNSEL_OPENCL_SOURCE_PROFILES;
    }
    if (status == DYNSEL_E_TIMEOUT) {
        timing->reason = "it did not answer in time";
        if (dynsel_word_add_relaxed(&timing->failures, LATE_COUNTS) + LATE_COUNTS < MOST_FAILURES) {
            source = DYNSEL_OPENCL_SOURCE_UNKNOWN; /* the next timed work finds out */
        }
    }
    dynsel_word_store_release(&timing->source, source);
}

static dynsel_opencl_entry *entry_of(const dynsel_resource *where)
{
    return where != NULL && where->backend == &dynsel_opencl_backend
               ? dynsel_opencl_entry_of_handle(where->handle)
               : NULL;
}

DYNSEL_RARE dynsel_status dynsel_opencl_find_timing(const dynsel_resource *where,
                                                    dynsel_opencl_timing *timing,
                                                    const char **reason)
{
    dynsel_opencl_entry *const entry = entry_of(where);
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (entry == NULL || timing == NULL || reason == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID,
                           "not a resource of the OpenCL backend, or nowhere to write to");
    }
    *timing = DYNSEL_OPENCL_TIMES_BY_CALLBACK;
    *reason = find_objection(entry);
    if (*reason != NULL) {
        return DYNSEL_OK;
    }
    const dynsel_status status = dynsel_opencl_open(entry);
    if (status != DYNSEL_OK) {
        return status;
    }
    if (dynsel_opencl_has_profiles(entry)) {
        *timing = DYNSEL_OPENCL_TIMES_BY_PROFILE;
        *reason = "its profiles agree with the host's clock";
        return DYNSEL_OK;
    }
    if (dynsel_word_load_acquire(&entry->timing.source) != DYNSEL_OPENCL_SOURCE_CALLBACKS) {
        return DYNSEL_FAIL(DYNSEL_E_AGAIN, "the device did not answer within 100 ms");
    }
    *reason = entry->timing.reason;
    return DYNSEL_OK;
}

/* The queue stays, because work of other threads may be in it. */
void dynsel_opencl_note_profile(dynsel_opencl_entry *entry, bool is_true)
{
    dynsel_opencl_times *const timing = &entry->timing;
    if (is_true) {
        dynsel_word_store_relaxed(&timing->failures, 0);
        return;
    }
    if (dynsel_word_add_relaxed(&timing->failures, 1) + 1 == MOST_FAILURES) {
        timing->reason = "its profiles of work could not be true";
        dynsel_word_store_release(&timing->source, DYNSEL_OPENCL_SOURCE_CALLBACKS);
    }
}
