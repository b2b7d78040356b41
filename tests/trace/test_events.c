/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a piece of work on each way that it can take: in the caller, in a slot, refused,
 * through a selection of the program's, on a resource that fails. */
#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "room.h"
#include "support/do_nothing.h"
#include "support/traced.h"

enum { FIRST = 1, COUNT = RESOURCES_UP_TO(3) };

static manual_backend manual;
static dynsel_fixed_resource_policy here;
static dynsel_round_robin_policy there;

static int set_up(void **state)
{
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    dynsel_resource resources[COUNT];
    (void)state;
    manual_backend_reset(&manual, false);
    atomic_store(&manual.wait_completes, true);
    for (unsigned i = 0; i < COUNT; i++) {
        resources[i] = manual_resource(&manual, i);
    }
    dynsel_options options = {.resources = &host, .count = 1};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&here, &options, 0));
    options = (dynsel_options){.resources = resources, .count = COUNT};
#if CONFIG_DYNSEL_RESOURCE_SETS
    options.may_change = true;
#endif
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&there, &options, 0));
    traced_begin();
    return 0;
}

static int tear_down(void **state)
{
    const dynsel_status stopped = dynsel_trace_stop(); /* a skipped test has left it running */
    (void)stopped;
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&here.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&there.policy));
    manual_assert_clean(&manual);
    return 0;
}

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    done->native = manual_event_new(&manual, where);
    return DYNSEL_OK;
}

static dynsel_status fail_task(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_E_TASK;
}

static void check_life(uint32_t piece, dynsel_trace_event a, dynsel_trace_event b,
                       dynsel_trace_event c, dynsel_trace_event d)
{
    traced_check_life(piece, (const dynsel_trace_event[]){a, b, c, d, 0});
}

static dynsel_status status_of(uint32_t piece)
{
    const dynsel_trace_record *end = traced_find(DYNSEL_TRACE_END, piece, 0);
    assert_non_null(end);
    return (dynsel_status)(int32_t)end->words[2];
}

static void work_in_caller_is_chosen_runs_and_ends(void **state)
{
    (void)state;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&here.policy, &DYNSEL_TASK(do_nothing, NULL), NULL));
    assert_status(DYNSEL_OK,
                  dynsel_submit(&here.policy, &DYNSEL_TASK(do_nothing, NULL), &submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK,
                  dynsel_submit(&here.policy, &DYNSEL_TASK(fail_task, NULL), &submission));
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    traced_end();
    for (uint32_t piece = FIRST; piece <= 3; piece++) {
        check_life(piece, DYNSEL_TRACE_CHOICE, DYNSEL_TRACE_RAN, DYNSEL_TRACE_END,
                   piece == FIRST ? 0 : DYNSEL_TRACE_WAIT);
        assert_status(piece == 3 ? DYNSEL_E_TASK : DYNSEL_OK, status_of(piece));
    }
    const dynsel_trace_record *ran = traced_find(DYNSEL_TRACE_RAN, FIRST, 0);
    assert_in_range(traced_low(ran), traced_find(DYNSEL_TRACE_CHOICE, FIRST, 0)->ticks, ran->ticks);
    const dynsel_trace_record *choice = traced_find(DYNSEL_TRACE_CHOICE, FIRST, 0);
    assert_int_equal(choice->words[0], traced_find(DYNSEL_TRACE_KIND, 0, 0)->piece);
    assert_int_equal(choice->words[1] & 0xff, DYNSEL_REASON_FIXED);
    assert_int_equal(choice->words[1] >> 16 & 1, 1); /* the submit follows */
    assert_int_equal(traced_count(DYNSEL_TRACE_KIND, 0), 2);
    assert_int_equal(traced_find(DYNSEL_TRACE_RESOURCE, 0, 0)->words[0] & 1, 1);
}

