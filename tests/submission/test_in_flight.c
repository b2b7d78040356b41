/* SPDX-License-Identifier: Apache-2.0 */
/* Work that goes on after its submit: slots, handles, groups, and who releases the event. */
#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "room.h"
#include "test.h"

/* What the tests are made for, as far as the configuration has room for it. */
enum { SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT, QUEUES = RESOURCES_UP_TO(2) };

static manual_backend manual;
static dynsel_round_robin_policy policy;

static int set_up_with(bool poll_synchronizes)
{
    manual_backend_reset(&manual, poll_synchronizes);
    const dynsel_resource resources[] = {manual_resource(&manual, 0), manual_resource(&manual, 1)};
    const dynsel_options options = {.resources = resources, .count = QUEUES};
    return dynsel_round_robin_init(&policy, &options, 0);
}

static int set_up(void **state)
{
    (void)state;
    return set_up_with(false);
}

static int set_up_synchronizing(void **state)
{
    (void)state;
    return set_up_with(true);
}

/* Every test ends with everything given back. */
static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_int_equal(atomic_load(&manual.queues[0].attached), 0);
    assert_int_equal(atomic_load(&manual.queues[1].attached), 0);
    manual_assert_clean(&manual);
    return 0;
}

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    done->native = manual_event_new(&manual, where);
    done->value = 5;
    return args != NULL ? *(const dynsel_status *)args : DYNSEL_OK;
}

static dynsel_submission_group group(void)
{
    return dynsel_get_submission_group(&policy.policy);
}

static void submit(dynsel_submission *submission)
{
    assert_status(DYNSEL_OK,
                  dynsel_submit(&policy.policy, &DYNSEL_TASK(enqueue, NULL), submission));
}

static void wait_collects_submission_and_releases_event(void **state)
{
    (void)state;
    dynsel_submission submission;
    submit(&submission);
    dynsel_submission copy = submission;
    dynsel_event done;
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_ptr_equal(done.native, &manual.events[0]);
    assert_ptr_equal(dynsel_submission_policy(&submission), &policy.policy);
    assert_int_equal(done.value, 5);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(atomic_load(&manual.waits), 1);
    assert_int_equal(atomic_load(&manual.releases), 1);
    assert_status(DYNSEL_E_STALE, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_wait(&copy));
    assert_status(DYNSEL_E_STALE, dynsel_submission_release(&copy));
    assert_status(DYNSEL_E_STALE, dynsel_submission_unwrap(&copy, &done));
}

static void stale_handle_stays_stale_after_slot_reuse(void **state)
{
    (void)state;
    dynsel_submission old;
    submit(&old);
    assert_status(DYNSEL_OK, dynsel_wait(&old));
    static dynsel_submission many[SLOTS];
    for (size_t i = 0; i < SLOTS; i++) {
        submit(&many[i]);
    }
    assert_status(DYNSEL_E_STALE, dynsel_wait(&old));
    for (size_t i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&many[i]));
    }
}

static void group_wait_waits_once_per_resource(void **state)
{
    (void)state;
    const unsigned count = SLOTS < 20 ? SLOTS : 20;
    const unsigned queues = count < QUEUES ? count : QUEUES;
    for (unsigned i = 0; i < count; i++) {
        submit(NULL);
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    assert_int_equal(atomic_load(&manual.starts), count);
    /* the newest, and what makes polled results visible */
    assert_in_range(atomic_load(&manual.waits), queues, 2 * queues);
    for (unsigned i = 0; i < count; i++) {
        assert_true(manual_is_synchronized(&manual, i));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
}

static void group_wait_leaves_handles_uncollected(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    dynsel_submission failed;
    dynsel_submission fine;
    submit(&failed);
    submit(&fine);
    manual_fail(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy.policy));
    assert_error_says("2 submissions");
    assert_status(DYNSEL_OK, dynsel_wait(&fine));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&failed));
    assert_error_code(-5);
}

static void group_wait_reports_detached_failure_once(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    submit(NULL);
    submit(NULL);
    manual_fail(&manual, 1);
    assert_status(DYNSEL_E_INVALID, dynsel_wait(NULL)); /* not what the group tells of */
    assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(group()));
    assert_error_code(-5);
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
}

