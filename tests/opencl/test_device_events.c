/* SPDX-License-Identifier: Apache-2.0 */
/* Events of submissions for commands of the program, and events of the program for command groups,
 * on the devices of this machine. */
#include "device_fixture.h"

enum { WORDS = 256, BYTES = WORDS * sizeof(uint32_t), VALUE = 7, FAILED = -77 };

static dynsel_status add_on_host(const dynsel_launch *launch)
{
    uint32_t *const words = dynsel_launch_data(launch, 0);
    const uint32_t value = DYNSEL_LAUNCH_VALUE(launch, 1, uint32_t);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        words[i] += value;
    }
    return DYNSEL_OK;
}

static const dynsel_kernel add = {.name = "add",
                                  .function = add_on_host,
                                  .source = "kernel void add(global uint *words, uint value)\n"
                                            "{ words[get_global_id(0)] += value; }\n"};

/* The program's objects: a context with an adopted queue and one more queue; another context. */
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_command_queue beside;
static cl_context other_context;
static cl_command_queue other_queue;
static dynsel_fixed_resource_policy on_device; /* the adopted queue */
static dynsel_fixed_resource_policy on_host;

static uint32_t words[WORDS];
static dynsel_buffer buffer;

static cl_command_queue new_queue(cl_context of)
{
    cl_int code = CL_SUCCESS;
    const cl_command_queue made = clCreateCommandQueue(of, device, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    return made;
}

static cl_context new_context(void)
{
    cl_int code = CL_SUCCESS;
    const cl_context made = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    return made;
}

/* PoCL's `basic` deadlocks where the event that a command waits for is set by the program. */
static bool has_gates;

static bool is_basic(size_t index)
{
    return strncmp(dynsel_resource_name(&resources[index]), "basic-", 6) == 0;
}

static int set_up(void **state)
{
    (void)open_devices(state);
    if (resource_count == 0) {
        return 0;
    }
    size_t first = 0;
    while (first + 1 < resource_count && is_basic(first)) {
        first++;
    }
    has_gates = !is_basic(first);
    device = dynsel_opencl_device(&resources[first]);
    context = new_context();
    queue = new_queue(context);
    beside = new_queue(context);
    other_context = new_context();
    other_queue = new_queue(other_context);
    const dynsel_resource adopted = {&dynsel_opencl_backend, queue};
    const dynsel_resource host = {&dynsel_inline_backend, NULL};
    const dynsel_options of_device = {
        .resources = &adopted, .count = 1, .adapt = dynsel_opencl_adopt};
    const dynsel_options of_host = {.resources = &host, .count = 1};
    on_device = (dynsel_fixed_resource_policy){0};
    on_host = (dynsel_fixed_resource_policy){0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&on_device, &of_device, 0));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&on_host, &of_host, 0));
    return 0;
}

static int tear_down(void **state)
{
    if (resource_count != 0) {
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_device.policy));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_host.policy));
        assert_int_equal(clReleaseCommandQueue(other_queue), CL_SUCCESS);
        assert_int_equal(clReleaseCommandQueue(beside), CL_SUCCESS);
        assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
        assert_int_equal(clReleaseContext(other_context), CL_SUCCESS);
        assert_int_equal(clReleaseContext(context), CL_SUCCESS);
    }
    return close_devices(state);
}

static int begin(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = i;
    }
    buffer = (dynsel_buffer){0};
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, words, sizeof(words[0]), DYNSEL_RANGE(WORDS)));
    return 0;
}

/* value: what was added. */
static void end_with(uint32_t value)
{
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    for (uint32_t i = 0; i < WORDS; i++) {
        assert_int_equal(words[i], i + value);
    }
}

static int end(void **state)
{
    (void)state;
    if (buffer.token != 0) {
        (void)!dynsel_buffer_deinit(&buffer);
    }
    return 0;
}

