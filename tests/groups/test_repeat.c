/* SPDX-License-Identifier: Apache-2.0 */
/* Repeatable command groups: their device fails, and they end as if they had run once. */
#include "groups/repeat_groups.h"

static uint32_t repeated(void)
{
    return dynsel_get_repeat_statistics().repeated - before.repeated;
}

/* Where the data are when the work is submitted. */
static void place_data(unsigned where)
{
    if (where < COUNT) {
        run_on(where, add_to(a, 0));
        run_on(where, add_to(b, 0));
    }
}

/* Whether the ordered failure took place. */
static bool has_failed(void)
{
    return repeated() == 1;
}

/* On the device that failed, too, or only in the host's memory. */
static void check_result(bool on_device)
{
    const int32_t slope = mode == DYNSEL_ACCESS_READ_WRITE ? 0 : -1;
    if (on_device) {
        run_on(FIRST, add_to(b, 1));
        run_on(FIRST, add_to(a, 1));
    }
    see_buffer(a, on_device ? 2 : 1, slope);
    see_buffer(b, on_device ? 1 : 0, -1);
}

static unsigned playing; /* the number of the case */

typedef struct one_case {
    memory_kind first, second;
    unsigned where; /* of the second run */
    unsigned data;
    failing how;
    bool polled;
    bool lost; /* what the devices had, when one of them fails */
    bool used_again;
    dynsel_access_mode mode;
} one_case;

static bool play(const one_case *c)
{
    begin(false);
    set_memory(FIRST, c->first);
    set_memory(SECOND, c->second);
    if (c->where == THIRD) {
        sim.devices[THIRD].domain = sim.devices[FIRST].domain;
    }
    begin_policy(FIRST, c->where);
    sim.failures_are_losses = c->lost;
    place_data(c->data);
    mode = c->mode;
    if (c->polled) {
        let_work_take_time();
    }
    let_fail(c->how);
    dynsel_submission submission;
    assert_status(DYNSEL_OK, submit(&submission));
    const dynsel_status status = dynsel_wait(&submission);
    if (status != DYNSEL_OK) {
        char text[200];
        (void)dynsel_error_text(NULL, text, sizeof text);
        print_error("case %u: %s\n", playing, text);
    }
    assert_int_equal(DYNSEL_OK, status);
    const bool failed = has_failed();
    simulated_fail(&sim, 0, 0, false, DYNSEL_OK);
    failures_left = 0;
    check_result(c->used_again);
    end_policy();
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    places_end();
    return failed;
}

static void each_failure_ends_as_one_run_would(void **state)
{
    (void)state;
    enum { CASES = MEMORY_KINDS * MEMORY_KINDS * 3 * 5 * FAILINGS * 16 };
    static const unsigned seconds[] = {SECOND, THIRD, HOST};
    unsigned count = 0;
    unsigned failed = 0;
    for (unsigned i = 0; i < CASES; i++) {
        unsigned rest = i;
        one_case c = {.mode = DYNSEL_ACCESS_READ_WRITE};
        c.first = (memory_kind)(rest % MEMORY_KINDS), rest /= MEMORY_KINDS;
        c.second = (memory_kind)(rest % MEMORY_KINDS), rest /= MEMORY_KINDS;
        c.where = seconds[rest % 3], rest /= 3;
        c.data = rest % 5, rest /= 5; /* of the three devices, or HOST */
        c.how = (failing)(rest % FAILINGS), rest /= FAILINGS;
        c.polled = rest % 2 != 0, rest /= 2;
        c.lost = rest % 2 != 0, rest /= 2;
        c.used_again = rest % 2 != 0, rest /= 2;
        c.mode = rest % 2 != 0 ? DYNSEL_ACCESS_DISCARD_WRITE : DYNSEL_ACCESS_READ_WRITE;
        count++;
        playing = i;
        failed += play(&c) ? 1 : 0;
    }
    print_message("%u cases, %u with a failure and a second run\n", count, failed);
    assert_true(failed > count / 3);
}

static void dependents_find_what_the_second_run_wrote(void **state)
{
    (void)state;
    dynsel_submission submissions[3];
    let_work_take_time();
    failures_left = 1;
    assert_status(DYNSEL_OK, submit(&submissions[0]));
    const job next = add_to(a, 10);
    assert_status(DYNSEL_OK, send_job(FIRST, &next, &submissions[1]));
    assert_status(DYNSEL_OK, send_job(SECOND, &next, &submissions[2]));
    for (unsigned i = 3; i > 0; i--) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i - 1]));
    }
    assert_int_equal(1, repeated());
    assert_int_equal(2, runs);
    see_buffer(a, 21, 0);
}

static void chain_of_repeatable_groups_survives_a_failure_of_each(void **state)
{
    (void)state;
    enum { LINKS = 3 };
    dynsel_submission submissions[LINKS];
    for (unsigned i = 0; i < LINKS; i++) {
        failures_left = 1;
        assert_status(DYNSEL_OK, submit(&submissions[i]));
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    assert_int_equal(LINKS, repeated());
    see_buffer(a, LINKS, 1 - LINKS);
}

static void second_failure_of_a_group_is_told_once(void **state)
{
    (void)state;
    failures_left = 2;
    assert_status(DYNSEL_OK, submit(NULL));
    const job reads = copy_to(b, a);
    dynsel_submission dependent;
    assert_status(DYNSEL_OK, send_job(SECOND, &reads, &dependent));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&dependent));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_int_equal(2, runs);
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&a));
}

