/* SPDX-License-Identifier: Apache-2.0 */
/* Command groups whose ends follow from that of a later one: one question to the driver for many of
 * them, and nothing that goes wrong is overlooked. */
#include "fixture.h"

enum {
    WORDS = 16,
#if CONFIG_DYNSEL_MAX_IN_FLIGHT < 64
    MOST = CONFIG_DYNSEL_MAX_IN_FLIGHT,
#else
    MOST = 64,
#endif
    QUESTIONS = (MOST + DYNSEL_MOST_ENDED - 1) / DYNSEL_MOST_ENDED
};

static const fake_device devices[] = {{.name = "gpu", .vendor = "V", .type = CL_DEVICE_TYPE_GPU}};
static const fake_platform machine[] = {{.name = "P", .count = 1, .devices = devices}};

static const fake_platform prompt_machine[] = {
    {.name = "NVIDIA CUDA", .count = 1, .devices = devices}};

static const fake_device processors[] = {
    {.name = "cpu", .vendor = "V", .type = CL_DEVICE_TYPE_CPU}};
static const fake_platform pocl_machine[] = {
    {.name = "Portable Computing Language", .count = 1, .devices = processors}};
static const fake_device basic[] = {
    {.name = "basic-x", .vendor = "V", .type = CL_DEVICE_TYPE_CPU, .begins_unflushed = true}};
static const fake_platform basic_machine[] = {
    {.name = "Portable Computing Language", .count = 1, .devices = basic}};
static const fake_device minimal[] = {
    {.name = "cpu-minimal-x", .vendor = "V", .type = CL_DEVICE_TYPE_CPU, .begins_unflushed = true}};
static const fake_platform minimal_machine[] = {
    {.name = "Portable Computing Language", .count = 1, .devices = minimal}};
static const fake_platform pocl_gpu_machine[] = {
    {.name = "Portable Computing Language", .count = 1, .devices = devices}};

static dynsel_fixed_resource_policy policy;
static uint32_t words[WORDS + 1]; /* no device would use them itself */
static dynsel_buffer buffer;
static dynsel_submission submissions[MOST];
static uint8_t mode; /* with which each group uses the buffer */
static bool is_lost; /* the device is */

static const dynsel_kernel kernel = {.name = "k", .source = "kernel void k(...)"};

static dynsel_status launch(dynsel_handler *handler, void *args)
{
    const uint32_t value = 1;
    dynsel_accessor data;
    (void)args;
    (void)dynsel_get_access(handler, buffer, mode, DYNSEL_MEMORY_GLOBAL, &data);
    (void)dynsel_set_arg_accessor(handler, 0, &data);
    (void)dynsel_set_arg_value(handler, 1, &value, sizeof(value));
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(WORDS), NULL, NULL);
}

static dynsel_status submit(dynsel_submission *submission)
{
    return dynsel_submit_command_group(&policy.policy, launch, NULL, submission);
}

static int set_up_on(const fake_platform *platforms)
{
    size_t count = 0;
    dynsel_resource gpu = {0};
    (void)unsetenv("DYNSEL_OPENCL");
    show(platforms, 1);
    fake_opencl_end_markers();
    /* without trials of work-groups, whose events would be among those that the tests count */
    assert_status(DYNSEL_OK, dynsel_opencl_configure(&(dynsel_opencl_options){
                                 .work_groups = DYNSEL_OPENCL_WORK_GROUPS_BY_RANGE}));
    assert_status(DYNSEL_OK, dynsel_opencl_select("all", &gpu, 1, &count));
    const dynsel_options options = {.resources = &gpu, .count = 1};
    policy = (dynsel_fixed_resource_policy){0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    buffer = (dynsel_buffer){0};
    mode = DYNSEL_ACCESS_READ_WRITE;
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, words + 1, sizeof(uint32_t), DYNSEL_RANGE(WORDS)));
    /* the kernel is built, and the copy made */
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&policy.policy, launch, NULL));
    return 0;
}

