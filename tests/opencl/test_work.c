/* SPDX-License-Identifier: Apache-2.0 */
/* Work on devices that succeed, fail, and are lost. */
#include "fixture.h"
#include "support/put_in_service.h"

#define DEVICE(name_, type_, bus_)                                                                 \
    {                                                                                              \
        .name = (name_), .vendor = "V", .type = (type_), .vendor_id = 1, .bus = (bus_)             \
    }

static const fake_device gpus[] = {DEVICE("G0", CL_DEVICE_TYPE_GPU, 1),
                                   DEVICE("G1", CL_DEVICE_TYPE_GPU, 2)};
static const fake_device cpus[] = {DEVICE("C0", CL_DEVICE_TYPE_CPU, 0),
                                   DEVICE("C1", CL_DEVICE_TYPE_CPU, 0)};
static const fake_platform machine[] = {{.name = "G", .count = 2, .devices = gpus},
                                        {.name = "C", .count = 2, .devices = cpus}};

static const dynsel_options on_opencl = {.backend = &dynsel_opencl_backend};

/* What the next work does, and what became of it. */
typedef struct job {
    dynsel_status fails_after; /* what the function returns once it has enqueued */
    bool enqueues_nothing;
    int calls;
    const dynsel_resource *where;
} job;

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    job *const j = args;
    j->calls++;
    j->where = where;
    const cl_command_queue queue = dynsel_opencl_queue(where);
    if (queue == NULL) {
        return dynsel_last_error()->status;
    }
    if (j->enqueues_nothing) {
        return DYNSEL_OK;
    }
    const cl_int code = clEnqueueMarkerWithWaitList(queue, 0, NULL, &done->opencl);
    const dynsel_status status = dynsel_opencl_check("clEnqueueMarkerWithWaitList", code);
    return status != DYNSEL_OK ? status : j->fails_after;
}

static dynsel_round_robin_policy policy;

static int set_up_work(void **state)
{
    (void)set_up(state);
    show(machine, COUNT(machine));
    memset(&policy, 0, sizeof(policy));
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &on_opencl, 0));
    return 0;
}

