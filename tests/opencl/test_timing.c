/* SPDX-License-Identifier: Apache-2.0 */
/* How the time of work on devices is measured: by profiles that are true, else by callbacks. */
#include "fixture.h"
#include "timing_policy.h"

static const fake_device gpus[] = {{.name = "G0", .vendor = "V", .type = CL_DEVICE_TYPE_GPU}};
static const fake_device cpus[] = {{.name = "basic-C0", .vendor = "V", .type = CL_DEVICE_TYPE_CPU}};
static const fake_device poor_gpus[] = {
    {.name = "P0", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .no_profiling = true}};
static const fake_platform machine[] = {
    {.name = "G", .count = 1, .devices = gpus},
    {.name = "Portable Computing Language", .count = 1, .devices = cpus},
    {.name = "P", .count = 1, .devices = poor_gpus}};
enum { GPU, CPU, POOR_GPU };

static const cl_ulong US = 1000;
static const cl_ulong MS = 1000000;

static timing_policy w;

static dynsel_resource device(uint32_t index)
{
    dynsel_resource resources[8];
    size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_opencl_select("all", resources, COUNT(resources), &count));
    assert_true(index < count);
    return resources[index];
}

static void begin(uint32_t index)
{
    timing_policy_init(&w, device(index), NULL);
}

static void end(void)
{
    assert_true(dynsel_invariants_hold(&w.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&w.policy));
}

static int set_up_machine(void **state)
{
    (void)set_up(state);
    show(machine, COUNT(machine));
    return 0;
}

/* What the next task function does, and what it was given. */
typedef struct job {
    uint32_t commands;
    bool has_no_event;
    dynsel_status returns;
    cl_command_queue kept; /* not NULL: it uses this one */
    bool asks;             /* all the same */
    cl_command_queue queue;
    cl_command_queue queue_inside; /* of other work that it submits */
    dynsel_policy *inside;
} job;

static dynsel_status ask_for_queue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)done;
    *(cl_command_queue *)args = dynsel_opencl_queue(where);
    return DYNSEL_OK;
}

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    job *const j = args;
    if (j->kept == NULL || j->asks) {
        j->queue = dynsel_opencl_queue(where);
    }
    j->queue = j->kept != NULL ? j->kept : j->queue;
    if (j->inside != NULL) {
        assert_status(
            DYNSEL_OK,
            dynsel_submit(j->inside, &DYNSEL_TASK(ask_for_queue, &j->queue_inside), NULL));
    }
    for (uint32_t i = 0; i < j->commands; i++) {
        const bool is_last = i + 1 == j->commands && !j->has_no_event;
        const cl_int code =
            clEnqueueMarkerWithWaitList(j->queue, 0, NULL, is_last ? &done->opencl : NULL);
        if (code != CL_SUCCESS) {
            return dynsel_opencl_check("clEnqueueMarkerWithWaitList", code);
        }
    }
    return j->returns;
}

static dynsel_status run(job *j)
{
    return dynsel_submit_and_wait(&w.policy, &DYNSEL_TASK(enqueue, j));
}

static bool has_profiles(cl_command_queue queue)
{
    cl_command_queue_properties properties = 0;
    assert_int_equal(
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties, NULL),
        CL_SUCCESS);
    return (properties & CL_QUEUE_PROFILING_ENABLE) != 0;
}

static void assert_source(const dynsel_resource *where, dynsel_opencl_timing timing,
                          const char *reason)
{
    dynsel_opencl_timing found = DYNSEL_OPENCL_TIMES_DEFAULT;
    const char *why = NULL;
    assert_status(DYNSEL_OK, dynsel_opencl_find_timing(where, &found, &why));
    assert_int_equal(found, timing);
    assert_string_equal(why, reason);
}

static void only_timed_work_goes_to_the_profiling_queue(void **state)
{
    job j = {.commands = 1};
    (void)state;
    begin(GPU);
    assert_status(DYNSEL_OK, run(&j));
    assert_true(has_profiles(j.queue));
    assert_int_equal(w.times, 1);
    assert_int_equal(fake_opencl_calls("clSetEventCallback"), 0);
    assert_source(&w.policy.resources[0], DYNSEL_OPENCL_TIMES_BY_PROFILE,
                  "its profiles agree with the host's clock");
    w.wants_times = false;
    assert_status(DYNSEL_OK, run(&j));
    assert_false(has_profiles(j.queue));
    assert_int_equal(w.times, 1);
    end();
}