static cl_event user_event(cl_context of)
{
    cl_int code = CL_SUCCESS;
    const cl_event made = clCreateUserEvent(of, &code);
    assert_int_equal(code, CL_SUCCESS);
    return made;
}

/* A command that waits for the gate. */
static cl_event gated(cl_command_queue on, cl_event gate)
{
    cl_event made = NULL;
    assert_int_equal(clEnqueueMarkerWithWaitList(on, 1, &gate, &made), CL_SUCCESS);
    return made;
}

static void open_gate(cl_event gate, cl_int status)
{
    assert_int_equal(clSetUserEventStatus(gate, status), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(gate), CL_SUCCESS);
}

static cl_uint references(cl_event event)
{
    cl_uint count = 0;
    assert_int_equal(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(count), &count, NULL),
                     CL_SUCCESS);
    return count;
}

/* Releases an event of the program, to which the library has no reference. The driver may have one
 * for a moment. */
static void release_last(cl_event event)
{
    const uint64_t deadline_ns = dynsel_now_ns() + 2000000000;
    while (references(event) != 1 && dynsel_now_ns() < deadline_ns) {
    }
    assert_int_equal(references(event), 1);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
}

typedef struct job {
    const cl_event *before;
    size_t count;
    bool ignores; /* what dynsel_opencl_depend_on() returns */
    bool repeats; /* the work may be repeated */
} job;

static dynsel_status add_value(dynsel_handler *handler, void *args)
{
    static const uint32_t value = VALUE;
    const job *const j = args;
    dynsel_accessor data;
    dynsel_status status =
        dynsel_get_access(handler, buffer, DYNSEL_ACCESS_READ_WRITE, DYNSEL_MEMORY_GLOBAL, &data);
    for (size_t i = 0; i < j->count && status == DYNSEL_OK; i++) {
        status = dynsel_opencl_depend_on(handler, j->before[i]);
        status = j->ignores ? DYNSEL_OK : status;
    }
#if CONFIG_DYNSEL_REPEAT
    if (status == DYNSEL_OK && j->repeats) {
        status = dynsel_set_repeatable(handler);
    }
#endif
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, 0, &data);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_value(handler, 1, &value, sizeof(value));
    }
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, &add, DYNSEL_RANGE(WORDS), NULL, NULL)
                               : status;
}

static dynsel_submission submit_after(dynsel_policy *policy, cl_event before)
{
    dynsel_submission submission = {0};
    job j = {.before = &before, .count = before != NULL ? 1 : 0};
    assert_status(DYNSEL_OK, dynsel_submit_command_group(policy, add_value, &j, &submission));
    return submission;
}

/* ---- of submissions ---- */

static void commands_of_program_wait_for_command_group(void **state)
{
    cl_event done = NULL;
    cl_event waited = NULL;
    (void)state;
    skip_unless(resource_count > 0);
    dynsel_submission submission = submit_after(&on_device.policy, NULL);
    assert_status(DYNSEL_OK, dynsel_opencl_submission_event(&submission, &done));
    assert_non_null(done);
    assert_int_equal(clEnqueueMarkerWithWaitList(beside, 1, &done, &waited), CL_SUCCESS);
    assert_int_equal(clWaitForEvents(1, &waited), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(waited), CL_SUCCESS);
    cl_int status = CL_QUEUED;
    assert_int_equal(
        clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL),
        CL_SUCCESS);
    assert_int_equal(status, CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_submission_poll(&submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(clReleaseEvent(done), CL_SUCCESS);
    end_with(VALUE);
}

static void finished_work_still_has_its_event(void **state)
{
    cl_event done = NULL;
    (void)state;
    skip_unless(resource_count > 0);
    dynsel_submission submission = submit_after(&on_device.policy, NULL);
    while (dynsel_submission_poll(&submission) == DYNSEL_E_AGAIN) {
    }
    assert_status(DYNSEL_OK, dynsel_opencl_submission_event(&submission, &done));
    assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(clReleaseEvent(done), CL_SUCCESS);
    end_with(VALUE);
}

static void submission_without_event_says_why(void **state)
{
    cl_event done = (cl_event)(void *)words;
    dynsel_submission never = {0};
    (void)state;
    skip_unless(resource_count > 0);
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_submission_event(NULL, &done));
    assert_null(done);
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_submission_event(&never, &done));
    dynsel_submission submission = submit_after(&on_device.policy, NULL);
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_submission_event(&submission, NULL));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_opencl_submission_event(&submission, &done));
    submission = submit_after(&on_device.policy, NULL);
    dynsel_submission copy = submission;
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_opencl_submission_event(&copy, &done));
    submission = submit_after(&on_host.policy, NULL);
    while (dynsel_opencl_submission_event(&submission, &done) == DYNSEL_E_AGAIN) {
        dynsel_progress(); /* its data are copied from the device first */
    }
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_opencl_submission_event(&submission, &done));
    assert_error_says("not on an OpenCL device");
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_null(done);
    end_with(3 * VALUE);
}