static int set_up_groups(void **state)
{
    (void)state;
    return set_up_on(machine);
}

static int set_up_prompt_driver(void **state)
{
    (void)state;
    return set_up_on(prompt_machine);
}

static int set_up_pocl(void **state)
{
    (void)state;
    return set_up_on(pocl_machine);
}

static int set_up_basic(void **state)
{
    (void)state;
    return set_up_on(basic_machine);
}

static int set_up_minimal(void **state)
{
    (void)state;
    return set_up_on(minimal_machine);
}

static int set_up_gpu_of_pocl(void **state)
{
    (void)state;
    return set_up_on(pocl_gpu_machine);
}

static dynsel_status wait_for_all(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(&policy.policy));
}

static int tear_down_groups(void **state)
{
    fake_opencl_finish_events(CL_COMPLETE);
    fake_opencl_set_new_events(CL_COMPLETE);
    const dynsel_status status = dynsel_buffer_deinit(&buffer);
    assert_true(status == DYNSEL_OK || is_lost); /* and with it the only copy */
    is_lost = false;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    return tear_down(state);
}

static void submit_with_handles(int count)
{
    memset(submissions, 0, sizeof(submissions));
    for (int i = 0; i < count; i++) {
        assert_status(DYNSEL_OK, submit(&submissions[i]));
    }
}

static void one_question_answers_for_many(void **state)
{
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    const uint32_t releases = fake_opencl_calls("clReleaseEvent");
    const uint32_t waits = fake_opencl_calls("clWaitForEvents");
    const uint32_t polls = fake_opencl_calls("clGetEventInfo");
    for (int i = 0; i < MOST; i++) {
        assert_status(DYNSEL_OK, submit(NULL));
    }
    const uint32_t polls_of_submits = fake_opencl_calls("clGetEventInfo") - polls;
    assert_status(DYNSEL_OK, wait_for_all());
    assert_int_equal(fake_opencl_calls("clReleaseEvent") - releases, MOST);
    /* the newest, the others together, and the results of what was polled by itself */
    assert_true(fake_opencl_calls("clWaitForEvents") - waits <= 1 + QUESTIONS + 1);
    assert_true(fake_opencl_calls("clGetEventInfo") - polls - polls_of_submits <= 3);
}

static uint32_t questions(void)
{
    return fake_opencl_calls("clGetEventInfo") + fake_opencl_calls("clWaitForEvents");
}

/* A full table is emptied by questions about many, too; work that has not ended is not waited for
 * together. */
static void full_table_is_emptied_by_few_questions(void **state)
{
    enum { ROUNDS = 3, PART = MOST / 2 };
    (void)state; /* of a larger table no more slots are open yet */
    fake_opencl_set_new_events(CL_RUNNING);
    const uint32_t at_first = questions();
    for (int i = 0; i < MOST; i++) {
        assert_status(DYNSEL_OK, submit(NULL));
    }
    const uint32_t of_submits = questions() - at_first; /* each looks at its own work */
    for (int round = 0; round < ROUNDS; round++) {
        fake_opencl_finish_events(CL_COMPLETE);
        const uint32_t before = questions();
        for (int i = 0; i < PART; i++) {
            assert_status(DYNSEL_OK, submit(NULL));
        }
        /* one about the last of half of them, and one about those together */
        assert_true(questions() - before <= of_submits / 2 + 1 + 1);
    }
    assert_status(DYNSEL_OK, wait_for_all());
}

/* Where only the older ones have ended, they are asked about together, too. */
static void quarter_that_ended_is_found_by_few_questions(void **state)
{
    enum { PART = MOST / 4 };
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    const uint32_t at_first = questions();
    for (int i = 0; i < MOST; i++) {
        assert_status(DYNSEL_OK, submit(NULL));
    }
    const uint32_t of_submits = questions() - at_first;
    for (uint32_t i = 0; i < PART; i++) {
        fake_opencl_finish_event(MOST - i, CL_COMPLETE);
    }
    const uint32_t before = questions();
    for (int i = 0; i < PART; i++) {
        assert_status(DYNSEL_OK, submit(NULL));
    }
    /* the last of half of them, the last of a quarter, and the quarter together */
    assert_true(questions() - before <= of_submits / 4 + 2 + 1);
    assert_status(DYNSEL_OK, wait_for_all());
}

