/* SPDX-License-Identifier: Apache-2.0 */
/* Work that goes on after its submit: slots, handles, groups, and who releases the event. */
#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "room.h"
#include "test.h"

/* What the tests are made for, as far as the configuration has room for it. */
enum { SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT, LANES = RESOURCES_UP_TO(2) };

static manual_backend manual;
static dynsel_round_robin_policy policy;

static int set_up_with(bool poll_synchronizes)
{
    manual_backend_reset(&manual, poll_synchronizes);
    const dynsel_resource resources[] = {manual_resource(&manual, 0), manual_resource(&manual, 1)};
    const dynsel_options options = {.resources = resources, .count = LANES};
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

static void a_wait_waits_and_collects(void **state)
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

static void a_stale_handle_stays_stale_when_its_slot_is_used_again(void **state)
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

static void the_group_waits_once_for_each_resource(void **state)
{
    (void)state;
    const unsigned count = SLOTS < 20 ? SLOTS : 20;
    const unsigned lanes = count < LANES ? count : LANES;
    for (unsigned i = 0; i < count; i++) {
        submit(NULL);
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    assert_int_equal(atomic_load(&manual.starts), count);
    /* the newest, and what makes polled results visible */
    assert_in_range(atomic_load(&manual.waits), lanes, 2 * lanes);
    for (unsigned i = 0; i < count; i++) {
        assert_true(manual_is_synchronized(&manual, i));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
}

static void the_group_leaves_handles_to_their_owners(void **state)
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

static void the_group_reports_the_failure_of_detached_work_once(void **state)
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

static void results_that_were_only_polled_are_waited_for(void **state)
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

static void one_piece_of_work_costs_one_wait_and_one_release(void **state)
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

static void detached_work_that_finished_is_polled_once(void **state)
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

static void a_full_table_is_refused_with_the_symbol_and_the_number(void **state)
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

static void another_policys_finished_work_makes_room(void **state)
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

static void releasing_running_work_detaches_it(void **state)
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

static void releasing_finished_work_tells_the_group(void **state)
{
    (void)state;
    dynsel_submission fails;
    submit(&fails);
    manual_fail(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
    assert_status(DYNSEL_OK, dynsel_submission_release(&fails));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(group()));
}

static void a_function_that_fails_after_it_enqueued_is_waited_for(void **state)
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

static void work_that_is_complete_at_once_keeps_its_result_in_the_slot(void **state)
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

static void a_submit_inside_a_task_does_not_wait_for_a_slot(void **state)
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

static void work_behind_unfinished_work_is_collected_too(void **state)
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

static void initialization_undoes_what_it_attached(void **state)
{
    (void)state;
    NEEDS(LANES >= 2);
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

static void a_policy_whose_work_has_finished_may_end_without_a_wait(void **state)
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

static void a_policy_may_end_while_the_work_of_another_is_out(void **state)
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

static void results_of_detached_work_are_kept_until_the_group_asks(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    /* of each resource the newest is kept, where it has to be waited for */
    const unsigned given_back = manual.backend.ops->poll_synchronizes ? 2 : 2 - LANES;
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

static void a_release_makes_visible_what_was_polled_for_the_handle(void **state)
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

static void a_handle_is_waited_for_only_where_polling_is_not_enough(void **state)
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

static void a_start_that_fails_gives_its_slot_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < LANES; i++) {
        atomic_store(&manual.queues[i].is_full, true);
    }
    for (unsigned i = 0; i < SLOTS + 1; i++) {
        assert_status(DYNSEL_E_AGAIN,
                      dynsel_try_submit(&policy.policy, &DYNSEL_TASK(enqueue, NULL), NULL));
    }
    for (unsigned i = 0; i < LANES; i++) {
        atomic_store(&manual.queues[i].is_full, false);
    }
    submit(NULL);
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
}

static void whichever_slot_becomes_free_is_found(void **state)
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
static void one_finished_piece_of_another_policy_makes_room(void **state)
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

static void a_handle_with_a_slot_that_does_not_exist_is_stale(void **state)
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
#endif

/* The last resource's work does not outlive its submit, the first's does. */
static void inline_work_beside_work_that_goes_on_waits_for_no_event(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_BACKEND_INLINE
    NEEDS(LANES >= 2);
    int something = 0;
    dynsel_round_robin_policy mixed = {0};
    const dynsel_resource resources[] = {manual_resource(&manual, 2),
                                         {&dynsel_inline_backend, NULL}};
    const dynsel_options options = {.resources = resources, .count = 2};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&mixed, &options, 0));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&mixed.policy, &DYNSEL_TASK(enqueue, NULL)));
    assert_status(DYNSEL_E_INVALID,
                  dynsel_submit_and_wait(&mixed.policy, &DYNSEL_TASK(leave_an_event, &something)));
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
static void results_are_visible_when_the_list_is_not_in_the_order_of_the_queue(void **state)
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

static void a_submission_is_released_once(void **state)
{
    (void)state;
    dynsel_submission submission;
    submit(&submission);
    dynsel_submission copy = submission;
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_release(&copy));
    assert_status(DYNSEL_OK, dynsel_wait_group(group()));
}

int main(void)
{
#define BOTH(name)                                                                                 \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down),                                      \
        cmocka_unit_test_setup_teardown(name, set_up_synchronizing, tear_down)
    const struct CMUnitTest tests[] = {
        BOTH(a_wait_waits_and_collects),
        BOTH(a_stale_handle_stays_stale_when_its_slot_is_used_again),
        BOTH(the_group_waits_once_for_each_resource),
        BOTH(the_group_leaves_handles_to_their_owners),
        BOTH(the_group_reports_the_failure_of_detached_work_once),
        BOTH(results_that_were_only_polled_are_waited_for),
        BOTH(one_piece_of_work_costs_one_wait_and_one_release),
        BOTH(detached_work_that_finished_is_polled_once),
        BOTH(a_full_table_is_refused_with_the_symbol_and_the_number),
        BOTH(another_policys_finished_work_makes_room),
        BOTH(releasing_running_work_detaches_it),
        BOTH(releasing_finished_work_tells_the_group),
        BOTH(a_function_that_fails_after_it_enqueued_is_waited_for),
        BOTH(work_that_is_complete_at_once_keeps_its_result_in_the_slot),
        BOTH(a_submit_inside_a_task_does_not_wait_for_a_slot),
        BOTH(work_behind_unfinished_work_is_collected_too),
        BOTH(initialization_undoes_what_it_attached),
        BOTH(a_policy_whose_work_has_finished_may_end_without_a_wait),
        BOTH(a_policy_may_end_while_the_work_of_another_is_out),
        BOTH(results_of_detached_work_are_kept_until_the_group_asks),
        BOTH(a_release_makes_visible_what_was_polled_for_the_handle),
        BOTH(a_handle_is_waited_for_only_where_polling_is_not_enough),
        BOTH(a_start_that_fails_gives_its_slot_back),
        BOTH(whichever_slot_becomes_free_is_found),
        BOTH(one_finished_piece_of_another_policy_makes_room),
        BOTH(a_handle_with_a_slot_that_does_not_exist_is_stale),
        BOTH(inline_work_beside_work_that_goes_on_waits_for_no_event),
        BOTH(results_are_visible_when_the_list_is_not_in_the_order_of_the_queue),
        BOTH(a_submission_is_released_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