static void work_in_slot_starts_is_waited_for_and_ends(void **state)
{
    (void)state;
    dynsel_submission submission;
    assert_status(DYNSEL_OK,
                  dynsel_submit(&there.policy, &DYNSEL_TASK(enqueue, NULL), &submission));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0)); /* a look is no event */
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    traced_end();
    assert_int_equal(traced_count(DYNSEL_TRACE_WAIT, FIRST), 1);
    assert_int_equal(traced_count(DYNSEL_TRACE_START, FIRST), 1);
    check_life(FIRST, DYNSEL_TRACE_CHOICE, DYNSEL_TRACE_START, DYNSEL_TRACE_WAIT, DYNSEL_TRACE_END);
    assert_status(DYNSEL_OK, status_of(FIRST));
    assert_int_equal(traced_find(DYNSEL_TRACE_START, FIRST, 0)->resource, 0);
    const dynsel_trace_record *wait = traced_find(DYNSEL_TRACE_WAIT, FIRST, 0);
    assert_in_range(traced_low(wait), traced_find(DYNSEL_TRACE_START, FIRST, 0)->ticks,
                    wait->ticks);
    assert_int_equal(traced_find(DYNSEL_TRACE_RESOURCE, 0, 0)->words[0] & 1, 0);
}

static void refused_work_is_chosen_for_anew(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2);
    atomic_store(&manual.queues[0].refuses, true);
    dynsel_submission submission;
    assert_status(DYNSEL_OK,
                  dynsel_submit(&there.policy, &DYNSEL_TASK(enqueue, NULL), &submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    traced_end();
    check_life(FIRST, DYNSEL_TRACE_CHOICE, DYNSEL_TRACE_REFUSED, 0, 0);
    check_life(FIRST + 1, DYNSEL_TRACE_CHOICE, DYNSEL_TRACE_START, DYNSEL_TRACE_WAIT,
               DYNSEL_TRACE_END);
    assert_int_equal(traced_find(DYNSEL_TRACE_REFUSED, FIRST, 0)->resource, 0);
    assert_int_equal(traced_find(DYNSEL_TRACE_START, FIRST + 1, 0)->resource, 1);
    const dynsel_trace_record *health = traced_find(DYNSEL_TRACE_HEALTH, 0, 0);
    assert_non_null(health); /* what refuses is out of service at once */
    assert_int_equal(health->resource, 0);
    assert_int_equal(health->words[0], 0);
    assert_int_equal(health->words[1], 4);
    assert_int_equal(traced_count(DYNSEL_TRACE_HEALTH, 0), 1);
}

#if CONFIG_DYNSEL_RESOURCE_SETS
static void added_and_removed_resources_are_named(void **state)
{
    (void)state;
    NEEDS(COUNT == 3 && CONFIG_DYNSEL_MAX_RESOURCES > COUNT);
    const dynsel_resource fourth = manual_resource(&manual, COUNT);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&there.policy, &DYNSEL_TASK(enqueue, NULL)));
    assert_status(DYNSEL_OK, dynsel_policy_add_resource(&there.policy, &fourth, NULL));
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(&there.policy, 0, 0));
    traced_end();
    const dynsel_trace_record *health = traced_find(DYNSEL_TRACE_HEALTH, 0, 0);
    const dynsel_trace_record *named = traced_find(DYNSEL_TRACE_RESOURCE, COUNT, 0);
    assert_non_null(health);
    assert_non_null(named);
    assert_int_equal(health->resource, COUNT);
    assert_int_equal(health->words[0], 6);
    assert_int_equal(health->words[1], 0);
    assert_int_equal(named->policy, health->policy);
    assert_string_equal(traced_name(DYNSEL_TRACE_BACKEND_NAME, COUNT, health->policy),
                        fourth.backend->ops->name);
    const uint32_t count = traced_count(DYNSEL_TRACE_HEALTH, 0);
    health = traced_find(DYNSEL_TRACE_HEALTH, 0, count - 1);
    assert_int_equal(health->resource, 0);
    assert_int_equal(health->words[1], 6);
}
#endif

