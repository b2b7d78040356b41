/* SPDX-License-Identifier: Apache-2.0 */
/* Resources are drained, retired and reinstated; what a model says of each step holds. */
#include <dynsel/dynsel.h>

#include "random.h"
#include "room.h"
#include "submission/changes.h"
#include "test.h"

enum {
    COUNT = RESOURCES_UP_TO(3),
    LAST = COUNT - 1,
    SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT,
    LIMIT = CONFIG_DYNSEL_MAX_FAILURES,
    TRIALS = CONFIG_DYNSEL_PROBATION_SUCCESSES
};

static int set_up(void **state)
{
    (void)state;
    change_count = 0;
    return manual_open(true, (dynsel_options){.count = COUNT, .resource_changed = note_change});
}

static dynsel_status try_on(uint32_t index, dynsel_submission *submission)
{
    dynsel_selection selection = {.policy = policy, .index = index};
    return dynsel_try_submit_selection(&selection, &DYNSEL_TASK(manual_enqueue, NULL), submission);
}

static void run_on(uint32_t index, bool succeeds)
{
    dynsel_submission submission;
    assert_status(DYNSEL_OK, try_on(index, &submission));
    const unsigned event = atomic_load(&manual.event_count) - 1;
    if (succeeds) {
        manual_complete(&manual, event);
    } else {
        manual_fail(&manual, event);
    }
    assert_status(succeeds ? DYNSEL_OK : DYNSEL_E_DEVICE, dynsel_wait(&submission));
}

static void bring_back(uint32_t index)
{
    assert_status(DYNSEL_OK, dynsel_resource_retire(policy, index));
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(policy, index));
}

static void drained_resource_ends_its_work_and_gets_none(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && SLOTS >= 3);
    dynsel_submission work;
    assert_status(DYNSEL_OK, try_on(0, &work));
    assert_status(DYNSEL_OK, dynsel_resource_drain(policy, 0));
    assert_change(DYNSEL_RESOURCE_IN_SERVICE, DYNSEL_RESOURCE_DRAINING, DYNSEL_OK);
    assert_int_equal(DYNSEL_RESOURCE_DRAINING, state_of(0));
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(policy, 0));
    assert_error_says("drains");
    assert_status(DYNSEL_E_OUT_OF_SERVICE, try_on(0, NULL));
    for (int i = 0; i < COUNT; i++) {
        dynsel_selection selection;
        assert_status(DYNSEL_OK,
                      dynsel_select(policy, &DYNSEL_TASK(manual_enqueue, NULL), &selection));
        assert_int_not_equal(0, selection.index);
    }
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_change(DYNSEL_RESOURCE_DRAINING, DYNSEL_RESOURCE_OUT_OF_SERVICE, DYNSEL_OK);
    assert_int_equal(2, change_count);
    assert_int_equal(DYNSEL_RESOURCE_OUT_OF_SERVICE, state_of(0));
}

static void idle_resource_is_drained_at_once(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2);
    assert_status(DYNSEL_OK, dynsel_resource_drain(policy, LAST));
    assert_int_equal(2, change_count);
    assert_int_equal(DYNSEL_RESOURCE_OUT_OF_SERVICE, state_of(LAST));
}

static void asking_for_the_state_sees_the_end_of_the_drain(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2);
    assert_status(DYNSEL_OK, try_on(0, NULL));
    assert_status(DYNSEL_OK, dynsel_resource_drain(policy, 0));
    assert_int_equal(DYNSEL_RESOURCE_DRAINING, state_of(0));
    manual_complete(&manual, 0);
    assert_int_equal(DYNSEL_RESOURCE_OUT_OF_SERVICE, state_of(0));
}

static void retired_resource_is_out_at_once_and_its_work_is_collected(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2);
    dynsel_submission work;
    assert_status(DYNSEL_OK, try_on(0, &work));
    assert_status(DYNSEL_OK, dynsel_resource_drain(policy, 0));
    assert_status(DYNSEL_OK, dynsel_resource_retire(policy, 0));
    assert_change(DYNSEL_RESOURCE_DRAINING, DYNSEL_RESOURCE_OUT_OF_SERVICE, DYNSEL_OK);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, try_on(0, NULL));
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_int_equal(DYNSEL_RESOURCE_OUT_OF_SERVICE, state_of(0));
    assert_int_equal(2, change_count);
}

