/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios with objects of the program: its memory, its events. */
#include <stdio.h>
#include <string.h>

#include "faults/scenarios.h"

enum { WORDS = 64, BYTES = WORDS * sizeof(uint32_t) };

static dynsel_round_robin_policy home;  /* the device in whose context the objects are */
static dynsel_round_robin_policy other; /* the host */

static bool begin_policy(dynsel_round_robin_policy *policy, const dynsel_resource *resource)
{
    const dynsel_options options = {.resources = resource, .count = 1};
    *policy = (dynsel_round_robin_policy){0};
    return fault_saw(dynsel_round_robin_init(policy, &options, 0));
}

static void end_policy(dynsel_round_robin_policy *policy)
{
    fault_must(dynsel_invariants_hold(&policy->policy), "the invariants do not hold");
    fault_must(dynsel_policy_deinit(&policy->policy) == DYNSEL_OK, "the policy is still in use");
}

/* The device is opened, because what is made while the layer is suspended is not known to it. */
static bool begin(void)
{
    const dynsel_resource host = {&dynsel_inline_backend, NULL};
    if (dynsel_opencl_queue(&fault_devices[0]) == NULL) {
        return fault_saw(dynsel_last_error()->status);
    }
    if (!begin_policy(&home, &fault_devices[0])) {
        return false;
    }
    if (begin_policy(&other, &host)) {
        return true;
    }
    end_policy(&home);
    return false;
}

static void end(void)
{
    fault_nothing_runs();
    end_policy(&home);
    end_policy(&other);
}

/* The program's own calls never fail. */
static cl_mem make_memory(void)
{
    uint32_t words[WORDS];
    cl_int code = CL_SUCCESS;
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = i;
    }
    fault_suspend(true);
    const cl_mem memory = clCreateBuffer(dynsel_opencl_context(&fault_devices[0]),
                                         CL_MEM_COPY_HOST_PTR, BYTES, words, &code);
    fault_suspend(false);
    fault_must(code == CL_SUCCESS, "the program has no memory");
    return memory;
}

/* Releases it. expected: what was added, if it is known. */
static void must_have(cl_mem memory, bool is_known, uint32_t added)
{
    uint32_t words[WORDS] = {0};
    fault_let_go(); /* the program waits for its queue */
    fault_suspend(true);
    if (is_known) {
        (void)clEnqueueReadBuffer(dynsel_opencl_queue(&fault_devices[0]), memory, CL_TRUE, 0, BYTES,
                                  words, 0, NULL, NULL);
    }
    cl_uint references = 0;
    (void)clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof(references), &references, NULL);
    fault_suspend(false);
    fault_must(!is_known || fault_is_lied_to() ||
                   (words[0] == added && words[WORDS - 1] == WORDS - 1 + added),
               "the data are wrong, and nothing says so");
    fault_must(references != 0, "the program's memory is gone");
    fault_suspend(true);
    (void)clReleaseMemObject(memory);
    fault_suspend(false);
}

static uint32_t staging[WORDS + 1];
static uint32_t plain[WORDS + 1];
static dynsel_buffer over;   /* the program's memory */
static dynsel_buffer copied; /* memory of the host's */

typedef struct job {
    dynsel_buffer buffer;
    cl_event before; /* or NULL */
} job;

static dynsel_status add_one_on_host(const dynsel_launch *launch)
{
    uint32_t *const words = dynsel_launch_data(launch, 0);
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] += 1;
    }
    return DYNSEL_OK;
}

static const dynsel_kernel add_one = {.name = "add_one",
                                      .function = add_one_on_host,
                                      .source = "kernel void add_one(global uint *words)\n"
                                                "{ words[get_global_id(0)] += 1; }\n"};

static dynsel_status add(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor data;
    dynsel_status status = dynsel_get_access(handler, j->buffer, DYNSEL_ACCESS_READ_WRITE,
                                             DYNSEL_MEMORY_GLOBAL, &data);
    if (status == DYNSEL_OK && j->before != NULL) {
        status = dynsel_opencl_depend_on(handler, j->before);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, 0, &data);
    }
    return status == DYNSEL_OK
               ? dynsel_parallel_for(handler, &add_one, DYNSEL_RANGE(WORDS), NULL, NULL)
               : status;
}

static void add_on(dynsel_round_robin_policy *policy, dynsel_buffer buffer, uint32_t *added)
{
    job j = {.buffer = buffer};
    if (fault_saw(dynsel_submit_command_group_and_wait(&policy->policy, add, &j))) {
        ++*added;
    }
}

/* What cannot be brought home is given up: its device was lost, or the buffer is ended when nothing
 * fails any more. True: the data are at home. */
