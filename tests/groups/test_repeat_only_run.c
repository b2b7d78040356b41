/* SPDX-License-Identifier: Apache-2.0 */
/* Repeatable command groups that can run nowhere else: their device fails, and their buffers are as
 * before them. */
#include "groups/repeat_groups.h"

/* What is copied back is older than the group. */
static void failed_only_run_reports_no_copy_back(void **state)
{
    (void)state;
    run_on(THIRD, add_to(a, 1));
    begin_listening(1); /* so that the first run is the only one */
    mode = DYNSEL_ACCESS_DISCARD_WRITE;
    failures_left = 1;
    dynsel_submission submission;
    assert_status(DYNSEL_OK,
                  dynsel_try_submit_command_group(&listening, record_work, NULL, &submission));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    see_buffer(a, 1, 1);
    assert_int_equal(0, told_of_copy_back);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&listening));
}

/* The device that fails shares the host's memory, which has other contents than the buffer. */
static void failed_only_run_leaves_what_another_device_has(void **state)
{
    (void)state;
    for (memory_kind kind = SHARED; kind <= MAPPED; kind++) {
        set_memory(FIRST, kind);
        run_on(THIRD, set_all(a, 1));
        begin_listening(1);
        mode = DYNSEL_ACCESS_DISCARD_WRITE;
        failures_left = 1;
        assert_status(DYNSEL_OK,
                      dynsel_try_submit_command_group(&listening, record_work, NULL, NULL));
        assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(dynsel_get_submission_group(&listening)));
        run_on(FIRST, add_to(a, 1));
        see_buffer(a, 2, 1);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&listening));
    }
}

/* Where a group runs once, in the host's memory: on the host, or on a device that shares it. */
typedef struct only_run {
    unsigned where;
    memory_kind kind;
} only_run;

static const only_run only_runs[] = {{HOST, OWN}, {FIRST, SHARED}, {FIRST, MAPPED}};

enum { ONLY_RUNS = sizeof only_runs / sizeof only_runs[0] };

/* It fails as was arranged. */
static void run_once(const only_run *run, dynsel_access_mode how)
{
    set_memory(FIRST, run->kind);
    mode = how;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_try_submit_command_group(&places[run->where].policy,
                                                             record_work, NULL, &submission));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
}

static void fail_only_run(const only_run *run, dynsel_access_mode how)
{
    failures_left = 1;
    run_once(run, how);
    assert_int_equal(0, failures_left);
}

static void begin_anew(void **state)
{
    (void)tear_down_repeat(state);
    (void)set_up_repeat(state);
}

static void failed_only_run_leaves_what_it_overwrote_at_the_host(void **state)
{
    for (unsigned i = 0; i < 2 * ONLY_RUNS; i++) {
        if (i >= ONLY_RUNS) {
            let_work_take_time();
        }
        fail_only_run(&only_runs[i % ONLY_RUNS], DYNSEL_ACCESS_READ_WRITE);
        see_buffer(a, 0, 1);
        run_on(THIRD, add_to(a, 1));
        see_buffer(a, 1, 1);
        see_buffer(b, 0, -1);
        begin_anew(state);
    }
}

/* The contents that it discards were in the memory of the device only. */
static void failed_only_run_loses_what_only_its_device_had(void **state)
{
    for (unsigned i = 0; i < 2; i++) {
        run_on(FIRST, set_all(a, 1));
        if (i != 0) {
            let_work_take_time();
        }
        fail_only_run(&(const only_run){FIRST, OWN}, DYNSEL_ACCESS_DISCARD_WRITE);
        see_lost(a);
        assert_int_equal(a.token, dynsel_last_error()->buffer);
        assert_status(DYNSEL_E_DEPENDENCY,
                      run_job(THIRD, &(const job){.kind = ADD, .buffers = {a}}));
        run_on(SECOND, set_all(a, 7));
        see_buffer(a, 7, 1);
        see_buffer(b, 0, -1);
        begin_anew(state);
    }
}

/* The device has the memory, and does not give it back. */
static void failed_only_run_loses_what_cannot_be_put_back(void **state)
{
    (void)state;
    for (unsigned i = 1; i < ONLY_RUNS; i++) {
        simulated_fail(&sim, SIMULATED_FETCH, 1, false, DYNSEL_E_DEVICE);
        fail_only_run(&only_runs[i], DYNSEL_ACCESS_READ_WRITE);
        see_lost(a);
        see_buffer(b, 0, -1);
        begin_anew(state);
    }
}

static void lose_in_fetch(unsigned device, simulated_kind kind)
{
    (void)device;
    sim.failures_are_losses = kind == SIMULATED_FETCH;
}

/* The device is lost when it gives the memory back: that is the host's. */
static void failed_only_run_leaves_what_a_lost_device_shared(void **state)
{
    for (unsigned i = 1; i < ONLY_RUNS; i++) {
        sim.taking_place = lose_in_fetch;
        simulated_fail(&sim, SIMULATED_FETCH, 1, true, DYNSEL_E_DEVICE);
        fail_only_run(&only_runs[i], DYNSEL_ACCESS_READ_WRITE);
        assert_true(sim.failures_are_losses);
        see_buffer(a, 0, 1);
        run_on(THIRD, add_to(a, 1));
        see_buffer(a, 1, 1);
        begin_anew(state);
    }
}