static void wrong_calls_change_nothing(void **state)
{
    (void)state;
    dynsel_resource_state seen = DYNSEL_RESOURCE_LOST;
    assert_status(DYNSEL_E_INVALID, dynsel_resource_drain(policy, COUNT));
    assert_status(DYNSEL_E_INVALID, dynsel_resource_retire(policy, SIZE_MAX));
    assert_status(DYNSEL_E_INVALID, dynsel_resource_get_state(policy, COUNT, &seen));
    assert_status(DYNSEL_E_INVALID, dynsel_resource_get_state(policy, 0, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_resource_drain(NULL, 0));
    assert_int_equal(DYNSEL_RESOURCE_LOST, seen);
    assert_status(DYNSEL_E_INVALID, dynsel_resource_reinstate(policy, 0));
    assert_error_says("in service");
    for (uint32_t i = 0; i != LAST; i++) {
        assert_status(DYNSEL_OK, dynsel_resource_drain(policy, i));
        assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_drain(policy, i));
        assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_retire(policy, i));
        assert_error_says("already");
    }
    const unsigned before = change_count;
    assert_status(DYNSEL_E_NO_RESOURCE, dynsel_resource_drain(policy, LAST));
    assert_error_says("last resource");
    assert_status(DYNSEL_E_NO_RESOURCE, dynsel_resource_retire(policy, LAST));
    assert_int_equal(before, change_count);
    assert_int_equal(DYNSEL_RESOURCE_IN_SERVICE, state_of(LAST));
    run_on(LAST, true);
}

static void second_drain_is_refused_while_work_goes_on(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2);
    assert_status(DYNSEL_OK, try_on(0, NULL));
    assert_status(DYNSEL_OK, dynsel_resource_drain(policy, 0));
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_drain(policy, 0));
    assert_error_says("dynsel_resource_retire");
    assert_int_equal(1, change_count);
    manual_complete(&manual, 0);
    assert_int_equal(DYNSEL_RESOURCE_OUT_OF_SERVICE, state_of(0));
}

static void resource_on_probation_gets_one_piece_of_work_at_a_time(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && SLOTS >= 3 && TRIALS > 0);
    bring_back(0);
    assert_change(DYNSEL_RESOURCE_OUT_OF_SERVICE, DYNSEL_RESOURCE_ON_PROBATION, DYNSEL_OK);
    assert_status(DYNSEL_OK, dynsel_resource_in_service(policy, 0));
    for (int i = 0; i < TRIALS; i++) {
        assert_int_equal(DYNSEL_RESOURCE_ON_PROBATION, state_of(0));
        dynsel_submission work;
        assert_status(DYNSEL_OK, try_on(0, &work));
        assert_status(DYNSEL_E_AGAIN, try_on(0, NULL));
        dynsel_selection other;
        assert_status(DYNSEL_OK, dynsel_select(policy, &DYNSEL_TASK(manual_enqueue, NULL), &other));
        assert_int_not_equal(0, other.index);
        manual_complete(&manual, atomic_load(&manual.event_count) - 1);
        assert_status(DYNSEL_OK, dynsel_wait(&work));
    }
    assert_change(DYNSEL_RESOURCE_ON_PROBATION, DYNSEL_RESOURCE_IN_SERVICE, DYNSEL_OK);
    dynsel_submission two[2];
    assert_status(DYNSEL_OK, try_on(0, &two[0]));
    assert_status(DYNSEL_OK, try_on(0, &two[1]));
    atomic_store(&manual.wait_completes, true);
    assert_status(DYNSEL_OK, dynsel_wait(&two[0]));
    assert_status(DYNSEL_OK, dynsel_wait(&two[1]));
}