static void group_that_can_run_nowhere_else_leaves_its_buffers_as_they_were(void **state)
{
    (void)state;
    atomic_store(&sim.devices[SECOND].refuses, true);
    failures_left = 1;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, submit(&submission));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    assert_int_equal(1, runs);
    assert_int_equal(1, dynsel_get_repeat_statistics().nowhere - before.nowhere);
    run_on(THIRD, add_to(a, 1));
    see_buffer(a, 1, 1);
    atomic_store(&sim.devices[SECOND].refuses, false);
}

static void second_run_of_a_group_waits_for_a_full_resource(void **state)
{
    (void)state;
    atomic_store(&sim.devices[SECOND].is_full, true);
    failures_left = 1;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, submit(&submission));
    for (int i = 0; i < 3; i++) {
        assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&submission));
    }
    atomic_store(&sim.devices[SECOND].is_full, false);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    see_buffer(a, 1, 0);
}

static void cancelled_group_gives_both_slots_back(void **state)
{
    (void)state;
    dynsel_host_accessor accessor = {.data = NULL};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&accessor, a, DYNSEL_ACCESS_READ_WRITE));
    const uint32_t in_use = dynsel_get_in_flight_statistics().in_use;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, submit(&submission));
    assert_int_equal(in_use + 2, dynsel_get_in_flight_statistics().in_use);
    assert_status(DYNSEL_OK, dynsel_cancel(&submission));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
    assert_status(DYNSEL_E_CANCELLED, dynsel_wait(&submission));
    assert_int_equal(0, runs);
}

static void submit_that_chooses_no_resource_gives_both_slots_back(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_RESOURCE_STATES
    dynsel_resource_state old = DYNSEL_RESOURCE_LOST;
    assert_status(DYNSEL_OK, dynsel_resource_retire(policy, 0));
    atomic_store(&sim.devices[SECOND].refuses, true);
    dynsel_submission submission;
    const dynsel_status status = submit(&submission);
    assert_true(status == DYNSEL_E_OUT_OF_SERVICE ||
                (status == DYNSEL_OK && dynsel_wait(&submission) == DYNSEL_E_OUT_OF_SERVICE));
    assert_status(DYNSEL_E_OUT_OF_SERVICE, submit(&submission));
    assert_status(DYNSEL_OK, dynsel_resource_get_state(policy, 0, &old));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    atomic_store(&sim.devices[SECOND].refuses, false);
#else
    skip();
#endif
}

static dynsel_buffer large;

static dynsel_status record_large(dynsel_handler *handler, void *args)
{
    dynsel_accessor to;
    const dynsel_access_mode *const how = args;
    (void)dynsel_set_repeatable(handler);
    (void)dynsel_get_access(handler, large, *how, DYNSEL_MEMORY_GLOBAL, &to);
    const unsigned char zero = 0;
    return dynsel_fill(handler, &to, &zero, 1);
}

static void group_whose_input_cannot_be_kept_is_refused(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_KEPT_BYTES <= 1 << 20);
    static unsigned char data[CONFIG_DYNSEL_KEPT_BYTES + 1];
    assert_status(DYNSEL_OK, dynsel_buffer_init(&large, data, 1, DYNSEL_RANGE(sizeof data)));
    dynsel_access_mode how = DYNSEL_ACCESS_READ_WRITE;
    assert_status(DYNSEL_E_INVALID, dynsel_submit_command_group(policy, record_large, &how, NULL));
    assert_error_says("write to another buffer");
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    how = DYNSEL_ACCESS_DISCARD_WRITE;
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(policy, record_large, &how));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&large));
}

static void submit_without_room_for_a_second_run_is_refused(void **state)
{
    (void)state;
    sim.devices[FIRST].pace = SIMULATED_BY_HAND;
    sim.devices[SECOND].pace = SIMULATED_BY_HAND;
    unsigned count = 0;
    dynsel_status status = DYNSEL_OK;
    while (status == DYNSEL_OK) {
        status = submit(NULL);
        count += status == DYNSEL_OK ? 1 : 0;
    }
    assert_int_equal(DYNSEL_E_FULL, status);
    assert_true(count <= CONFIG_DYNSEL_KEPT_COUNT);
    assert_true(count <= CONFIG_DYNSEL_MAX_IN_FLIGHT / 2);
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    see_buffer(a, (int32_t)count, 1 - (int32_t)count);
}

