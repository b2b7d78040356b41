/* SPDX-License-Identifier: Apache-2.0 */
/* Work that is accepted before it can be started: its life, with the test's own operations. */
#include "submission/pending_fixture.h"

static void pending_work_stays_accepted_until_started(void **state)
{
    (void)state;
    dynsel_submission submission;
    dynsel_event done = {.native = &done};
    item *one = defer_work(&submission);
    dynsel_progress();
    assert_int_equal(dynsel_stage_of(token_of(one)), DYNSEL_STAGE_ACCEPTED);
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 1);
    assert_int_equal(world.told_submissions, 1);
    assert_int_equal(counts_of(0).submitted, 0);
    assert_true(dynsel_invariants_hold(&world.policy));
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_null(done.native);
    assert_status(DYNSEL_E_STALE, dynsel_complete(token_of(one), DYNSEL_OK, 0));
    assert_int_equal(atomic_load(&manual.starts), 0);

    one->ready = true;
    dynsel_progress();
    assert_int_equal(dynsel_stage_of(token_of(one)), DYNSEL_STAGE_STARTED);
    assert_int_equal(atomic_load(&manual.starts), 1);
    assert_int_equal(counts_of(0).submitted, CONFIG_DYNSEL_STATISTICS ? 1 : 0);
    assert_int_equal(world.told_submissions, 1);
    assert_true(dynsel_invariants_hold(&world.policy));
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_ptr_equal(done.native, &manual.events[0]);
    const uint32_t token = token_of(one);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(dynsel_stage_of(token), DYNSEL_STAGE_OVER);
    assert_int_equal(counts_of(0).completed, CONFIG_DYNSEL_STATISTICS ? 1 : 0);
    assert_int_equal(ended_count, 1);
    assert_int_equal(ended[0], token);
    assert_status(DYNSEL_E_STALE, dynsel_wait(&submission));
}

static void handle_of_pending_work_has_selected_resource(void **state)
{
    (void)state;
    world.choice = QUEUES - 1;
    dynsel_submission submission;
    item *one = defer_work(&submission);
    assert_ptr_equal(dynsel_submission_policy(&submission), &world.policy);
    assert_ptr_equal(dynsel_submission_resource(&submission), &world.policy.resources[QUEUES - 1]);
    assert_int_equal(dynsel_submission_reason(&submission), DYNSEL_REASON_TURN);
    one->ready = true;
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
}

static void wait_starts_ready_work(void **state)
{
    (void)state;
    dynsel_submission submission;
    defer_work(&submission)->ready = true;
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(atomic_load(&manual.starts), 1);
    assert_true(manual_is_synchronized(&manual, 0));
}

/* The operations of these tests start waiting work from the first slot to the last. */
static void wait_waits_for_dependencies_first(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    dynsel_submission submissions[2];
    const uint32_t first = start_work(NULL);
    item *const both[] = {defer_work(&submissions[0]), defer_work(&submissions[1])};
    const unsigned later = both[1] > both[0] ? 1 : 0;
    both[0]->has_dependency = both[1]->has_dependency = true;
    both[0]->dependency = both[1]->dependency = first;
    const uint32_t tokens[] = {first, token_of(both[1 - later]), token_of(both[later])};
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[later]));
    assert_int_equal(ended_count, 3); /* the other was started before it, and runs in order */
    assert_memory_equal(ended, tokens, sizeof tokens);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1 - later]));
    assert_status(DYNSEL_OK, wait_group());
}

static void start_on_full_queue_is_retried(void **state)
{
    (void)state;
    dynsel_submission submission;
    item *one = defer_work(&submission);
    one->ready = true;
    atomic_store(&manual.queues[0].is_full, true);
    dynsel_progress();
    assert_int_equal(dynsel_stage_of(token_of(one)), DYNSEL_STAGE_ACCEPTED);
    assert_true(dynsel_invariants_hold(&world.policy));
    assert_int_equal(counts_of(0).submitted, 0);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
    atomic_store(&manual.queues[0].is_full, false);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(counts_of(0).submitted, CONFIG_DYNSEL_STATISTICS ? 1 : 0);
}

static void pending_work_on_lost_resource_moves_elsewhere(void **state)
{
    (void)state;
    NEEDS(QUEUES == 2);
    dynsel_submission submission;
    defer_work(&submission)->ready = true;
    atomic_store(&manual.queues[0].refuses, true);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_ptr_equal(manual.events[0].queue, &manual.queues[1]);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&world.policy, 0));
    assert_int_equal(world.told_submissions, 2);
    assert_int_equal(world.told_withdrawals, 1);
    assert_int_equal(counts_of(0).submitted, 0);
    assert_int_equal(counts_of(1).completed, CONFIG_DYNSEL_STATISTICS ? 1 : 0);
}

