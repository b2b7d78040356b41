/* SPDX-License-Identifier: Apache-2.0 */
/* Time limits of work, with a clock of the test's own: what a device that hangs costs. */
#include <dynsel/dynsel.h>

#include "room.h"
#include "submission/changes.h"
#include "test.h"

enum { COUNT = RESOURCES_UP_TO(2), SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT };

static const uint64_t LIMIT = 1000;
static const uint64_t GRACE = (uint64_t)CONFIG_DYNSEL_GIVE_UP_AFTER_MS * 1000000;

static uint64_t time_ns;
static uint64_t step_ns;  /* how much later it is at the next look */
static bool ends_at_look; /* the first work ends at the next look at the clock */

/* Instead of the port's. */
uint64_t dynsel_now_ns(void)
{
    if (ends_at_look) {
        ends_at_look = false;
        manual_complete(&manual, 0);
    }
    time_ns += step_ns;
    return time_ns;
}

static int set_up(void **state)
{
    (void)state;
    change_count = 0;
    time_ns = 1;
    step_ns = 0;
    ends_at_look = false;
    return manual_open(false, (dynsel_options){.count = COUNT, .resource_changed = note_change});
}

static void assert_state(dynsel_resource_state expected, size_t index)
{
    assert_string_equal(dynsel_resource_state_text(expected),
                        dynsel_resource_state_text(state_of(index)));
}

static dynsel_status try_on(uint32_t index, uint64_t limit_ns, dynsel_submission *submission)
{
    dynsel_selection selection = {.policy = policy, .index = index};
    return dynsel_try_submit_selection(
        &selection, &(dynsel_task){.function = manual_enqueue, .limit_ns = limit_ns}, submission);
}

static void start_on(uint32_t index, uint64_t limit_ns, dynsel_submission *submission)
{
    assert_status(DYNSEL_OK, try_on(index, limit_ns, submission));
}

static dynsel_status wait_group(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(policy));
}

/* A plain look, as a program's loop has it. */
static void look(uint64_t at_ns)
{
    time_ns = at_ns;
    dynsel_progress();
}

static void resource_is_suspect_at_the_limit_and_not_before(void **state)
{
    (void)state;
    NEEDS(GRACE != 0);
    dynsel_submission work;
    start_on(0, LIMIT, &work);
    look(LIMIT);
    assert_state(DYNSEL_RESOURCE_IN_SERVICE, 0);
    assert_int_equal(0, change_count);
    look(LIMIT + 1);
    assert_int_equal(1, change_count);
    assert_change(DYNSEL_RESOURCE_IN_SERVICE, DYNSEL_RESOURCE_SUSPECT, DYNSEL_E_TIMEOUT);
    assert_state(DYNSEL_RESOURCE_SUSPECT, 0);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(policy, 0));
    assert_error_says("time limit");
    if (SLOTS >= 2) {
        assert_status(DYNSEL_E_OUT_OF_SERVICE, try_on(0, 0, NULL));
    }
    for (int i = 0; i < 3 && COUNT > 1; i++) {
        dynsel_selection selection;
        assert_status(DYNSEL_OK,
                      dynsel_select(policy, &DYNSEL_TASK(manual_enqueue, NULL), &selection));
        assert_int_equal(1, selection.index);
    }
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&work, 0));
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
}

static void asking_for_the_state_looks_at_the_limit(void **state)
{
    (void)state;
    NEEDS(GRACE != 0);
    dynsel_submission work;
    start_on(0, LIMIT, &work);
    time_ns = LIMIT + 1;
    assert_state(DYNSEL_RESOURCE_SUSPECT, 0);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
}

