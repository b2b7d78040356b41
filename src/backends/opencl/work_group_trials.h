/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials of work-group sizes on GPUs whose profiles are true (profiling.h): some launches of a
 * kernel use other sizes than the one that follows from the range, on the queue with profiling, and
 * the fastest stays. Every launch does the program's work, whatever its size.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_WORK_GROUP_TRIALS_H
#define DYNSEL_BACKENDS_OPENCL_WORK_GROUP_TRIALS_H

#include "backends/opencl/kernel_cache.h"
#include "port/likely.h"

typedef enum dynsel_opencl_trial_stage {
    DYNSEL_OPENCL_TRIALS_NOT_YET, /* the kernel was not launched yet */
    DYNSEL_OPENCL_TRIALS_LATER,   /* it was launched too rarely */
    DYNSEL_OPENCL_TRIALS_RUN,
    DYNSEL_OPENCL_TRIALS_OVER
} dynsel_opencl_trial_stage;

#if CONFIG_DYNSEL_OPENCL_WORK_GROUP_TRIALS

/* Counts the launch of a taken kernel; true: it may be a trial. */
static inline bool dynsel_opencl_trial_is_due(dynsel_opencl_kernel *built)
{
    dynsel_opencl_trials *const trials = &built->trials;
    if (DYNSEL_LIKELY(trials->stage == DYNSEL_OPENCL_TRIALS_OVER)) {
        return false;
    }
    return trials->left_out == 0 || --trials->left_out == 0;
}

/*
 * When one is due: launches the taken kernel, whose arguments are set and whose shape is chosen,
 * with a size to be tried. first: the offset; NULL: 0. after: what the launch waits for. False:
 * nothing was launched, because nothing is to be tried now, or the driver refused it.
 */
bool dynsel_opencl_launch_trial(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                dynsel_opencl_kernel *built, const size_t *first,
                                cl_uint after_count, const cl_event *after, cl_event *done);

#else

static inline bool dynsel_opencl_trial_is_due(const dynsel_opencl_kernel *built)
{
    (void)built;
    return false;
}

static inline bool dynsel_opencl_launch_trial(const dynsel_opencl_entry *entry,
                                              const dynsel_kernel *kernel,
                                              const dynsel_opencl_kernel *built,
                                              const size_t *first, cl_uint after_count,
                                              const cl_event *after, const cl_event *done)
{
    (void)entry;
    (void)kernel;
    (void)built;
    (void)first;
    (void)after_count;
    (void)after;
    (void)done;
    return false;
}

#endif

#endif
