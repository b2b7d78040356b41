/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of command groups over all policies and resources, and the dependents of failed work.
 */
#include <dynsel/dynsel.h>

#include "data/buffers.h"
#include "groups/order.h"
#include "groups/two_numbers.h"
#include "port/thread.h"
#include "submission/slot.h"

enum { ATTEMPTS = 500, ATTEMPT_NS = 10000000 };

static int set_up_in_order(void **state)
{
    (void)state;
    begin(true);
    return 0;
}

static void end_buffers(dynsel_status of_a, dynsel_status of_b)
{
    assert_status(of_a, dynsel_buffer_deinit(&a));
    assert_status(of_b, dynsel_buffer_deinit(&b));
    queues_end();
}

static void end(void)
{
    end_buffers(DYNSEL_OK, DYNSEL_OK);
}

static void reader_runs_after_earlier_writer(void **state)
{
    (void)state;
    job writes = CHANGES(1, a);
    job reads = READS(2, a);
    send(0, &writes, NULL);
    send(1, &reads, NULL);
    dynsel_progress();
    assert_runs(1, &writes);
    assert_runs(0, &reads);
    complete(&writes);
    assert_runs(0, &reads);
    dynsel_progress();
    assert_runs(1, &reads);
    assert_int_equal(worked_in(7, 1), reads.seen);
    complete(&reads);
    queues_wait();
    end();
}

static void writer_runs_after_earlier_readers(void **state)
{
    (void)state;
    job reads[] = {READS(1, a), READS(2, a)};
    job writes = SETS(3, a);
    send(0, &reads[0], NULL);
    send(1, &reads[1], NULL);
    send(2, &writes, NULL);
    assert_runs(1, &reads[0]);
    assert_runs(1, &reads[1]); /* they run together */
    complete(&reads[1]);
    dynsel_progress();
    assert_runs(0, &writes);
    complete(&reads[0]);
    dynsel_progress();
    assert_runs(1, &writes);
    complete(&writes);
    queues_wait();
    end();
    assert_int_equal(3, numbers[0]);
}

static void writer_runs_after_earlier_writer(void **state)
{
    (void)state;
    job writes[] = {SETS(1, a), SETS(2, a), SETS(3, a)};
    for (unsigned i = 0; i < 3; i++) {
        send(i, &writes[i], NULL);
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_runs(1, &writes[i]);
        if (i < 2) {
            dynsel_progress();
            assert_runs(0, &writes[i + 1]);
        }
        complete(&writes[i]);
        dynsel_progress();
    }
    queues_wait();
    end();
    assert_int_equal(3, numbers[0]);
}

static void readers_behind_writer_run_concurrently(void **state)
{
    (void)state;
    job writes = CHANGES(1, a);
    job reads[] = {READS(2, a), READS(3, a), READS(4, a)};
    job last = CHANGES(5, a);
    send(0, &writes, NULL);
    for (unsigned i = 0; i < 3; i++) {
        send(i + 1, &reads[i], NULL);
    }
    send(0, &last, NULL);
    complete(&writes);
    dynsel_progress();
    for (unsigned i = 0; i < 3; i++) {
        assert_runs(1, &reads[i]);
    }
    assert_runs(0, &last);
    queues_wait();
    assert_runs(1, &last);
    end();
    assert_int_equal(worked_in(worked_in(7, 1), 5), numbers[0]);
}

static void work_on_other_buffers_is_not_ordered(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job second = CHANGES(2, b);
    send(0, &first, NULL);
    send(1, &second, NULL);
    assert_runs(1, &second);
    queues_wait();
    end();
}

static void command_group_waits_for_all_its_buffers(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job second = CHANGES(2, b);
    job both = COPIES(3, a, b);
    send(0, &first, NULL);
    send(1, &second, NULL);
    send(2, &both, NULL);
    complete(&first);
    dynsel_progress();
    assert_runs(0, &both);
    complete(&second);
    dynsel_progress();
    assert_runs(1, &both);
    queues_wait();
    end();
    assert_int_equal(3, numbers[1]);
}