static dynsel_status leave_nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static dynsel_status leave_marker(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    return dynsel_opencl_check(
        "clEnqueueMarkerWithWaitList",
        clEnqueueMarkerWithWaitList(dynsel_opencl_queue(where), 0, NULL, &done->opencl));
}

static void tasks_have_the_event_that_they_leave(void **state)
{
    cl_event done = NULL;
    dynsel_submission submission = {0};
    (void)state;
    skip_unless(resource_count > 0);
    assert_status(DYNSEL_OK,
                  dynsel_submit(&on_device.policy, &DYNSEL_TASK(leave_nothing, NULL), &submission));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_opencl_submission_event(&submission, &done));
    assert_error_says("left no event");
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK,
                  dynsel_submit(&on_device.policy, &DYNSEL_TASK(leave_marker, NULL), &submission));
    assert_status(DYNSEL_OK, dynsel_opencl_submission_event(&submission, &done));
    assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(clReleaseEvent(done), CL_SUCCESS);
}

DYNSEL_HOST_ITERATOR(numbers, uint32_t);

static dynsel_status add_to_range(dynsel_handler *handler, void *args)
{
    static const uint32_t value = VALUE;
    dynsel_status status =
        dynsel_set_range(handler, 0, numbers, numbers_make(args), WORDS, DYNSEL_ACCESS_READ_WRITE);
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_value(handler, 1, &value, sizeof(value));
    }
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, &add, DYNSEL_RANGE(WORDS), NULL, NULL)
                               : status;
}

/* The kernel, and a copy of its result to the host. */
static void event_comes_after_the_last_command(void **state)
{
    static uint32_t range[WORDS];
    cl_event done = NULL;
    dynsel_submission submission = {0};
    (void)state;
    skip_unless(resource_count > 0);
    for (uint32_t i = 0; i < WORDS; i++) {
        range[i] = i;
    }
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&on_device.policy, add_to_range, range, &submission));
    assert_status(DYNSEL_OK, dynsel_opencl_submission_event(&submission, &done));
    assert_int_equal(clWaitForEvents(1, &done), CL_SUCCESS);
    for (uint32_t i = 0; i < WORDS; i++) {
        assert_int_equal(range[i], i + VALUE);
    }
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(clReleaseEvent(done), CL_SUCCESS);
}

/* ---- of the program ---- */

static void command_waits_on_the_device_in_its_context(void **state)
{
    cl_event done = NULL;
    (void)state;
    skip_unless(resource_count > 0 && has_gates);
    const cl_event gate = user_event(context);
    const cl_event before = gated(beside, gate);
    dynsel_submission submission = submit_after(&on_device.policy, before);
    assert_status(DYNSEL_OK,
                  dynsel_opencl_submission_event(&submission, &done)); /* it has started */
    assert_int_equal(clReleaseEvent(done), CL_SUCCESS);
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&submission));
    open_gate(gate, CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    release_last(before);
    end_with(VALUE);
}

