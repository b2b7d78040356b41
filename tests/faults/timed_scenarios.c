/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios in which devices time work by their profiles. */
#include "faults/scenarios.h"

#if CONFIG_DYNSEL_CUSTOM_POLICIES

enum { WORDS = 64, PIECES = 3, FIRST_VALUE = 7 };

static struct {
    dynsel_policy policy;
    uint32_t submissions;
    uint32_t ends;
    uint32_t times;
} w;

static dynsel_status select_first(dynsel_policy *base, const dynsel_task *task,
                                  dynsel_selection *selection)
{
    selection->index = 0;
    return dynsel_policy_may_use(base, 0, task) ? DYNSEL_OK : dynsel_policy_refuse(base, task);
}

static void hear(dynsel_policy *base, const dynsel_selection *selection, dynsel_execution_info info,
                 uint64_t value)
{
    (void)base;
    (void)selection;
    (void)value;
    w.submissions += info == DYNSEL_TASK_SUBMISSION ? 1 : 0;
    w.times += info == DYNSEL_TASK_TIME ? 1 : 0;
    w.ends += info == DYNSEL_TASK_COMPLETION || info == DYNSEL_TASK_WITHDRAWN ? 1 : 0;
}

static const dynsel_policy_ops timing = {.name = "timing",
                                         .needs = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION |
                                                  DYNSEL_TASK_TIME,
                                         .try_select = select_first,
                                         .report = hear};

/* One more than where a device could use it itself. */
static uint32_t words[WORDS + 1];
static dynsel_buffer buffer;
static uint32_t value;

static dynsel_status fill(dynsel_handler *handler, void *args)
{
    dynsel_accessor data;
    const dynsel_status status = dynsel_get_access(handler, buffer, DYNSEL_ACCESS_DISCARD_WRITE,
                                                   DYNSEL_MEMORY_GLOBAL, &data);
    return status == DYNSEL_OK ? dynsel_fill(handler, &data, args, sizeof(value)) : status;
}

/* A task function that enqueues a marker behind all. */
static dynsel_status mark(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const cl_command_queue queue = dynsel_opencl_queue(where);
    (void)args;
    if (queue == NULL) {
        return dynsel_last_error()->status;
    }
    return dynsel_opencl_check("clEnqueueMarkerWithWaitList",
                               clEnqueueMarkerWithWaitList(queue, 0, NULL, &done->opencl));
}

/* What later pieces wrote is there, also where the one before was in another queue. */
static void run_pieces(void)
{
    bool filled = true;
    for (uint32_t i = 0; i < PIECES; i++) {
        value = FIRST_VALUE + i;
        dynsel_submission submission;
        bool done = fault_saw(dynsel_submit_command_group(&w.policy, fill, &value, &submission));
        done = done && fault_saw(dynsel_wait(&submission));
        filled = filled && done;
        (void)fault_saw(dynsel_submit_and_wait(&w.policy, &DYNSEL_TASK(mark, NULL)));
    }
    dynsel_host_accessor seen = {0};
    if (filled && fault_saw(dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ))) {
        const uint32_t *const found = seen.data;
        fault_must(found[WORDS - 1] == value || fault_is_lied_to(), "the data are wrong");
        (void)fault_saw(dynsel_host_accessor_close(&seen));
    }
}

static void end_buffer(void)
{
    dynsel_host_accessor anything = {0};
    if (!fault_saw(dynsel_buffer_deinit(&buffer)) && buffer.token != 0) {
        fault_clear();
        fault_must(dynsel_host_accessor_open(&anything, buffer, DYNSEL_ACCESS_DISCARD_WRITE) ==
                           DYNSEL_OK &&
                       dynsel_host_accessor_close(&anything) == DYNSEL_OK &&
                       dynsel_buffer_deinit(&buffer) == DYNSEL_OK,
                   "a buffer cannot be given up");
    }
}

static void play_profiled(void)
{
    const dynsel_options options = {.resources = fault_devices, .count = 1};
    w.policy = (dynsel_policy){.count = 0};
    w.submissions = 0;
    w.ends = 0;
    w.times = 0;
    if (!fault_saw(dynsel_policy_init(&w.policy, &timing, &options))) {
        return;
    }
    if (fault_saw(dynsel_buffer_init(&buffer, words + 1, sizeof(uint32_t), DYNSEL_RANGE(WORDS)))) {
        run_pieces();
        end_buffer();
    }
    fault_nothing_runs();
    fault_must(w.ends == w.submissions && w.times <= w.ends, "work is not reported once");
    fault_must(fault_failures() != 0 || w.times == w.ends, "a time is missing");
    fault_must(dynsel_invariants_hold(&w.policy), "the invariants do not hold");
    fault_must(dynsel_policy_deinit(&w.policy) == DYNSEL_OK, "the policy is still in use");
}

static const fault_function while_profiling[] = {FAULT_clEnqueueMarkerWithWaitList,
                                                 FAULT_clEnqueueBarrierWithWaitList,
                                                 FAULT_clEnqueueWriteBuffer,
                                                 FAULT_clEnqueueFillBuffer,
                                                 FAULT_clFlush,
                                                 FAULT_clGetEventInfo,
                                                 FAULT_clGetEventProfilingInfo,
                                                 FAULT_clRetainEvent,
                                                 FAULT_clReleaseEvent,
                                                 FAULT_clWaitForEvents};

/* How the source of times is found. */
static const fault_function while_finding_source[] = {
    FAULT_clCreateCommandQueue,    FAULT_clCreateBuffer, FAULT_clEnqueueWriteBuffer,
    FAULT_clGetEventProfilingInfo, FAULT_clGetEventInfo, FAULT_clReleaseMemObject,
    FAULT_clReleaseCommandQueue};

const fault_scenario fault_profiled = {.name = "profiled",
                                       .play = play_profiled,
                                       .timing = DYNSEL_OPENCL_TIMES_BY_PROFILE,
                                       .only = while_profiling,
                                       .only_count =
                                           sizeof(while_profiling) / sizeof(while_profiling[0])};
const fault_scenario fault_proving = {.name = "proving",
                                      .play = play_profiled,
                                      .timing = DYNSEL_OPENCL_TIMES_BY_PROFILE,
                                      .is_cold = true,
                                      .only = while_finding_source,
                                      .only_count = sizeof(while_finding_source) /
                                                    sizeof(while_finding_source[0])};

#endif
