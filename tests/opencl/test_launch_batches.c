/* SPDX-License-Identifier: Apache-2.0 */
/* Launches that share an event, where the driver's events are dear: fewer events, and nothing that
 * is wrong about an end. */
#include "fixture.h"

enum {
    WORDS = 16,
    JOINED = 16, /* as src/backends/opencl/launch_batches.c says */
    APART = 32,
    FULL = 64
};

static const fake_device devices[] = {{.name = "gpu", .vendor = "V", .type = CL_DEVICE_TYPE_GPU}};
static const fake_platform nvidia[] = {{.name = "NVIDIA CUDA", .count = 1, .devices = devices}};
static const fake_platform other[] = {{.name = "P", .count = 1, .devices = devices}};

static dynsel_fixed_resource_policy policy;
static uint32_t words[2][WORDS + 1]; /* no device would use them itself */
static dynsel_buffer buffers[2];
static uint64_t limit_ns;
static bool is_failed; /* the data on the device are */

static const dynsel_kernel kernel = {.name = "k", .source = "kernel void k(...)"};

static dynsel_status launch(dynsel_handler *handler, void *args)
{
    const uint32_t value = 1;
    dynsel_accessor data;
    const dynsel_buffer *const buffer = args;
    (void)dynsel_get_access(handler, *buffer, DYNSEL_ACCESS_READ_WRITE, DYNSEL_MEMORY_GLOBAL,
                            &data);
    (void)dynsel_set_arg_accessor(handler, 0, &data);
    (void)dynsel_set_arg_value(handler, 1, &value, sizeof(value));
#if CONFIG_DYNSEL_TIME_LIMITS
    if (limit_ns != 0) {
        (void)dynsel_set_time_limit(handler, limit_ns);
    }
#endif
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(WORDS), NULL, NULL);
}

static void submit_many(int count)
{
    for (int i = 0; i < count; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&policy.policy, launch, &buffers[0], NULL));
    }
}

static int set_up_on(const fake_platform *platform)
{
    size_t count = 0;
    dynsel_resource gpu = {0};
    (void)unsetenv("DYNSEL_OPENCL");
    show(platform, 1);
    /* without trials of work-groups, whose events would be among those that the tests count */
    assert_status(DYNSEL_OK, dynsel_opencl_configure(&(dynsel_opencl_options){
                                 .work_groups = DYNSEL_OPENCL_WORK_GROUPS_BY_RANGE}));
    assert_status(DYNSEL_OK, dynsel_opencl_select("all", &gpu, 1, &count));
    const dynsel_options options = {.resources = &gpu, .count = 1};
    policy = (dynsel_fixed_resource_policy){0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    for (int i = 0; i < 2; i++) {
        buffers[i] = (dynsel_buffer){0};
        assert_status(DYNSEL_OK, dynsel_buffer_init(&buffers[i], words[i] + 1, sizeof(uint32_t),
                                                    DYNSEL_RANGE(WORDS)));
    }
    /* the kernel is built, and the copy made */
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group_and_wait(&policy.policy, launch, &buffers[0]));
    fake_opencl_set_new_events(CL_RUNNING);
    /* a look behind its start finds it running, so the next starts are not looked at */
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group_and_wait(&policy.policy, launch, &buffers[0]));
    return 0;
}

static int set_up_nvidia(void **state)
{
    (void)state;
    return set_up_on(nvidia);
}

static int set_up_other(void **state)
{
    (void)state;
    return set_up_on(other);
}

static dynsel_status wait_for_all(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(&policy.policy));
}

static int tear_down_all(void **state)
{
    fake_opencl_finish_events(CL_COMPLETE);
    fake_opencl_set_new_events(CL_COMPLETE);
    for (int i = 0; i < 2; i++) {
        const dynsel_status status = dynsel_buffer_deinit(&buffers[i]);
        assert_true(status == DYNSEL_OK || is_failed);
    }
    is_failed = false;
    limit_ns = 0;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    return tear_down(state);
}

static uint32_t markers(void)
{
    return fake_opencl_calls("clEnqueueMarkerWithWaitList");
}