static void polled_results_are_made_visible_by_wait(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    dynsel_submission submission;
    submit(&submission);
    submit(NULL);
    submit(NULL);
    manual_complete(&manual, 0);
    manual_complete(&manual, 1);
    manual_complete(&manual, 2);
    for (int i = 3; i < SLOTS + 2; i++) {
        submit(NULL); /* the table is full in between, so that finished work is reaped by polling */
    }
    assert_true(atomic_load(&manual.polls) >= 3);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_true(manual_is_synchronized(&manual, 0));
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    for (unsigned i = 0; i < atomic_load(&manual.event_count); i++) {
        assert_true(manual_is_synchronized(&manual, i));
    }
}

static void submit_and_wait_costs_one_wait_and_one_release(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(enqueue, NULL)));
    }
    assert_int_equal(atomic_load(&manual.waits), 10);
    assert_int_equal(atomic_load(&manual.polls), 0);
    assert_int_equal(atomic_load(&manual.releases), 10);
}

static void completed_detached_work_is_polled_once(void **state)
{
    (void)state;
    const unsigned rounds = MANUAL_EVENTS / SLOTS < 10 ? MANUAL_EVENTS / SLOTS : 10;
    for (unsigned i = 0; i < rounds * SLOTS; i++) {
        submit(NULL);
        manual_complete(&manual, i);
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    assert_true(atomic_load(&manual.polls) <= rounds * SLOTS + 2 * rounds);
    assert_in_range(atomic_load(&manual.waits), 0, 4);
}

static void full_slot_table_error_names_option_and_count(void **state)
{
    (void)state;
    static dynsel_submission many[SLOTS];
    for (size_t i = 0; i < SLOTS; i++) {
        submit(&many[i]);
    }
    dynsel_submission more = {0};
    const unsigned starts = atomic_load(&manual.starts);
    assert_status(DYNSEL_E_FULL,
                  dynsel_try_submit(&policy.policy, &DYNSEL_TASK(enqueue, NULL), &more));
    assert_error_says("CONFIG_DYNSEL_MAX_IN_FLIGHT");
    assert_error_says("0 hold finished work");
    for (unsigned i = 0; i < SLOTS; i++) {
        manual_complete(&manual, i);
    }
    assert_status(DYNSEL_E_FULL, dynsel_submit(&policy.policy, &DYNSEL_TASK(enqueue, NULL), &more));
    assert_error_says("dynsel_submit");
    assert_error_number(SLOTS);
    assert_status(DYNSEL_E_FULL,
                  dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(enqueue, NULL)));
    assert_int_equal(atomic_load(&manual.starts), starts);
    assert_null(more.policy);
    assert_status(DYNSEL_OK, dynsel_submission_release(&many[0]));
    submit(&more);
    assert_status(DYNSEL_OK, dynsel_wait(&more));
    for (size_t i = 1; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&many[i]));
    }
}

static void completed_work_of_other_policy_frees_slots(void **state)
{
    (void)state;
    dynsel_round_robin_policy other = {0};
    const dynsel_resource resource = manual_resource(&manual, 2);
    const dynsel_options options = {.resources = &resource, .count = 1};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&other, &options, 0));
    for (unsigned i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&other.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
        manual_complete(&manual, i);
    }
    assert_status(DYNSEL_OK, dynsel_try_submit(&policy.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&other.policy)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&other.policy));
}

static void release_of_running_work_detaches_it(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    dynsel_submission fails;
    dynsel_submission fine;
    submit(&fails);
    submit(&fine);
    assert_status(DYNSEL_OK, dynsel_submission_release(&fails));
    assert_status(DYNSEL_OK, dynsel_submission_release(&fine));
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy.policy));
    manual_fail(&manual, 0);
    manual_complete(&manual, 1);
    assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(group()));
}

static void release_of_failed_work_reports_to_group(void **state)
{
    (void)state;
    dynsel_submission fails;
    submit(&fails);
    manual_fail(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    assert_status(DYNSEL_OK, dynsel_submission_release(&fails));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(group()));
}

static void failed_task_function_with_event_waits_for_event(void **state)
{
    (void)state;
    const dynsel_status own = (dynsel_status)(DYNSEL_E_USER - 1);
    dynsel_submission submission;
    atomic_store(&manual.wait_completes, false);
    assert_status(
        DYNSEL_OK,
        dynsel_submit(&policy.policy, &DYNSEL_TASK(enqueue, (void *)(uintptr_t)&own), &submission));
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy.policy));
    manual_fail(&manual, 0);
    assert_status(own, dynsel_wait(&submission));
}

