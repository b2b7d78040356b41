/* SPDX-License-Identifier: Apache-2.0 */
/* Counts add up, the marks of the table are right, and the check of the books finds what is wrong.
 */
#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "room.h"
#include "submission/slot.h"
#include "test.h"

enum { SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT, PEAK = 5 };

static manual_backend manual;
static dynsel_fixed_resource_policy policy;

static int set_up(void **state)
{
    (void)state;
    manual_backend_reset(&manual, false);
    const dynsel_resource resource = manual_resource(&manual, 0);
    const dynsel_options options = {.resources = &resource, .count = 1};
    return dynsel_fixed_resource_init(&policy, &options, 0);
}

static int tear_down(void **state)
{
    (void)state;
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_true(dynsel_invariants_hold(NULL));
    manual_assert_clean(&manual);
    return 0;
}

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    done->native = manual_event_new(&manual, where);
    return args != NULL ? DYNSEL_E_TASK : DYNSEL_OK;
}

static const dynsel_task task = {.function = enqueue};

static dynsel_status wait_group(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(&policy.policy));
}

static void statistics_count_submitted_completed_and_failed(void **state)
{
    (void)state;
    dynsel_resource_statistics counts;
    if (!CONFIG_DYNSEL_STATISTICS) {
        assert_status(DYNSEL_E_UNSUPPORTED, dynsel_get_statistics(&policy.policy, 0, &counts));
        assert_error_says("CONFIG_DYNSEL_STATISTICS");
        return;
    }
    int fails = 1;
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &task));
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(enqueue, &fails), NULL));
    assert_status(DYNSEL_OK, dynsel_get_statistics(&policy.policy, 0, &counts));
    assert_int_equal(counts.submitted, 2);
    assert_int_equal(counts.completed, 1);
    assert_int_equal(counts.failed, 0);
    assert_status(DYNSEL_E_TASK, wait_group());
    assert_status(DYNSEL_OK, dynsel_get_statistics(&policy.policy, 0, &counts));
    assert_int_equal(counts.completed, 2);
    assert_int_equal(counts.failed, 1);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    dynsel_resource_statistics counts;
    dynsel_policy zero = {0};
    assert_status(DYNSEL_E_INVALID, dynsel_get_statistics(NULL, 0, &counts));
    assert_status(DYNSEL_E_INVALID, dynsel_get_statistics(&policy.policy, 0, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_get_statistics(&policy.policy, 1, &counts));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_get_statistics(&zero, 0, &counts));
    assert_false(dynsel_invariants_hold(&zero));
}

static void in_flight_statistics_show_use_and_peak(void **state)
{
    (void)state;
    const dynsel_in_flight_statistics before = dynsel_get_in_flight_statistics();
    assert_int_equal(before.capacity, SLOTS);
    assert_int_equal(before.in_use, 0);
    for (unsigned i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    }
    assert_status(DYNSEL_E_FULL, dynsel_try_submit(&policy.policy, &task, NULL));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_submit_for(&policy.policy, &task, NULL, 1000));
    const dynsel_in_flight_statistics full = dynsel_get_in_flight_statistics();
    assert_int_equal(full.in_use, SLOTS);
    assert_int_equal(full.most_in_use, SLOTS);
    assert_int_equal(full.refusals - before.refusals, 2);
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
}

static void invariants_check_finds_corruption(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    dynsel_queue *queue = &policy.policy.queues[0];
    const uint32_t tail = queue->tail.value;
    queue->tail.value = 0;
    assert_false(dynsel_invariants_hold(&policy.policy));
    queue->tail.value = tail;
    queue->reaper.value = 1;
    assert_false(dynsel_invariants_hold(&policy.policy));
    queue->reaper.value = 0;
    const uint32_t head = queue->head.value;
    queue->head.value = SLOTS + 1;
    assert_false(dynsel_invariants_hold(&policy.policy));
    queue->head.value = head;
    policy.policy.impaired.value = 1;
    assert_false(dynsel_invariants_hold(&policy.policy));
    policy.policy.impaired.value = 0;
    for (unsigned i = 0; i < 2; i++) {
        policy.policy.count = i == 0 ? 0 : CONFIG_DYNSEL_MAX_RESOURCES + 1;
        assert_false(dynsel_invariants_hold(&policy.policy));
    }
    policy.policy.count = 1;
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, wait_group());
}

static void invariants_check_finds_wrong_slot_in_queue(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    dynsel_slot *const slot = dynsel_slot_at(policy.policy.queues[0].head.value);
    const uint32_t word = slot->word.value;
    const uint32_t generation = word & ~((1u << DYNSEL_SLOT_GENERATION_SHIFT) - 1);
    const uint32_t wrong_words[] = {
        word + DYNSEL_SLOT_REF,                                 /* a reference was left */
        word | DYNSEL_SLOT_MARKING,                             /* a mark was left half */
        generation | DYNSEL_SLOT_FINISHED | DYNSEL_SLOT_HANDLE, /* in the list unmarked */
        generation | DYNSEL_SLOT_CLAIMED,                       /* it was never started */
        word ^ (DYNSEL_SLOT_RUNNING ^ DYNSEL_SLOT_FREE),        /* free, but in the list */
    };
    for (size_t i = 0; i < sizeof wrong_words / sizeof wrong_words[0]; i++) {
        slot->word.value = wrong_words[i];
        assert_false(dynsel_invariants_hold(&policy.policy));
    }
    slot->word.value = word;
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, wait_group());
}