/* To the call: what a timed piece of work costs beside its own, and what any other does. */
static void timed_work_costs_these_calls(void **state)
{
    job j = {.commands = 1};
    (void)state;
    begin(GPU);
    assert_status(DYNSEL_OK, run(&j));
    const uint32_t before = fake_opencl_calls(NULL);
    const uint32_t barriers = fake_opencl_calls("clEnqueueBarrierWithWaitList");
    const uint32_t flushes = fake_opencl_calls("clFlush");
    const uint32_t writes = fake_opencl_calls("clEnqueueWriteBuffer");
    assert_status(DYNSEL_OK, run(&j));
    assert_int_equal(fake_opencl_calls("clEnqueueBarrierWithWaitList") - barriers, 2);
    assert_int_equal(fake_opencl_calls("clFlush") - flushes, 2);
    assert_int_equal(fake_opencl_calls("clEnqueueWriteBuffer") - writes, 1);
    /* the marker with its release, the gate's release, the queue of the event, two profiles; and
     * the work's own enqueue, wait and release */
    assert_int_equal(fake_opencl_calls(NULL) - before, 2 + 2 + 1 + 2 + 1 + 1 + 6 + 3);
    end();
}

static void policies_without_times_make_no_queue(void **state)
{
    job j = {.commands = 1};
    (void)state;
    begin(GPU);
    w.wants_times = false;
    assert_status(DYNSEL_OK, run(&j));
    assert_int_equal(fake_opencl_queues_of("G0"), 1);
    end();
}

/* Submits, sets the profiles of the gate and of the last command, and waits. */
static uint64_t time_of(job *j, cl_ulong gate_queued, cl_ulong gate_end, cl_ulong queued,
                        cl_ulong start, cl_ulong end_ns)
{
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&w.policy, &DYNSEL_TASK(enqueue, j), &submission));
    fake_opencl_set_profile(1, queued, start, end_ns);
    fake_opencl_set_profile(2, gate_queued, gate_end - 2 * US, gate_end);
    const uint64_t begin_ns = dynsel_now_ns();
    while (dynsel_now_ns() - begin_ns < MS) { /* longer than it claims to have run */
    }
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    return w.time_ns;
}

static void time_of_task_function_begins_behind_its_gate(void **state)
{
    const cl_ulong t = 5000 * MS;
    job j = {.commands = 1};
    (void)state;
    begin(GPU);
    assert_source(&w.policy.resources[0], DYNSEL_OPENCL_TIMES_BY_PROFILE,
                  "its profiles agree with the host's clock");
    /* a busy device: without the gap between two commands, which becomes known */
    assert_int_equal(time_of(&j, t, t + 100 * US, t + 4 * US, t + 102 * US, t + 142 * US), 40 * US);
    /* several commands: the least gap that was seen */
    assert_int_equal(time_of(&j, t, t + 100 * US, t + 30 * US, t + 160 * US, t + 180 * US),
                     78 * US);
    /* an idle device, one command: it waited for the host */
    assert_int_equal(time_of(&j, t, t + 6 * US, t + 5 * US, t + 17 * US, t + 57 * US), 40 * US);
    /* an idle device, and the last of several commands takes little of the time */
    assert_int_equal(time_of(&j, t, t + 6 * US, t + 7 * US, t + 17 * US, t + 27 * US), 19 * US);
    /* an idle device, and the last of several commands is enqueued late */
    assert_int_equal(time_of(&j, t, t + 6 * US, t + 22 * US, t + 34 * US, t + 67 * US), 59 * US);
    end();
}

#if CONFIG_DYNSEL_COMMAND_GROUPS

enum { SIDE = 4 };

static uint32_t words[SIDE * SIDE + 1];
static dynsel_buffer buffer;

/* The whole buffer, or a column of it, which is filled row by row. */
static dynsel_status fill(dynsel_handler *handler, void *args)
{
    static const uint32_t value = 7;
    const dynsel_accessor *const wanted = args;
    dynsel_accessor data;
    dynsel_status status = dynsel_require_buffer(handler, buffer, wanted);
    if (status == DYNSEL_OK) {
        status = dynsel_accessor_get_access(handler, wanted, &data);
    }
    return status == DYNSEL_OK ? dynsel_fill(handler, &data, &value, sizeof(value)) : status;
}