static dynsel_status complete_at_once(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    done->value = 9;
    return *(const dynsel_status *)args;
}

static void direct_completion_keeps_result_until_collected(void **state)
{
    (void)state;
    dynsel_status own = (dynsel_status)(DYNSEL_E_USER - 1);
    const dynsel_task task = DYNSEL_TASK(complete_at_once, &own);
    dynsel_submission submission;
    dynsel_event done;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_int_equal(done.value, 9);
    dynsel_submission copy = submission;
    assert_status(own, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_wait(&copy));
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    assert_status(own, dynsel_wait_group(group()));
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(own, dynsel_wait_group(group()));
}

static dynsel_status submit_in_task(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return dynsel_submit(&policy.policy, &DYNSEL_TASK(enqueue, NULL), NULL);
}

static void submit_in_task_function_does_not_wait_for_slot(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    atomic_store(&manual.wait_completes, false);
    assert_status(DYNSEL_OK,
                  dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(submit_in_task, NULL)));
    for (int i = 2; i < SLOTS; i++) {
        submit(NULL);
    }
    assert_status(DYNSEL_E_FULL,
                  dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(submit_in_task, NULL)));
    atomic_store(&manual.wait_completes, true);
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
}

static void completed_work_behind_running_work_is_collected(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    dynsel_submission first;
    dynsel_submission third;
    submit(&first);
    submit(NULL);
    submit(&third);
    atomic_store(&manual.wait_completes, false);
    manual_complete(&manual, 2); /* out of order on queue 0 */
    assert_status(DYNSEL_OK, dynsel_wait(&third));
    assert_status(DYNSEL_E_STALE, dynsel_wait(&third));
    manual_complete(&manual, 0);
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    assert_status(DYNSEL_OK, dynsel_wait(&first));
}

static void failed_init_detaches_attached_handles(void **state)
{
    (void)state;
    NEEDS(QUEUES >= 2);
    dynsel_round_robin_policy other = {0};
    const dynsel_resource resources[] = {manual_resource(&manual, 2), manual_resource(&manual, 3)};
    const dynsel_options options = {.resources = resources, .count = 2};
    manual.queues[3].refuses_attach = true;
    assert_status(DYNSEL_E_DEVICE, dynsel_round_robin_init(&other, &options, 0));
    assert_error_code(77);
    assert_int_equal(atomic_load(&manual.queues[2].attached), 0);
    manual.queues[3].refuses_attach = false;
    assert_status(DYNSEL_E_INVALID, dynsel_round_robin_init(&other, &options, 2));
    assert_error_says("2 resources");
    assert_int_equal(atomic_load(&manual.queues[2].attached), 0);
    assert_int_equal(atomic_load(&manual.queues[3].attached), 0);
}

static void policy_deinit_after_completed_work_needs_no_wait(void **state)
{
    (void)state;
    const unsigned count = SLOTS < 3 ? SLOTS : 3;
    for (unsigned i = 0; i < count; i++) {
        submit(NULL);
    }
    for (unsigned i = 0; i < count; i++) {
        manual_complete(&manual, i);
    }
} /* the rest is in tear_down() */

static void policy_deinit_beside_work_of_other_policy_succeeds(void **state)
{
    (void)state;
    dynsel_round_robin_policy other = {0};
    const dynsel_resource resource = manual_resource(&manual, 2);
    const dynsel_options options = {.resources = &resource, .count = 1};
    dynsel_submission submission;
    submit(&submission);
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&other, &options, 0));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&other.policy));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
}

/* Looks at all work, without waiting for any. */
static void reap_all(void)
{
    dynsel_progress();
}

static void detached_results_are_kept_until_group_wait(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    /* of each resource the newest is kept, where it has to be waited for */
    const unsigned given_back = manual.backend.ops->poll_synchronizes ? 2 : 2 - QUEUES;
    dynsel_submission submission;
    submit(NULL);
    submit(NULL);
    submit(&submission);
    manual_complete(&manual, 0);
    manual_complete(&manual, 1);
    reap_all();
    assert_int_equal(atomic_load(&manual.waits), 0);
    assert_int_equal(atomic_load(&manual.releases), given_back);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    assert_true(manual_is_synchronized(&manual, 0));
    assert_true(manual_is_synchronized(&manual, 1));
    assert_int_equal(atomic_load(&manual.releases), 3);
}