static int tear_down_work(void **state)
{
    fake_opencl_finish_events(CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    return tear_down(state);
}

static dynsel_status submit(job *j, dynsel_submission *submission)
{
    return dynsel_submit(&policy.policy, &DYNSEL_TASK(enqueue, j), submission);
}

static void assert_error(const char *function, cl_int code, const char *subject)
{
    const dynsel_error *const error = dynsel_last_error();
    assert_string_equal(error->function, function);
    assert_int_equal(error->code, code);
    assert_string_equal(error->subject, subject);
}

/* To the call: one flush, one wait, one release beside the task's own enqueue. */
static void submit_and_wait_costs_four_calls(void **state)
{
    job j = {0};
    dynsel_submission submission;
    (void)state;
    assert_non_null(dynsel_opencl_queue(&policy.policy.resources[0]));
    fake_opencl_set_new_events(CL_RUNNING);
    const uint32_t before = fake_opencl_calls(NULL);
    assert_status(DYNSEL_OK, submit(&j, &submission));
    assert_int_equal(fake_opencl_calls("clEnqueueMarkerWithWaitList"), 1);
    assert_int_equal(fake_opencl_calls("clFlush"), 1);
    assert_int_equal(fake_opencl_calls("clGetEventInfo"), 0);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(fake_opencl_calls("clWaitForEvents") + fake_opencl_calls("clGetEventInfo"), 1);
    assert_int_equal(fake_opencl_calls("clReleaseEvent"), 1);
    assert_int_equal(fake_opencl_calls(NULL) - before, 4);
}

static void detached_work_costs_no_more_calls(void **state)
{
    enum { TIMES = 8 };
    job j = {0};
    (void)state;
    for (int i = 0; i < TIMES; i++) {
        assert_status(DYNSEL_OK, submit(&j, NULL));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    assert_int_equal(fake_opencl_calls("clEnqueueMarkerWithWaitList"), TIMES);
    assert_int_equal(fake_opencl_calls("clFlush"), TIMES);
    assert_int_equal(fake_opencl_calls("clReleaseEvent"), TIMES);
    assert_true(fake_opencl_calls("clGetEventInfo") <= TIMES);
    assert_true(fake_opencl_calls("clWaitForEvents") <= 2 * 4);
}

static void work_without_event_is_complete(void **state)
{
    job j = {.enqueues_nothing = true};
    dynsel_submission submission;
    (void)state;
    assert_status(DYNSEL_OK, submit(&j, &submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(fake_opencl_calls("clFlush"), 0);
    assert_int_equal(fake_opencl_calls("clWaitForEvents"), 0);
}

/* tear_down finds the event that is released once too often, or never. */
static void wait_and_unwrap_gives_own_event_reference(void **state)
{
    job j = {0};
    dynsel_submission submission;
    dynsel_event done = {.native = NULL};
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, submit(&j, &submission));
    assert_status(DYNSEL_OK, dynsel_wait_and_unwrap(&submission, &done));
    assert_non_null(done.opencl);
    assert_int_equal(fake_opencl_calls("clReleaseEvent"), 1);
    cl_int reached = CL_QUEUED;
    assert_int_equal(clGetEventInfo(done.opencl, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof reached,
                                    &reached, NULL),
                     CL_SUCCESS);
    assert_int_equal(reached, CL_COMPLETE);
    assert_int_equal(clReleaseEvent(done.opencl), CL_SUCCESS);
}

static void failed_event_fails_work(void **state)
{
    job j = {0};
    dynsel_submission submission;
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, submit(&j, &submission));
    fake_opencl_finish_events(CL_OUT_OF_HOST_MEMORY);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    assert_error("the enqueued command", CL_OUT_OF_HOST_MEMORY, "G0"); /* not the wait's own code */
    assert_contains(error_line(), "CL_OUT_OF_HOST_MEMORY");
    fake_opencl_set_new_events(-14);
    assert_status(DYNSEL_OK, submit(&j, NULL));
    assert_status(DYNSEL_E_DEPENDENCY,
                  dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    /* Where one failure is the limit, the turn goes on among the other three. */
    assert_error("the enqueued command", -14, CONFIG_DYNSEL_MAX_FAILURES == 1 ? "C0" : "G1");
    assert_int_equal(fake_opencl_calls("clReleaseEvent"), 2);
    assert_non_null(dynsel_opencl_queue(&policy.policy.resources[0])); /* it is not lost */
}

static void failed_task_function_waits_for_its_enqueued_command(void **state)
{
    job j = {.fails_after = DYNSEL_E_TASK};
    dynsel_submission submission;
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, submit(&j, &submission));
    assert_int_equal(fake_opencl_calls("clFlush"), 1);
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    assert_int_equal(fake_opencl_calls("clWaitForEvents"), 1);
    assert_int_equal(fake_opencl_calls("clReleaseEvent"), 1);
}

/* What a task function learned of the loss, the library knows as well. */
static dynsel_status enqueue_and_lose(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const dynsel_status status = enqueue(where, args, done);
    return status != DYNSEL_OK ? status
                               : dynsel_opencl_check("clSetKernelArg", CL_DEVICE_NOT_AVAILABLE);
}

static void device_lost_in_task_function_fails_work(void **state)
{
    job j = {0};
    dynsel_submission submission;
    (void)state;
    assert_status(DYNSEL_OK,
                  dynsel_submit(&policy.policy, &DYNSEL_TASK(enqueue_and_lose, &j), &submission));
    const uint32_t calls = fake_opencl_calls(NULL);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    assert_string_equal(dynsel_last_error()->function, "clSetKernelArg");
    assert_int_equal(fake_opencl_calls("clFlush"), 0);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&policy.policy, 0));
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&policy.policy, 1));
    assert_int_equal(fake_opencl_calls(NULL), calls);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    assert_int_equal(fake_opencl_leaks(), 3); /* context, queue and event: given up on purpose */
    (void)set_up_work(state);
}