static void late_end_counts_and_begins_a_probation(void **state)
{
    (void)state;
    NEEDS(GRACE != 0);
    dynsel_submission work;
    start_on(0, LIMIT, &work);
    look(LIMIT + 1);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    const bool proves = CONFIG_DYNSEL_PROBATION_SUCCESSES > 0;
    assert_change(DYNSEL_RESOURCE_SUSPECT,
                  proves ? DYNSEL_RESOURCE_ON_PROBATION : DYNSEL_RESOURCE_IN_SERVICE, DYNSEL_OK);
    for (unsigned i = 1; i <= CONFIG_DYNSEL_PROBATION_SUCCESSES; i++) {
        start_on(0, LIMIT, &work);
        manual_complete(&manual, i);
        assert_status(DYNSEL_OK, dynsel_wait(&work));
    }
    assert_state(DYNSEL_RESOURCE_IN_SERVICE, 0);
}

/* After the poll that found it running, and before the limit was found exceeded. */
static void work_that_ends_at_the_last_moment_is_in_time(void **state)
{
    (void)state;
    dynsel_submission work;
    start_on(0, LIMIT, &work);
    ends_at_look = true;
    look(LIMIT + 1);
    assert_int_equal(0, change_count);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
}

static void clock_that_goes_back_exceeds_no_limit(void **state)
{
    (void)state;
    dynsel_submission work;
    time_ns = 10 * LIMIT;
    start_on(0, LIMIT, &work);
    look(9 * LIMIT);
    assert_int_equal(0, change_count);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
}

/* Polls are for the time in which there is work with a limit. */
static void wait_without_limits_is_the_backends(void **state)
{
    (void)state;
    dynsel_submission work;
    start_on(0, LIMIT, &work);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_int_equal(0, atomic_load(&manual.waits));
    atomic_store(&manual.wait_completes, true);
    start_on(0, DYNSEL_NO_TIME_LIMIT, &work);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_int_equal(1, atomic_load(&manual.waits));
}

static void slots_are_free_as_soon_as_the_resource_is_given_up(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2);
    start_on(0, LIMIT, NULL);
    look(LIMIT + GRACE + 1);
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    start_on(1, LIMIT, NULL);
    assert_status(DYNSEL_OK, dynsel_resource_give_up(policy, 1));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    assert_status(DYNSEL_E_GIVEN_UP, wait_group());
}

static void work_of_a_given_up_resource_ends(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    dynsel_submission works[2];
    start_on(0, LIMIT, &works[0]);
    start_on(0, DYNSEL_NO_TIME_LIMIT, &works[1]);
    start_on(0, 0, NULL);
    look(LIMIT + GRACE);
    assert_state(GRACE == 0 ? DYNSEL_RESOURCE_IN_SERVICE : DYNSEL_RESOURCE_SUSPECT, 0);
    look(LIMIT + GRACE + 1);
    assert_change(DYNSEL_RESOURCE_SUSPECT, DYNSEL_RESOURCE_OUT_OF_SERVICE, DYNSEL_E_GIVEN_UP);
    for (int i = 0; i < 2; i++) {
        assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&works[i]));
        assert_error_says("may still use the memory");
    }
    assert_status(DYNSEL_E_GIVEN_UP, wait_group());
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(0, atomic_load(&manual.waits));
}

static void limit_counts_from_the_end_of_the_work_before(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2 && GRACE != 0);
    dynsel_submission works[2];
    start_on(0, DYNSEL_NO_TIME_LIMIT, &works[0]);
    start_on(0, LIMIT, &works[1]);
    look(10 * LIMIT);
    assert_state(DYNSEL_RESOURCE_IN_SERVICE, 0);
    manual_complete(&manual, 0);
    look(20 * LIMIT);
    look(21 * LIMIT - 1);
    assert_state(DYNSEL_RESOURCE_IN_SERVICE, 0);
    look(21 * LIMIT);
    assert_state(DYNSEL_RESOURCE_SUSPECT, 0);
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&works[0]));
    assert_status(DYNSEL_OK, dynsel_wait(&works[1]));
}