/* On another queue of the domain, so that its command could come after that of the first run. */
static void dependent_in_the_same_domain_waits_for_the_second_run(void **state)
{
    (void)state;
    sim.devices[THIRD].domain = sim.devices[FIRST].domain;
    let_work_take_time();
    place_data(FIRST); /* so that it waits for no copy */
    dynsel_submission submissions[2];
    failures_left = 1;
    assert_status(DYNSEL_OK, submit(&submissions[0]));
    const job next = add_to(a, 10);
    assert_status(DYNSEL_OK, send_job(THIRD, &next, &submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_int_equal(1, repeated());
    see_buffer(a, 11, 0);
}

/* The first run began, on the host; the second never does. */
static void second_run_that_never_began_leaves_the_buffer_as_it_was(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    begin_policy(HOST, SECOND);
    let_work_take_time();
    failures_left = 1;
    simulated_fail(&sim, SIMULATED_BRING, 1, true, DYNSEL_E_DEVICE);
    dynsel_submission submission;
    assert_status(DYNSEL_OK, submit(&submission));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submission));
    assert_int_equal(1, runs);
    assert_int_equal(1, repeated());
    run_on(THIRD, add_to(a, 1));
    see_buffer(a, 1, 1);
}

static void each_refused_start_of_a_second_run_is_withdrawn(void **state)
{
    (void)state;
    enum { REFUSED = 3 };
    begin_listening(2);
    failures_left = 1;
    atomic_store(&sim.devices[SECOND].full_for, REFUSED);
    dynsel_submission submission;
    assert_status(DYNSEL_OK,
                  dynsel_try_submit_command_group(&listening, record_work, NULL, &submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(2 + REFUSED, told_of_start);
    assert_int_equal(REFUSED, told_of_withdrawal);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&listening));
}

static void second_run_that_never_began_loses_what_the_first_discarded(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    begin_policy(HOST, SECOND);
    let_work_take_time();
    mode = DYNSEL_ACCESS_DISCARD_WRITE;
    failures_left = 1;
    simulated_fail(&sim, SIMULATED_BRING, 1, true, DYNSEL_E_DEVICE);
    dynsel_submission submission;
    assert_status(DYNSEL_OK, submit(&submission));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submission));
    assert_int_equal(1, runs);
    see_lost(a);
}

/* Where transfers do not wait for the work before them in the queue. */
static void input_is_kept_after_work_that_writes_it(void **state)
{
    (void)state;
    sim.devices[FIRST].moves_beside = true;
    let_work_take_time();
    place_data(FIRST);
    dynsel_submission submissions[2];
    const job writes = add_to(b, 10);
    assert_status(DYNSEL_OK, send_job(FIRST, &writes, &submissions[0]));
    failures_left = 1;
    assert_status(DYNSEL_OK, submit(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_int_equal(1, repeated());
    see_buffer(a, 11, 0);
    see_buffer(b, 10, -1);
}

/* The copy that the first run made is not there any more. */
static void reader_of_the_same_input_does_not_wait_for_the_second_run(void **state)
{
    (void)state;
    static int32_t seen[ELEMENTS];
    dynsel_buffer copy = new_buffer(seen);
    sim.devices[THIRD].domain = sim.devices[FIRST].domain;
    let_work_take_time();
    atomic_store(&sim.devices[SECOND].is_full, true);
    dynsel_submission submissions[2];
    failures_left = 1;
    assert_status(DYNSEL_OK, submit(&submissions[0]));
    const job reads = copy_to(copy, b);
    assert_status(DYNSEL_OK, send_job(THIRD, &reads, &submissions[1]));
    dynsel_status status = DYNSEL_E_AGAIN;
    for (unsigned i = 0; i < 100 && status == DYNSEL_E_AGAIN; i++) {
        status = dynsel_submission_poll(&submissions[1]);
    }
    assert_int_equal(DYNSEL_OK, status);
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&submissions[0]));
    atomic_store(&sim.devices[SECOND].is_full, false);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_int_equal(1, repeated());
    see_buffer(a, 1, 0);
    see_buffer(copy, 0, -1);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&copy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failure_ends_as_one_run_would),
        REPEAT_TEST(dependents_find_what_the_second_run_wrote),
        REPEAT_TEST(chain_of_repeatable_groups_survives_a_failure_of_each),
        REPEAT_TEST(second_failure_of_a_group_is_told_once),
        REPEAT_TEST(group_that_can_run_nowhere_else_leaves_its_buffers_as_they_were),
        REPEAT_TEST(second_run_of_a_group_waits_for_a_full_resource),
        REPEAT_TEST(cancelled_group_gives_both_slots_back),
        REPEAT_TEST(submit_that_chooses_no_resource_gives_both_slots_back),
        REPEAT_TEST(group_whose_input_cannot_be_kept_is_refused),
        REPEAT_TEST(submit_without_room_for_a_second_run_is_refused),
        REPEAT_TEST(dependent_in_the_same_domain_waits_for_the_second_run),
        REPEAT_TEST(second_run_that_never_began_leaves_the_buffer_as_it_was),
        REPEAT_TEST(each_refused_start_of_a_second_run_is_withdrawn),
        REPEAT_TEST(second_run_that_never_began_loses_what_the_first_discarded),
        REPEAT_TEST(input_is_kept_after_work_that_writes_it),
        REPEAT_TEST(reader_of_the_same_input_does_not_wait_for_the_second_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