/* The work is enqueued all the same: a wait flushes, and so does the next look. */
static void failed_flush_is_retried(void **state)
{
    job j = {0};
    dynsel_submission submission;
    (void)state;
    fake_opencl_break("G0", "clFlush", CL_OUT_OF_HOST_MEMORY);
    assert_status(DYNSEL_OK, submit(&j, &submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    for (int i = 0; i < 3; i++) { /* on the others */
        assert_status(DYNSEL_OK, submit(&j, NULL));
    }
    assert_status(DYNSEL_OK, submit(&j, NULL)); /* on G0 again */
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    dynsel_progress();
    assert_int_equal(fake_opencl_calls("clFlush"), 6);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
}

/* What a look may fail with although nothing is wrong with the device. */
static const cl_int unseen[] = {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, CL_INVALID_VALUE,
                                CL_INVALID_EVENT, -7777};

/* It says nothing about the work, which may still use the caller's memory. */
static void failed_poll_does_not_complete_work(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(unseen); i++) {
        job j = {0};
        fake_opencl_set_new_events(CL_RUNNING);
        assert_status(DYNSEL_OK, submit(&j, NULL));
        fake_opencl_break(dynsel_resource_name(j.where), "clGetEventInfo", unseen[i]);
        assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy.policy));
        fake_opencl_break(NULL, NULL, CL_SUCCESS);
        assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    }
}

/* The wait goes on as looks, and ends when the work does. */
static void failed_wait_continues_by_polling(void **state)
{
    enum { LOOKS = 50 };
    (void)state;
    for (size_t i = 0; i < COUNT(unseen); i++) {
        job j = {0};
        dynsel_submission submission;
        fake_opencl_set_new_events(CL_RUNNING);
        assert_status(DYNSEL_OK, submit(&j, &submission));
        const uint32_t before = fake_opencl_calls("clGetEventInfo");
        fake_opencl_end_events_after(LOOKS);
        fake_opencl_break(dynsel_resource_name(j.where), "clWaitForEvents", unseen[i]);
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
        assert_true(fake_opencl_calls("clGetEventInfo") - before >= LOOKS / 2);
        fake_opencl_break(NULL, NULL, CL_SUCCESS);
    }
}

/* An event that failed is an end, although the wait can only say that. */
static void failed_event_ends_wait_with_unspecific_error(void **state)
{
    job j = {0};
    dynsel_submission submission;
    (void)state;
    assert_status(DYNSEL_OK, submit(&j, &submission));
    fake_opencl_break("G0", "looks", CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    assert_error("clWaitForEvents", CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "G0");
}

static void show_with_patience(uint32_t milliseconds)
{
    const dynsel_opencl_options options = {.patience_ms = milliseconds};
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    show(machine, COUNT(machine));
    assert_status(DYNSEL_OK, dynsel_opencl_configure(&options));
    memset(&policy, 0, sizeof(policy));
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &on_opencl, 0));
}

/* G0, when nothing was learned of its work for long enough; its event is never released. */
static void assert_given_up(dynsel_status status, const char *function, cl_int code)
{
    assert_status(DYNSEL_E_DEVICE, status);
    assert_error(function, code, "G0");
    assert_contains(error_line(), "the device was lost while this work was on it");
    fake_opencl_give_up("G0");
    assert_string_equal(chosen_by("all"), "G1|C0|C1");
    assert_int_equal(fake_opencl_calls("clReleaseEvent"), 0);
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
}

static void unresponsive_device_is_given_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(unseen); i++) {
        job j = {0};
        dynsel_submission submission;
        show_with_patience(1);
        fake_opencl_set_new_events(CL_RUNNING);
        assert_status(DYNSEL_OK, submit(&j, &submission));
        fake_opencl_break("G0", "looks", unseen[i]);
        assert_given_up(dynsel_wait(&submission), "clWaitForEvents", unseen[i]);

        show_with_patience(1); /* the same where nobody waits */
        fake_opencl_set_new_events(CL_RUNNING);
        assert_status(DYNSEL_OK, submit(&j, &submission));
        fake_opencl_break("G0", "looks", unseen[i]);
        dynsel_status status = dynsel_wait_for(&submission, 0);
        while (status == DYNSEL_E_TIMEOUT) {
            status = dynsel_wait_for(&submission, 0);
        }
        assert_given_up(status, "clGetEventInfo", unseen[i]);
    }
}