/* While the oldest work goes on, a submit that may not wait finds no room and waits for nothing. */
static void running_work_is_not_waited_for(void **state)
{
    (void)state;
    if (CONFIG_DYNSEL_MAX_IN_FLIGHT > MOST) {
        skip(); /* more slots would be opened, and the fake has no room for so much work */
    }
    fake_opencl_set_new_events(CL_RUNNING);
    for (int i = 0; i < MOST; i++) {
        assert_status(DYNSEL_OK, submit(NULL));
    }
    const uint32_t waits = fake_opencl_calls("clWaitForEvents");
    assert_status(DYNSEL_E_FULL,
                  dynsel_try_submit_command_group(&policy.policy, launch, NULL, NULL));
    assert_int_equal(fake_opencl_calls("clWaitForEvents"), waits);
    assert_status(DYNSEL_OK, wait_for_all());
}

/* Each of them has its own status, in whatever order they are waited for. */
static void failure_among_many_is_told(void **state)
{
    enum { COUNT_OF_WORK = 12 };
    (void)state;
    mode = DYNSEL_ACCESS_DISCARD_WRITE; /* so that none depends on another's result */
    for (int bad = 0; bad < COUNT_OF_WORK; bad++) {
        memset(submissions, 0, sizeof(submissions));
        for (int i = 0; i < COUNT_OF_WORK; i++) {
            fake_opencl_set_new_events(CL_RUNNING);
            assert_status(DYNSEL_OK, submit(&submissions[i]));
        }
        fake_opencl_finish_event((uint32_t)(COUNT_OF_WORK - bad), CL_OUT_OF_RESOURCES);
        fake_opencl_finish_events(CL_COMPLETE);
        for (int i = COUNT_OF_WORK - 1; i >= 0; i--) {
            assert_status(i == bad ? DYNSEL_E_DEVICE : DYNSEL_OK, dynsel_wait(&submissions[i]));
        }
    }
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&policy.policy, launch, NULL));
}

/* The driver says that they have succeeded, and they did, with what the first one left behind. */
static void work_behind_failure_fails_among_many(void **state)
{
    enum { COUNT_OF_WORK = 12 };
    dynsel_submission first = {0};
    (void)state;
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&policy.policy, launch, NULL));
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, submit(&first));
    for (int i = 1; i < COUNT_OF_WORK; i++) {
        assert_status(DYNSEL_OK, submit(NULL));
    }
    fake_opencl_finish_event(COUNT_OF_WORK, CL_OUT_OF_RESOURCES);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&first));
    const uint32_t polls = fake_opencl_calls("clGetEventInfo");
    fake_opencl_finish_events(CL_COMPLETE);
    assert_status(DYNSEL_E_DEPENDENCY, wait_for_all());
    assert_int_equal(fake_opencl_calls("clGetEventInfo"),
                     polls); /* they were asked about together */
    mode = DYNSEL_ACCESS_DISCARD_WRITE;
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&policy.policy, launch, NULL));
}

static void failed_question_says_nothing(void **state)
{
    enum { COUNT_OF_WORK = 12 };
    static const cl_int codes[] = {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY,
                                   CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST};
    (void)state;
    for (size_t c = 0; c < COUNT(codes); c++) {
        fake_opencl_set_new_events(CL_RUNNING);
        submit_with_handles(COUNT_OF_WORK);
        fake_opencl_finish_events(CL_COMPLETE);
        fake_opencl_break("gpu", "clWaitForEvents", codes[c]);
        for (int i = COUNT_OF_WORK - 1; i >= 0; i--) {
            assert_status(DYNSEL_OK, dynsel_wait_for(&submissions[i], 1000000000));
        }
        fake_opencl_break(NULL, NULL, CL_SUCCESS);
    }
}

