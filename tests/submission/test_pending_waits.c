/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for work that is accepted before it can be started, alone and in groups. */
#include "submission/pending_fixture.h"

static void group_wait_starts_and_completes_pending_work(void **state)
{
    (void)state;
    const unsigned count = SLOTS < 6 ? SLOTS : 6;
    for (unsigned i = 0; i < count; i++) {
        world.choice = i;
        defer_work(NULL)->ready = true;
    }
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(ended_count, count);
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
    for (unsigned i = 0; i < count; i++) {
        assert_true(manual_is_synchronized(&manual, i));
    }
}

static void backend_group_wait_starts_and_completes_pending_work(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    world.choice = QUEUES - 1;
    defer_work(NULL)->ready = true;
    item *last = defer_work(NULL);
    last->has_dependency = true;
    last->dependency = start_work(NULL);
    dynsel_backend other = {.ops = manual.backend.ops};
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_backend_submission_group(&other)));
    assert_int_equal(ended_count, 0);
    assert_int_equal(atomic_load(&manual.starts), 1);
    assert_status(DYNSEL_OK,
                  dynsel_wait_group(dynsel_get_backend_submission_group(&manual.backend)));
    assert_int_equal(ended_count, 3);
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
}

static void wait_that_would_deadlock_is_busy(void **state)
{
    (void)state;
    dynsel_submission submission;
    item *one = defer_work(&submission);
    one->blocked_by_caller = true;
    assert_status(DYNSEL_E_BUSY, dynsel_wait(&submission));
    assert_error_says("your own");
    assert_status(DYNSEL_E_BUSY, dynsel_wait_for(&submission, 1000000000));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
    assert_status(DYNSEL_E_BUSY, wait_group());
    assert_status(DYNSEL_E_BUSY,
                  dynsel_wait_group(dynsel_get_backend_submission_group(&manual.backend)));
    assert_true(dynsel_invariants_hold(&world.policy));
    one->ready = true;
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
}

static void submit_that_would_deadlock_on_slots_is_full(void **state)
{
    (void)state;
    dynsel_submission submission;
    defer_work(&submission)->will_fail = true;
    dynsel_progress(); /* finished, and nobody collects it */
    for (unsigned i = 1; i < SLOTS; i++) {
        defer_work(NULL)->blocked_by_caller = true;
    }
    const dynsel_task task = DYNSEL_TASK(enqueue, NULL);
    assert_status(DYNSEL_E_FULL, dynsel_submit(&world.policy, &task, NULL));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submission));
    defer_work(&submission)->blocked_by_caller = true;
    assert_status(DYNSEL_E_FULL, dynsel_submit(&world.policy, &task, NULL));
    assert_error_says("waits for this thread");
    assert_status(DYNSEL_E_FULL, dynsel_submit_for(&world.policy, &task, NULL, 1000000000));
    for (uint32_t number = 1; number <= SLOTS; number++) {
        items[number].ready = true;
    }
    assert_status(DYNSEL_OK, wait_group());
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
}

static void bounded_wait_for_pending_work_times_out(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    atomic_store(&manual.wait_completes, false);
    dynsel_submission submission;
    const uint32_t first = start_work(NULL);
    item *one = defer_work(&submission);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 200000));
    assert_error_says("was not complete in time");
    one->has_dependency = true;
    one->dependency = first;
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 200000));
    assert_int_equal(atomic_load(&manual.waits), 0);
    assert_true(dynsel_invariants_hold(&world.policy));
    manual_complete(&manual, 0);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 200000)); /* started now */
    assert_int_equal(dynsel_stage_of(token_of(one)), DYNSEL_STAGE_STARTED);
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait_for(&submission, 0));
}

static void bounded_group_wait_for_pending_work_times_out(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    const dynsel_submission_group groups[] = {dynsel_get_submission_group(&world.policy),
                                              dynsel_get_backend_submission_group(&manual.backend)};
    const unsigned before = atomic_load(&manual.event_count);
    atomic_store(&manual.wait_completes, false);
    const uint32_t first = start_work(NULL);
    item *one = defer_work(NULL);
    one->has_dependency = true;
    one->dependency = first;
    for (unsigned i = 0; i < 2; i++) {
        assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_group_for(groups[i], 200000));
        assert_error_says("was not complete in time");
    }
    assert_int_equal(atomic_load(&manual.waits), 0);
    manual_complete(&manual, before);
    for (unsigned i = 0; i < 2; i++) {
        assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_group_for(groups[i], 0)); /* started now */
    }
    assert_int_equal(dynsel_stage_of(token_of(one)), DYNSEL_STAGE_STARTED);
    manual_complete(&manual, before + 1);
    for (unsigned i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_wait_group_for(groups[i], 0));
    }
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
}