static uint32_t in_flight(void)
{
    return dynsel_get_in_flight_statistics().in_use;
}

/* How many events there were, once all work is over; the queue keeps one. */
static uint32_t events_of(int launches)
{
    const uint32_t before = fake_opencl_calls("clReleaseEvent");
    submit_many(launches);
    assert_status(DYNSEL_OK, wait_for_all());
    return fake_opencl_calls("clReleaseEvent") - before;
}

/* Also where the table gets full again and again. */
static void launches_of_a_stream_share_events(void **state)
{
    enum { BATCHES = 20 };
    (void)state;
    const uint32_t events = events_of(BATCHES * JOINED);
    assert_in_range(events, BATCHES, BATCHES + BATCHES / 4);
}

static void launches_have_events_where_these_are_cheap(void **state)
{
    (void)state;
    assert_in_range(events_of(JOINED), JOINED - 1, JOINED + 1);
    assert_int_equal(markers(), 0);
}

static void work_with_a_handle_has_its_own_event(void **state)
{
    dynsel_submission submission = {0};
    cl_event event = NULL;
    (void)state;
    submit_many(2);
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, launch, &buffers[0], &submission));
    submit_many(2);
    assert_status(DYNSEL_OK, dynsel_opencl_submission_event(&submission, &event));
    assert_int_equal(markers(), 0);
    assert_int_equal(clReleaseEvent(event), CL_SUCCESS);
    fake_opencl_finish_events(CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, wait_for_all());
}

#if CONFIG_DYNSEL_TIME_LIMITS
/* Its limit would count the time of the launches behind it. */
static void limited_work_has_its_own_event(void **state)
{
    (void)state;
    limit_ns = 3600u * UINT64_C(1000000000);
    fake_opencl_end_events_after(1); /* who waits for limited work polls */
    assert_in_range(events_of(JOINED / 2), JOINED / 2 - 1, JOINED / 2 + 1);
    assert_int_equal(markers(), 0);
}
#endif

/* The marker ends later than the work, so after it launches have events of their own, and for
 * longer if the next marker follows soon. */
static void who_waits_before_the_event_gets_a_marker(void **state)
{
    (void)state;
    for (uint32_t apart = APART, made = 1; apart <= 4 * APART; apart *= 2, made++) {
        submit_many(2);
        assert_int_equal(markers(), made - 1);
        assert_status(DYNSEL_OK, wait_for_all());
        assert_int_equal(markers(), made);
        assert_in_range(events_of((int)apart), apart - 1, apart + 1);
        assert_int_equal(markers(), made);
    }
    assert_in_range(events_of(4 * JOINED * JOINED), 4 * JOINED, 5 * JOINED); /* all that is over */
}

/* As it is where a program waits at the end of each long pass. */
static void marker_after_many_launches_costs_few(void **state)
{
    const uint32_t most = APART + (4 * JOINED - APART) / JOINED;
    (void)state;
    for (int pass = 0; pass < 4; pass++) {
        submit_many(2);
        assert_status(DYNSEL_OK, wait_for_all());
        assert_in_range(events_of(4 * JOINED), most - 1, most + 1);
    }
    assert_int_equal(markers(), 4);
}

static void first_poll_gives_the_next_launch_an_event(void **state)
{
    (void)state;
    submit_many(3);
    dynsel_progress();
    assert_int_equal(markers(), 0);
    submit_many(1);
    fake_opencl_finish_events(CL_COMPLETE);
    dynsel_progress(); /* flushes */
    dynsel_progress();
    assert_int_equal(in_flight(), 0);
    assert_int_equal(markers(), 0);
}

/* Nothing is launched any more, and still the end is seen without a wait. */
static void polls_alone_see_the_end(void **state)
{
    (void)state;
    submit_many(3);
    for (int i = 0; i < 6; i++) {
        dynsel_progress();
        fake_opencl_finish_events(CL_COMPLETE);
    }
    assert_int_equal(in_flight(), 0);
    assert_int_equal(markers(), 1);
}

static void submit_with_handle(dynsel_submission *submission)
{
    *submission = (dynsel_submission){0};
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, launch, &buffers[0], submission));
}