/* Nobody keeps what is not read. */
static void failed_only_run_loses_what_it_discards_at_the_host(void **state)
{
    for (unsigned i = 0; i < ONLY_RUNS; i++) {
        fail_only_run(&only_runs[i], DYNSEL_ACCESS_DISCARD_WRITE);
        see_lost(a);
        assert_status(DYNSEL_E_DEPENDENCY,
                      run_job(THIRD, &(const job){.kind = ADD, .buffers = {a}}));
        run_on(SECOND, set_all(a, 7));
        see_buffer(a, 7, 1);
        see_buffer(b, 0, -1);
        begin_anew(state);
    }
}

static void failed_only_run_that_never_began_loses_nothing(void **state)
{
    static const failing never_began[] = {IN_LAUNCH, IN_ALLOCATE};
    for (unsigned i = 0; i < 2 * (ONLY_RUNS - 1); i++) {
        let_fail(never_began[i % 2]);
        run_once(&only_runs[1 + i / 2], DYNSEL_ACCESS_DISCARD_WRITE);
        assert_int_equal(0, runs);
        see_buffer(a, 0, 1);
        see_buffer(b, 0, -1);
        begin_anew(state);
    }
}

/* Nor what only the memory of the device has. */
static void failed_only_run_that_never_began_leaves_what_only_its_device_has(void **state)
{
    static const failing never_began[] = {IN_LAUNCH, LATE_IN_BRING};
    for (unsigned i = 0; i < 2; i++) {
        run_on(FIRST, set_all(a, 1));
        let_work_take_time();
        let_fail(never_began[i]);
        set_memory(FIRST, OWN);
        mode = DYNSEL_ACCESS_DISCARD_WRITE;
        dynsel_submission submission;
        const dynsel_status submitted =
            dynsel_try_submit_command_group(&places[FIRST].policy, record_work, NULL, &submission);
        const dynsel_status status = submitted == DYNSEL_OK ? dynsel_wait(&submission) : submitted;
        assert_true(status == DYNSEL_E_DEVICE || status == DYNSEL_E_DEPENDENCY);
        assert_int_equal(0, runs);
        see_buffer(a, 1, 1);
        see_buffer(b, 0, -1);
        begin_anew(state);
    }
}

/* What it discards at the host is on a device, too. */
static void failed_only_run_leaves_a_copy_of_what_it_discards(void **state)
{
    for (unsigned i = 0; i < ONLY_RUNS; i++) {
        run_on(THIRD, add_to(a, 1));
        see_buffer(a, 1, 1);
        fail_only_run(&only_runs[i], DYNSEL_ACCESS_DISCARD_WRITE);
        see_buffer(a, 1, 1);
        run_on(FIRST, add_to(a, 1));
        see_buffer(a, 2, 1);
        begin_anew(state);
    }
}

#if CONFIG_DYNSEL_TIME_LIMITS
/* Its only run fails while another device of the domain hangs with work that reads the buffer in
 * the same memory: what it overwrote is put back when that is given up. Its own limit is over with
 * its run. */
static void failed_only_run_waits_for_a_hanging_reader_until_it_is_given_up(void **state)
{
    enum { LOOKS = 1000 };
    static int32_t seen[ELEMENTS];
    (void)state;
    dynsel_buffer copy = new_buffer(seen);
    set_memory(FIRST, MAPPED);
    set_memory(THIRD, MAPPED);
    sim.devices[THIRD].domain = sim.devices[FIRST].domain;
    sim.devices[THIRD].pace = SIMULATED_BY_HAND;
    sim.wait_sleeps = true;
    dynsel_submission submissions[2];
    const job hangs = copy_to(copy, a);
    assert_status(DYNSEL_OK, send_job(THIRD, &hangs, &submissions[0]));
    for (int i = 0; i < 2; i++) {
        assert_true(simulated_step(&sim, THIRD)); /* its memory is ready */
    }
    let_fail(IN_LAUNCH);
    limit_ns = 1;
    assert_status(DYNSEL_OK, dynsel_try_submit_command_group(&places[FIRST].policy, record_work,
                                                             NULL, &submissions[1]));
    limit_ns = 0;
    for (int i = 0; i < LOOKS; i++) {
        assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&submissions[1]));
    }
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&places[THIRD].policy, 0));
    sim.wait_sleeps = false;
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&submissions[0]));
    assert_int_equal(0, runs);
    see_buffer(a, 0, 1);
    (void)!dynsel_buffer_deinit(&copy);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        REPEAT_TEST(failed_only_run_reports_no_copy_back),
        REPEAT_TEST(failed_only_run_leaves_what_another_device_has),
        REPEAT_TEST(failed_only_run_leaves_what_it_overwrote_at_the_host),
        REPEAT_TEST(failed_only_run_loses_what_cannot_be_put_back),
        REPEAT_TEST(failed_only_run_leaves_what_a_lost_device_shared),
        REPEAT_TEST(failed_only_run_loses_what_it_discards_at_the_host),
        REPEAT_TEST(failed_only_run_loses_what_only_its_device_had),
        REPEAT_TEST(failed_only_run_that_never_began_loses_nothing),
        REPEAT_TEST(failed_only_run_that_never_began_leaves_what_only_its_device_has),
        REPEAT_TEST(failed_only_run_leaves_a_copy_of_what_it_discards),
#if CONFIG_DYNSEL_TIME_LIMITS
        REPEAT_TEST(failed_only_run_waits_for_a_hanging_reader_until_it_is_given_up),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