/* A bound is a bound, whatever the looks say. */
static void bounded_wait_with_failing_polls_times_out(void **state)
{
    job j = {0};
    dynsel_submission submission;
    (void)state;
    show_with_patience(3600000);
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, submit(&j, &submission));
    fake_opencl_break("G0", "looks", CL_OUT_OF_HOST_MEMORY);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 1000000));
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
}

/* How each way to lose G0 shows; the fake counts what is called on it afterwards. */
typedef struct loss {
    const char *broken; /* the function that tells, or "event" */
    cl_int code;
    const char *told; /* the function in the error */
} loss;

static void lose_g0(const loss *l)
{
    job j = {0};
    dynsel_submission first;
    dynsel_submission second;
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, submit(&j, &first)); /* on G0 */
    fake_opencl_break("G0", l->broken, l->code);
    for (int i = 0; i < 3; i++) { /* on the others */
        assert_status(DYNSEL_OK, submit(&j, NULL));
    }
    assert_status(DYNSEL_OK, submit(&j, &second)); /* on G0 again */
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&second));
    assert_string_equal(dynsel_last_error()->function, l->told);
    assert_int_equal(dynsel_last_error()->code, l->code);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&first));
    assert_int_equal(dynsel_last_error()->code, l->code);
    assert_contains(error_line(), "the device was lost while this work was on it [G0]");
}

static void others_go_on(void)
{
    for (int i = 0; i < 9; i++) {
        job j = {0};
        dynsel_submission submission;
        assert_status(DYNSEL_OK, submit(&j, &submission));
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
        assert_string_not_equal(dynsel_resource_name(j.where), "G0");
        assert_int_equal(j.calls, 1);
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&policy.policy, 0));
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&policy.policy, 1));
}

static void lost_device_gets_no_further_calls(void **state)
{
    static const loss losses[] = {
        {"clEnqueueMarkerWithWaitList", CL_OUT_OF_RESOURCES, "clEnqueueMarkerWithWaitList"},
        {"clEnqueueMarkerWithWaitList", CL_INVALID_COMMAND_QUEUE, "clEnqueueMarkerWithWaitList"},
        {"clFlush", CL_DEVICE_NOT_AVAILABLE, "clFlush"},
        {"clWaitForEvents", CL_DEVICE_NOT_AVAILABLE, "clWaitForEvents"},
        {"clWaitForEvents", -9999, "clWaitForEvents"},
        {"event", CL_OUT_OF_RESOURCES, "the enqueued command"},
    };
    for (size_t i = 0; i < COUNT(losses); i++) {
        lose_g0(&losses[i]);
        others_go_on();
        const uint32_t given_up = fake_opencl_given_up();
        assert_true(given_up >= 2); /* its context and queue at least */
        assert_string_equal(chosen_by("all"), "G1|C0|C1");
        assert_string_equal(chosen_by("name=G0"), "DYNSEL_E_NO_RESOURCE");
        assert_null(dynsel_opencl_queue(&policy.policy.resources[0]));
        assert_contains(error_line(), "the device was lost");
        put_in_service(&policy.policy, 0);
        others_go_on(); /* its first refusal puts it out again */
        (void)tear_down_work(state);
        assert_int_equal(fake_opencl_given_up(), given_up);
        (void)set_up_work(state);
    }
}

/* Whatever of the two failed, and however it did. */
static void failed_device_open_is_retried(void **state)
{
    static const loss failures[] = {
        {"clCreateContext", CL_OUT_OF_HOST_MEMORY, "clCreateContext"},
        {"clCreateContext", CL_DEVICE_NOT_AVAILABLE, "clCreateContext"},
        {"clCreateCommandQueue", CL_OUT_OF_RESOURCES, "clCreateCommandQueue"},
        {"clCreateCommandQueue", -7777, "clCreateCommandQueue"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(failures); i++) {
        dynsel_fixed_resource_policy fixed = {0};
        job j = {0};
        assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&fixed, &on_opencl, 0));
        fake_opencl_break("G0", failures[i].broken, failures[i].code);
        for (int tries = 0; tries < 2; tries++) { /* the second after it was reinstated */
            assert_status(DYNSEL_E_OUT_OF_SERVICE,
                          dynsel_submit_and_wait(&fixed.policy, &DYNSEL_TASK(enqueue, &j)));
            assert_error(failures[i].told, failures[i].code, "G0");
            assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&fixed.policy, 0));
            put_in_service(&fixed.policy, 0);
        }
        fake_opencl_break(NULL, NULL, CL_SUCCESS);
        assert_status(DYNSEL_OK, dynsel_submit_and_wait(&fixed.policy, &DYNSEL_TASK(enqueue, &j)));
        assert_int_equal(j.calls, 1);
        assert_string_equal(chosen_by("all"), "G0|G1|C0|C1");
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&fixed.policy));
        (void)tear_down_work(state);
        (void)set_up_work(state);
    }
}