/* Also if all of the work before it ended unseen, and its queue was empty for long. */
static void limit_counts_from_the_start_on_an_idle_resource(void **state)
{
    (void)state;
    NEEDS(GRACE != 0);
    dynsel_submission work;
    look(10 * LIMIT);
    start_on(0, LIMIT, &work);
    look(11 * LIMIT - 1);
    assert_state(DYNSEL_RESOURCE_IN_SERVICE, 0);
    look(11 * LIMIT);
    assert_state(DYNSEL_RESOURCE_SUSPECT, 0);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
}

static void default_limit_is_that_of_the_menu(void **state)
{
    (void)state;
    const uint64_t usual = (uint64_t)CONFIG_DYNSEL_TIME_LIMIT_MS * 1000000;
    dynsel_submission work;
    start_on(0, 0, &work);
    look(UINT64_MAX / 4);
    assert_state(usual == 0 ? DYNSEL_RESOURCE_IN_SERVICE : DYNSEL_RESOURCE_OUT_OF_SERVICE, 0);
    if (usual == 0) {
        manual_complete(&manual, 0);
    }
    assert_status(usual == 0 ? DYNSEL_OK : DYNSEL_E_GIVEN_UP, dynsel_wait(&work));
}

/* From now on the clock goes on with each look of the waits themselves. */
static void let_time_pass(void)
{
    step_ns = GRACE / 64 + 1;
}

static void wait_for_work_that_hangs_ends(void **state)
{
    (void)state;
    dynsel_submission work;
    start_on(0, LIMIT, &work);
    let_time_pass();
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&work));
    assert_int_equal(0, atomic_load(&manual.waits));
    assert_state(DYNSEL_RESOURCE_OUT_OF_SERVICE, 0);
}

/* Whoever waits for something else looks at the limits, too. */
static void wait_for_other_work_gives_up_what_hangs(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && SLOTS >= 2);
    dynsel_submission works[2];
    start_on(0, LIMIT, &works[0]);
    start_on(1, 0, &works[1]);
    let_time_pass();
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&works[1], LIMIT + 3 * GRACE));
    step_ns = 0;
    assert_state(DYNSEL_RESOURCE_OUT_OF_SERVICE, 0);
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&works[1]));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&works[0]));
}

static void full_table_of_work_that_hangs_makes_room(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2);
    for (int i = 0; i < SLOTS; i++) {
        start_on(0, LIMIT, NULL);
    }
    let_time_pass();
    dynsel_submission work;
    dynsel_selection other = {.policy = policy, .index = 1};
    assert_status(DYNSEL_OK,
                  dynsel_submit_selection(&other, &DYNSEL_TASK(manual_enqueue, NULL), &work));
    manual_complete(&manual, SLOTS);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_status(DYNSEL_E_GIVEN_UP, wait_group());
}

static void draining_resource_that_hangs_drains_on_or_is_given_up(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && SLOTS >= 2 && GRACE != 0);
    dynsel_submission works[2];
    start_on(0, LIMIT, &works[0]);
    start_on(0, LIMIT, &works[1]);
    assert_status(DYNSEL_OK, dynsel_resource_drain(policy, 0));
    look(LIMIT + 1);
    assert_change(DYNSEL_RESOURCE_DRAINING, DYNSEL_RESOURCE_SUSPECT, DYNSEL_E_TIMEOUT);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&works[0]));
    assert_state(DYNSEL_RESOURCE_DRAINING, 0);
    look(time_ns + LIMIT + GRACE);
    assert_change(DYNSEL_RESOURCE_SUSPECT, DYNSEL_RESOURCE_OUT_OF_SERVICE, DYNSEL_E_GIVEN_UP);
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&works[1]));
}

static void suspect_resource_can_be_drained_retired_and_reinstated(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && GRACE != 0);
    dynsel_submission work;
    start_on(0, LIMIT, &work);
    look(LIMIT + 1);
    assert_status(DYNSEL_OK, dynsel_resource_drain(policy, 0));
    assert_state(DYNSEL_RESOURCE_SUSPECT, 0);
    assert_status(DYNSEL_OK, dynsel_resource_retire(policy, 0));
    assert_state(DYNSEL_RESOURCE_OUT_OF_SERVICE, 0);
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(policy, 0));
    look(time_ns); /* it still hangs */
    assert_state(DYNSEL_RESOURCE_SUSPECT, 0);
    assert_status(DYNSEL_OK, dynsel_resource_retire(policy, 0));
    look(LIMIT + GRACE + 1); /* its work is not forgotten */
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&work));
}