static void policy_with_one_taken_resource_waits_for_it(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && SLOTS >= 2 && TRIALS > 0);
    for (uint32_t i = 1; i < COUNT; i++) {
        assert_status(DYNSEL_OK, dynsel_resource_retire(policy, i));
    }
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(policy, LAST));
    assert_status(DYNSEL_OK, dynsel_resource_retire(policy, 0));
    assert_status(DYNSEL_OK, dynsel_submit(policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    assert_status(DYNSEL_E_AGAIN,
                  dynsel_try_submit(policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    assert_status(DYNSEL_E_TIMEOUT,
                  dynsel_submit_for(policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL, 1000));
    manual_complete(&manual, 0); /* seen by the next submit, which waits for the resource */
    assert_status(DYNSEL_OK, dynsel_submit(policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
}

static void failure_on_probation_takes_the_resource_out_again(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && TRIALS > 0 && LIMIT > 0);
    bring_back(0);
    run_on(0, false);
    assert_change(DYNSEL_RESOURCE_ON_PROBATION, DYNSEL_RESOURCE_OUT_OF_SERVICE, DYNSEL_E_DEVICE);
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(policy, 0));
    for (int i = 0; i < TRIALS; i++) {
        run_on(0, true);
    }
    assert_int_equal(DYNSEL_RESOURCE_IN_SERVICE, state_of(0));
}

static void refusal_on_probation_leaves_the_place_free(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && TRIALS > 0);
    bring_back(0);
    atomic_store(&manual.queues[0].is_full, true);
    assert_status(DYNSEL_E_AGAIN, try_on(0, NULL));
    assert_int_equal(DYNSEL_RESOURCE_ON_PROBATION, state_of(0));
    atomic_store(&manual.queues[0].is_full, false);
    run_on(0, true);
    atomic_store(&manual.queues[0].refuses, true);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, try_on(0, NULL));
    assert_change(TRIALS > 1 ? DYNSEL_RESOURCE_ON_PROBATION : DYNSEL_RESOURCE_IN_SERVICE,
                  DYNSEL_RESOURCE_OUT_OF_SERVICE, DYNSEL_E_OUT_OF_SERVICE);
}

static dynsel_status do_nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static void work_that_is_complete_at_once_ends_a_probation(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && TRIALS > 0);
    bring_back(0);
    for (int i = 0; i < TRIALS; i++) {
        dynsel_selection selection = {.policy = policy, .index = 0};
        assert_status(DYNSEL_OK,
                      dynsel_submit_selection_and_wait(&selection, &DYNSEL_TASK(do_nothing, NULL)));
    }
    assert_int_equal(DYNSEL_RESOURCE_IN_SERVICE, state_of(0));
}

static void texts_name_states(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_STATUS_NAMES);
    assert_string_equal("draining", dynsel_resource_state_text(DYNSEL_RESOURCE_DRAINING));
    assert_string_equal("lost", dynsel_resource_state_text(DYNSEL_RESOURCE_LOST));
    assert_string_equal("unknown state", dynsel_resource_state_text((dynsel_resource_state)99));
}

/* The model: one resource. */
typedef struct model {
    dynsel_resource_state state;
    unsigned failures;  /* in a row */
    unsigned successes; /* on probation */
    unsigned probation; /* the number of the last one */
    bool taken;
    struct piece {
        dynsel_submission submission;
        unsigned event;
        unsigned probation; /* in which it was started; 0: none */
    } pieces[4];
    unsigned count; /* of pieces */
} model;

static unsigned in_service(const model *models)
{
    unsigned count = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        count += models[i].state <= DYNSEL_RESOURCE_ON_PROBATION ? 1 : 0;
    }
    return count;
}

static void play_submit(model *m, uint32_t index)
{
    struct piece *const piece = &m->pieces[m->count];
    if (m->state > DYNSEL_RESOURCE_ON_PROBATION) {
        assert_status(DYNSEL_E_OUT_OF_SERVICE, try_on(index, &piece->submission));
    } else if (m->taken) {
        assert_status(DYNSEL_E_AGAIN, try_on(index, &piece->submission));
    } else {
        assert_status(DYNSEL_OK, try_on(index, &piece->submission));
        piece->event = atomic_load(&manual.event_count) - 1;
        m->taken = m->state == DYNSEL_RESOURCE_ON_PROBATION;
        piece->probation = m->taken ? m->probation : 0;
        m->count++;
    }
}

static void note_end(model *m, const struct piece *piece, bool succeeded)
{
    if (m->state == DYNSEL_RESOURCE_ON_PROBATION) {
        if (piece->probation == m->probation) {
            m->taken = false;
            m->successes += succeeded ? 1 : 0;
            if (!succeeded && LIMIT > 0) {
                m->state = DYNSEL_RESOURCE_OUT_OF_SERVICE;
            } else if (m->successes == TRIALS) {
                m->state = DYNSEL_RESOURCE_IN_SERVICE;
                m->failures = 0;
            }
        }
    } else if (m->state == DYNSEL_RESOURCE_IN_SERVICE) {
        m->failures = succeeded ? 0 : m->failures + 1;
        if (LIMIT > 0 && m->failures + 1 > LIMIT) { /* some compilers warn of >= 0 */
            m->state = DYNSEL_RESOURCE_OUT_OF_SERVICE;
        }
    }
}

