/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto_tune with one kind of task that needs now these aspects, now those: what is learned where
 * the choice was smaller does not spoil what is known of all.
 */
#include <dynsel/dynsel.h>

#include "policies/auto_tune_world.h"
#include "policy/policy.h"
#include "room.h"

enum { ROUNDS = 600, FAST = 0, SLOW = 1, SLOWER = 2 };

#define BIT(number)  ((dynsel_aspect_set)1 << (number))
#define NEEDS_ROOM() NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 3 && CONFIG_DYNSEL_MAX_TUNED_TASKS >= 4)

static world w;
static const dynsel_task plain = {.function = world_nothing};
static const dynsel_task needing = {.function = world_nothing, .aspects = BIT(1)};
static const dynsel_task picky = {.function = world_nothing, .aspects = BIT(2)};

/* The fast one has none of the aspects, the slowest both. */
static void begin(void)
{
    w = (world){.count = 3, .now_ns = 1};
    w.devices[FAST].ns = 1000;
    w.devices[SLOW].ns = 10000;
    w.devices[SLOWER].ns = 15000;
    world_open(3, DYNSEL_NEVER_RESAMPLE);
    tuner.policy.aspects[SLOW] = BIT(1);
    tuner.policy.aspects[SLOWER] = BIT(1) | BIT(2);
}

/* How many of `count` runs of a task were there; the others in between. */
static uint32_t runs_on(uint32_t index, const dynsel_task *task, const dynsel_task *other,
                        uint32_t others)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        found += world_run(&w, task) == index ? 1 : 0;
        for (uint32_t k = 0; k < others; k++) {
            (void)world_run(&w, other);
        }
    }
    return found;
}

static void plain_tasks_keep_fast_device_beside_tasks_with_aspects(void **state)
{
    (void)state;
    NEEDS_ROOM();
    for (uint32_t others = 1; others <= 3; others++) {
        begin();
        (void)runs_on(FAST, &plain, &needing, others);
        assert_in_range(runs_on(FAST, &plain, &needing, others), ROUNDS * 9 / 10, ROUNDS);
        assert_in_range(runs_on(SLOW, &needing, &plain, others), ROUNDS * 9 / 10, ROUNDS);
        world_close();
    }
}

/* A task that can go to one device only, before the others of its kind came. */
static void only_device_for_some_tasks_does_not_bind_all_tasks(void **state)
{
    (void)state;
    NEEDS_ROOM();
    begin();
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(world_run(&w, &picky), SLOWER);
        assert_int_equal(w.last.reason, DYNSEL_REASON_ONLY_WITH_ASPECTS);
    }
    (void)runs_on(FAST, &plain, &picky, 1);
    assert_in_range(runs_on(FAST, &plain, &picky, 1), ROUNDS * 9 / 10, ROUNDS);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(world_run(&w, &picky), SLOWER);
    }
    world_close();
}

/* Nothing but the aspects stands in the way. */
static void settled_selection_still_checks_aspects(void **state)
{
    dynsel_selection selection;
    const dynsel_task nowhere = {.function = world_nothing, .aspects = BIT(3)};
    (void)state;
    NEEDS_ROOM();
    begin();
    (void)runs_on(FAST, &plain, &plain, 1);
    assert_int_equal(w.best, FAST);
    assert_status(DYNSEL_E_ASPECT, dynsel_select(&tuner.policy, &nowhere, &selection));
    assert_int_equal(world_run(&w, &picky), SLOWER);
    const uint32_t index = world_run(&w, &needing);
    assert_true(index == SLOW || index == SLOWER);
    world_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_tasks_keep_fast_device_beside_tasks_with_aspects),
        cmocka_unit_test(only_device_for_some_tasks_does_not_bind_all_tasks),
        cmocka_unit_test(settled_selection_still_checks_aspects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