static bool end_over(void)
{
    const bool ended = fault_saw(dynsel_buffer_deinit(&over));
    if (over.token != 0) {
        fault_clear();
        (void)!dynsel_buffer_deinit(&over);
        fault_must(over.token == 0, "a buffer cannot be ended");
    }
    return ended;
}

static void end_plain(dynsel_buffer *buffer)
{
    dynsel_host_accessor anything = {0};
    (void)fault_saw(dynsel_buffer_deinit(buffer));
    if (buffer->token != 0) {
        fault_clear();
        fault_must(dynsel_host_accessor_open(&anything, *buffer, DYNSEL_ACCESS_DISCARD_WRITE) ==
                           DYNSEL_OK &&
                       dynsel_host_accessor_close(&anything) == DYNSEL_OK &&
                       dynsel_buffer_deinit(buffer) == DYNSEL_OK,
                   "a buffer cannot be given up");
    }
}

/* In its own context, elsewhere, beside another buffer that needs room while the program's memory
 * is out of date, and elsewhere last. */
static bool use_memory(cl_mem memory, uint32_t *added)
{
    uint32_t unused = 0;
    over = (dynsel_buffer){0};
    copied = (dynsel_buffer){0};
    if (!fault_saw(dynsel_opencl_buffer_init(&over, memory, staging + 1, sizeof(uint32_t),
                                             DYNSEL_RANGE(WORDS)))) {
        return true;
    }
    add_on(&home, over, added);
    add_on(&other, over, added);
    if (fault_saw(dynsel_buffer_init(&copied, plain + 1, sizeof(uint32_t), DYNSEL_RANGE(WORDS)))) {
        add_on(&home, copied, &unused);
        end_plain(&copied);
    }
    return end_over();
}

static void play_memory(void)
{
    uint32_t added = 0;
    if (begin()) {
        const cl_mem memory = make_memory();
        const bool is_known = use_memory(memory, &added);
        fault_nothing_runs();
        must_have(memory, is_known, added);
        end();
    }
}

/* A call that may always fail, because nothing of the library depends on it. */
static bool is_retain(dynsel_status status)
{
    return status == DYNSEL_E_DEVICE && dynsel_last_error()->function != NULL &&
           strcmp(dynsel_last_error()->function, "clRetainEvent") == 0;
}

/* Work after an event, NULL: none. False: it was refused. */
static bool submit_after(dynsel_round_robin_policy *policy, dynsel_buffer buffer, cl_event before,
                         dynsel_submission *submission)
{
    job j = {.buffer = buffer, .before = before};
    *submission = (dynsel_submission){0};
    const dynsel_status status = dynsel_submit_command_group(&policy->policy, add, &j, submission);
    if (status != DYNSEL_OK) {
        (void)(is_retain(status) || fault_saw(status));
    }
    return status == DYNSEL_OK;
}

/* NULL: it has none. */
static cl_event event_of(const dynsel_submission *submission)
{
    cl_event event = NULL;
    dynsel_status status = DYNSEL_E_AGAIN;
    while (status == DYNSEL_E_AGAIN) {
        dynsel_progress();
        status = dynsel_opencl_submission_event(submission, &event);
    }
    return event;
}

static void release_event(cl_event event)
{
    if (event != NULL) {
        (void)clReleaseEvent(event);
    }
}

static cl_event mark(void)
{
    cl_event made = NULL;
    fault_suspend(true);
    (void)clEnqueueMarkerWithWaitList(dynsel_opencl_queue(&fault_devices[0]), 0, NULL, &made);
    fault_suspend(false);
    return made;
}

/* Work after a command of the program; and after that, through its event, work on the device and
 * on the host. */
static void play_chain(void)
{
    dynsel_submission works[3];
    cl_event done = NULL;
    const cl_event before = mark();
    const bool first = submit_after(&home, copied, before, &works[0]);
    if (first) {
        done = event_of(&works[0]);
    }
    const bool second = submit_after(&home, over, done, &works[1]);
    const bool third = submit_after(&other, over, done, &works[2]);
    release_event(done);
    (void)(first && fault_saw(dynsel_wait(&works[0])));
    (void)(second && fault_saw(dynsel_wait(&works[1])));
    (void)(third && fault_saw(dynsel_wait(&works[2])));
    fault_suspend(true);
    release_event(before);
    fault_suspend(false);
}

static void play_events(void)
{
    if (!begin()) {
        return;
    }
    copied = (dynsel_buffer){0};
    over = (dynsel_buffer){0};
    if (fault_saw(dynsel_buffer_init(&copied, plain + 1, sizeof(uint32_t), DYNSEL_RANGE(WORDS)))) {
        if (fault_saw(
                dynsel_buffer_init(&over, staging + 1, sizeof(uint32_t), DYNSEL_RANGE(WORDS)))) {
            play_chain();
            end_plain(&over);
        }
        end_plain(&copied);
    }
    end();
}