static void retired_resource_stays_out_when_its_late_work_ends(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && GRACE != 0);
    dynsel_submission work;
    start_on(0, LIMIT, &work);
    assert_status(DYNSEL_OK, dynsel_resource_retire(policy, 0));
    look(LIMIT + 1);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_state(DYNSEL_RESOURCE_OUT_OF_SERVICE, 0);
    assert_int_equal(1, change_count);
}

static void program_gives_up_a_resource(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && SLOTS >= 2);
    dynsel_submission works[2];
    start_on(0, 0, &works[0]);
    start_on(0, 0, &works[1]);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_resource_give_up(policy, 0));
    assert_change(DYNSEL_RESOURCE_IN_SERVICE, DYNSEL_RESOURCE_OUT_OF_SERVICE, DYNSEL_E_GIVEN_UP);
    assert_status(DYNSEL_OK, dynsel_wait(&works[0]));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&works[1]));
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(policy, 0));
    start_on(0, 0, &works[0]);
    manual_complete(&manual, 2);
    assert_status(DYNSEL_OK, dynsel_wait(&works[0]));
    assert_status(DYNSEL_OK, dynsel_resource_give_up(policy, 1)); /* idle */
    assert_state(DYNSEL_RESOURCE_OUT_OF_SERVICE, 1);
    assert_status(DYNSEL_E_INVALID, dynsel_resource_give_up(policy, COUNT));
    assert_status(DYNSEL_E_INVALID, dynsel_resource_give_up(NULL, 0));
    dynsel_policy empty = {.ops = NULL};
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_resource_give_up(&empty, 0));
}

static void backend_that_cannot_keeps_the_resource_suspect(void **state)
{
    (void)state;
    static dynsel_backend_ops ops;
    ops = *manual.backend.ops;
    ops.give_up = NULL;
    manual.backend.ops = &ops;
    dynsel_submission work;
    start_on(0, LIMIT, &work);
    look(LIMIT + 2 * GRACE + 1);
    assert_state(DYNSEL_RESOURCE_SUSPECT, 0);
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_resource_give_up(policy, 0));
    assert_error_says("give_up");
    assert_state(DYNSEL_RESOURCE_SUSPECT, 0);
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
}

static void policy_hears_of_work_that_was_given_up(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_STATISTICS
    start_on(0, LIMIT, NULL);
    look(LIMIT + GRACE + 1);
    dynsel_resource_statistics counts;
    assert_status(DYNSEL_OK, dynsel_get_statistics(policy, 0, &counts));
    assert_int_equal(1, counts.submitted);
    assert_int_equal(1, counts.completed);
    assert_int_equal(1, counts.failed);
    assert_status(DYNSEL_E_GIVEN_UP, wait_group());
#else
    skip();
#endif
}

/* A backend that tells the ends of its work: the oldest runs, the others can be taken back. */

static struct {
    dynsel_work *queue[SLOTS];
    unsigned count;
    unsigned given_up;
    bool takes_back;
} told;

static dynsel_status start_told(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    told.queue[told.count++] = work;
    return DYNSEL_OK;
}

static bool take_back(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    return told.takes_back && work != told.queue[0];
}

static void note_given_up(dynsel_backend *backend, void *own)
{
    (void)backend;
    (void)own;
    told.given_up++;
}

static dynsel_status never_called(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_E_TASK;
}

static dynsel_status value_is_lost(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    done->value = 7;
    return DYNSEL_E_TASK;
}