/* Such codes can be the failure of one piece of work: the device is checked. */
static void device_that_passes_check_stays_in_service(void **state)
{
    static const cl_int codes[] = {CL_OUT_OF_RESOURCES, CL_INVALID_COMMAND_QUEUE};
    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        job j = {0};
        dynsel_submission submission;
        fake_opencl_set_new_events(CL_RUNNING);
        assert_status(DYNSEL_OK, submit(&j, &submission));
        fake_opencl_finish_events(codes[i]);
        fake_opencl_set_new_events(CL_COMPLETE);
        const uint32_t queues = fake_opencl_calls("clCreateCommandQueue");
        assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
        assert_int_equal(codes[i], dynsel_last_error()->code);
        assert_contains(error_line(), "the device was checked and works");
        assert_int_equal(queues + 1, fake_opencl_calls("clCreateCommandQueue"));
        assert_string_equal(chosen_by("all"), "G0|G1|C0|C1");
        for (unsigned k = 0; k < 4; k++) {
            assert_status(DYNSEL_OK,
                          dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(enqueue, &j)));
        }
        assert_status(DYNSEL_OK, dynsel_resource_in_service(&policy.policy, 0));
    }
}

/* A marker that does not end shows a device that hangs, or works on something long. */
static void check_of_device_that_hangs_ends_without_a_loss(void **state)
{
    job j = {0};
    dynsel_submission submission;
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, submit(&j, &submission));
    fake_opencl_finish_events(CL_OUT_OF_RESOURCES);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    assert_string_equal(chosen_by("all"), "G0|G1|C0|C1");
}

/* Returns whether the check had so many calls. lost: out. */
static bool fail_in_check(uint32_t call, cl_int code, bool *lost)
{
    job j = {0};
    dynsel_submission submission;
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, submit(&j, &submission));
    fake_opencl_finish_events(CL_OUT_OF_RESOURCES);
    fake_opencl_set_new_events(CL_COMPLETE);
    fake_opencl_fail_at(3 + call, code); /* behind the wait, a flush and the event's status */
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    assert_int_equal(CL_OUT_OF_RESOURCES, dynsel_last_error()->code);
    const bool failed = fake_opencl_has_failed();
    fake_opencl_fail_at(0, CL_SUCCESS);
    *lost = dynsel_resource_in_service(&policy.policy, 0) != DYNSEL_OK;
    return failed;
}

static void check_that_fails_decides(void **state)
{
    static const cl_int codes[] = {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY};
    for (size_t i = 0; i < COUNT(codes); i++) {
        unsigned losses = 0;
        uint32_t call = 1;
        bool lost = false;
        while (fail_in_check(call, codes[i], &lost)) {
            losses += lost ? 1 : 0;
            call++;
            (void)tear_down_work(state);
            (void)set_up_work(state);
        }
        assert_true(call > 6);
        /* its own queue: a marker and a flush; a new queue, a marker and a flush there */
        assert_int_equal(codes[i] == CL_OUT_OF_RESOURCES ? 5 : 0, losses);
    }
}

/* A look, not a wait, may be what finds out. */
static void poll_can_detect_lost_device(void **state)
{
    job j = {0};
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, submit(&j, NULL));
    fake_opencl_finish_events(CL_DEVICE_NOT_AVAILABLE);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy)); /* looks once */
    assert_string_equal(chosen_by("all"), "G1|C0|C1");
    assert_int_equal(fake_opencl_given_up(), 3);
    memset(&policy, 0, sizeof(policy));
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &on_opencl, 0));
}