/* The event is of another context, or of the program alone; or the work is on the host. */
static void must_be_pending(dynsel_policy *policy, cl_event before, cl_event gate)
{
    cl_event done = NULL;
    dynsel_submission submission = submit_after(policy, before);
    for (int i = 0; i < 3; i++) {
        dynsel_progress();
        assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&submission));
    }
    assert_status(DYNSEL_E_AGAIN, dynsel_opencl_submission_event(&submission, &done));
    assert_error_says("dynsel_progress()");
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 1000000));
    open_gate(gate, CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
}

static void command_group_is_pending_elsewhere(void **state)
{
    (void)state;
    skip_unless(resource_count > 0 && has_gates);
    cl_event gate = user_event(other_context);
    cl_event before = gated(other_queue, gate);
    must_be_pending(&on_device.policy, before, gate);
    release_last(before);
    gate = user_event(context);
    before = gated(beside, gate);
    must_be_pending(&on_host.policy, before, gate);
    release_last(before);
    gate = user_event(context);
    before = gate;
    assert_int_equal(clRetainEvent(before), CL_SUCCESS);
    must_be_pending(&on_device.policy, before, gate);
    release_last(before);
    end_with(3 * VALUE);
}

/* Nothing has to be moved, so only the event keeps it from its start. */
static void resident_data_do_not_start_it(void **state)
{
    (void)state;
    skip_unless(resource_count > 0 && has_gates);
    dynsel_submission submission = submit_after(&on_device.policy, NULL);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    cl_event gate = user_event(context);
    cl_event before = gated(beside, gate);
    submission = submit_after(&on_device.policy, before);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 1000000));
    open_gate(gate, CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    release_last(before);
    gate = user_event(context);
    before = gate;
    assert_int_equal(clRetainEvent(before), CL_SUCCESS);
    must_be_pending(&on_device.policy, before, gate);
    release_last(before);
    end_with(3 * VALUE);
}

#if CONFIG_DYNSEL_REPEAT && CONFIG_DYNSEL_KEPT_BYTES >= 1024
/* Its inputs are kept before it starts, so they have to be final. */
static void repeatable_command_group_is_pending(void **state)
{
    cl_event done = NULL;
    dynsel_submission submission = {0};
    (void)state;
    skip_unless(resource_count > 0 && has_gates);
    const cl_event gate = user_event(context);
    const cl_event before = gated(beside, gate);
    job j = {.before = &before, .count = 1, .repeats = true};
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&on_device.policy, add_value, &j, &submission));
    assert_status(DYNSEL_E_AGAIN, dynsel_opencl_submission_event(&submission, &done));
    open_gate(gate, CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    release_last(before);
    end_with(VALUE);
}
#endif

static void other_work_runs_before_pending_command_group(void **state)
{
    dynsel_submission other = {0};
    (void)state;
    skip_unless(resource_count > 0);
    const cl_event gate = user_event(context);
    dynsel_submission submission = submit_after(&on_device.policy, gate);
    assert_status(DYNSEL_OK,
                  dynsel_submit(&on_device.policy, &DYNSEL_TASK(leave_marker, NULL), &other));
    assert_status(DYNSEL_OK, dynsel_wait(&other));
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&submission));
    open_gate(gate, CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    end_with(VALUE);
}

static void complete_event_is_no_obstacle(void **state)
{
    cl_event done = NULL;
    (void)state;
    skip_unless(resource_count > 0);
    const cl_event gate = user_event(other_context);
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
    dynsel_submission submission = submit_after(&on_device.policy, gate);
    assert_status(DYNSEL_OK, dynsel_opencl_submission_event(&submission, &done));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(clReleaseEvent(done), CL_SUCCESS);
    release_last(gate);
    end_with(VALUE);
}

static void must_fail(dynsel_submission *submission, cl_int code)
{
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(submission));
    assert_int_equal(dynsel_last_error()->code, code);
    assert_error_says("an event that the command group depends on has failed");
}