/* profiles: of its last events, the last first: start and end. */
static uint64_t time_of_fill(dynsel_accessor *wanted, const cl_ulong (*profiles)[2], uint32_t count)
{
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&w.policy, fill, wanted, &submission));
    for (uint32_t i = 0; i < count; i++) {
        fake_opencl_set_profile(i + 1, 1, profiles[i][0], profiles[i][1]);
    }
    const uint64_t begin_ns = dynsel_now_ns();
    while (dynsel_now_ns() - begin_ns < MS) {
    }
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    return w.time_ns;
}

static void time_of_command_group_begins_with_its_first_command(void **state)
{
    const cl_ulong t = 5000 * MS;
    dynsel_accessor whole = {.placeholder = true,
                             .mode = DYNSEL_ACCESS_READ_WRITE,
                             .target = DYNSEL_MEMORY_GLOBAL,
                             .range = DYNSEL_RANGE_2D(SIDE, SIDE)};
    dynsel_accessor column = whole;
    column.range = DYNSEL_RANGE_2D(SIDE, 1);
    (void)state;
    begin(GPU);
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, words + 1, sizeof(uint32_t),
                                                DYNSEL_RANGE_2D(SIDE, SIDE)));
    assert_source(&w.policy.resources[0], DYNSEL_OPENCL_TIMES_BY_PROFILE,
                  "its profiles agree with the host's clock");
    /* a copy to the device and a fill */
    const cl_ulong first[][2] = {{t + 50 * US, t + 70 * US}, {t, t + 20 * US}};
    assert_int_equal(time_of_fill(&whole, first, 2), 70 * US);
    /* the data are there: the fill alone */
    const cl_ulong second[][2] = {{t + 50 * US, t + 70 * US}};
    assert_int_equal(time_of_fill(&whole, second, 1), 20 * US);
    /* four rows behind a gate */
    const cl_ulong third[][2] = {{t + 50 * US, t + 70 * US}, {t, t + 20 * US}};
    assert_int_equal(time_of_fill(&column, third, 2), 47 * US);
    /* a copy and a fill again, of which the fill counts */
    w.without_copies = true;
    dynsel_host_accessor changed = {0};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&changed, buffer, DYNSEL_ACCESS_WRITE));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&changed));
    const cl_ulong fourth[][2] = {{t + 50 * US, t + 70 * US}, {t, t + 20 * US}};
    assert_int_equal(time_of_fill(&whole, fourth, 2), 20 * US);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    end();
}

#endif

static void impossible_time_is_dropped_and_often_ends_profiles(void **state)
{
    const cl_ulong t = 5000 * MS;
    job j = {.commands = 1};
    (void)state;
    begin(GPU);
    assert_status(DYNSEL_OK, run(&j));
    for (uint32_t i = 0; i < 7; i++) {
        (void)time_of(&j, t, t + 5 * US, t + 4 * US, t + 7 * US, t + 3000 * MS);
    }
    assert_int_equal(w.times, 1);
    (void)time_of(&j, t, t + 5 * US, t + 4 * US, t + 7 * US, t + 47 * US); /* a true one */
    assert_int_equal(w.times, 2);
    for (uint32_t i = 0; i < 8; i++) {
        assert_source(&w.policy.resources[0], DYNSEL_OPENCL_TIMES_BY_PROFILE,
                      "its profiles agree with the host's clock");
        (void)time_of(&j, t, t + 5 * US, t + 4 * US, t + 7 * US, t + 5 * US);
    }
    assert_source(&w.policy.resources[0], DYNSEL_OPENCL_TIMES_BY_CALLBACK,
                  "its profiles of work could not be true");
    assert_int_equal(w.times, 2);
    assert_status(DYNSEL_OK, run(&j));
    assert_false(has_profiles(j.queue));
    assert_int_equal(fake_opencl_calls("clSetEventCallback"), CONFIG_DYNSEL_CONTEXT_THREADS);
    end();
}