/* A queue in order orders what it has been given. */
static void in_order_queue_accepts_whole_chain_immediately(void **state)
{
    (void)state;
    job chain[] = {CHANGES(1, a), CHANGES(2, a), READS(3, a)};
    job elsewhere = READS(4, a);
    for (unsigned i = 0; i < 3; i++) {
        send(0, &chain[i], NULL);
        assert_runs(1, &chain[i]);
    }
    send(1, &elsewhere, NULL);
    assert_runs(0, &elsewhere);
    complete(&chain[0]);
    dynsel_progress();
    assert_runs(0, &elsewhere);
    complete(&chain[1]);
    dynsel_progress();
    assert_runs(1, &elsewhere);
    assert_int_equal(worked_in(worked_in(7, 1), 2), elsewhere.seen);
    queues_wait();
    end();
}

static void dependency_on_other_queue_waits_in_library(void **state)
{
    (void)state;
    job on_first = CHANGES(1, a);
    job on_second = CHANGES(2, a);
    job back = CHANGES(3, a);
    send(0, &on_first, NULL);
    send(1, &on_second, NULL);
    send(0, &back, NULL);
    assert_runs(0, &on_second);
    assert_runs(0, &back); /* its queue is free for it, but not before the other */
    queues_wait();
    assert_true(on_second.turn < back.turn);
    end();
}

static void out_of_order_queue_gets_dependent_work_later(void **state)
{
    (void)state;
    job chain[] = {CHANGES(1, a), CHANGES(2, a)};
    send(0, &chain[0], NULL);
    send(0, &chain[1], NULL);
    assert_runs(0, &chain[1]);
    complete(&chain[0]);
    dynsel_progress();
    assert_runs(1, &chain[1]);
    queues_wait();
    end();
}

static void wait_drives_all_dependencies(void **state)
{
    (void)state;
    enum { LENGTH = 12 };
    job chain[LENGTH] = {{.number = 0}};
    dynsel_submission last;
    uint32_t expected = 7;
    for (unsigned i = 0; i < LENGTH; i++) {
        chain[i].number = i + 1;
        chain[i].buffers[0] = a;
        expected = worked_in(expected, i + 1);
        send(i % QUEUES, &chain[i], i == LENGTH - 1 ? &last : NULL);
    }
    assert_runs(0, &chain[1]);
    assert_status(DYNSEL_OK, dynsel_wait(&last));
    queues_wait();
    end();
    assert_int_equal(expected, numbers[0]);
}

/* Failures. */

static dynsel_status fail_with_details(job *what)
{
    (void)what;
    return dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_TASK,
                                             .code = 4711,
                                             .function = "the first",
                                             .subject = "its subject",
                                             .detail = "broke"});
}

static void assert_caused_by_first(dynsel_submission *submission)
{
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(submission));
    assert_int_equal(4711, dynsel_last_error()->code);
    assert_error_says("the first");
    assert_error_says("its subject");
    assert_error_says("work that failed: the task failed");
}

static void dependents_of_failed_work_fail_with_its_cause(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    first.does = fail_with_details;
    job second = COPIES(2, a, b);
    job third = READS(3, b);
    job fourth = READS(4, a);
    dynsel_submission submissions[4];
    send(0, &first, &submissions[0]);
    send(1, &second, &submissions[1]);
    send(2, &third, &submissions[2]);
    send(3, &fourth, &submissions[3]);
    assert_caused_by_first(&submissions[2]);
    assert_caused_by_first(&submissions[1]);
    assert_caused_by_first(&submissions[3]);
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submissions[0]));
    assert_runs(0, &second);
    assert_runs(0, &third);
    assert_runs(0, &fourth);
    end_buffers(DYNSEL_E_DEPENDENCY, DYNSEL_OK); /* nobody has begun to write the second */
}

