/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/work_group_trials.h"

#include <string.h>

#include "backends/opencl/events.h"
#include "backends/opencl/profiling.h"
#include "backends/opencl/timing.h"
#include "backends/opencl/work_groups.h"

enum {
    FIRST = 32,        /* launches of a kernel before its trials */
    INTERVAL = 8,      /* one in so many is a trial: it takes about 14 us longer on an H100 */
    OTHER_RANGES = 64, /* so many over other ranges in a row: trials begin anew with the latest */
    ROUNDS = 3,
    NEAR_PARTS = 4,           /* sizes within one part in this many of the best are tried again */
    WORTH_PARTS = 40,         /* a size has to be faster by one part in this many to be chosen */
    NO_LOCAL_BYTES = 4,       /* NVIDIA's driver 580 tells 1 for kernels without local memory */
    SHORTEST_NS = 20 * 1000u, /* shorter kernels cost less than their enqueue, or little more */
    UNKNOWN = UINT32_MAX
};

/* By the number of dimensions; the first is the one of the range alone. */
static const dynsel_opencl_caps sizes[DYNSEL_MAX_DIMENSIONS][DYNSEL_OPENCL_MOST_TRIED] = {
    {{0, 0, 0}, {64, 1, 64}, {128, 1, 128}, {512, 1, 512}, {1024, 1, 1024}},
    {{0, 0, 0},
     {64, 4, 256},
     {32, 8, 256},
     {16, 16, 256},
     {8, 32, 256},
     {4, 64, 256},
     {32, 2, 64},
     {128, 1, 128}},
    {{0, 0, 0},
     {64, 2, 256},
     {64, 8, 256},
     {32, 4, 256},
     {32, 8, 256},
     {16, 4, 256},
     {8, 8, 256},
     {4, 64, 256}},
};

static const dynsel_opencl_caps *sizes_for(cl_uint dimensions)
{
    return sizes[dimensions - 1];
}

/* Kernels with local memory are written for a certain size, or depend on it, unless they say that
 * they do not. */
static bool may_be_tried(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                         const dynsel_opencl_kernel *built)
{
    cl_ulong local_bytes = 0;
    if ((entry->type & CL_DEVICE_TYPE_GPU) == 0 || built->demanded[0] != 0 ||
        dynsel_opencl_known.options.work_groups == DYNSEL_OPENCL_WORK_GROUPS_BY_RANGE) {
        return false;
    }
    const cl_int code =
        clGetKernelWorkGroupInfo(built->kernel, entry->device, CL_KERNEL_LOCAL_MEM_SIZE,
                                 sizeof(local_bytes), &local_bytes, NULL);
    const bool is_free = code == CL_SUCCESS && local_bytes < NO_LOCAL_BYTES;
    return (is_free || kernel->any_group_size) && dynsel_opencl_has_profiles(entry);
}

static void begin(dynsel_opencl_kernel *built)
{
    dynsel_opencl_trials *const trials = &built->trials;
    trials->stage = DYNSEL_OPENCL_TRIALS_RUN;
    trials->tried = 0;
    trials->round = 0;
    trials->others = 0;
    trials->shape = built->shape;
    for (uint32_t i = 0; i < DYNSEL_OPENCL_MOST_TRIED; i++) {
        trials->least_ns[i] = UNKNOWN;
    }
}

/* The fastest of those whose time is known. */
static uint32_t find_fastest(const dynsel_opencl_trials *trials)
{
    uint32_t fastest = 0;
    for (uint32_t i = 1; i < DYNSEL_OPENCL_MOST_TRIED; i++) {
        fastest = trials->least_ns[i] < trials->least_ns[fastest] ? i : fastest;
    }
    return fastest;
}

static void end(dynsel_opencl_kernel *built)
{
    dynsel_opencl_trials *const trials = &built->trials;
    const uint32_t fastest = find_fastest(trials);
    const uint32_t usual_ns = trials->least_ns[0];
    const bool pays =
        usual_ns != UNKNOWN && trials->least_ns[fastest] <= usual_ns - usual_ns / WORTH_PARTS;
    if (pays) {
        built->fastest = sizes_for(trials->shape.dimensions)[fastest];
        built->measured_dimensions = trials->shape.dimensions;
    }
    trials->stage = DYNSEL_OPENCL_TRIALS_OVER;
    built->shape.dimensions = 0; /* the next launch chooses anew */
}

/* Whether the limits lead to a size that no earlier ones lead to. Writes it. */
static bool is_new(const dynsel_opencl_entry *entry, const dynsel_opencl_kernel *built,
                   uint8_t index, size_t *local)
{
    const dynsel_opencl_shape *const shape = &built->trials.shape;
    const dynsel_opencl_caps *const caps = sizes_for(shape->dimensions);
    size_t other[DYNSEL_MAX_DIMENSIONS];
    if (index != 0 && caps[index].all == 0) {
        return false; /* there are fewer for these dimensions */
    }
    dynsel_opencl_fit_local(entry, built, shape, caps[index], local);
    for (uint8_t i = 0; i < index; i++) {
        if (i == 0 || caps[i].all != 0) {
            dynsel_opencl_fit_local(entry, built, shape, caps[i], other);
            if (memcmp(other, local, shape->dimensions * sizeof(size_t)) == 0) {
                return false;
            }
        }
    }
    return true;
}