static void failed_event_fails_command_group_and_its_dependents(void **state)
{
    (void)state;
    skip_unless(resource_count > 0);
    const cl_event gate = user_event(context);
    dynsel_submission submission = submit_after(&on_device.policy, gate);
    dynsel_submission dependent = submit_after(&on_host.policy, NULL);
    assert_int_equal(clSetUserEventStatus(gate, FAILED), CL_SUCCESS);
    must_fail(&submission, FAILED);
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&dependent));
    dynsel_submission later = submit_after(&on_host.policy, NULL);
    assert_status(DYNSEL_OK, dynsel_wait(&later)); /* the contents are those from before */
    later = submit_after(&on_device.policy, gate); /* it has failed already */
    must_fail(&later, FAILED);
    release_last(gate);
    end_with(VALUE);
}

static void cancelled_command_group_releases_event(void **state)
{
    (void)state;
    skip_unless(resource_count > 0);
    const cl_event gate = user_event(context);
    dynsel_submission submission = submit_after(&on_device.policy, gate);
    assert_int_equal(references(gate), 2);
    assert_status(DYNSEL_OK, dynsel_cancel(&submission));
    assert_status(DYNSEL_E_CANCELLED, dynsel_wait(&submission));
    release_last(gate);
    end_with(0);
}

static void must_be_refused(dynsel_status status, const job *j)
{
    dynsel_submission submission = {0};
    job copy = *j;
    assert_status(status,
                  dynsel_submit_command_group(&on_device.policy, add_value, &copy, &submission));
}

static void events_that_do_not_fit_are_refused(void **state)
{
    cl_event many[CONFIG_DYNSEL_EXTERNAL_EVENTS + 1];
    const cl_event none[] = {NULL};
    (void)state;
    skip_unless(resource_count > 0);
    const cl_event gate = user_event(context);
    for (size_t i = 0; i < CONFIG_DYNSEL_EXTERNAL_EVENTS + 1; i++) {
        many[i] = gate;
    }
    must_be_refused(DYNSEL_E_FULL,
                    &(job){.before = many, .count = CONFIG_DYNSEL_EXTERNAL_EVENTS + 1});
    assert_error_says("CONFIG_DYNSEL_EXTERNAL_EVENTS");
    must_be_refused(DYNSEL_E_INVALID, &(job){.before = none, .count = 1});
    assert_error_says("CL_INVALID_EVENT");
    must_be_refused(DYNSEL_E_INVALID, &(job){.before = none, .count = 1, .ignores = true});
    assert_int_equal(references(gate), 1);
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_depend_on(NULL, gate));
    release_last(gate);
    end_with(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_count_equals_expected),
#define WITH_BUFFER(test) cmocka_unit_test_setup_teardown(test, begin, end)
        WITH_BUFFER(commands_of_program_wait_for_command_group),
        WITH_BUFFER(finished_work_still_has_its_event),
        WITH_BUFFER(submission_without_event_says_why),
        WITH_BUFFER(tasks_have_the_event_that_they_leave),
        WITH_BUFFER(event_comes_after_the_last_command),
        WITH_BUFFER(command_waits_on_the_device_in_its_context),
        WITH_BUFFER(command_group_is_pending_elsewhere),
        WITH_BUFFER(resident_data_do_not_start_it),
#if CONFIG_DYNSEL_REPEAT && CONFIG_DYNSEL_KEPT_BYTES >= 1024
        WITH_BUFFER(repeatable_command_group_is_pending),
#endif
        WITH_BUFFER(other_work_runs_before_pending_command_group),
        WITH_BUFFER(complete_event_is_no_obstacle),
        WITH_BUFFER(failed_event_fails_command_group_and_its_dependents),
        WITH_BUFFER(cancelled_command_group_releases_event),
        WITH_BUFFER(events_that_do_not_fit_are_refused),
    };
    return has_room() ? cmocka_run_group_tests(tests, set_up, tear_down) : 0;
}
