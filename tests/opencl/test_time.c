/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that need times have them from real devices, through queues without profiling. */
#define _GNU_SOURCE /* RTLD_NEXT, nanosleep */

#include <dynsel/dynsel.h>

#include <dlfcn.h>
#include <time.h>

#include "test.h"

enum { BYTES = 4096, TIMES = 20 };

static unsigned times_heard;
static unsigned submissions_heard;
static unsigned completions_heard;

static unsigned callbacks;

/* What the library calls, in place of the loader's. */
cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int status,
                                      void(CL_CALLBACK *notify)(cl_event event, cl_int status,
                                                                void *user_data),
                                      void *user_data)
{
    callbacks++;
    return ((__typeof__(&clSetEventCallback))dlsym(RTLD_NEXT, "clSetEventCallback"))(
        event, status, notify, user_data);
}

static dynsel_status choose_in_turn(dynsel_policy *base, const dynsel_task *task,
                                    dynsel_selection *selection)
{
    selection->index = task->id % base->count;
    return DYNSEL_OK;
}

static void hear(dynsel_policy *base, const dynsel_selection *selection, dynsel_execution_info info,
                 uint64_t value)
{
    (void)base;
    (void)selection;
    submissions_heard += info == DYNSEL_TASK_SUBMISSION ? 1 : 0;
    completions_heard += info == DYNSEL_TASK_COMPLETION ? 1 : 0;
    if (info == DYNSEL_TASK_TIME) {
        times_heard++;
        assert_true(value > 0);
        assert_true(value < UINT64_C(60000000000));
    }
}

static const dynsel_policy_ops timing_ops = {.name = "timing",
                                             .needs = DYNSEL_TASK_SUBMISSION |
                                                      DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
                                             .try_select = choose_in_turn,
                                             .report = hear};

static const dynsel_policy_ops deaf_ops = {.name = "deaf", .try_select = choose_in_turn};

static char bytes[BYTES];

/* Reads a buffer. */
static dynsel_status copy(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    cl_int code = CL_SUCCESS;
    const cl_command_queue queue = dynsel_opencl_queue(where);
    const cl_mem buffer =
        clCreateBuffer(dynsel_opencl_context(where), CL_MEM_READ_WRITE, BYTES, NULL, &code);
    if (code != CL_SUCCESS) {
        return dynsel_opencl_check("clCreateBuffer", code);
    }
    code = clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, BYTES, bytes, 0, NULL, &done->opencl);
    (void)clReleaseMemObject(buffer);
    return dynsel_opencl_check("clEnqueueReadBuffer", code);
}

static void assert_not_profiled(const dynsel_resource *where)
{
    cl_command_queue_properties properties = 0;
    const cl_int code = clGetCommandQueueInfo(dynsel_opencl_queue(where), CL_QUEUE_PROPERTIES,
                                              sizeof properties, &properties, NULL);
    assert_int_equal(code, CL_SUCCESS);
    assert_true((properties & CL_QUEUE_PROFILING_ENABLE) == 0);
}

static void report_task_times(dynsel_opencl_timing timing, unsigned expected_callbacks)
{
    static dynsel_policy policy;
    const dynsel_options options = {.backend = &dynsel_opencl_backend};
    submissions_heard = 0;
    completions_heard = 0;
    times_heard = 0;
    callbacks = 0;
    assert_status(DYNSEL_OK,
                  dynsel_opencl_configure(&(const dynsel_opencl_options){.timing = timing}));
    if (dynsel_policy_init(&policy, &deaf_ops, &options) == DYNSEL_E_NO_RESOURCE) {
        assert_status(DYNSEL_OK, dynsel_opencl_close());
        skip();
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &timing_ops, &options));
    for (uint32_t i = 0; i < TIMES; i++) {
        const dynsel_task task = {.function = copy, .id = i};
        dynsel_selection selection;
        assert_status(DYNSEL_OK, dynsel_select(&policy, &task, &selection));
        assert_not_profiled(dynsel_selection_unwrap(&selection));
        assert_status(DYNSEL_OK, dynsel_submit(&policy, &task, NULL));
        /* nobody waits, so only the device can tell when it was done */
        (void)nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        dynsel_progress();
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy)));
    assert_int_equal(submissions_heard, TIMES);
    assert_int_equal(completions_heard, TIMES);
    /* a driver may be late to say when work has ended: that time is not known then */
    assert_in_range(times_heard, 1, TIMES);
    assert_int_equal(callbacks, expected_callbacks);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    assert_status(DYNSEL_OK, dynsel_opencl_close());
}

/* Drivers call back in threads of theirs. */
static void queues_without_profiling_report_task_times(void **state)
{
    (void)state;
    report_task_times(DYNSEL_OPENCL_TIMES_BY_CALLBACK, CONFIG_DYNSEL_CONTEXT_THREADS ? TIMES : 0);
}

static void profiles_report_task_times(void **state)
{
    (void)state;
    report_task_times(DYNSEL_OPENCL_TIMES_BY_PROFILE, 0);
    assert_int_equal(times_heard, TIMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(queues_without_profiling_report_task_times),
                                       cmocka_unit_test(profiles_report_task_times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