static const dynsel_backend_ops told_ops = {.name = "told",
                                            .reports =
                                                DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,
                                            .outlives_submit = true,
                                            .marks_completion = true,
                                            .poll_synchronizes = true,
                                            .start = start_told,
                                            .cancel = take_back,
                                            .give_up = note_given_up};
static dynsel_backend told_backend = {&told_ops};
static dynsel_round_robin_policy on_told;

static void begin_told(bool takes_back)
{
    told.count = 0;
    told.given_up = 0;
    told.takes_back = takes_back;
    on_told = (dynsel_round_robin_policy){0};
    const dynsel_resource only = {.backend = &told_backend};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(
                                 &on_told, &(dynsel_options){.resources = &only, .count = 1}, 0));
}

static void start_told_work(unsigned count, dynsel_task_fn function, dynsel_submission *works)
{
    for (unsigned i = 0; i < count; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit(&on_told.policy,
                                    &(dynsel_task){.function = function, .limit_ns = LIMIT},
                                    &works[i]));
    }
    look(time_ns + LIMIT + GRACE);
    assert_int_equal(1, told.given_up);
}

static void backend_keeps_the_slot_of_work_that_it_still_runs(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    dynsel_submission works[2];
    begin_told(true);
    start_told_work(2, never_called, works);
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&works[0]));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&works[1]));
    assert_error_says("had not begun");
    assert_int_equal(1, dynsel_get_in_flight_statistics().in_use);
    assert_true(dynsel_invariants_hold(&on_told.policy));
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&on_told.policy));
    assert_status(DYNSEL_E_STALE, dynsel_complete(told.queue[0]->token, DYNSEL_OK, 0));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_told.policy));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
}

static void slot_is_free_after_the_late_end_and_once_only(void **state)
{
    (void)state;
    dynsel_submission work;
    begin_told(false);
    start_told_work(1, never_called, &work);
    const uint32_t token = told.queue[0]->token;
    assert_status(DYNSEL_E_STALE, dynsel_complete(token, DYNSEL_OK, 0));
    assert_status(DYNSEL_E_STALE, dynsel_complete(token, DYNSEL_OK, 0));
    dynsel_progress();
    assert_status(DYNSEL_E_STALE, dynsel_complete(token, DYNSEL_OK, 0));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&work));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_told.policy));
}

static void start_told_work_without_a_look(unsigned count, dynsel_submission *works)
{
    const dynsel_task task = {.function = never_called, .limit_ns = LIMIT};
    for (unsigned i = 0; i < count; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&on_told.policy, &task, &works[i]));
    }
}

/* The backend has told its end, and nobody has looked since. */
static void work_that_has_ended_is_not_given_up(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    dynsel_submission works[2];
    begin_told(false);
    start_told_work_without_a_look(2, works);
    assert_status(DYNSEL_OK, dynsel_complete(told.queue[1]->token, DYNSEL_OK, 0));
    assert_status(DYNSEL_OK, dynsel_resource_give_up(&on_told.policy, 0));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&works[0]));
    assert_status(DYNSEL_OK, dynsel_wait(&works[1]));
    assert_status(DYNSEL_E_STALE, dynsel_complete(told.queue[0]->token, DYNSEL_OK, 0));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_told.policy));
}

static void end_that_is_told_twice_counts_once(void **state)
{
    (void)state;
    dynsel_submission work;
    begin_told(false);
    start_told_work_without_a_look(1, &work);
    assert_status(DYNSEL_OK, dynsel_complete(told.queue[0]->token, DYNSEL_OK, 0));
    assert_status(DYNSEL_E_STALE, dynsel_complete(told.queue[0]->token, DYNSEL_OK, 0));
    let_time_pass();
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    step_ns = 0;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_told.policy));
}

static void assert_all_given_up(dynsel_submission *works)
{
    start_told_work(SLOTS, never_called, works);
    for (int i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&works[i]));
    }
}

static void tell_all_ends(const uint32_t *tokens)
{
    for (int i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_E_STALE, dynsel_complete(tokens[i], DYNSEL_OK, 0));
    }
    dynsel_progress();
}