static void nonsense_is_detected_before_it_is_used(void **state)
{
    static const struct {
        fake_profiles profiles;
        const char *reason;
    } all[] = {
        {FAKE_PROFILES_REFUSED, "its driver reports no profile, 0, or an end before the start"},
        {FAKE_PROFILES_ZERO, "its driver reports no profile, 0, or an end before the start"},
        {FAKE_PROFILES_REVERSED, "its driver reports no profile, 0, or an end before the start"},
        {FAKE_PROFILES_OTHER_CLOCK, "its clock does not go like the host's"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(all); i++) {
        job j = {.commands = 1};
        fake_opencl_set_profiles(all[i].profiles);
        begin(GPU);
        assert_status(DYNSEL_OK, run(&j));
        assert_false(has_profiles(j.queue));
        assert_source(&w.policy.resources[0], DYNSEL_OPENCL_TIMES_BY_CALLBACK, all[i].reason);
        assert_int_equal(fake_opencl_calls("clSetEventCallback"),
                         CONFIG_DYNSEL_CONTEXT_THREADS ? i + 1 : 0);
        end();
        assert_status(DYNSEL_OK, dynsel_opencl_close());
    }
}

static void busy_host_that_sees_ends_late_uses_profiles(void **state)
{
    job j = {.commands = 1};
    (void)state;
    fake_opencl_set_profiles(FAKE_PROFILES_SEEN_LATE);
    begin(GPU);
    assert_status(DYNSEL_OK, run(&j));
    assert_true(has_profiles(j.queue));
    assert_source(&w.policy.resources[0], DYNSEL_OPENCL_TIMES_BY_PROFILE,
                  "its profiles agree with the host's clock");
    end();
}

static void devices_that_cannot_profile_call_back(void **state)
{
    job j = {.commands = 1};
    (void)state;
    begin(CPU);
    assert_source(&w.policy.resources[0], DYNSEL_OPENCL_TIMES_BY_CALLBACK,
                  "its driver may hang where one queue waits for another");
    assert_status(DYNSEL_OK, run(&j));
    assert_int_equal(fake_opencl_queues_of("basic-C0"), 1);
    end();
    begin(POOR_GPU);
    assert_status(DYNSEL_OK, run(&j));
    assert_source(&w.policy.resources[0], DYNSEL_OPENCL_TIMES_BY_CALLBACK,
                  "its driver makes no queue with profiling");
    assert_int_equal(fake_opencl_calls("clSetEventCallback"),
                     CONFIG_DYNSEL_CONTEXT_THREADS ? 2 : 0);
    end();
}

static void option_overrides_the_default(void **state)
{
    static const dynsel_opencl_options callbacks = {.timing = DYNSEL_OPENCL_TIMES_BY_CALLBACK};
    static const dynsel_opencl_options profiles = {.timing = DYNSEL_OPENCL_TIMES_BY_PROFILE};
    static const dynsel_opencl_options wrong = {.timing = (dynsel_opencl_timing)3};
    job j = {.commands = 1};
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_configure(&wrong));
    assert_contains(error_line(), "timing");
    assert_status(DYNSEL_OK, dynsel_opencl_configure(&callbacks));
    begin(GPU);
    assert_status(DYNSEL_OK, run(&j));
    assert_source(&w.policy.resources[0], DYNSEL_OPENCL_TIMES_BY_CALLBACK,
                  "the program chose callbacks");
    assert_int_equal(fake_opencl_queues_of("G0"), 1);
    end();
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    assert_status(DYNSEL_OK, dynsel_opencl_configure(&profiles));
    begin(CPU);
    assert_status(DYNSEL_OK, run(&j));
    assert_true(has_profiles(j.queue));
    end();
}

/* The program chose queues with profiling, so no second one is needed. */
static void queue_with_profiling_times_its_own_work(void **state)
{
    static const dynsel_opencl_options options = {.queue_properties = CL_QUEUE_PROFILING_ENABLE};
    job j = {.commands = 1};
    (void)state;
    assert_status(DYNSEL_OK, dynsel_opencl_configure(&options));
    begin(GPU);
    assert_status(DYNSEL_OK, run(&j));
    assert_ptr_equal(j.queue, dynsel_opencl_queue(&w.policy.resources[0]));
    assert_int_equal(fake_opencl_queues_of("G0"), 1);
    assert_int_equal(fake_opencl_calls("clEnqueueBarrierWithWaitList"), 0);
    assert_int_equal(w.times, 1);
    end();
}

static void adopted_queue_calls_back(void **state)
{
    const cl_command_queue own = fake_opencl_new_queue("G0");
    job j = {.commands = 1, .kept = own};
    (void)state;
    timing_policy_init(&w, (dynsel_resource){&dynsel_opencl_backend, own}, dynsel_opencl_adopt);
    assert_status(DYNSEL_OK, run(&j));
    assert_source(&w.policy.resources[0], DYNSEL_OPENCL_TIMES_BY_CALLBACK,
                  "its queue is the program's");
    j.kept = NULL;
    assert_status(DYNSEL_OK, run(&j));
    assert_ptr_equal(j.queue, own);
    end();
    assert_int_equal(clReleaseCommandQueue(own), CL_SUCCESS);
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    fake_opencl_show(machine, COUNT(machine), CL_SUCCESS); /* forgets the context of the queue */
}