static void pending_work_without_resource_keeps_selection_and_fails(void **state)
{
    (void)state;
    dynsel_submission submission;
    defer_work(&submission)->ready = true;
    for (unsigned i = 0; i < QUEUES; i++) {
        atomic_store(&manual.queues[i].refuses, true);
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_wait(&submission));
    assert_int_equal(world.told_submissions - world.told_withdrawals, 1);
    assert_int_equal(world.told_ends, 1);
}

static void failure_before_start_keeps_its_details(void **state)
{
    (void)state;
    dynsel_submission submission;
    item *one = defer_work(&submission);
    one->will_fail = true;
    dynsel_progress();
    assert_int_equal(dynsel_stage_of(token_of(one)), DYNSEL_STAGE_OVER);
    assert_int_equal(ended_count, 1);
    assert_true(dynsel_invariants_hold(&world.policy));
    assert_status(DYNSEL_OK, wait_group());
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&world.policy));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submission));
    assert_error_code(17);
    assert_int_equal(atomic_load(&manual.starts), 0);
    assert_int_equal(counts_of(0).submitted, 0);
    assert_int_equal(counts_of(0).completed, 0);
    assert_int_equal(world.told_ends, 1);
}

static void detached_failure_before_start_reaches_group(void **state)
{
    (void)state;
    defer_work(NULL)->will_fail = true;
    dynsel_progress();
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
    assert_status(DYNSEL_E_DEPENDENCY, wait_group());
    assert_error_code(17);
    assert_status(DYNSEL_OK, wait_group());
}

static void completion_hook_can_turn_success_into_failure(void **state)
{
    (void)state;
    dynsel_submission submission;
    item *one = defer_work(&submission);
    one->ready = one->turns_bad = true;
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submission));
    assert_int_equal(counts_of(0).failed, CONFIG_DYNSEL_STATISTICS ? 1 : 0);
    one = defer_work(NULL);
    one->ready = one->turns_bad = true;
    assert_status(DYNSEL_E_DEPENDENCY, wait_group());
    assert_int_equal(ended_count, 2);
}

static void pending_work_can_be_released(void **state)
{
    (void)state;
    dynsel_submission submission;
    dynsel_event done;
    item *one = defer_work(&submission);
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_unwrap(&submission, &done));
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 1);
    assert_true(dynsel_invariants_hold(&world.policy));
    one->ready = true;
    dynsel_progress();
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_DEVICE, wait_group());
    assert_status(DYNSEL_OK, wait_group());
}

static void reference_is_refused_after_completion(void **state)
{
    (void)state;
    dynsel_submission submission;
    const uint32_t token = start_work(&submission);
    assert_true(dynsel_pending_ref(token));
    dynsel_slot_unref(dynsel_slot_at(dynsel_slot_number_in(token)), DYNSEL_SLOT_REF);
    manual_complete(&manual, 0);
    dynsel_progress();
    assert_false(dynsel_pending_ref(token)); /* finished */
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_false(dynsel_pending_ref(token)); /* free */
    item *next = NULL;
    do { /* used again */
        next = defer_work(&submission);
        next->ready = true;
        assert_false(dynsel_pending_ref(token));
        assert_int_equal(dynsel_stage_of(token), DYNSEL_STAGE_OVER);
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
    } while (next != &items[dynsel_slot_number_in(token)]);
}

/* Whoever waits for it may need the lock of who looks at it. */
static void reserved_reference_is_granted_beyond_waiter_limit(void **state)
{
    (void)state;
    dynsel_submission submission;
    item *one = defer_work(&submission);
    const uint32_t token = token_of(one);
    dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(token));
    enum { WAITERS = DYNSEL_SLOT_REFS / DYNSEL_SLOT_REF - 1 };
    for (unsigned i = 0; i < WAITERS; i++) {
        assert_true(dynsel_pending_ref(token));
    }
    assert_true(dynsel_pending_ref_reserved(token));
    for (unsigned i = 0; i <= WAITERS; i++) {
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    }
    one->ready = true;
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_false(dynsel_pending_ref_reserved(token));
}

static void selection_can_be_withdrawn(void **state)
{
    (void)state;
    dynsel_slot *slot = choose(&DYNSEL_TASK(enqueue, NULL));
    const uint32_t token = slot->work.token;
    dynsel_pending_withdraw(slot);
    dynsel_slot_unclaim(slot);
    assert_int_equal(world.told_submissions, 1);
    assert_int_equal(world.told_withdrawals, 1);
    assert_int_equal(dynsel_stage_of(token), DYNSEL_STAGE_OVER);
}