static void failing_resource_changes_its_health_once(void **state)
{
    (void)state;
    NEEDS(COUNT >= 2 && CONFIG_DYNSEL_MAX_FAILURES > 0 && CONFIG_DYNSEL_MAX_FAILURES < 50);
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_FAILURES; i++) {
        dynsel_selection selection = {.policy = &there.policy, .index = 1};
        dynsel_submission submission;
        assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &DYNSEL_TASK(enqueue, NULL),
                                                         &submission));
        manual_fail(&manual, i);
        assert_status(DYNSEL_E_DEVICE, dynsel_wait(&submission));
    }
    traced_end();
    assert_int_equal(traced_count(DYNSEL_TRACE_HEALTH, 0), 1);
    const dynsel_trace_record *health = traced_find(DYNSEL_TRACE_HEALTH, 0, 0);
    assert_int_equal(health->resource, 1);
    assert_int_equal(health->words[1], 4);
    assert_status(DYNSEL_E_DEVICE, (dynsel_status)(int32_t)health->words[2]);
    /* a program that fills in a selection itself makes no choice, so there is no piece */
    assert_int_equal(traced_count(DYNSEL_TRACE_CHOICE, 0), 0);
    assert_int_equal(traced_count(DYNSEL_TRACE_START, 0), 0);
}

static void selected_work_keeps_its_piece(void **state)
{
    (void)state;
    dynsel_selection selection;
    const dynsel_task task = DYNSEL_TASK(enqueue, NULL);
    assert_status(DYNSEL_OK, dynsel_select(&there.policy, &task, &selection));
    assert_status(DYNSEL_OK, dynsel_submit(&here.policy, &DYNSEL_TASK(do_nothing, NULL), NULL));
    assert_status(DYNSEL_OK, dynsel_submit_selection_and_wait(&selection, &task));
    traced_end();
    check_life(FIRST, DYNSEL_TRACE_CHOICE, DYNSEL_TRACE_START, DYNSEL_TRACE_WAIT, DYNSEL_TRACE_END);
    check_life(FIRST + 1, DYNSEL_TRACE_CHOICE, DYNSEL_TRACE_RAN, DYNSEL_TRACE_END, 0);
    assert_int_equal(traced_find(DYNSEL_TRACE_CHOICE, FIRST, 0)->words[1] >> 16 & 1, 0);
    assert_int_equal(traced_find(DYNSEL_TRACE_CHOICE, FIRST, 0)->policy, 1);
    assert_int_equal(traced_find(DYNSEL_TRACE_CHOICE, FIRST + 1, 0)->policy, 2);
}

static void work_from_before_the_trace_has_no_events(void **state)
{
    (void)state;
    dynsel_submission before;
    dynsel_submission over;
    traced_end();
    assert_status(DYNSEL_OK, dynsel_submit(&there.policy, &DYNSEL_TASK(enqueue, NULL), &before));
    traced_begin();
    assert_status(DYNSEL_OK, dynsel_submit(&there.policy, &DYNSEL_TASK(enqueue, NULL), &over));
    assert_status(DYNSEL_OK, dynsel_wait(&before));
    traced_end();
    check_life(FIRST, DYNSEL_TRACE_CHOICE, DYNSEL_TRACE_START, 0, 0);
    assert_int_equal(traced_count(DYNSEL_TRACE_END, 0), 0);
    assert_status(DYNSEL_OK, dynsel_wait(&over)); /* after the trace: no event either */
    assert_int_equal(traced_count(DYNSEL_TRACE_END, 0), 0);
}

static void kinds_are_told_apart_by_key_words(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t word = i % 3;
        const dynsel_task task = {
            .function = do_nothing, .id = 5, .key_words = &word, .key_word_count = 1};
        assert_status(DYNSEL_OK, dynsel_submit(&here.policy, &task, NULL));
    }
    traced_end();
    assert_int_equal(traced_count(DYNSEL_TRACE_KIND, 0), 3);
    for (uint32_t piece = FIRST; piece <= 3; piece++) {
        assert_int_equal(traced_find(DYNSEL_TRACE_CHOICE, piece, 0)->words[0],
                         traced_find(DYNSEL_TRACE_CHOICE, piece + 3, 0)->words[0]);
        assert_int_equal(traced_find(DYNSEL_TRACE_KIND, 0, piece - 1)->words[3], 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(work_in_caller_is_chosen_runs_and_ends),
        TEST(work_in_slot_starts_is_waited_for_and_ends),
        TEST(refused_work_is_chosen_for_anew),
#if CONFIG_DYNSEL_RESOURCE_SETS
        TEST(added_and_removed_resources_are_named),
#endif
        TEST(failing_resource_changes_its_health_once),
        TEST(selected_work_keeps_its_piece),
        TEST(work_from_before_the_trace_has_no_events),
        TEST(kinds_are_told_apart_by_key_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