/* Its queue is from an earlier call, so the queue with profiling has not seen the work. */
static void kept_queue_is_timed_by_callback(void **state)
{
    job j = {.commands = 1};
    (void)state;
    begin(GPU);
    j.kept = dynsel_opencl_queue(&w.policy.resources[0]);
    assert_status(DYNSEL_OK, run(&j));
    assert_int_equal(fake_opencl_calls("clSetEventCallback"), CONFIG_DYNSEL_CONTEXT_THREADS);
    assert_int_equal(fake_opencl_calls("clEnqueueBarrierWithWaitList"), 0);
    j.asks = true;
    assert_status(DYNSEL_OK, run(&j));
    assert_int_equal(fake_opencl_calls("clSetEventCallback"),
                     CONFIG_DYNSEL_CONTEXT_THREADS ? 2 : 0);
    assert_int_equal(fake_opencl_calls("clEnqueueBarrierWithWaitList"), 2);
    end();
}

/* What it left there must not come after later work. */
static void work_without_event_keeps_its_place_in_the_order(void **state)
{
    job j = {.commands = 1, .has_no_event = true};
    (void)state;
    begin(GPU);
    assert_status(DYNSEL_OK, run(&j));
    assert_int_equal(fake_opencl_calls("clEnqueueBarrierWithWaitList"), 2);
    j.returns = DYNSEL_E_TASK;
    assert_status(DYNSEL_E_TASK, run(&j));
    assert_int_equal(fake_opencl_calls("clEnqueueBarrierWithWaitList"), 4);
    end();
}

/* Later work would not wait for it, so the submit does. */
static void work_that_cannot_be_joined_is_waited_for(void **state)
{
    static const char *const functions[] = {"clFlush", "clEnqueueBarrierWithWaitList"};
    job j = {.commands = 1};
    (void)state;
    begin(GPU);
    assert_status(DYNSEL_OK, run(&j));
    for (uint32_t i = 0; i < COUNT(functions); i++) {
        dynsel_submission submission;
        const uint32_t waits = fake_opencl_calls("clWaitForEvents");
        /* marker, flush, barrier, release, gate, the work's own */
        fake_opencl_fail_at(7 + i, CL_OUT_OF_HOST_MEMORY);
        assert_status(DYNSEL_OK, dynsel_submit(&w.policy, &DYNSEL_TASK(enqueue, &j), &submission));
        assert_true(fake_opencl_has_failed());
        assert_string_equal(fake_opencl_failed_function(), functions[i]);
        assert_int_equal(fake_opencl_calls("clWaitForEvents") - waits, 1);
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
    }
    end();
}

static void untimed_work_inside_timed_work_has_the_device_queue(void **state)
{
    static dynsel_round_robin_policy inside;
    job j = {.commands = 1, .inside = &inside.policy};
    const dynsel_resource gpu = device(GPU);
    (void)state;
    memset(&inside, 0, sizeof(inside));
    assert_status(DYNSEL_OK,
                  dynsel_round_robin_init(
                      &inside, &(const dynsel_options){.resources = &gpu, .count = 1}, 0));
    begin(GPU);
    assert_status(DYNSEL_OK, run(&j));
    assert_true(has_profiles(j.queue));
    assert_ptr_equal(j.queue_inside, dynsel_opencl_queue(&gpu));
    end();
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&inside.policy));
}

static void failed_work_has_no_time_and_leaves_nothing(void **state)
{
    job j = {.commands = 1};
    (void)state;
    begin(GPU);
    assert_status(DYNSEL_OK, run(&j));
    fake_opencl_set_new_events(CL_RUNNING);
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&w.policy, &DYNSEL_TASK(enqueue, &j), &submission));
    fake_opencl_finish_event(1, CL_OUT_OF_HOST_MEMORY);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    fake_opencl_finish_events(CL_COMPLETE);
    end();
}