/* The failure is long over when the next comes. */
static void buffer_failure_persists_for_later_work(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    first.does = fail_with_details;
    dynsel_submission submission;
    send(0, &first, &submission);
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    for (unsigned i = 0; i < 3; i++) {
        job next = CHANGES(2, a);
        send(i, &next, &submission);
        assert_caused_by_first(&submission);
        assert_runs(0, &next);
    }
    end_buffers(DYNSEL_E_DEPENDENCY, DYNSEL_OK);
}

static void discard_write_clears_buffer_failure(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    first.returns = DYNSEL_E_TASK;
    job before = READS(2, a);
    job afresh = SETS(3, a);
    job after = CHANGES(4, a);
    dynsel_submission submissions[4];
    send(0, &first, &submissions[0]);
    send(1, &before, &submissions[1]);
    send(2, &afresh, &submissions[2]);
    send(3, &after, &submissions[3]);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[3]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[2]));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submissions[0]));
    end();
    assert_int_equal(worked_in(3, 4), numbers[0]);
}

static void failed_reader_leaves_buffer_valid(void **state)
{
    (void)state;
    job reads = READS(1, a);
    reads.returns = DYNSEL_E_USER;
    job writes = CHANGES(2, a);
    dynsel_submission submissions[2];
    send(0, &reads, &submissions[0]);
    send(1, &writes, &submissions[1]);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_E_USER, dynsel_wait(&submissions[0]));
    end();
}

/* The one behind it on the same queue ran, on data that were not there. */
static void failure_ahead_in_same_queue_fails_dependents(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job second = COPIES(2, a, b);
    job third = CHANGES(3, b);
    job unconcerned = SETS(4, a);
    dynsel_submission submissions[4];
    send(0, &first, &submissions[0]);
    send(0, &second, &submissions[1]);
    send(0, &third, &submissions[2]);
    send(0, &unconcerned, &submissions[3]);
    assert_runs(1, &third);
    break_off(&first);
    complete(&second);
    complete(&third);
    complete(&unconcerned);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[3]));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[2]));
    assert_int_equal(-5, dynsel_last_error()->code); /* the cause's */
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submissions[0]));
    end_buffers(DYNSEL_OK, DYNSEL_E_DEPENDENCY);
}

/* On a device both may be over before either is looked at, and the later one be looked at first. */
static void newer_buffer_failure_is_kept_over_older_one(void **state)
{
    (void)state;
    job older = CHANGES(1, a);
    job newer = SETS(2, a);
    job behind = READS(3, a);
    dynsel_submission submissions[3];
    atomic_store(&manual.wait_completes, false);
    send(0, &older, &submissions[0]);
    send(0, &newer, &submissions[1]);
    break_off(&newer);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submissions[1]));
    break_off(&older);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submissions[0]));
    atomic_store(&manual.wait_completes, true);
    send(0, &behind, &submissions[2]);
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[2]));
    assert_runs(0, &behind);
    end_buffers(DYNSEL_E_DEPENDENCY, DYNSEL_OK);
}

/* It would come before what it depends on, if it just failed at once. */
static void failing_dependent_waits_for_its_other_dependencies(void **state)
{
    (void)state;
    job fails = CHANGES(1, a);
    job goes_on = CHANGES(2, b);
    job both = COPIES(3, a, b);
    job last = SETS(4, b);
    dynsel_submission submissions[4];
    send(0, &fails, &submissions[0]);
    send(1, &goes_on, &submissions[1]);
    send(2, &both, &submissions[2]);
    send(3, &last, &submissions[3]);
    break_off(&fails);
    dynsel_progress();
    dynsel_progress();
    assert_runs(0, &last); /* or it would write beside `goes_on` */
    complete(&goes_on);
    dynsel_progress();
    dynsel_progress();
    assert_runs(1, &last);
    assert_runs(0, &both);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[3]));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[2]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submissions[0]));
    end_buffers(DYNSEL_E_DEPENDENCY, DYNSEL_OK);
}

