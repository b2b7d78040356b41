/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto_tune without exploration against a second implementation of the seed's code: resources
 * twice round, then the lowest known mean; reports in any order, or never.
 */
#define COPY_EXPLORE_PERCENT 0
#include "policies/auto_tune_copy.h"
#include "policies/auto_tune_world.h"

#include "room.h"

static uint64_t now_ns = 1;

uint64_t dynsel_now_ns(void)
{
    return now_ns;
}

enum {
    MOST_PENDING = 24,
    STEP_NS = CONFIG_DYNSEL_AUTO_TUNE_SMALL ? 256 : 1 /* in which times are told apart */
};

typedef struct pending {
    dynsel_selection selection;
    bool is_warm_up;
} pending;

typedef struct seed_tuner {
    uint32_t count;
    uint32_t next; /* resource to profile, up to twice the number of resources */
    uint64_t sums[CONFIG_DYNSEL_MAX_RESOURCES];
    uint64_t counts[CONFIG_DYNSEL_MAX_RESOURCES];
    uint32_t loads[CONFIG_DYNSEL_MAX_RESOURCES];
    uint32_t best; /* count: none yet */
    pending pending[MOST_PENDING];
    uint32_t pending_count;
} seed_tuner;

static uint64_t seed_mean(const seed_tuner *seed, uint32_t index)
{
    return seed->counts[index] != 0 ? seed->sums[index] / seed->counts[index] : UINT64_MAX;
}

static void seed_update_best(seed_tuner *seed)
{
    for (uint32_t i = 0; i < seed->count; i++) {
        if (seed->counts[i] != 0 &&
            (seed->best == seed->count || seed_mean(seed, i) < seed_mean(seed, seed->best))) {
            seed->best = i;
        }
    }
}

static uint32_t seed_choice(seed_tuner *seed)
{
    if (seed->next < 2 * seed->count) {
        return seed->next++ % seed->count;
    }
    if (seed->best != seed->count) {
        return seed->best;
    }
    uint32_t least = 0;
    for (uint32_t i = 1; i < seed->count; i++) {
        least = seed->loads[i] < seed->loads[least] ? i : least;
    }
    return least;
}

static void seed_select(seed_tuner *seed)
{
    const bool is_warm_up = seed->next < seed->count;
    const dynsel_task task = {.function = world_nothing, .id = 5};
    seed_update_best(seed);
    const uint32_t expected = seed_choice(seed);
    dynsel_selection selection = world_choose(&task);
    assert_int_equal(selection.index, expected);
    if (dynsel_selection_needs(&selection, DYNSEL_TASK_SUBMISSION)) {
        seed->loads[expected]++;
        assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
    }
    seed->pending[seed->pending_count++] = (pending){selection, is_warm_up};
}

static void seed_finish(seed_tuner *seed, test_random *random)
{
    pending *which = &seed->pending[test_random_below(random, seed->pending_count)];
    const uint32_t index = which->selection.index;
    const uint32_t steps = 50 + 10 * index + test_random_below(random, 40);
    const uint64_t ns = (uint64_t)steps * STEP_NS + test_random_below(random, STEP_NS);
    if (dynsel_selection_needs(&which->selection, DYNSEL_TASK_TIME) &&
        test_random_below(random, 8) != 0) {
        assert_status(DYNSEL_OK, dynsel_report_value(&which->selection, DYNSEL_TASK_TIME, ns));
        seed->sums[index] += which->is_warm_up ? 0 : steps;
        seed->counts[index] += which->is_warm_up ? 0 : 1;
    }
    if (dynsel_selection_needs(&which->selection, DYNSEL_TASK_COMPLETION)) {
        seed->loads[index]--;
        assert_status(DYNSEL_OK, dynsel_report(&which->selection, DYNSEL_TASK_COMPLETION));
    }
    *which = seed->pending[--seed->pending_count];
}

static void run_against_seed(test_random *random, uint32_t most_pending)
{
    seed_tuner seed = {.count = 2 + test_random_below(random, RESOURCES_UP_TO(8) - 1)};
    seed.best = seed.count;
    world_open(seed.count, DYNSEL_NEVER_RESAMPLE);
    for (int step = 0; step < 400; step++) {
        if (seed.pending_count < most_pending &&
            (seed.pending_count == 0 || test_random_below(random, 2) == 0)) {
            seed_select(&seed);
        } else {
            seed_finish(&seed, random);
        }
    }
    world_close();
}

static void selections_agree_with_reference_implementation(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    test_random random = {test_seed()};
    for (int i = 0; i < (CONFIG_DYNSEL_HAS_FULL_SPEED ? 4000 : 400); i++) {
        run_against_seed(&random, 1 + test_random_below(&random, MOST_PENDING));
    }
}

static void disabled_exploration_never_leaves_best(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    static const dynsel_task task = {.function = world_nothing, .id = 1};
    world w = {.devices = {{.ns = UINT64_C(20) * STEP_NS}, {.ns = UINT64_C(10) * STEP_NS}},
               .count = 2};
    world_open(2, DYNSEL_NEVER_RESAMPLE);
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(world_run(&w, &task), i < 4 ? i % 2 : 1);
    }
    const uint32_t timed = CONFIG_DYNSEL_AUTO_TUNE_SMALL ? 20000 : 4 + 1 + (20000 - 5) / 16;
    assert_in_range(w.timed, timed, CONFIG_DYNSEL_AUTO_TUNE_SMALL ? timed : timed + 1);
    world_close();
}

/* Each run's way back adds to the sum of its resource; those that do not count add nothing. */
static void copy_back_time_adds_to_mean(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && CONFIG_DYNSEL_COMMAND_GROUPS &&
          !CONFIG_DYNSEL_AUTO_TUNE_SMALL);
    static const dynsel_task task = {.function = world_nothing, .id = 7};
    world_open(2, DYNSEL_NEVER_RESAMPLE);
    for (uint32_t run = 0; run < 5; run++) {
        dynsel_selection selection = world_choose(&task);
        assert_int_equal(run % 2, selection.index); /* 1000 + 1500 against 2000 in the end */
        world_tell(&selection, DYNSEL_TASK_SUBMISSION, 0);
        world_tell(&selection, DYNSEL_TASK_TIME, 1000 + 1000 * selection.index);
        world_tell(&selection, DYNSEL_TASK_COMPLETION, 0);
        const uint64_t back_ns = run == 1 ? 100000 : run == 4 ? 3500 : 500;
        if (selection.index == 0 || run == 1) {
            assert_status(DYNSEL_OK,
                          dynsel_report_value(&selection, DYNSEL_TASK_READBACK_TIME, back_ns));
        }
    }
    assert_int_equal(1, world_choose(&task).index);
    world_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selections_agree_with_reference_implementation),
        cmocka_unit_test(disabled_exploration_never_leaves_best),
        cmocka_unit_test(copy_back_time_adds_to_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