static void release_of_polled_work_makes_results_visible(void **state)
{
    (void)state;
    dynsel_submission submission;
    submit(&submission);
    manual_complete(&manual, 0);
    reap_all();
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    assert_true(manual_is_synchronized(&manual, 0));
    assert_int_equal(atomic_load(&manual.releases), 1);
}

static void wait_for_polled_work_skips_wait_if_poll_synchronizes(void **state)
{
    (void)state;
    dynsel_submission submission;
    submit(&submission);
    manual_complete(&manual, 0);
    reap_all();
    assert_int_equal(atomic_load(&manual.polls), 1);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(atomic_load(&manual.waits), manual.backend.ops->poll_synchronizes ? 0 : 1);
}

static void failed_start_frees_its_slot(void **state)
{
    (void)state;
    for (unsigned i = 0; i < QUEUES; i++) {
        atomic_store(&manual.queues[i].is_full, true);
    }
    for (unsigned i = 0; i < SLOTS + 1; i++) {
        assert_status(DYNSEL_E_AGAIN,
                      dynsel_try_submit(&policy.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    }
    for (unsigned i = 0; i < QUEUES; i++) {
        atomic_store(&manual.queues[i].is_full, false);
    }
    submit(NULL);
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
}

static void any_freed_slot_is_found(void **state)
{
    (void)state;
    static dynsel_submission many[SLOTS];
    for (size_t i = 0; i < SLOTS; i++) {
        submit(&many[i]);
    }
    for (size_t i = SLOTS; i-- > 0;) {
        assert_status(DYNSEL_OK, dynsel_wait(&many[i]));
        assert_status(DYNSEL_OK,
                      dynsel_try_submit(&policy.policy, &DYNSEL_TASK(enqueue, NULL), &many[i]));
    }
    for (size_t i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&many[i]));
    }
}

/* In each slot once, because the table may be looked through from any of them. */
static void single_completed_work_of_other_policy_frees_slot(void **state)
{
    (void)state;
    dynsel_round_robin_policy other = {0};
    const dynsel_resource resource = manual_resource(&manual, 2);
    const dynsel_options options = {.resources = &resource, .count = 1};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&other, &options, 0));
    const unsigned enough_events = MANUAL_EVENTS / (SLOTS + 1);
    for (unsigned round = 0; round < SLOTS && round < enough_events; round++) {
        const unsigned first = atomic_load(&manual.event_count);
        assert_status(DYNSEL_OK, dynsel_submit(&other.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
        for (unsigned i = 1; i < SLOTS; i++) {
            submit(NULL);
        }
        assert_status(DYNSEL_E_FULL,
                      dynsel_try_submit(&policy.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
        manual_complete(&manual, first);
        assert_status(DYNSEL_OK,
                      dynsel_try_submit(&policy.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
        assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&other.policy));
}

static void handle_with_invalid_slot_is_stale(void **state)
{
    (void)state;
    dynsel_submission wrong = {.policy = &policy.policy, .slot = {UINT32_MAX}};
    assert_status(DYNSEL_E_STALE, dynsel_wait(&wrong));
    assert_status(DYNSEL_E_STALE, dynsel_submission_release(&wrong));
}

#if CONFIG_DYNSEL_BACKEND_INLINE
static dynsel_status leave_an_event(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    done->native = args;
    return DYNSEL_OK;
}

static dynsel_status leave_an_event_and_fail(const dynsel_resource *where, void *args,
                                             dynsel_event *done)
{
    (void)leave_an_event(where, args, done);
    return DYNSEL_E_TASK;
}
#endif

/* The last resource's work does not outlive its submit, the first's does. */
static void inline_work_in_mixed_policy_waits_for_no_event(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_BACKEND_INLINE
    NEEDS(QUEUES >= 2);
    int something = 0;
    dynsel_round_robin_policy mixed = {0};
    const dynsel_resource resources[] = {manual_resource(&manual, 2),
                                         {&dynsel_inline_backend, NULL}};
    const dynsel_options options = {.resources = resources, .count = 2};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&mixed, &options, 0));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&mixed.policy, &DYNSEL_TASK(enqueue, NULL)));
    assert_status(DYNSEL_E_INVALID,
                  dynsel_submit_and_wait(&mixed.policy, &DYNSEL_TASK(leave_an_event, &something)));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&mixed.policy, &DYNSEL_TASK(enqueue, NULL)));
    assert_status(
        DYNSEL_E_TASK,
        dynsel_submit_and_wait(&mixed.policy, &DYNSEL_TASK(leave_an_event_and_fail, &something)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&mixed.policy));