/* Nothing is built, so that it can be played from the start each time. */
static dynsel_status clear(dynsel_handler *handler, void *args)
{
    static const uint32_t zero = 0;
    dynsel_accessor data;
    (void)args;
    const dynsel_status status = dynsel_get_access(handler, copied, DYNSEL_ACCESS_DISCARD_WRITE,
                                                   DYNSEL_MEMORY_GLOBAL, &data);
    return status == DYNSEL_OK ? dynsel_fill(handler, &data, &zero, sizeof(zero)) : status;
}

/* Where the library flushes only each 16th command: a command in another queue never begins if it
 * waits for one that was not flushed. */
static void clear_and_look(void)
{
    dynsel_submission work = {0};
    const uint32_t flushes = fault_calls(FAULT_clFlush);
    if (fault_saw(dynsel_submit_command_group(&home.policy, clear, NULL, &work))) {
        const cl_event done = event_of(&work);
        fault_must(done == NULL || fault_calls(FAULT_clFlush) != flushes,
                   "an event is given out that was not flushed");
        release_event(done);
        (void)fault_saw(dynsel_wait(&work));
    }
}

static void play_flushed(void)
{
    if (begin()) {
        copied = (dynsel_buffer){0};
        if (fault_saw(
                dynsel_buffer_init(&copied, plain + 1, sizeof(uint32_t), DYNSEL_RANGE(WORDS)))) {
            clear_and_look();
            end_plain(&copied);
        }
        end();
    }
}

/* Twenty pieces of work without handles: their ends follow from few events. */
static void add_together(void)
{
    enum { ADDITIONS = 20 };
    job j = {.buffer = copied};
    dynsel_host_accessor seen = {0};
    bool all = true;
    for (uint32_t i = 0; i < ADDITIONS; i++) {
        all = fault_saw(dynsel_submit_command_group(&home.policy, add, &j, NULL)) && all;
    }
    all = fault_saw(dynsel_wait_group(dynsel_get_submission_group(&home.policy))) && all;
    if (fault_saw(dynsel_host_accessor_open(&seen, copied, DYNSEL_ACCESS_READ))) {
        const uint32_t *const words = seen.data;
        fault_must(!all || fault_is_lied_to() ||
                       (words[0] == ADDITIONS && words[WORDS - 1] == ADDITIONS),
                   "the data are wrong, and nothing says so");
        (void)fault_saw(dynsel_host_accessor_close(&seen));
    }
}

static void play_batched(void)
{
    if (begin()) {
        (void)memset(plain, 0, sizeof(plain));
        copied = (dynsel_buffer){0};
        if (fault_saw(
                dynsel_buffer_init(&copied, plain + 1, sizeof(uint32_t), DYNSEL_RANGE(WORDS)))) {
            add_together();
            end_plain(&copied);
        }
        end();
    }
}

static void play_log(void)
{
    static char text[4096];
    static const dynsel_kernel warned = {
        .name = "warned",
        .source = "#warning remarkable\nkernel void warned(global uint *words) { *words = 1; }\n"};
    size_t length = 0;
    (void)fault_saw(
        dynsel_opencl_build_log(&fault_devices[0], &warned, text, sizeof(text), &length));
}

static const fault_function of_memory[] = {
    FAULT_clCreateBuffer,     FAULT_clEnqueueReadBuffer, FAULT_clEnqueueWriteBuffer,
    FAULT_clGetMemObjectInfo, FAULT_clReleaseMemObject,  FAULT_clRetainMemObject,
    FAULT_clWaitForEvents,
};
static const fault_function of_events[] = {FAULT_clFlush, FAULT_clGetEventInfo,
                                           FAULT_clReleaseEvent, FAULT_clRetainEvent,
                                           FAULT_clWaitForEvents};
static const fault_function of_flushed[] = {FAULT_clFlush, FAULT_clRetainEvent};
static const fault_function of_batched[] = {FAULT_clEnqueueMarkerWithWaitList,
                                            FAULT_clEnqueueNDRangeKernel, FAULT_clGetEventInfo,
                                            FAULT_clReleaseEvent, FAULT_clWaitForEvents};
static const fault_function of_log[] = {FAULT_clBuildProgram, FAULT_clGetProgramBuildInfo};

#define SCENARIO(title, functions, ...)                                                            \
    const fault_scenario fault_##title = {.name = #title,                                          \
                                          .play = play_##title,                                    \
                                          .subset = (functions),                                   \
                                          .subset_count =                                          \
                                              sizeof(functions) / sizeof((functions)[0]),          \
                                          __VA_ARGS__}

SCENARIO(memory, of_memory, .is_cold = false);
SCENARIO(events, of_events, .is_cold = false);
SCENARIO(log, of_log, .is_cold = true);
SCENARIO(batched, of_batched, .is_cold = true);
SCENARIO(flushed, of_flushed, .is_cold = true);