static void play_end(model *m, bool succeeds)
{
    if (m->count == 0) {
        return;
    }
    struct piece piece = m->pieces[0];
    if (succeeds) {
        manual_complete(&manual, piece.event);
    } else {
        manual_fail(&manual, piece.event);
    }
    assert_status(succeeds ? DYNSEL_OK : DYNSEL_E_DEVICE, dynsel_wait(&piece.submission));
    for (unsigned i = 1; i < m->count; i++) {
        m->pieces[i - 1] = m->pieces[i];
    }
    m->count--;
    note_end(m, &piece, succeeds);
    if (m->state == DYNSEL_RESOURCE_DRAINING && m->count == 0) {
        m->state = DYNSEL_RESOURCE_OUT_OF_SERVICE;
    }
}

static void play_leave(model *models, uint32_t index, bool drains)
{
    model *const m = &models[index];
    const bool leaves_now = m->state <= DYNSEL_RESOURCE_ON_PROBATION;
    dynsel_status expected = DYNSEL_OK;
    if (m->state == DYNSEL_RESOURCE_OUT_OF_SERVICE ||
        (drains && m->state == DYNSEL_RESOURCE_DRAINING)) {
        expected = DYNSEL_E_OUT_OF_SERVICE;
    } else if (leaves_now && in_service(models) == 1) {
        expected = DYNSEL_E_NO_RESOURCE;
    }
    assert_status(expected, drains ? dynsel_resource_drain(policy, index)
                                   : dynsel_resource_retire(policy, index));
    if (expected == DYNSEL_OK) {
        const bool waits = drains && m->count > 0;
        m->state = waits ? DYNSEL_RESOURCE_DRAINING : DYNSEL_RESOURCE_OUT_OF_SERVICE;
        m->taken = false;
    }
}

static void play_reinstate(model *m, uint32_t index)
{
    const bool is_out = m->state > DYNSEL_RESOURCE_ON_PROBATION;
    assert_status(is_out ? DYNSEL_OK : DYNSEL_E_INVALID, dynsel_resource_reinstate(policy, index));
    if (is_out) {
        m->state = TRIALS > 0 ? DYNSEL_RESOURCE_ON_PROBATION : DYNSEL_RESOURCE_IN_SERVICE;
        m->probation++;
        m->failures = 0;
        m->successes = 0;
        m->taken = false;
    }
}

static void random_steps_agree_with_model(void **state)
{
    (void)state;
    enum { ROOM = sizeof((model *)0)->pieces / sizeof(struct piece) };
    NEEDS(SLOTS >= COUNT * ROOM + 1);
    static model models[COUNT];
    test_random random = {test_seed()};
    for (unsigned i = 0; i < COUNT; i++) {
        models[i] = (model){.state = DYNSEL_RESOURCE_IN_SERVICE};
    }
    const unsigned most = MANUAL_EVENTS / 2;
    for (unsigned step = 0; step < 8000 && atomic_load(&manual.event_count) < most; step++) {
        const uint32_t index = test_random_below(&random, COUNT);
        model *const m = &models[index];
        const uint32_t what = test_random_below(&random, 16);
        if (what < 6) {
            if (m->count < ROOM) {
                play_submit(m, index);
            }
        } else if (what < 12) {
            play_end(m, test_random_below(&random, 4) != 0);
        } else if (what < 14) {
            play_leave(models, index, what == 12);
        } else {
            play_reinstate(m, index);
        }
        assert_int_equal(m->state, state_of(index));
        assert_true(dynsel_invariants_hold(policy));
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        while (models[i].count > 0) {
            play_end(&models[i], true);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(drained_resource_ends_its_work_and_gets_none),
        TEST(idle_resource_is_drained_at_once),
        TEST(asking_for_the_state_sees_the_end_of_the_drain),
        TEST(retired_resource_is_out_at_once_and_its_work_is_collected),
        TEST(wrong_calls_change_nothing),
        TEST(second_drain_is_refused_while_work_goes_on),
        TEST(resource_on_probation_gets_one_piece_of_work_at_a_time),
        TEST(policy_with_one_taken_resource_waits_for_it),
        TEST(failure_on_probation_takes_the_resource_out_again),
        TEST(refusal_on_probation_leaves_the_place_free),
        TEST(work_that_is_complete_at_once_ends_a_probation),
        TEST(texts_name_states),
        TEST(random_steps_agree_with_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
