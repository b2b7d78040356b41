/* SPDX-License-Identifier: Apache-2.0 */
/* Staged ranges where each call of the driver fails, and each command. */
#include "fixture.h"
#include "support/put_in_service.h"

static const fake_device devices[] = {
    {.name = "gpu", .vendor = "V", .type = CL_DEVICE_TYPE_GPU},
};
static const fake_platform machine[] = {{.name = "P", .count = COUNT(devices), .devices = devices}};

enum { ELEMENTS = 40, BYTES = ELEMENTS * 4, MOST_CALLS = 400 };

DYNSEL_HOST_ITERATOR(items, int);

static int data[2][ELEMENTS];
static dynsel_fixed_resource_policy policy;
static cl_command_queue out_of_order; /* NULL: not used */

/* The fake's kernels have two arguments. */
static const dynsel_kernel kernel = {.name = "k", .source = "kernel void k() {}"};

static void show_machine(void)
{
    (void)unsetenv("DYNSEL_OPENCL");
    show(machine, 1);
    fake_opencl_set_new_events(CL_RUNNING);
    fake_opencl_end_markers();
}

static int set_up_ranges(void **state)
{
    (void)state;
    show_machine();
    out_of_order = NULL;
    return 0;
}

/* A policy on the device, or on a queue of the program's. */
static void use(bool in_order)
{
    dynsel_resource resource;
    size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_opencl_select("all", &resource, 1, &count));
    if (!in_order) {
        cl_int code = CL_SUCCESS;
        out_of_order =
            clCreateCommandQueue(dynsel_opencl_context(&resource), dynsel_opencl_device(&resource),
                                 CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
        assert_int_equal(CL_SUCCESS, code);
        resource.handle = out_of_order;
    }
    const dynsel_options options = {
        .resources = &resource, .count = 1, .adapt = in_order ? NULL : dynsel_opencl_adopt};
    policy = (dynsel_fixed_resource_policy){0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
}

static void end_queue(void)
{
    if (out_of_order != NULL && fake_opencl_given_up() == 0) {
        assert_int_equal(CL_SUCCESS, clReleaseCommandQueue(out_of_order));
    }
    out_of_order = NULL;
}

static dynsel_status record(dynsel_handler *handler, void *args)
{
    (void)args;
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; i < 2 && status == DYNSEL_OK; i++) {
        status = dynsel_set_range(handler, i, items, items_make(data[i]), ELEMENTS,
                                  DYNSEL_ACCESS_READ_WRITE);
    }
    return status == DYNSEL_OK ? dynsel_single_task(handler, &kernel) : status;
}

static dynsel_status send(dynsel_submission *submission)
{
    *submission = (dynsel_submission){.policy = NULL};
    return dynsel_submit_command_group(&policy.policy, record, NULL, submission);
}

static dynsel_status run(void)
{
    return dynsel_submit_command_group_and_wait(&policy.policy, record, NULL);
}

static void check_bytes(const dynsel_submission *submission, size_t in, size_t out)
{
    dynsel_range_bytes bytes;
    assert_status(DYNSEL_OK, dynsel_submission_range_bytes(submission, &bytes));
    assert_int_equal(in * BYTES, bytes.staged_in);
    assert_int_equal(out * BYTES, bytes.staged_out);
}

static void each_staging_direction_is_one_command(void **state)
{
    (void)state;
    for (int in_order = 0; in_order < 2; in_order++) {
        show_machine();
        use(in_order != 0);
        for (unsigned i = 1; i <= 3; i++) {
            assert_status(DYNSEL_OK, run());
            assert_int_equal(2 * i, fake_opencl_calls("clEnqueueWriteBuffer"));
            assert_int_equal(i, fake_opencl_calls("clEnqueueNDRangeKernel"));
            assert_int_equal(2 * i, fake_opencl_calls("clEnqueueReadBuffer"));
            assert_int_equal(2, fake_opencl_calls("clCreateBuffer"));
        }
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
        assert_status(DYNSEL_OK, dynsel_opencl_close());
        end_queue();
        assert_int_equal(0, fake_opencl_leaks());
        assert_int_equal(0, fake_opencl_violations());
    }
}

static dynsel_status record_nothing(dynsel_handler *handler, void *args)
{
    (void)args;
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; i < 2 && status == DYNSEL_OK; i++) {
        status = dynsel_set_range(handler, i, items, items_make(NULL), 0, DYNSEL_ACCESS_READ_WRITE);
    }
    return status == DYNSEL_OK ? dynsel_single_task(handler, &kernel) : status;
}

/* Drivers have no memory of no bytes. */
static void empty_range_gets_nonempty_memory(void **state)
{
    (void)state;
    use(true);
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group_and_wait(&policy.policy, record_nothing, NULL));
    assert_int_equal(2, fake_opencl_calls("clCreateBuffer"));
    assert_int_equal(0, fake_opencl_calls("clEnqueueReadBuffer"));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

/* A few pieces of work; each ends. Returns how many failed. */
static unsigned live(void)
{
    unsigned failures = 0;
    for (unsigned i = 0; i < 3; i++) {
        dynsel_submission submission;
        dynsel_status status = send(&submission);
        if (status == DYNSEL_OK && i == 1) {
            status = dynsel_wait_for(&submission, 0); /* looks, before it waits */
        }
        if (status == DYNSEL_E_TIMEOUT || (status == DYNSEL_OK && i != 1)) {
            status = dynsel_wait(&submission);
        }
        failures += status != DYNSEL_OK ? 1 : 0;
    }
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    return failures;
}