/* The end of work with an event of its own is seen while later work runs, without a wait for that:
 * what shares an event may have none yet, or one from behind the later work. */
static void poll_waits_for_no_later_work(void **state)
{
    enum { NO_EVENT, MARKER, LATER_LAUNCH, CASES };
    (void)state;
    for (int which = 0; which < CASES; which++) {
        dynsel_submission early;
        dynsel_submission late;
        submit_many(2);
        submit_with_handle(&early);
        submit_with_handle(&late);
        const uint32_t later = which == LATER_LAUNCH ? JOINED - 2 : 0;
        submit_many((int)later);
        for (int i = 0; which == MARKER && i < 3; i++) {
            dynsel_progress();
        }
        const uint32_t with_event = 1 + (which != NO_EVENT ? 1 : 0);
        assert_int_equal(clFlush(dynsel_opencl_queue(policy.policy.resources)), CL_SUCCESS);
        const uint32_t before = fake_opencl_blocked_waits();
        fake_opencl_finish_event(1 + with_event, CL_COMPLETE);
        assert_status(DYNSEL_OK, dynsel_wait_for(&early, 0));
        assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&late, 0));
        assert_int_equal(fake_opencl_blocked_waits(), before);
        assert_int_equal(in_flight(), 4 + later); /* the list keeps its order */
        assert_status(DYNSEL_OK, dynsel_wait(&late));
        (void)events_of(4 * APART * JOINED); /* the next launches share an event */
    }
}

/* What waits for an event can fail alone, so what was launched before has an end before it. */
static void batch_ends_before_a_wait_list(void **state)
{
    (void)state;
    submit_many(3);
    assert_int_equal(markers(), 0);
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, launch, &buffers[1], NULL));
    assert_int_equal(markers(), 1); /* buffers[1] is copied in, and the launch waits for that */
    assert_int_equal(fake_opencl_command(1).after_count, 1);
    assert_status(DYNSEL_OK, wait_for_all());
}

/* It may wait for any of them. */
static void launches_beside_pending_work_have_their_own_events(void **state)
{
    dynsel_host_accessor open = {0};
    (void)state;
    assert_status(DYNSEL_OK,
                  dynsel_host_accessor_open(&open, buffers[1], DYNSEL_ACCESS_READ_WRITE));
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, launch, &buffers[1], NULL));
    const uint32_t before = fake_opencl_calls("clReleaseEvent");
    submit_many(JOINED);
    fake_opencl_finish_events(CL_COMPLETE);
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&open));
    assert_status(DYNSEL_OK, wait_for_all());
    assert_in_range(fake_opencl_calls("clReleaseEvent") - before, JOINED, JOINED + 3);
    assert_int_equal(markers(), 0);
}

/* It is in no batch itself: its poll needs no marker. */
static void work_with_a_wait_list_has_its_own_event(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, launch, &buffers[1], NULL));
    assert_int_equal(fake_opencl_command(1).after_count, 1);
    for (int i = 0; i < 3; i++) {
        fake_opencl_finish_events(CL_COMPLETE);
        dynsel_progress();
    }
    assert_int_equal(in_flight(), 0);
    assert_int_equal(markers(), 0);
}

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
/* Ends that are told late would make it take a resource for busy. */
static void reported_work_has_its_own_event(void **state)
{
    static dynsel_dynamic_load_policy load;
    const dynsel_options options = {.resources = policy.policy.resources, .count = 1};
    (void)state;
    load = (dynsel_dynamic_load_policy){0};
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&load, &options));
    const uint32_t before = fake_opencl_calls("clReleaseEvent");
    for (int i = 0; i < JOINED; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&load.policy, launch, &buffers[0], NULL));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&load.policy)));
    assert_in_range(fake_opencl_calls("clReleaseEvent") - before, JOINED - 1, JOINED + 1);
    assert_int_equal(markers(), 0);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&load.policy));
}
#endif

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
/* It predicts ends, so all but what it times may end late. */
static void work_with_predicted_end_shares_events(void **state)
{
    enum { KNOWN = 64, RUNS = 4 * JOINED };
    static dynsel_earliest_finish_policy finish;
    const dynsel_options options = {.resources = policy.policy.resources, .count = 1};
    (void)state;
    finish = (dynsel_earliest_finish_policy){0};
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finish, &options));
    for (int i = 0; i < KNOWN; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group_and_wait(&finish.policy, launch, &buffers[0]));
    }
    const uint32_t before = fake_opencl_calls("clReleaseEvent");
    for (int i = 0; i < RUNS; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&finish.policy, launch, &buffers[0], NULL));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&finish.policy)));
    assert_in_range(fake_opencl_calls("clReleaseEvent") - before, RUNS / JOINED, RUNS / 2);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finish.policy));
}
#endif