#endif
}

static dynsel_status enqueue_around_another(const dynsel_resource *where, void *args,
                                            dynsel_event *done)
{
    done->native = manual_event_new(&manual, where);
    dynsel_selection selection = {.policy = &policy.policy, .index = 0};
    return dynsel_submit_selection(&selection, &DYNSEL_TASK(enqueue, args), NULL);
}

/* The inner work is enqueued later but listed earlier than the outer, as between two threads. */
static void results_are_visible_when_list_order_differs_from_queue(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    dynsel_selection selection = {.policy = &policy.policy, .index = 0};
    assert_status(DYNSEL_OK, dynsel_submit_selection(
                                 &selection, &DYNSEL_TASK(enqueue_around_another, NULL), NULL));
    manual_complete(&manual, 0);
    manual_complete(&manual, 1);
    reap_all();
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    assert_true(manual_is_synchronized(&manual, 0));
    assert_true(manual_is_synchronized(&manual, 1));
}

static void second_release_of_submission_is_stale(void **state)
{
    (void)state;
    dynsel_submission submission;
    submit(&submission);
    dynsel_submission copy = submission;
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_release(&copy));
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
}

static void work_over_at_start_is_not_asked_about(void **state)
{
    (void)state;
    manual.queues[0].ends_at_start = true;
    manual.queues[1].ends_at_start = true;
    for (unsigned i = 0; i < 2; i++) {
        submit(NULL);
        assert_int_equal(atomic_load(&manual.releases), i + 1);
    }
    dynsel_submission submission;
    dynsel_event done;
    submit(&submission);
    assert_status(DYNSEL_OK, dynsel_submission_poll(&submission));
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_ptr_equal(done.native, &manual.events[2]); /* it is kept for who asks */
    assert_int_equal(atomic_load(&manual.releases), 2);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(atomic_load(&manual.releases), 3);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(enqueue, NULL)));
    assert_int_equal(atomic_load(&manual.releases), 4);
    assert_int_equal(atomic_load(&manual.polls) + atomic_load(&manual.waits), 0);
}

int main(void)
{
#define BOTH(name)                                                                                 \
    TEST(name), cmocka_unit_test_setup_teardown(name, set_up_synchronizing, tear_down)
    const struct CMUnitTest tests[] = {
        BOTH(wait_collects_submission_and_releases_event),
        BOTH(stale_handle_stays_stale_after_slot_reuse),
        BOTH(group_wait_waits_once_per_resource),
        BOTH(group_wait_leaves_handles_uncollected),
        BOTH(group_wait_reports_detached_failure_once),
        BOTH(polled_results_are_made_visible_by_wait),
        BOTH(submit_and_wait_costs_one_wait_and_one_release),
        BOTH(completed_detached_work_is_polled_once),
        BOTH(full_slot_table_error_names_option_and_count),
        BOTH(completed_work_of_other_policy_frees_slots),
        BOTH(release_of_running_work_detaches_it),
        BOTH(release_of_failed_work_reports_to_group),
        BOTH(failed_task_function_with_event_waits_for_event),
        BOTH(direct_completion_keeps_result_until_collected),
        BOTH(submit_in_task_function_does_not_wait_for_slot),
        BOTH(completed_work_behind_running_work_is_collected),
        BOTH(failed_init_detaches_attached_handles),
        BOTH(policy_deinit_after_completed_work_needs_no_wait),
        BOTH(policy_deinit_beside_work_of_other_policy_succeeds),
        BOTH(detached_results_are_kept_until_group_wait),
        BOTH(release_of_polled_work_makes_results_visible),
        BOTH(wait_for_polled_work_skips_wait_if_poll_synchronizes),
        BOTH(failed_start_frees_its_slot),
        BOTH(any_freed_slot_is_found),
        BOTH(single_completed_work_of_other_policy_frees_slot),
        BOTH(handle_with_invalid_slot_is_stale),
        BOTH(inline_work_in_mixed_policy_waits_for_no_event),
        BOTH(results_are_visible_when_list_order_differs_from_queue),
        BOTH(second_release_of_submission_is_stale),
        BOTH(work_over_at_start_is_not_asked_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