/* A wait would be DYNSEL_E_BUSY. */
static void poll_of_work_that_waits_for_caller_is_again(void **state)
{
    (void)state;
    dynsel_submission submission;
    item *one = defer_work(&submission);
    one->blocked_by_caller = true;
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&submission));
    one->ready = true;
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&submission)); /* started now */
    assert_int_equal(dynsel_stage_of(token_of(one)), DYNSEL_STAGE_STARTED);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_submission_poll(&submission));
    assert_status(DYNSEL_OK, dynsel_submission_poll(&submission));
    assert_int_equal(atomic_load(&manual.waits), 0);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_poll(&submission));
}

static void policy_deinit_with_pending_work_is_busy(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    dynsel_submission submission;
    item *one = defer_work(NULL);
    item *other = defer_work(&submission);
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&world.policy));
    assert_error_says("2 submissions");
    one->ready = other->ready = true;
    assert_status(DYNSEL_OK, wait_group());
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&world.policy));
    assert_error_says("1 submissions");
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
}

/* Whichever is asked for first. */
static void work_of_one_queue_completes_in_queue_order(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    for (unsigned way = 0; way < 4; way++) {
        dynsel_submission submissions[3];
        uint32_t tokens[3];
        ended_count = 0;
        const unsigned before = atomic_load(&manual.event_count);
        for (unsigned i = 0; i < 3; i++) {
            tokens[i] = start_work(&submissions[i]);
        }
        if (way > 0) { /* else the wait does */
            for (unsigned i = 0; i < 3; i++) {
                manual_complete(&manual, before + i);
            }
        }
        if (way < 2) {
            assert_status(DYNSEL_OK, dynsel_wait(&submissions[2]));
        } else if (way == 2) {
            assert_status(DYNSEL_OK, dynsel_wait_for(&submissions[2], 0));
        } else {
            assert_status(DYNSEL_OK, wait_group());
            assert_status(DYNSEL_OK, dynsel_wait(&submissions[2]));
        }
        assert_int_equal(ended_count, 3);
        assert_memory_equal(ended, tokens, sizeof tokens);
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    }
}

/* The slots are not in the order of the queue. */
static void backend_group_wait_completes_work_in_queue_order(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    item *late = defer_work(NULL);
    item *early = defer_work(NULL);
    const uint32_t tokens[] = {token_of(early), token_of(late)};
    early->ready = true;
    dynsel_progress();
    late->ready = true;
    assert_status(DYNSEL_OK,
                  dynsel_wait_group(dynsel_get_backend_submission_group(&manual.backend)));
    assert_int_equal(ended_count, 2);
    assert_memory_equal(ended, tokens, sizeof tokens);
}

/* Where a resource does not keep an order nobody waits for work ahead. */
static void completed_work_on_unordered_queue_does_not_wait_for_earlier(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    dynsel_submission submissions[2];
    (void)start_work(&submissions[0]);
    (void)start_work(&submissions[1]);
    atomic_store(&manual.wait_completes, false);
    manual_complete(&manual, 1);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submissions[0], 0));
    assert_status(DYNSEL_OK, dynsel_wait_for(&submissions[1], 0));
    assert_int_equal(ended_count, 1);
    atomic_store(&manual.wait_completes, true);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
}

static void failure_of_pending_work_keeps_its_details(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_FAILURES != 1);
    dynsel_submission submission;
    (void)start_work(&submission);
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    assert_error_code(-5);
    dynsel_status fails = DYNSEL_E_TASK;
    defer(&DYNSEL_TASK(enqueue, &fails), NULL)->ready = true;
    assert_status(DYNSEL_E_TASK, wait_group());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(group_wait_starts_and_completes_pending_work),
        BOTH(backend_group_wait_starts_and_completes_pending_work),
        TEST(wait_that_would_deadlock_is_busy),
        TEST(submit_that_would_deadlock_on_slots_is_full),
        BOTH(bounded_wait_for_pending_work_times_out),
        BOTH(bounded_group_wait_for_pending_work_times_out),
        BOTH(poll_of_work_that_waits_for_caller_is_again),
        TEST(policy_deinit_with_pending_work_is_busy),
        BOTH(work_of_one_queue_completes_in_queue_order),
        BOTH(backend_group_wait_completes_work_in_queue_order),
        BOTH(completed_work_on_unordered_queue_does_not_wait_for_earlier),
        BOTH(failure_of_pending_work_keeps_its_details),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