/* All of its work fails, and nobody waits for ever. */
static void failure_is_one_of_the_whole_batch(void **state)
{
    dynsel_host_accessor seen = {0};
    (void)state;
    is_failed = true;
    submit_many(JOINED);
    fake_opencl_finish_event(1, CL_OUT_OF_RESOURCES);
    assert_status(DYNSEL_E_DEVICE, wait_for_all());
    assert_status(DYNSEL_E_DEPENDENCY,
                  dynsel_host_accessor_open(&seen, buffers[0], DYNSEL_ACCESS_READ));
}

/* The launch that should have had the event of the batch is refused: the others end anyway. */
static void refused_last_launch_loses_nothing(void **state)
{
    (void)state;
    submit_many(JOINED - 1);
    fake_opencl_break("gpu", "clEnqueueNDRangeKernel", CL_INVALID_KERNEL_ARGS);
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, launch, &buffers[0], NULL));
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    is_failed = true;
    assert_status(DYNSEL_E_INVALID, wait_for_all());
    assert_int_equal(markers(), 1);
}

/* Its events are kept, and the next marker comes when the device answers again. */
static void marker_that_is_refused_is_tried_again(void **state)
{
    (void)state;
    submit_many(2);
    fake_opencl_break("gpu", "clEnqueueMarkerWithWaitList", CL_OUT_OF_HOST_MEMORY);
    for (int i = 0; i < 4; i++) {
        dynsel_progress();
    }
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    assert_status(DYNSEL_OK, wait_for_all());
}

static void device_is_lost_with_an_open_batch(void **state)
{
    (void)state;
    submit_many(2);
    is_failed = true;
    fake_opencl_break("gpu", "clEnqueueMarkerWithWaitList", CL_DEVICE_NOT_AVAILABLE);
    assert_status(DYNSEL_E_DEVICE, wait_for_all());
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&policy.policy, 0));
}

#define BATCH_TEST(test_) cmocka_unit_test_setup_teardown(test_, set_up_nvidia, tear_down_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BATCH_TEST(launches_of_a_stream_share_events),
        cmocka_unit_test_setup_teardown(launches_have_events_where_these_are_cheap, set_up_other,
                                        tear_down_all),
        BATCH_TEST(work_with_a_handle_has_its_own_event),
#if CONFIG_DYNSEL_TIME_LIMITS
        BATCH_TEST(limited_work_has_its_own_event),
#endif
        BATCH_TEST(who_waits_before_the_event_gets_a_marker),
        BATCH_TEST(marker_after_many_launches_costs_few),
        BATCH_TEST(launches_beside_pending_work_have_their_own_events),
        BATCH_TEST(first_poll_gives_the_next_launch_an_event),
        BATCH_TEST(polls_alone_see_the_end),
        BATCH_TEST(poll_waits_for_no_later_work),
        BATCH_TEST(batch_ends_before_a_wait_list),
        BATCH_TEST(work_with_a_wait_list_has_its_own_event),
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
        BATCH_TEST(reported_work_has_its_own_event),
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
        BATCH_TEST(work_with_predicted_end_shares_events),
#endif
        BATCH_TEST(failure_is_one_of_the_whole_batch),
        BATCH_TEST(refused_last_launch_loses_nothing),
        BATCH_TEST(marker_that_is_refused_is_tried_again),
        BATCH_TEST(device_is_lost_with_an_open_batch),
    };
    return RUN(tests);
}