static void fixed_resource_on_lost_device_returns_out_of_service(void **state)
{
    dynsel_fixed_resource_policy fixed = {0};
    job j = {0};
    (void)state;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&fixed, &on_opencl, 0));
    fake_opencl_break("G0", "clFlush", CL_DEVICE_NOT_AVAILABLE);
    assert_status(DYNSEL_E_DEVICE,
                  dynsel_submit_and_wait(&fixed.policy, &DYNSEL_TASK(enqueue, &j)));
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit_and_wait(&fixed.policy, &DYNSEL_TASK(enqueue, &j)));
    if (CONFIG_DYNSEL_MAX_FAILURES != 1) { /* else the first failure was the last that is tried */
        assert_contains(error_line(), "the device was lost");
        assert_contains(error_line(), "[G0], code -2");
    }
    assert_int_equal(j.calls, 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&fixed.policy));
}

/* What shares a context shares its end; who opens later gets a new one. */
static void cpus_of_shared_context_are_lost_together(void **state)
{
    job j = {0};
    const dynsel_options options = {.resources = &policy.policy.resources[2], .count = 1};
    dynsel_fixed_resource_policy c0 = {0};
    (void)state;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&c0, &options, 0));
    fake_opencl_break("C0", "clFlush", CL_OUT_OF_RESOURCES);
    assert_status(DYNSEL_E_DEVICE, dynsel_submit_and_wait(&c0.policy, &DYNSEL_TASK(enqueue, &j)));
    const cl_context fresh = dynsel_opencl_context(&policy.policy.resources[3]);
    assert_non_null(fresh);
    assert_int_equal(fake_opencl_devices_of_last_context(), 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&c0.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_opencl_close());

    (void)set_up_work(state); /* the same with both open */
    assert_non_null(dynsel_opencl_queue(&policy.policy.resources[3]));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&c0, &options, 0));
    fake_opencl_break("C0", "clFlush", CL_OUT_OF_RESOURCES);
    assert_status(DYNSEL_E_DEVICE, dynsel_submit_and_wait(&c0.policy, &DYNSEL_TASK(enqueue, &j)));
    assert_null(dynsel_opencl_context(&policy.policy.resources[3]));
    assert_string_equal(chosen_by("all"), "G0|G1");
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&c0.policy));
}

/* A queue that is not the library's. */
static cl_command_queue make_queue(cl_command_queue_properties properties)
{
    cl_int code = CL_SUCCESS;
    const dynsel_resource *const g1 = &policy.policy.resources[1];
    const cl_command_queue queue = clCreateCommandQueue(
        dynsel_opencl_context(g1), dynsel_opencl_device(g1), properties, &code);
    assert_int_equal(code, CL_SUCCESS);
    return queue;
}

static void adopted_queue_is_resource(void **state)
{
    (void)state;
    const cl_command_queue queue = make_queue(0);
    const dynsel_resource mine = {&dynsel_opencl_backend, queue};
    const dynsel_options options = {.resources = &mine, .count = 1, .adapt = dynsel_opencl_adopt};
    dynsel_fixed_resource_policy fixed = {0};
    job j = {0};
    assert_null(dynsel_opencl_queue(&mine)); /* not adopted yet */
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&fixed, &options, 0));
    assert_string_equal(dynsel_resource_name(&mine), "G1");
    assert_ptr_equal(dynsel_opencl_queue(&mine), queue);
    assert_ptr_equal(dynsel_opencl_adopt(queue), dynsel_opencl_adopt(queue));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&fixed.policy, &DYNSEL_TASK(enqueue, &j)));
    assert_ptr_equal(j.where->handle, queue);
    assert_string_equal(chosen_by("all"), "G0|G1|C0|C1"); /* no device of its own */
    assert_status(DYNSEL_E_BUSY, dynsel_opencl_close());
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&fixed.policy));
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS); /* the library holds on to it */
    assert_ptr_equal(dynsel_opencl_queue(&mine), queue);
}

