/* SPDX-License-Identifier: Apache-2.0 */
/* When devices ran work, on the host's clock, for the trace; no code without CONFIG_DYNSEL_TRACE.
 * Known are the times of sampled work, and those of all command groups where the device's own
 * queue has profiling. */
#ifndef DYNSEL_BACKENDS_OPENCL_TRACED_TIMES_H
#define DYNSEL_BACKENDS_OPENCL_TRACED_TIMES_H

#include "backends/opencl/profiling.h"
#include "trace/trace.h"

#if CONFIG_DYNSEL_TRACE

/* Before a start: the time, if it is needed; else 0. */
static inline uint64_t dynsel_opencl_traced_now(void)
{
    return dynsel_trace_is_on() ? dynsel_now_ns() : 0;
}

/* After it. */
void dynsel_opencl_trace_start(const dynsel_work *work, uint64_t since_ns);

/* Of timed work: its begin on the device's clock, and the profile of its last command. */
void dynsel_opencl_trace_profile(const dynsel_work *work, cl_ulong begin_ns,
                                 const dynsel_opencl_profile *last);

/* See `tell_run` of dynsel_backend_ops. */
bool dynsel_opencl_tell_run(dynsel_backend *backend, const dynsel_work *work,
                            dynsel_device_run *run);

#else

static inline uint64_t dynsel_opencl_traced_now(void)
{
    return 0;
}

static inline void dynsel_opencl_trace_start(const dynsel_work *work, uint64_t since_ns)
{
    (void)work;
    (void)since_ns;
}

static inline void dynsel_opencl_trace_profile(const dynsel_work *work, cl_ulong begin_ns,
                                               const dynsel_opencl_profile *last)
{
    (void)work;
    (void)begin_ns;
    (void)last;
}

#endif

#endif