static void detached_failures_reach_submission_group(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    first.does = fail_with_details;
    job second = CHANGES(2, a);
    send(0, &first, NULL);
    send(1, &second, NULL);
    assert_status(DYNSEL_E_DEPENDENCY,
                  dynsel_wait_group(dynsel_get_submission_group(&queues[1].policy)));
    assert_int_equal(4711, dynsel_last_error()->code);
    assert_status(DYNSEL_E_TASK, dynsel_wait_group(dynsel_get_submission_group(&queues[0].policy)));
    end_buffers(DYNSEL_E_DEPENDENCY, DYNSEL_OK);
}

/* Refusals. */

/* The only queue of the policy is lost when the work's turn comes; others depend on it already. */
static void pending_work_on_lost_queue_fails(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job refused = CHANGES(2, a);
    job behind = READS(3, a);
    dynsel_submission submissions[3];
    send(0, &first, &submissions[0]);
    send(1, &refused, &submissions[1]);
    send(2, &behind, &submissions[2]);
    atomic_store(&manual.queues[1].refuses, true);
    complete(&first);
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[2]));
    assert_int_equal(-6, dynsel_last_error()->code);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_wait(&submissions[1]));
    assert_int_equal(-6, dynsel_last_error()->code);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_runs(0, &refused);
    end();
    assert_int_equal(worked_in(7, 1), numbers[0]); /* what the first has left */
}

/* The same in the submitting call itself. */
static void submit_to_lost_queue_is_accepted_and_fails_at_wait(void **state)
{
    (void)state;
    job refused = CHANGES(1, a);
    dynsel_submission submission;
    atomic_store(&manual.queues[1].refuses, true);
    send(1, &refused, &submission);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_wait(&submission));
    job reads = READS(2, a);
    send(0, &reads, NULL); /* what was there before */
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&queues[0].policy)));
    assert_runs(1, &reads);
    job afresh = SETS(3, a);
    atomic_store(&manual.queues[2].refuses, true);
    send(2, &afresh, NULL); /* likewise */
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_wait_group(dynsel_get_submission_group(&queues[2].policy)));
    end();
    assert_int_equal(7, numbers[0]);
}

static void full_queue_is_retried(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job second = READS(2, a);
    dynsel_submission submissions[2];
    atomic_store(&manual.queues[0].is_full, true);
    send(0, &first, &submissions[0]);
    send(1, &second, &submissions[1]);
    dynsel_progress();
    assert_runs(0, &first);
    assert_runs(0, &second);
    atomic_store(&manual.queues[0].is_full, false);
    dynsel_progress();
    assert_runs(1, &first);
    complete(&first);
    dynsel_progress();
    assert_runs(1, &second);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    dynsel_movement movement;
    assert_status(DYNSEL_OK, dynsel_buffer_movement(a, &movement));
    assert_int_equal(2, movement.copies_avoided); /* not for each attempt */
    end();
}

/* An accelerator whose few events are given back only when their work is seen to have ended. */
static void wait_gives_back_events_that_refused_work_needs(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job second = CHANGES(2, b);
    dynsel_submission submission;
    atomic_store(&manual.queues[0].room, 1);
    atomic_store(&manual.wait_completes, false);
    send(0, &first, NULL);
    send(0, &second, &submission);
    assert_runs(0, &second);
    complete(&first);
    for (unsigned i = 0; i < ATTEMPTS && atomic_load(&second.runs) == 0; i++) {
        assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, ATTEMPT_NS));
    }
    assert_runs(1, &second);
    atomic_store(&manual.wait_completes, true);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    end();
}