/* No call follows; tear_down() sees it. */
static void loss_is_learned_from_the_question(void **state)
{
    enum { COUNT_OF_WORK = 12 };
    (void)state;
    mode = DYNSEL_ACCESS_DISCARD_WRITE;
    is_lost = true;
    fake_opencl_set_new_events(CL_RUNNING);
    submit_with_handles(COUNT_OF_WORK);
    fake_opencl_finish_events(CL_COMPLETE);
    fake_opencl_break("gpu", "clWaitForEvents", CL_DEVICE_NOT_AVAILABLE);
    for (int i = COUNT_OF_WORK - 1; i >= 0; i--) {
        assert_status(DYNSEL_E_DEVICE, dynsel_wait_for(&submissions[i], 1000000000));
    }
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&policy.policy, 0));
}

/* Only a driver that begins work by itself is flushed less often. */
static void flushes_are_as_few_as_the_driver_allows(void **state)
{
    enum { EVERY = 64 };
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    const uint32_t before = fake_opencl_calls("clFlush");
    const uint32_t polls = fake_opencl_calls("clGetEventInfo");
    for (int i = 0; i < MOST; i++) {
        assert_status(DYNSEL_OK, submit(NULL));
    }
    assert_int_equal(fake_opencl_calls("clGetEventInfo"), polls);
    assert_int_equal(fake_opencl_calls("clFlush") - before, MOST / EVERY);
    fake_opencl_finish_events(CL_COMPLETE);
    assert_status(DYNSEL_OK, wait_for_all());
}

/* The waits for many together that make room have flushed what was enqueued before them. */
static void full_table_is_emptied_without_flushes(void **state)
{
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    for (int i = 0; i < MOST; i++) {
        assert_status(DYNSEL_OK, submit(NULL));
    }
    fake_opencl_finish_events(CL_COMPLETE);
    const uint32_t before = fake_opencl_calls("clFlush");
    for (int i = 0; i < MOST; i++) {
        assert_status(DYNSEL_OK, submit(NULL));
    }
    assert_int_equal(fake_opencl_calls("clFlush"), before);
    assert_status(DYNSEL_OK, wait_for_all());
}

static void wait_leaves_nothing_to_flush(void **state)
{
    dynsel_submission submission = {0};
    (void)state;
    const uint32_t before = fake_opencl_calls("clFlush");
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, submit(&submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(fake_opencl_calls("clFlush"), before);
}

/* A question takes 1.4 us on an NVIDIA H100. */
static void what_was_waited_for_is_not_asked_about(void **state)
{
    dynsel_submission submission = {0};
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, submit(NULL)); /* so that the next one is not polled after its start */
    assert_status(DYNSEL_OK, submit(&submission));
    const uint32_t polls = fake_opencl_calls("clGetEventInfo");
    const uint32_t waits = fake_opencl_calls("clWaitForEvents");
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(fake_opencl_calls("clGetEventInfo"), polls);
    assert_int_equal(fake_opencl_calls("clWaitForEvents") - waits, 2); /* for both together, too */
    assert_status(DYNSEL_OK, wait_for_all());
}

static void other_drivers_are_flushed_each_time(void **state)
{
    (void)state;
    const uint32_t before = fake_opencl_calls("clFlush");
    for (int i = 0; i < MOST / 2; i++) {
        assert_status(DYNSEL_OK, submit(NULL));
    }
    assert_int_equal(fake_opencl_calls("clFlush") - before, MOST / 2);
    assert_status(DYNSEL_OK, wait_for_all());
}