/* The usual size is tried in each round, the others again where they are near the best. */
static bool is_worth_a_trial(const dynsel_opencl_trials *trials, uint8_t index)
{
    const uint32_t least_ns = trials->least_ns[find_fastest(trials)];
    return index == 0 || trials->round == 0 ||
           (trials->least_ns[index] != UNKNOWN &&
            trials->least_ns[index] - least_ns <= least_ns / NEAR_PARTS);
}

/* From `tried` on: finds the next size to be tried, and writes it to the trials' shape. False:
 * there is none. */
static bool find_next(const dynsel_opencl_entry *entry, dynsel_opencl_kernel *built)
{
    dynsel_opencl_trials *const trials = &built->trials;
    while (trials->round < ROUNDS) {
        if (trials->tried == DYNSEL_OPENCL_MOST_TRIED) {
            trials->tried = 0;
            trials->round++;
        } else if (is_worth_a_trial(trials, trials->tried) &&
                   is_new(entry, built, trials->tried, trials->shape.local)) {
            return true;
        } else {
            trials->tried++;
        }
    }
    return false;
}

/* Reads the time of the latest trial, if it has ended. False: it is running, or its state is not
 * known. */
static bool read_time(dynsel_opencl_entry *entry, dynsel_opencl_trials *trials)
{
    cl_int status = CL_QUEUED;
    dynsel_opencl_profile profile;
    if (trials->event == NULL) {
        return true;
    }
    const cl_int code = clGetEventInfo(trials->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                       sizeof(status), &status, NULL);
    if (code != CL_SUCCESS || status > CL_COMPLETE) {
        return false;
    }
    if (status == CL_COMPLETE) {
        const bool is_true = dynsel_opencl_read_profile(trials->event, &profile);
        const cl_ulong ns = is_true ? profile.end_ns - profile.start_ns : UNKNOWN;
        uint32_t *const least_ns = &trials->least_ns[trials->tried];
        dynsel_opencl_note_profile(entry, is_true);
        *least_ns = ns < *least_ns ? (uint32_t)ns : *least_ns;
    }
    dynsel_opencl_release_event(entry, trials->event);
    trials->event = NULL;
    trials->tried++;
    return true;
}

/* Whether this launch is a trial; then of the size in the trials' shape. */
static bool prepare(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                    dynsel_opencl_kernel *built)
{
    dynsel_opencl_trials *const trials = &built->trials;
    if (trials->stage == DYNSEL_OPENCL_TRIALS_LATER) {
        if (!may_be_tried(entry, kernel, built)) {
            trials->stage = DYNSEL_OPENCL_TRIALS_OVER;
            return false;
        }
        begin(built);
    }
    if (!read_time(entry, trials)) {
        return false;
    }
    if (memcmp(trials->shape.global, built->shape.global, sizeof(trials->shape.global)) != 0 ||
        trials->shape.dimensions != built->shape.dimensions) {
        trials->others += INTERVAL;
        if (trials->others >= OTHER_RANGES) {
            begin(built);
        }
        return false;
    }
    trials->others = 0;
    const bool is_short = trials->least_ns[0] < SHORTEST_NS;
    if (is_short || !dynsel_opencl_has_profiles(entry) || !find_next(entry, built)) {
        end(built);
        return false;
    }
    return true;
}

bool dynsel_opencl_launch_trial(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                dynsel_opencl_kernel *built, const size_t *first,
                                cl_uint after_count, const cl_event *after, cl_event *done)
{
    dynsel_opencl_trials *const trials = &built->trials;
    if (trials->stage == DYNSEL_OPENCL_TRIALS_NOT_YET) {
        trials->stage = DYNSEL_OPENCL_TRIALS_LATER;
        trials->left_out = FIRST;
        return false;
    }
    trials->left_out = INTERVAL;
    if (dynsel_this_thread()->timed_start != NULL || !prepare(entry, kernel, built) ||
        !dynsel_opencl_enter_timing_queue(entry)) {
        return false;
    }
    const cl_int code =
        clEnqueueNDRangeKernel(entry->timing.queue, built->kernel, trials->shape.dimensions, first,
                               trials->shape.global, trials->shape.local, after_count, after, done);
    if (code != CL_SUCCESS) {
        trials->tried++; /* the launch that follows tells what is wrong */
        return false;
    }
    if (clRetainEvent(*done) == CL_SUCCESS) {
        trials->event = *done;
    } else {
        trials->tried++;
    }
    dynsel_opencl_leave_timing_queue(entry, *done);
    return true;
}