/* What was refused keeps its place in front of what was entered after it. */
static void work_refused_by_full_queue_keeps_its_order(void **state)
{
    (void)state;
    job running = CHANGES(9, a);
    job jobs[] = {CHANGES(1, b), READS(2, a), READS(3, a)};
    atomic_store(&manual.queues[0].is_full, true);
    send(1, &running, NULL);
    for (unsigned i = 0; i < 3; i++) {
        send(0, &jobs[i], NULL);
    }
    complete(&running);
    dynsel_progress();
    dynsel_progress();
    atomic_store(&manual.queues[0].is_full, false);
    dynsel_progress();
    for (unsigned i = 0; i < 3; i++) {
        assert_runs(1, &jobs[i]);
        assert_int_equal(2 + i, jobs[i].turn);
    }
    queues_wait();
    end();
}

/* A policy with several queues goes elsewhere. */
static void lost_resource_makes_policy_select_again(void **state)
{
    (void)state;
    const dynsel_resource resources[] = {manual_resource(&manual, 2), manual_resource(&manual, 3)};
    const dynsel_options options = {.resources = resources, .count = 2};
    dynsel_round_robin_policy policy = {.policy = {.ops = NULL}};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
    job first = CHANGES(1, a);
    job moved = CHANGES(2, a);
    job behind = READS(3, a);
    dynsel_submission submissions[2];
    send(0, &first, NULL);
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, group_of, &moved, &submissions[0]));
    send(1, &behind, &submissions[1]);
    atomic_store(&manual.queues[2].refuses, true);
    complete(&first);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_ptr_equal(&manual.queues[3], manual.events[moved.event].queue);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&policy.policy, 0));
    assert_runs(1, &moved);
    queues_wait();
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    end();
}

/* Handles and policies. */

static void handle_of_pending_work_can_be_released(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job second = CHANGES(2, a);
    second.returns = DYNSEL_E_USER;
    dynsel_submission submission;
    send(0, &first, NULL);
    send(1, &second, &submission);
    assert_null(dynsel_submission_policy(NULL));
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    complete(&first);
    dynsel_progress();
    assert_runs(1, &second);
    complete(&second);
    assert_status(DYNSEL_E_USER, dynsel_wait_group(dynsel_get_submission_group(&queues[1].policy)));
    queues_wait();
    end_buffers(DYNSEL_E_DEPENDENCY, DYNSEL_OK);
}

static void deinit_with_pending_command_groups_is_busy(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job second = CHANGES(2, a);
    send(0, &first, NULL);
    send(1, &second, NULL);
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&queues[1].policy));
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&a));
    complete(&first);
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&a));
    queues_wait();
    end();
}

/* Lets the next work of this thread have the token that a buffer remembers: as if the slot had been
 * used as often as there are tokens. */
static void bring_round(uint32_t remembered)
{
    const uint32_t token = remembered - 1;
    const uint32_t index = dynsel_slot_number_in(token) - 1;
    assert_int_not_equal(0, remembered);
    assert_int_equal(DYNSEL_SLOT_FREE, dynsel_slot_state(dynsel_slots[index].word.value));
    dynsel_slots[index].word.value = dynsel_slot_generation(token) << DYNSEL_SLOT_GENERATION_SHIFT;
    dynsel_this_thread()->slot_cursor = index;
}

static void run_next(dynsel_buffer buffer)
{
    job next = CHANGES(3, buffer);
    dynsel_submission submission;
    send(1, &next, &submission);
    assert_runs(1, &next); /* and did not wait for itself */
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
}

static void token_reuse_creates_no_false_dependency(void **state)
{
    (void)state;
    job writes = CHANGES(1, a);
    job reads = READS(2, b);
    send(0, &writes, NULL);
    send(1, &reads, NULL);
    queues_wait();
    bring_round(dynsel_buffer_find(a)->writer);
    run_next(a);
    bring_round(dynsel_buffer_find(b)->readers[0]);
    run_next(b);
    end();
}

static void fail_in(dynsel_buffer buffer)
{
    job fails = SETS(1, buffer);
    dynsel_submission submission;
    fails.returns = DYNSEL_E_TASK;
    send(0, &fails, &submission);
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
}