/* A flush that fails is repeated by the next poll, also where several pieces of work need it. */
static void failed_flush_is_repeated(void **state)
{
    dynsel_submission submission = {0};
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    fake_opencl_break("gpu", "clFlush", CL_OUT_OF_HOST_MEMORY);
    for (int i = 0; i < MOST - 1; i++) {
        assert_status(DYNSEL_OK, submit(NULL));
    }
    assert_status(DYNSEL_OK, submit(&submission));
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    fake_opencl_finish_events(CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_wait_for(&submission, 1000000000)); /* polls */
    assert_status(DYNSEL_OK, wait_for_all());
}

/* Where a driver runs work in the caller, it has ended when its submit returns, with one question
 * and no flush; but not behind a command of the program's that waits, nor where it failed. */
static void work_in_the_caller_ends_in_its_submit(void **state)
{
    dynsel_submission submission;
    cl_event event = NULL;
    (void)state;
    const uint32_t questions = fake_opencl_calls("clGetEventInfo");
    const uint32_t flushes = fake_opencl_calls("clFlush");
    for (uint32_t i = 1; i <= 3; i++) {
        assert_status(DYNSEL_OK, submit(NULL));
        assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
        assert_int_equal(fake_opencl_calls("clGetEventInfo") - questions, i);
    }
    assert_int_equal(fake_opencl_calls("clFlush"), flushes);
    assert_status(DYNSEL_OK, submit(&submission));
    assert_status(DYNSEL_OK, dynsel_opencl_submission_event(&submission, &event));
    assert_int_equal(CL_SUCCESS, clReleaseEvent(event));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));

    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK, submit(NULL));
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 1);
    fake_opencl_finish_events(CL_COMPLETE);
    assert_status(DYNSEL_OK, wait_for_all());
    mode = DYNSEL_ACCESS_DISCARD_WRITE;
    is_lost = true; /* the events of the library's check fail, too */
    fake_opencl_set_new_events(CL_OUT_OF_RESOURCES);
    assert_status(DYNSEL_OK, submit(NULL));
    assert_status(DYNSEL_E_DEVICE, wait_for_all());
}

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH && CONFIG_DYNSEL_MAX_IN_FLIGHT >= 64
static dynsel_earliest_finish_policy finish;

/* It knows the work so well that few are timed. */
static void begin_finish(void)
{
    enum { KNOWN = 64 };
    const dynsel_options options = {.resources = policy.policy.resources, .count = 1};
    finish = (dynsel_earliest_finish_policy){0};
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finish, &options));
    for (int i = 0; i < KNOWN; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group_and_wait(&finish.policy, launch, NULL));
    }
    fake_opencl_set_new_events(CL_RUNNING);
}

/* A policy that predicts ends hears of them without a wait: some of its choices ask the device,
 * each with few questions. */
static void choices_see_ends_of_earlier_work(void **state)
{
    enum { FIRST = 24, LATER = 36 };
    (void)state;
    begin_finish();
    for (int i = 0; i < FIRST; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&finish.policy, launch, NULL, NULL));
    }
    assert_in_range(dynsel_get_in_flight_statistics().in_use, FIRST, FIRST + 1);
    fake_opencl_finish_events(CL_COMPLETE);
    const uint32_t before = fake_opencl_calls("clGetEventInfo");
    for (int i = 0; i < LATER; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&finish.policy, launch, NULL, NULL));
    }
    assert_in_range(dynsel_get_in_flight_statistics().in_use, LATER, LATER + FIRST / 2);
    assert_in_range(fake_opencl_calls("clGetEventInfo") - before, 1, LATER / 4);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&finish.policy)));
    /* where all but the oldest have ended, a choice does not wait for that */
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&finish.policy, launch, NULL, NULL));
    fake_opencl_set_new_events(CL_COMPLETE);
    fake_opencl_break("gpu", "clWaitForEvents", CL_OUT_OF_HOST_MEMORY);
    for (int i = 0; i < FIRST; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&finish.policy, launch, NULL, NULL));
    }
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    fake_opencl_finish_events(CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&finish.policy)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finish.policy));
}

/* Enqueues its own command, which ends at once, and then submits work: that comes first in the list
 * of the work. */