static dynsel_status choose_with(uint64_t deadline_ns)
{
    dynsel_slot *slot = NULL;
    const dynsel_submit_options options = {.function = "test", .deadline_ns = deadline_ns};
    const dynsel_request request = {
        .options = &options, .policy = &world.policy, .task = &DYNSEL_TASK(enqueue, NULL)};
    assert_status(DYNSEL_OK, dynsel_pending_claim(&world.policy, &options, &slot));
    const dynsel_status status = dynsel_pending_choose(&request, slot);
    if (status == DYNSEL_OK) {
        dynsel_pending_withdraw(slot);
    }
    dynsel_slot_unclaim(slot);
    return status;
}

static void submit_waits_for_policy_without_free_resource(void **state)
{
    (void)state;
    world.busy = 3;
    assert_status(DYNSEL_OK, choose_with(DYNSEL_WAIT_FOREVER));
    assert_int_equal(world.busy, 0);
    world.busy = 3;
    assert_status(DYNSEL_E_AGAIN, choose_with(DYNSEL_DO_NOT_WAIT));
    assert_int_equal(world.busy, 2);
    world.busy = UINT32_MAX;
    assert_status(DYNSEL_E_TIMEOUT, choose_with(dynsel_deadline_after(100000)));
    assert_int_equal(world.told_submissions, 1);
}

static void policy_refusal_status_is_returned(void **state)
{
    (void)state;
    dynsel_backend other = {.ops = manual.backend.ops};
    const dynsel_task_form forms[] = {{&other, enqueue}};
    const dynsel_task task = {.forms = forms, .form_count = 1};
    dynsel_slot *slot = NULL;
    assert_status(DYNSEL_OK, dynsel_pending_claim(&world.policy, &forever, &slot));
    const dynsel_request request = {.options = &forever, .policy = &world.policy, .task = &task};
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_pending_choose(&request, slot));
    dynsel_slot_unclaim(slot);
    assert_int_equal(world.told_submissions, 0);
    world.insists = true;
    assert_status(DYNSEL_OK, dynsel_pending_claim(&world.policy, &forever, &slot));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_pending_choose(&request, slot));
    dynsel_slot_unclaim(slot);
    assert_int_equal(world.told_submissions, 1);
    assert_int_equal(world.told_withdrawals, 1);
}

/* The table is full of work that waits: a submit that looks for room starts it. */
static void submit_without_free_slot_starts_pending_work(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SLOTS; i++) {
        defer_work(NULL)->ready = true;
    }
    const dynsel_task task = DYNSEL_TASK(enqueue, NULL);
    assert_status(DYNSEL_E_FULL, dynsel_try_submit(&world.policy, &task, NULL));
    assert_int_equal(atomic_load(&manual.starts), SLOTS);
    dynsel_slot *slot = NULL;
    const dynsel_submit_options once = {.function = "test", .deadline_ns = DYNSEL_DO_NOT_WAIT};
    assert_status(DYNSEL_E_FULL, dynsel_pending_claim(&world.policy, &once, &slot));
    for (unsigned i = 0; i < SLOTS; i++) {
        manual_complete(&manual, i);
    }
    assert_status(DYNSEL_OK, dynsel_try_submit(&world.policy, &task, NULL));
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(ended_count, SLOTS);
}

static void empty_pending_list_costs_no_progress_call(void **state)
{
    (void)state;
    dynsel_submission submission;
    dynsel_progress();
    assert_status(DYNSEL_OK, wait_group());
    (void)start_work(&submission);
    dynsel_progress();
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(progress_calls, 0);
}

#if CONFIG_DYNSEL_BACKEND_INLINE

/* A policy without any work that goes on after its start. */

static dynsel_policy plain;

static void use_inline(void)
{
    plain = world.policy; /* put aside: a policy stays where it is */
    memset(&world.policy, 0, sizeof world.policy);
    const dynsel_resource resource = {.backend = &dynsel_inline_backend};
    const dynsel_options options = {.resources = &resource, .count = 1};
    assert_status(DYNSEL_OK, dynsel_policy_init(&world.policy, &policy_ops, &options));
}

static void stop_using_inline(void)
{
    assert_true(dynsel_invariants_hold(&world.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&world.policy));
    world.policy = plain;
}

static dynsel_status look_around(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    dynsel_submission *other = args;
    dynsel_progress();
    assert_int_equal(progress_calls, 1);
    assert_status(DYNSEL_E_IN_TASK, dynsel_wait(other));
    assert_status(DYNSEL_E_IN_TASK, wait_group());
    done->value = 7;
    return DYNSEL_OK;
}

static void task_function_starts_no_pending_work(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    use_inline();
    dynsel_submission submissions[2];
    item *one = defer(&DYNSEL_TASK(look_around, &submissions[1]), &submissions[0]);
    item *other = defer(&DYNSEL_TASK(look_around, NULL), &submissions[1]);
    one->ready = true;
    dynsel_progress();
    assert_int_equal(dynsel_stage_of(token_of(one)), DYNSEL_STAGE_OVER);
    dynsel_event done;
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submissions[0], &done));
    assert_int_equal(done.value, 7);
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&world.policy));
    assert_error_says("2 submissions");
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    other->will_fail = true;
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[1]));
    stop_using_inline();
}