static void assert_failed(dynsel_buffer buffer)
{
    job reads = READS(2, buffer);
    dynsel_submission submission;
    send(1, &reads, &submission);
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submission));
    assert_runs(0, &reads);
}

/* Command groups are counted round. */
static void buffer_failure_persists_when_entry_count_wraps(void **state)
{
    (void)state;
    for (uint32_t left = 0; left < 3; left++) {
        dynsel_order_entries = UINT32_MAX - left;
        fail_in(a);
        assert_failed(a);
        run_next(b);
        assert_failed(a);
    }
    end_buffers(DYNSEL_E_DEPENDENCY, DYNSEL_OK);
}

static void very_old_failure_does_not_hide_new_one(void **state)
{
    (void)state;
    fail_in(a);
    dynsel_order_entries += (uint32_t)1 << 31;
    fail_in(a);
    assert_failed(a);
    end_buffers(DYNSEL_E_DEPENDENCY, DYNSEL_OK);
}

/* The two behind the first are started in the order in which they were entered. */
static void pending_work_keeps_order_when_entry_count_wraps(void **state)
{
    (void)state;
    for (uint32_t left = 0; left < 4; left++) {
        job first = CHANGES(1, a);
        job second = COPIES(2, a, b);
        job third = READS(3, a);
        dynsel_order_entries = UINT32_MAX - left;
        send(0, &first, NULL);
        send(1, &second, NULL);
        send(2, &third, NULL);
        complete(&first);
        dynsel_progress();
        assert_runs(1, &third);
        assert_true(second.turn < third.turn);
        queues_wait();
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(reader_runs_after_earlier_writer),
        TEST_SET_UP(writer_runs_after_earlier_readers),
        TEST_SET_UP(writer_runs_after_earlier_writer),
        TEST_SET_UP(readers_behind_writer_run_concurrently),
        TEST_SET_UP(work_on_other_buffers_is_not_ordered),
        TEST_SET_UP(command_group_waits_for_all_its_buffers),
        cmocka_unit_test_setup(in_order_queue_accepts_whole_chain_immediately, set_up_in_order),
        cmocka_unit_test_setup(dependency_on_other_queue_waits_in_library, set_up_in_order),
        TEST_SET_UP(out_of_order_queue_gets_dependent_work_later),
        TEST_SET_UP(wait_drives_all_dependencies),
        TEST_SET_UP(dependents_of_failed_work_fail_with_its_cause),
        TEST_SET_UP(buffer_failure_persists_for_later_work),
        TEST_SET_UP(discard_write_clears_buffer_failure),
        TEST_SET_UP(failed_reader_leaves_buffer_valid),
        cmocka_unit_test_setup(failure_ahead_in_same_queue_fails_dependents, set_up_in_order),
        cmocka_unit_test_setup(newer_buffer_failure_is_kept_over_older_one, set_up_in_order),
        TEST_SET_UP(failing_dependent_waits_for_its_other_dependencies),
        TEST_SET_UP(detached_failures_reach_submission_group),
        TEST_SET_UP(pending_work_on_lost_queue_fails),
        TEST_SET_UP(submit_to_lost_queue_is_accepted_and_fails_at_wait),
        TEST_SET_UP(full_queue_is_retried),
        TEST_SET_UP(wait_gives_back_events_that_refused_work_needs),
        TEST_SET_UP(work_refused_by_full_queue_keeps_its_order),
        TEST_SET_UP(lost_resource_makes_policy_select_again),
        TEST_SET_UP(handle_of_pending_work_can_be_released),
        TEST_SET_UP(deinit_with_pending_command_groups_is_busy),
        TEST_SET_UP(token_reuse_creates_no_false_dependency),
        TEST_SET_UP(buffer_failure_persists_when_entry_count_wraps),
        TEST_SET_UP(very_old_failure_does_not_hide_new_one),
        TEST_SET_UP(pending_work_keeps_order_when_entry_count_wraps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