/* There a later wait does not cover earlier work: a look that finds it complete has to wait. */
static void out_of_order_queue_work_is_waited_for_each(void **state)
{
    (void)state;
    const cl_command_queue queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    const dynsel_resource mine = {&dynsel_opencl_backend, queue};
    const dynsel_options options = {.resources = &mine, .count = 1, .adapt = dynsel_opencl_adopt};
    dynsel_fixed_resource_policy fixed = {0};
    job j = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&fixed, &options, 0));
    for (int i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&fixed.policy, &DYNSEL_TASK(enqueue, &j), NULL));
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&fixed.policy)); /* only looks */
    assert_true(fake_opencl_calls("clWaitForEvents") >= 3);
    assert_int_equal(fake_opencl_calls("clReleaseEvent"), 3);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

static void wrong_queues_are_refused(void **state)
{
    (void)state;
    const cl_command_queue queue = make_queue(0);
    assert_null(dynsel_opencl_adopt(NULL));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
    fake_opencl_fail_at(1, CL_INVALID_CONTEXT);
    assert_null(dynsel_opencl_adopt(queue));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
    assert_contains(error_line(), "clGetCommandQueueInfo");
    for (uint32_t i = 4; i < CONFIG_DYNSEL_OPENCL_MAX_DEVICES; i++) {
        const cl_command_queue another = make_queue(0);
        assert_non_null(dynsel_opencl_adopt(another));
        assert_int_equal(clReleaseCommandQueue(another), CL_SUCCESS);
    }
    assert_null(dynsel_opencl_adopt(queue));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_FULL);
    assert_contains(error_line(), "CONFIG_DYNSEL_OPENCL_MAX_DEVICES is");
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
}

/* One work may fail for the failure that was injected, and for no other. */
static void expect_ok_or_injected(dynsel_status status)
{
    if (status == DYNSEL_OK) {
        return;
    }
    assert_true(fake_opencl_has_failed());
    if (status == DYNSEL_E_NO_RESOURCE) {
        return; /* no device could be listed or described; nothing failed for good */
    }
    const dynsel_error *const error = dynsel_last_error();
    assert_true(status == DYNSEL_E_DEVICE || status == DYNSEL_E_OUT_OF_SERVICE);
    assert_true(error->code == CL_OUT_OF_HOST_MEMORY || error->code == CL_OUT_OF_RESOURCES ||
                error->code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_non_null(error->function);
}

static void use_everything(void)
{
    dynsel_round_robin_policy round = {0};
    const dynsel_status status = dynsel_round_robin_init(&round, &on_opencl, 0);
    expect_ok_or_injected(status);
    if (status != DYNSEL_OK) {
        return;
    }
    for (int i = 0; i < 4; i++) {
        job kept = {0};
        job lost = {0};
        dynsel_submission submission;
        const dynsel_status submitted =
            dynsel_submit(&round.policy, &DYNSEL_TASK(enqueue, &kept), &submission);
        expect_ok_or_injected(submitted);
        assert_int_equal(kept.calls, submitted == DYNSEL_OK ? 1 : 0);
        expect_ok_or_injected(dynsel_submit(&round.policy, &DYNSEL_TASK(enqueue, &lost), NULL));
        if (submitted == DYNSEL_OK) {
            expect_ok_or_injected(dynsel_wait(&submission));
        }
        expect_ok_or_injected(dynsel_wait_group(dynsel_get_submission_group(&round.policy)));
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&round.policy));
}

/* Whichever call fails: nothing leaks, nothing hangs, no status is made up. */
static void fail_each_call(cl_int code)
{
    bool failed = true;
    for (uint32_t call = 1; failed; call++) {
        show(machine, COUNT(machine));
        fake_opencl_set_new_events(CL_RUNNING);
        fake_opencl_fail_at(call, code);
        use_everything();
        assert_status(DYNSEL_OK, dynsel_opencl_close());
        failed = fake_opencl_has_failed();
        if (fake_opencl_leaks() != 0 || fake_opencl_violations() != 0) {
            fail_msg("call %u, %s: %u leaks, %u violations", (unsigned)call,
                     fake_opencl_failed_function(), (unsigned)fake_opencl_leaks(),
                     (unsigned)fake_opencl_violations());
        }
        assert_true(call < 1000);
    }
}