static dynsel_status enqueue_and_submit(const dynsel_resource *where, void *args,
                                        dynsel_event *done)
{
    const uint32_t *const count = args;
    fake_opencl_set_new_events(CL_COMPLETE);
    const cl_int code =
        clEnqueueMarkerWithWaitList(dynsel_opencl_queue(where), 0, NULL, &done->opencl);
    fake_opencl_set_new_events(CL_RUNNING);
    for (uint32_t i = 0; i < *count; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&finish.policy, launch, NULL, NULL));
    }
    return dynsel_opencl_check("clEnqueueMarkerWithWaitList", code);
}

/* What another thread enqueues between the command of work and that work's place in the list may
 * run for long after it has ended: a choice does not wait for that. */
static void choices_do_not_wait_for_what_came_between(void **state)
{
    uint32_t between = 2;
    (void)state;
    begin_finish();
    assert_status(DYNSEL_OK,
                  dynsel_submit(&finish.policy, &DYNSEL_TASK(enqueue_and_submit, &between), NULL));
    const uint32_t in_use = dynsel_get_in_flight_statistics().in_use;
    const uint32_t before = fake_opencl_blocked_waits();
    finish.policy.queues[0].looks.value = 0; /* the next choice looks */
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&finish.policy, launch, NULL, NULL));
    assert_int_equal(fake_opencl_blocked_waits(), before);
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, in_use + 1);
    fake_opencl_finish_events(CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&finish.policy)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finish.policy));
}

/* While one resource gets all work, nothing depends on what has ended. */
static void settled_choices_ask_for_no_ends(void **state)
{
    enum { LATER = 36 };
    (void)state;
    begin_finish();
    for (int i = 0; i < 4; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&finish.policy, launch, NULL, NULL));
    }
    finish.way.value = 1;
    assert_true(finish.policy.ops->is_settled(&finish.policy));
    const uint32_t before = fake_opencl_calls("clGetEventInfo");
    for (int i = 0; i < LATER; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&finish.policy, launch, NULL, NULL));
    }
    assert_int_equal(before, fake_opencl_calls("clGetEventInfo"));
    fake_opencl_finish_events(CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&finish.policy)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finish.policy));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_question_answers_for_many, set_up_groups,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(full_table_is_emptied_by_few_questions, set_up_groups,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(quarter_that_ended_is_found_by_few_questions, set_up_groups,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(running_work_is_not_waited_for, set_up_groups,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(failure_among_many_is_told, set_up_groups,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(work_behind_failure_fails_among_many, set_up_groups,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(failed_question_says_nothing, set_up_groups,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(loss_is_learned_from_the_question, set_up_groups,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(flushes_are_as_few_as_the_driver_allows,
                                        set_up_prompt_driver, tear_down_groups),
        cmocka_unit_test_setup_teardown(work_in_the_caller_ends_in_its_submit, set_up_basic,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(work_in_the_caller_ends_in_its_submit, set_up_minimal,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(flushes_are_as_few_as_the_driver_allows, set_up_pocl,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(full_table_is_emptied_without_flushes, set_up_prompt_driver,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(what_was_waited_for_is_not_asked_about, set_up_groups,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(wait_leaves_nothing_to_flush, set_up_prompt_driver,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(other_drivers_are_flushed_each_time, set_up_groups,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(other_drivers_are_flushed_each_time, set_up_gpu_of_pocl,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(failed_flush_is_repeated, set_up_prompt_driver,
                                        tear_down_groups),
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH && CONFIG_DYNSEL_MAX_IN_FLIGHT >= 64
        cmocka_unit_test_setup_teardown(choices_see_ends_of_earlier_work, set_up_groups,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(choices_do_not_wait_for_what_came_between, set_up_groups,
                                        tear_down_groups),
        cmocka_unit_test_setup_teardown(settled_choices_ask_for_no_ends, set_up_groups,
                                        tear_down_groups),
#endif
    };
    return RUN(tests);
}