static bool fail_at(uint32_t call, cl_int code, bool in_order, cl_int new_events)
{
    show_machine();
    fake_opencl_set_new_events(new_events);
    use(in_order);
    fake_opencl_fail_at(call, code);
    const unsigned failures = live();
    const bool failed = fake_opencl_has_failed();
    const char *const function = failed ? fake_opencl_failed_function() : "nothing";
    assert_true(failed || failures == 0);
    fake_opencl_fail_at(0, CL_SUCCESS);
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    end_queue();
    if (fake_opencl_leaks() != 0 || fake_opencl_violations() != 0) {
        fail_msg("call %u, %s, code %d: %u leaks, %u violations", (unsigned)call, function,
                 (int)code, (unsigned)fake_opencl_leaks(), (unsigned)fake_opencl_violations());
    }
    return failed;
}

/* Whichever call fails: nothing leaks, nothing lost is touched, and each piece of work ends. */
static void fault_in_each_call_leaks_nothing(void **state)
{
    static const cl_int codes[] = {CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES, -9999,
                                   CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_INVALID_OPERATION};
    static const cl_int events[] = {CL_RUNNING, CL_COMPLETE};
    (void)state;
    for (size_t c = 0; c < COUNT(codes) * COUNT(events) * 2; c++) {
        const bool in_order = c % 2 == 0;
        uint32_t call = 1;
        while (fail_at(call, codes[c / 4], in_order, events[c / 2 % 2])) {
            assert_true(call++ < MOST_CALLS);
        }
        assert_true(call > 20);
    }
    show_machine();
}

static void make_ready(void)
{
    put_in_service(&policy.policy, 0);
    assert_status(DYNSEL_OK, run());
}

/* Its failure, once what goes on has ended. */
static void check_failed_way_back(dynsel_submission *submission, unsigned ways_before)
{
    check_bytes(submission, 2, ways_before);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(submission, 0));
    fake_opencl_finish_events(CL_COMPLETE);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(submission));
    assert_contains(error_line(), "clEnqueueReadBuffer");
}

/* One way back after the other cannot be begun: what was begun before ends before the work does. */
static void failed_copy_back_enqueue_ends_after_earlier_ones(void **state)
{
    unsigned ways_back = 0;
    bool failed = true;
    (void)state;
    use(true);
    for (uint32_t call = 1; failed; call++) {
        dynsel_submission submission;
        make_ready();
        fake_opencl_fail_at(call, CL_INVALID_OPERATION);
        assert_status(DYNSEL_OK, send(&submission));
        const char *const function = fake_opencl_failed_function();
        failed = function != NULL;
        fake_opencl_fail_at(0, CL_SUCCESS);
        if (failed && strcmp(function, "clEnqueueReadBuffer") == 0) {
            check_failed_way_back(&submission, ways_back++);
            continue;
        }
        const dynsel_status status = dynsel_wait(&submission);
        assert_true(failed || status == DYNSEL_OK);
    }
    assert_int_equal(2, ways_back);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

/* The event that the library kept is that of the last way back. */
static void late_command_failure_fails_work(void **state)
{
    dynsel_submission submission;
    (void)state;
    for (int in_order = 0; in_order < 2; in_order++) {
        use(in_order != 0);
        make_ready();
        assert_status(DYNSEL_OK, send(&submission));
        assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
        fake_opencl_finish_events(CL_INVALID_VALUE);
        assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
        assert_status(DYNSEL_OK, send(&submission));
        fake_opencl_finish_events(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submission));
        make_ready();
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
        end_queue();
    }
}

static void device_lost_in_each_step_fails_work(void **state)
{
    static const char *const functions[] = {"clEnqueueWriteBuffer", "clEnqueueNDRangeKernel",
                                            "clEnqueueReadBuffer", "event"};
    (void)state;
    for (size_t i = 0; i < COUNT(functions); i++) {
        dynsel_submission submission;
        show_machine();
        use(true);
        make_ready();
        fake_opencl_break("gpu", functions[i], CL_DEVICE_NOT_AVAILABLE);
        assert_status(DYNSEL_OK, send(&submission));
        assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
        assert_status(DYNSEL_E_OUT_OF_SERVICE, run());
        fake_opencl_break(NULL, NULL, CL_SUCCESS);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
        assert_status(DYNSEL_OK, dynsel_opencl_close());
        assert_int_equal(0, fake_opencl_leaks());
        assert_int_equal(0, fake_opencl_violations());
    }
    show_machine();
}

/* No room for the command, and none can be made. */
static void copy_back_without_memory_returns_full(void **state)
{
    (void)state;
    use(true);
    make_ready();
    fake_opencl_break("gpu", "clEnqueueReadBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_status(DYNSEL_E_FULL, run());
    assert_contains(error_line(), "the device's memory is full");
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    make_ready();
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

int main(void)
{
#define RANGES_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_ranges, tear_down)
    const struct CMUnitTest tests[] = {
        RANGES_TEST(each_staging_direction_is_one_command),
        RANGES_TEST(empty_range_gets_nonempty_memory),
        RANGES_TEST(fault_in_each_call_leaks_nothing),
        RANGES_TEST(failed_copy_back_enqueue_ends_after_earlier_ones),
        RANGES_TEST(late_command_failure_fails_work),
        RANGES_TEST(device_lost_in_each_step_fails_work),
        RANGES_TEST(copy_back_without_memory_returns_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