static void fault_in_each_call_leaks_nothing(void **state)
{
    (void)state;
    fail_each_call(CL_OUT_OF_HOST_MEMORY);
    fail_each_call(CL_OUT_OF_RESOURCES);
}

#if CONFIG_DYNSEL_RESOURCE_SETS
/* Which devices get work of the policy, by the numbers in their names: G0, G1, C0, C1. */
static unsigned devices_of(dynsel_policy *base)
{
    unsigned seen = 0;
    for (unsigned i = 0; i < 8; i++) {
        job j = {.enqueues_nothing = true};
        assert_status(DYNSEL_OK, dynsel_submit_and_wait(base, &DYNSEL_TASK(enqueue, &j)));
        const char *const name = dynsel_resource_name(j.where);
        seen |= 1u << ((name[0] == 'C' ? 2 : 0) + (name[1] - '0'));
    }
    return seen;
}

static dynsel_status select_anew(dynsel_policy *base, const char *selector)
{
    dynsel_resource found[4];
    size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_opencl_select(selector, found, 4, &count));
    const dynsel_options options = {.resources = found, .count = count};
    return dynsel_policy_set_resources(base, &options, 0);
}

static void another_selector_replaces_the_devices(void **state)
{
    static dynsel_round_robin_policy changing;
    const dynsel_options options = {.backend = &dynsel_opencl_backend, .may_change = true};
    (void)state;
    (void)memset(&changing, 0, sizeof changing);
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&changing, &options, 0));
    assert_int_equal(15, devices_of(&changing.policy));
    assert_status(DYNSEL_OK, select_anew(&changing.policy, "type=gpu"));
    assert_int_equal(3, devices_of(&changing.policy));
    assert_status(DYNSEL_OK, select_anew(&changing.policy, "type=cpu"));
    assert_int_equal(12, devices_of(&changing.policy));
    assert_status(DYNSEL_OK, select_anew(&changing.policy, "name=G1;name=C0"));
    assert_int_equal(6, devices_of(&changing.policy));
    assert_status(DYNSEL_OK, dynsel_policy_set_resources(&changing.policy, &options, 0));
    assert_int_equal(15, devices_of(&changing.policy));
    size_t count = 0;
    (void)dynsel_get_resources(&changing.policy, &count);
    assert_int_equal(4, count);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&changing.policy));
}
#endif

int main(void)
{
#define WORK_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_work, tear_down_work)
    const struct CMUnitTest tests[] = {
#if CONFIG_DYNSEL_RESOURCE_SETS
        WORK_TEST(another_selector_replaces_the_devices),
#endif
        WORK_TEST(submit_and_wait_costs_four_calls),
        WORK_TEST(detached_work_costs_no_more_calls),
        WORK_TEST(work_without_event_is_complete),
        WORK_TEST(wait_and_unwrap_gives_own_event_reference),
        WORK_TEST(failed_event_fails_work),
        WORK_TEST(failed_task_function_waits_for_its_enqueued_command),
        WORK_TEST(device_lost_in_task_function_fails_work),
        WORK_TEST(failed_flush_is_retried),
        WORK_TEST(failed_poll_does_not_complete_work),
        WORK_TEST(failed_wait_continues_by_polling),
        WORK_TEST(failed_event_ends_wait_with_unspecific_error),
        WORK_TEST(unresponsive_device_is_given_up),
        WORK_TEST(bounded_wait_with_failing_polls_times_out),
        WORK_TEST(lost_device_gets_no_further_calls),
        WORK_TEST(failed_device_open_is_retried),
        WORK_TEST(poll_can_detect_lost_device),
        WORK_TEST(device_that_passes_check_stays_in_service),
        WORK_TEST(check_of_device_that_hangs_ends_without_a_loss),
        WORK_TEST(check_that_fails_decides),
        WORK_TEST(fixed_resource_on_lost_device_returns_out_of_service),
        WORK_TEST(cpus_of_shared_context_are_lost_together),
        WORK_TEST(adopted_queue_is_resource),
        WORK_TEST(out_of_order_queue_work_is_waited_for_each),
        WORK_TEST(wrong_queues_are_refused),
        TEST(fault_in_each_call_leaks_nothing),
    };
    return RUN(tests);
}