static dynsel_status end_with(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    return *(const dynsel_status *)args;
}

static void direct_completion_ends_pending_work_at_start(void **state)
{
    (void)state;
    use_inline();
    dynsel_status result = DYNSEL_OK;
    dynsel_submission submission;
    defer(&DYNSEL_TASK(end_with, &result), NULL)->ready = true;
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&world.policy));
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
    assert_int_equal(counts_of(0).completed, CONFIG_DYNSEL_STATISTICS ? 1 : 0);
    result = DYNSEL_E_TASK;
    defer(&DYNSEL_TASK(end_with, &result), &submission)->ready = true;
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    defer(&DYNSEL_TASK(end_with, &result), &submission)->ready = true;
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_TASK, wait_group());
    assert_int_equal(counts_of(0).failed, CONFIG_DYNSEL_STATISTICS ? 2 : 0);
    result = DYNSEL_OK;
    item *one = defer(&DYNSEL_TASK(end_with, &result), NULL);
    one->ready = one->turns_bad = true;
    assert_status(DYNSEL_E_DEPENDENCY, wait_group());
    assert_int_equal(ended_count, 4);
    stop_using_inline();
}

static dynsel_status leave_event(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    done->native = args;
    return DYNSEL_OK;
}

static void event_without_backend_support_is_refused(void **state)
{
    (void)state;
    use_inline();
    dynsel_submission submission;
    dynsel_event done;
    defer(&DYNSEL_TASK(leave_event, &world), &submission)->ready = true;
    dynsel_progress();
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_null(done.native);
    assert_status(DYNSEL_E_INVALID, dynsel_wait(&submission));
    stop_using_inline();
}

#endif

/* A device that only marks: nothing can be polled or waited for. */

static uint32_t marked_token;

static dynsel_status start_marked(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    marked_token = work->token;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static dynsel_status mark(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    if (args != NULL) {
        assert_status(DYNSEL_OK, dynsel_complete(marked_token, *(const dynsel_status *)args, 0));
    }
    return DYNSEL_OK;
}

static void marked_completion_of_pending_work_is_sufficient(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    static const dynsel_backend_ops ops = {
        .name = "marks",
        .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,
        .outlives_submit = true,
        .marks_completion = true,
        .start = start_marked,
    };
    dynsel_backend backend = {.ops = &ops};
    const dynsel_policy aside = world.policy;
    memset(&world.policy, 0, sizeof world.policy);
    const dynsel_resource resource = {.backend = &backend};
    const dynsel_options options = {.resources = &resource, .count = 1};
    assert_status(DYNSEL_OK, dynsel_policy_init(&world.policy, &policy_ops, &options));
    dynsel_submission submissions[2];
    dynsel_status result = DYNSEL_E_DEVICE;
    defer(&DYNSEL_TASK(mark, NULL), &submissions[0])->ready = true;
    dynsel_progress();
    const uint32_t first = marked_token;
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submissions[0], 100000));
    defer(&DYNSEL_TASK(mark, &result), &submissions[1])->ready = true; /* ends during its start */
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_complete(first, DYNSEL_OK, 0));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&world.policy));
    world.policy = aside;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(pending_work_stays_accepted_until_started),
        TEST(handle_of_pending_work_has_selected_resource),
        BOTH(wait_starts_ready_work),
        BOTH(wait_waits_for_dependencies_first),
        TEST(start_on_full_queue_is_retried),
        TEST(pending_work_on_lost_resource_moves_elsewhere),
        TEST(pending_work_without_resource_keeps_selection_and_fails),
        TEST(failure_before_start_keeps_its_details),
        TEST(detached_failure_before_start_reaches_group),
        BOTH(completion_hook_can_turn_success_into_failure),
        BOTH(pending_work_can_be_released),
        BOTH(reference_is_refused_after_completion),
        BOTH(reserved_reference_is_granted_beyond_waiter_limit),
        TEST(selection_can_be_withdrawn),
        TEST(submit_waits_for_policy_without_free_resource),
        TEST(policy_refusal_status_is_returned),
        BOTH(submit_without_free_slot_starts_pending_work),
        TEST(empty_pending_list_costs_no_progress_call),
#if CONFIG_DYNSEL_BACKEND_INLINE
        TEST(task_function_starts_no_pending_work),
        TEST(direct_completion_ends_pending_work_at_start),
        TEST(event_without_backend_support_is_refused),
#endif
        TEST(marked_completion_of_pending_work_is_sufficient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