static void swap_queues(dynsel_queue *one, dynsel_queue *other)
{
    const dynsel_queue first = *one;
    *one = *other;
    *other = first;
}

/* As long as its own, so that only the look at each piece of work can find it. */
static void invariants_check_finds_queue_of_other_policy(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    dynsel_fixed_resource_policy other = {0};
    const dynsel_resource resource = manual_resource(&manual, 1);
    const dynsel_options options = {.resources = &resource, .count = 1};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&other, &options, 0));
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    assert_true(dynsel_invariants_hold(&other.policy));
    assert_status(DYNSEL_OK, dynsel_submit(&other.policy, &task, NULL));
    swap_queues(&policy.policy.queues[0], &other.policy.queues[0]);
    assert_false(dynsel_invariants_hold(&policy.policy));
    swap_queues(&policy.policy.queues[0], &other.policy.queues[0]);
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, wait_group());
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&other.policy)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&other.policy));
}

static void invariants_check_finds_queue_of_other_resource(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && SLOTS >= 2);
    dynsel_fixed_resource_policy two = {0};
    const dynsel_resource resources[] = {manual_resource(&manual, 1), manual_resource(&manual, 2)};
    const dynsel_options options = {.resources = resources, .count = 2};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&two, &options, 0));
    for (uint32_t i = 0; i < 2; i++) {
        dynsel_selection selection = {.policy = &two.policy, .index = i};
        assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &task, NULL));
    }
    assert_true(dynsel_invariants_hold(&two.policy));
    swap_queues(&two.policy.queues[0], &two.policy.queues[1]);
    assert_false(dynsel_invariants_hold(&two.policy));
    swap_queues(&two.policy.queues[0], &two.policy.queues[1]);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&two.policy)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&two.policy));
}

static void submission_tells_its_resource_and_reason(void **state)
{
    (void)state;
    dynsel_submission submission;
    size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    assert_ptr_equal(dynsel_submission_resource(&submission),
                     dynsel_get_resources(&policy.policy, &count));
    assert_int_equal(dynsel_submission_reason(&submission), DYNSEL_REASON_FIXED);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_null(dynsel_submission_resource(NULL));
    assert_int_equal(dynsel_submission_reason(NULL), DYNSEL_REASON_UNKNOWN);
}

static bool held_inside;

static dynsel_status look_at_books(const dynsel_resource *where, void *args, dynsel_event *done)
{
    held_inside = dynsel_invariants_hold(NULL);
    return enqueue(where, args, done);
}

/* As its own is while a task function runs: if it stayed so, it would be lost. */
static void invariants_check_finds_claimed_slot(void **state)
{
    (void)state;
    held_inside = true;
    assert_status(DYNSEL_OK,
                  dynsel_submit(&policy.policy, &DYNSEL_TASK(look_at_books, NULL), NULL));
    assert_false(held_inside);
    assert_true(dynsel_invariants_hold(NULL));
    assert_status(DYNSEL_OK, wait_group());
}

/* As when two contexts append at once: the work says that it is listed, and no list has it. */
static void invariants_check_finds_unlisted_slot(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    assert_true(dynsel_invariants_hold(&policy.policy));
    const dynsel_queue before = policy.policy.queues[0];
    policy.policy.queues[0].head.value = 0;
    policy.policy.queues[0].tail.value = 0;
    assert_false(dynsel_invariants_hold(&policy.policy));
    policy.policy.queues[0] = before;
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, wait_group());
}

/* Nobody looks while they are in flight. Runs first: the mark is never lowered. */
static void peak_between_queries_is_kept(void **state)
{
    (void)state;
    if (PEAK >= SLOTS) {
        skip();
    }
    assert_int_equal(dynsel_get_in_flight_statistics().most_in_use, 0);
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < PEAK; i++) {
            assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
        }
        assert_status(DYNSEL_OK, wait_group());
    }
    const dynsel_in_flight_statistics found = dynsel_get_in_flight_statistics();
    assert_int_equal(found.in_use, 0);
    assert_int_equal(found.most_in_use, CONFIG_DYNSEL_STATISTICS ? PEAK : 0);
}

static void statistics_query_raises_peak(void **state)
{
    (void)state;
    const uint32_t most = dynsel_get_in_flight_statistics().most_in_use;
    if (most + 1 >= SLOTS) {
        skip();
    }
    for (uint32_t i = 0; i <= most; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    }
    assert_int_equal(dynsel_get_in_flight_statistics().most_in_use, most + 1);
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(dynsel_get_in_flight_statistics().most_in_use, most + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(peak_between_queries_is_kept),
        TEST(statistics_query_raises_peak),
        TEST(invariants_check_finds_unlisted_slot),
        TEST(invariants_check_finds_wrong_slot_in_queue),
        TEST(invariants_check_finds_queue_of_other_policy),
        TEST(invariants_check_finds_queue_of_other_resource),
        TEST(invariants_check_finds_claimed_slot),
        TEST(statistics_count_submitted_completed_and_failed),
        TEST(wrong_arguments_are_refused),
        TEST(in_flight_statistics_show_use_and_peak),
        TEST(invariants_check_finds_corruption),
        TEST(submission_tells_its_resource_and_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
