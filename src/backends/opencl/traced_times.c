/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/traced_times.h"

#include "backends/opencl/device_state.h"
#include "backends/opencl/events.h"
#include "submission/slot.h"

/* What is needed at the end, for each slot. The moment when a command was enqueued is known on both
 * clocks: it lies within the start of the work. So no drift of the clocks adds up. */
typedef struct traced_start {
    uint64_t since_ns; /* 0: not traced */
    uint64_t until_ns;
    dynsel_opencl_profile profile; /* end_ns 0: none yet */
} traced_start;

static traced_start starts[CONFIG_DYNSEL_MAX_IN_FLIGHT];

/* NULL: the work has no slot. */
static traced_start *record_of(const dynsel_work *work)
{
    const uint32_t number = dynsel_slot_number_in(work->token);
    return number != DYNSEL_NO_SLOT && number <= CONFIG_DYNSEL_MAX_IN_FLIGHT ? &starts[number - 1]
                                                                             : NULL;
}

void dynsel_opencl_trace_start(const dynsel_work *work, uint64_t since_ns)
{
    traced_start *const start = since_ns != 0 ? record_of(work) : NULL;
    if (start != NULL) {
        *start = (traced_start){.since_ns = since_ns, .until_ns = dynsel_now_ns()};
    }
}

void dynsel_opencl_trace_profile(const dynsel_work *work, cl_ulong begin_ns,
                                 const dynsel_opencl_profile *last)
{
    traced_start *const start = record_of(work);
    if (start != NULL) {
        start->profile = *last;
        start->profile.start_ns = begin_ns;
    }
}

/* The profile of work that was not timed. Of a command group it is the kernel's; what else a task
 * function enqueued before its last command is not known. */
static bool read_profile(const dynsel_work *work, dynsel_opencl_profile *profile)
{
    const dynsel_slot *const slot = dynsel_slot_at(dynsel_slot_number_in(work->token));
    return dynsel_slot_can_be_pending(slot) && dynsel_opencl_is_own_event(work->done.opencl) &&
           dynsel_opencl_read_profile(work->done.opencl, profile);
}

bool dynsel_opencl_tell_run(dynsel_backend *backend, const dynsel_work *work,
                            dynsel_device_run *run)
{
    traced_start *const start = record_of(work);
    (void)backend;
    if (start == NULL || start->since_ns == 0 || work->done.opencl == NULL ||
        dynsel_opencl_is_lost(work->own) ||
        (start->profile.end_ns == 0 && !read_profile(work, &start->profile))) {
        return false;
    }
    const dynsel_opencl_profile *const profile = &start->profile;
    /* The begin may be that of a command before the last one. */
    run->begin_ns = start->until_ns + profile->start_ns - profile->queued_ns;
    run->took_ns = profile->end_ns - profile->start_ns;
    const uint64_t error_ns = start->until_ns - start->since_ns;
    run->error_ns = error_ns < UINT32_MAX ? (uint32_t)error_ns : UINT32_MAX;
    start->since_ns = 0;
    return true;
}