/* Nothing more is called on its context, which the fake would count. */
static void device_lost_by_timed_work_is_left_alone(void **state)
{
    job j = {.commands = 1};
    (void)state;
    begin(GPU);
    assert_status(DYNSEL_OK, run(&j));
    fake_opencl_fail_at(6, CL_DEVICE_NOT_AVAILABLE); /* the command of the task function */
    assert_status(DYNSEL_E_DEVICE, run(&j));
    assert_string_equal(fake_opencl_failed_function(), "clEnqueueMarkerWithWaitList");
    assert_status(DYNSEL_E_OUT_OF_SERVICE, run(&j));
    end();
}

static void device_that_does_not_answer_is_asked_again(void **state)
{
    job j = {.commands = 1};
    dynsel_opencl_timing timing;
    const char *reason = NULL;
    (void)state;
    begin(GPU);
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, run(&j));
    assert_status(DYNSEL_E_AGAIN,
                  dynsel_opencl_find_timing(&w.policy.resources[0], &timing, &reason));
    fake_opencl_finish_events(CL_COMPLETE);
    fake_opencl_set_new_events(CL_COMPLETE);
    assert_status(DYNSEL_OK, run(&j));
    assert_true(has_profiles(j.queue));
    end();
}

static void wrong_arguments_of_find_timing_are_refused(void **state)
{
    const dynsel_resource gpu = device(GPU);
    const dynsel_resource none = {.backend = &dynsel_opencl_backend};
    dynsel_opencl_timing timing;
    const char *reason = NULL;
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_find_timing(NULL, &timing, &reason));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_find_timing(&none, &timing, &reason));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_find_timing(&gpu, NULL, &reason));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_find_timing(&gpu, &timing, NULL));
    fake_opencl_break("G0", "clCreateContext", CL_DEVICE_NOT_AVAILABLE);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_opencl_find_timing(&gpu, &timing, &reason));
}

/* Each call of a first and of a second timed piece of work fails in turn: the work succeeds or
 * fails as any other, and nothing is leaked. */
static void each_failing_call_leaves_nothing(void **state)
{
    bool failed = true;
    for (uint32_t call = 1; failed; call++) {
        for (uint32_t warm = 0; warm < 2; warm++) {
            job j = {.commands = 2};
            begin(GPU);
            assert_status(DYNSEL_OK, warm != 0 ? run(&j) : DYNSEL_OK);
            fake_opencl_fail_at(call, CL_OUT_OF_HOST_MEMORY);
            dynsel_submission submission;
            const dynsel_status status =
                dynsel_submit(&w.policy, &DYNSEL_TASK(ask_for_queue, &j.queue), &submission);
            if (status == DYNSEL_OK) {
                const dynsel_status ended = dynsel_wait(&submission);
                (void)ended; /* by the call that failed */
            }
            failed = warm == 0 ? fake_opencl_has_failed() : failed;
            fake_opencl_fail_at(0, CL_SUCCESS);
            const dynsel_status reinstated = dynsel_resource_reinstate(&w.policy, 0);
            (void)reinstated; /* it may be in service */
            assert_status(DYNSEL_OK, run(&j));
            end();
            (void)tear_down(state);
            (void)set_up_machine(state);
        }
    }
}

#define TIMING(name) cmocka_unit_test_setup_teardown(name, set_up_machine, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TIMING(only_timed_work_goes_to_the_profiling_queue),
        TIMING(timed_work_costs_these_calls),
        TIMING(policies_without_times_make_no_queue),
        TIMING(time_of_task_function_begins_behind_its_gate),
#if CONFIG_DYNSEL_COMMAND_GROUPS
        TIMING(time_of_command_group_begins_with_its_first_command),
#endif
        TIMING(impossible_time_is_dropped_and_often_ends_profiles),
        TIMING(nonsense_is_detected_before_it_is_used),
        TIMING(busy_host_that_sees_ends_late_uses_profiles),
        TIMING(devices_that_cannot_profile_call_back),
        TIMING(option_overrides_the_default),
        TIMING(queue_with_profiling_times_its_own_work),
        TIMING(adopted_queue_calls_back),
        TIMING(kept_queue_is_timed_by_callback),
        TIMING(work_without_event_keeps_its_place_in_the_order),
        TIMING(work_that_cannot_be_joined_is_waited_for),
        TIMING(untimed_work_inside_timed_work_has_the_device_queue),
        TIMING(failed_work_has_no_time_and_leaves_nothing),
        TIMING(device_lost_by_timed_work_is_left_alone),
        TIMING(device_that_does_not_answer_is_asked_again),
        TIMING(wrong_arguments_of_find_timing_are_refused),
        TIMING(each_failing_call_leaves_nothing),
    };
    return RUN(tests);
}