static void late_end_frees_no_slot_of_later_work(void **state)
{
    (void)state;
    dynsel_submission works[SLOTS];
    uint32_t tokens[2][SLOTS];
    for (int round = 0; round < 2; round++) {
        begin_told(false);
        assert_all_given_up(works);
        for (int i = 0; i < SLOTS; i++) {
            tokens[round][i] = told.queue[i]->token;
        }
        tell_all_ends(tokens[0]);
        assert_int_equal(round == 0 ? 0 : SLOTS, dynsel_get_in_flight_statistics().in_use);
        tell_all_ends(tokens[round]);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_told.policy));
    }
}

static void late_result_is_not_written(void **state)
{
    (void)state;
    dynsel_submission work;
    begin_told(false);
    start_told_work(1, value_is_lost, &work);
    dynsel_work_call(told.queue[0]);
    dynsel_event left = {.value = 1};
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&work, &left));
    assert_int_equal(0, left.value);
    assert_status(DYNSEL_E_STALE, dynsel_complete(told.queue[0]->token, DYNSEL_OK, 0));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&work));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_told.policy));
}

/* Instead of waiting for ever. */
static void slots_that_backends_keep_count_as_stuck(void **state)
{
    (void)state;
    dynsel_submission works[SLOTS];
    begin_told(false);
    start_told_work(SLOTS, never_called, works);
    for (int i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&works[i]));
    }
    assert_status(DYNSEL_E_FULL, dynsel_submit(policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    assert_error_says("given up");
    for (int i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_E_STALE, dynsel_complete(told.queue[i]->token, DYNSEL_OK, 0));
    }
    assert_status(DYNSEL_OK, dynsel_submit(policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, wait_group());
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_told.policy));
}

int main(void)
{
#define LIMITS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        LIMITS_TEST(resource_is_suspect_at_the_limit_and_not_before),
        LIMITS_TEST(asking_for_the_state_looks_at_the_limit),
        LIMITS_TEST(late_end_counts_and_begins_a_probation),
        LIMITS_TEST(work_that_ends_at_the_last_moment_is_in_time),
        LIMITS_TEST(clock_that_goes_back_exceeds_no_limit),
        LIMITS_TEST(wait_without_limits_is_the_backends),
        LIMITS_TEST(slots_are_free_as_soon_as_the_resource_is_given_up),
        LIMITS_TEST(work_of_a_given_up_resource_ends),
        LIMITS_TEST(limit_counts_from_the_end_of_the_work_before),
        LIMITS_TEST(limit_counts_from_the_start_on_an_idle_resource),
        LIMITS_TEST(default_limit_is_that_of_the_menu),
        LIMITS_TEST(wait_for_work_that_hangs_ends),
        LIMITS_TEST(wait_for_other_work_gives_up_what_hangs),
        LIMITS_TEST(full_table_of_work_that_hangs_makes_room),
        LIMITS_TEST(draining_resource_that_hangs_drains_on_or_is_given_up),
        LIMITS_TEST(suspect_resource_can_be_drained_retired_and_reinstated),
        LIMITS_TEST(retired_resource_stays_out_when_its_late_work_ends),
        LIMITS_TEST(program_gives_up_a_resource),
        LIMITS_TEST(backend_that_cannot_keeps_the_resource_suspect),
        LIMITS_TEST(policy_hears_of_work_that_was_given_up),
        LIMITS_TEST(backend_keeps_the_slot_of_work_that_it_still_runs),
        LIMITS_TEST(slot_is_free_after_the_late_end_and_once_only),
        LIMITS_TEST(work_that_has_ended_is_not_given_up),
        LIMITS_TEST(end_that_is_told_twice_counts_once),
        LIMITS_TEST(late_end_frees_no_slot_of_later_work),
        LIMITS_TEST(late_result_is_not_written),
        LIMITS_TEST(slots_that_backends_keep_count_as_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
