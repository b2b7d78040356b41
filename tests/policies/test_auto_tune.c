/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What auto_tune chooses, whatever the configured exploration is: the order of the first turns,
 * failures, resources that come and go, late reports.
 */
#include <dynsel/dynsel.h>

#include "policies/auto_tune_one_world.h"

#include "policies/auto_tune_parts.h"
#include "policy/policy.h"
#include "room.h"

static const dynsel_task task = {.function = world_nothing, .id = 7};

static void first_selections_profile_each_resource_twice_then_use_best(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= RESOURCES_UP_TO(16); count++) {
        for (uint32_t best = 0; best < count; best++) {
            begin(count, DYNSEL_NEVER_RESAMPLE);
            w.devices[best].ns = 500;
            for (uint32_t i = 0; i < 2 * count; i++) {
                assert_int_equal(world_run(&w, &task), i % count);
                assert_int_equal(w.last.reason, count == 1 ? DYNSEL_REASON_ONLY_CANDIDATE
                                                           : DYNSEL_REASON_PROFILING);
            }
            for (uint32_t i = 0; i < 10; i++) {
                assert_int_equal(world_run(&w, &task), best);
                assert_int_equal(w.last.reason, count == 1 ? DYNSEL_REASON_ONLY_CANDIDATE
                                                           : DYNSEL_REASON_BEST_KNOWN);
            }
            world_close();
        }
    }
}

/* The turn of the selection says which is first, not the order of the reports. */
static void first_runs_are_ignored_however_late_reported(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    dynsel_selection turns[4];
    for (int i = 0; i < 4; i++) {
        turns[i] = world_choose(&task);
        assert_int_equal(turns[i].index, i % 2);
        world_tell(&turns[i], DYNSEL_TASK_SUBMISSION, 0);
    }
    static const uint64_t times[] = {40, 50, 70, 60};
    for (int i = 3; i >= 0; i--) {
        world_tell(&turns[i], DYNSEL_TASK_TIME, times[i]);
        world_tell(&turns[i], DYNSEL_TASK_COMPLETION, 0);
    }
    w.devices[0].ns = 70;
    w.devices[1].ns = 60;
    live(&task, 40);
    assert_int_equal(w.best, 1);
    assert_true(w.runs[1] >= 35);
    world_close();
}

static void burst_without_known_times_spreads_evenly(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 3);
    begin(3, DYNSEL_NEVER_RESAMPLE);
    uint32_t counts[3] = {0};
    dynsel_selection turns[60];
    for (int i = 0; i < 60; i++) {
        turns[i] = world_choose(&task);
        assert_int_equal(turns[i].reason, DYNSEL_REASON_PROFILING);
        world_tell(&turns[i], DYNSEL_TASK_SUBMISSION, 0);
        counts[turns[i].index]++;
    }
    assert_true(counts[0] == 20 && counts[1] == 20 && counts[2] == 20);
    world_tell(&turns[1], DYNSEL_TASK_TIME, 10); /* a first run */
    assert_int_equal(world_choose(&task).reason, DYNSEL_REASON_PROFILING);
    world_tell(&turns[4], DYNSEL_TASK_TIME, 1000);
    dynsel_selection so_far = world_choose(&task);
    assert_true(so_far.index == 1 && so_far.reason == DYNSEL_REASON_BEST_KNOWN);
    world_tell(&turns[5], DYNSEL_TASK_TIME, 900);
    so_far = world_choose(&task);
    assert_true(so_far.index == 2 && so_far.reason == DYNSEL_REASON_BEST_KNOWN);
    world_close();
}

static void burst_avoids_resources_loaded_by_other_kinds(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    enum { AHEAD = 6 };
    tuner.loads[0].value = AHEAD; /* of other kinds */
    for (uint32_t i = 0; i < 3 + AHEAD; i++) {
        dynsel_selection selection = world_choose(&task);
        world_tell(&selection, DYNSEL_TASK_SUBMISSION, 0);
        assert_int_equal(selection.index, i < 4 ? i % 2 : 1);
    }
    world_close();
}

/* Runs that are out are waited for; when they turn out to have failed, there is another turn. */
static void profiling_turn_is_repeated_only_after_failure(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    dynsel_selection turns[4];
    for (int i = 0; i < 4; i++) {
        turns[i] = world_choose(&task);
        world_tell(&turns[i], DYNSEL_TASK_SUBMISSION, 0);
    }
    world_tell(&turns[3], DYNSEL_TASK_TIME, 1100);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(world_run(&w, &task), 1);
    }
    world_tell(&turns[0], DYNSEL_TASK_COMPLETION, 0);
    world_tell(&turns[2], DYNSEL_TASK_COMPLETION, 0);
    assert_int_equal(world_run(&w, &task), EXPLORES ? 0 : 1);
    live(&task, 30);
    assert_int_equal(w.best, EXPLORES ? 0 : 1);
    world_close();
}

static void selections_inside_submit_claim_their_turn(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    for (uint32_t i = 0; i < 20; i++) {
        dynsel_selection selection = {
            .policy = &tuner.policy, .wants = (uint8_t)tuner.policy.ops->needs, .claims = 1};
        assert_status(DYNSEL_OK, tuner.policy.ops->try_select(&tuner.policy, &task, &selection));
        assert_int_equal(selection.index, i % 2);
        assert_int_equal(selection.reported, DYNSEL_TASK_SUBMISSION);
    }
    world_close();
}

static void settled_kind_is_timed_once_in_sixteen_runs(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    w.devices[1].ns = 1000000; /* too dear to be tried again */
    live(&task, 4 + SETTLED_AFTER);
    w.timed = 0;
    for (uint32_t i = 0; i < 1600; i++) {
        (void)world_run(&w, &task);
        assert_int_equal(w.last.wants & ~(unsigned)DYNSEL_TUNED_TIMES,
                         w.last.wants == DYNSEL_TUNED_TIMES || w.last.wants == 0
                             ? 0
                             : DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION);
    }
    assert_in_range(w.timed, 100, 110);
    assert_int_equal(w.runs[1], 2);
    world_close();
}

#if CONFIG_DYNSEL_CUSTOM_BACKENDS && !CONFIG_DYNSEL_IN_FLIGHT_SMALL
/* At most 2 percent of the time, but at least one run in 128. */
static void short_work_is_timed_rarely_where_that_is_dear(void **state)
{
    enum { RUNS = 128 * 50 };
    static const struct {
        uint64_t work_ns;
        uint32_t one_in;
    } all[] = {{50000, 16}, {40000, 32}, {15000, 64}, {6000, 128}, {100, 128}};
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        world_ops.timing_ns = 14000;
        begin(2, DYNSEL_NEVER_RESAMPLE);
        w.devices[0].ns = all[i].work_ns;
        w.devices[1].ns = 100 * all[i].work_ns;
        live(&task, 4 + SETTLED_AFTER);
        w.timed = 0;
        live(&task, RUNS);
        /* what much exploration tries on the other resource is timed, too */
        const uint32_t tried = CONFIG_DYNSEL_AUTO_TUNE_EXPLORE_PERCENT > 5 ? RUNS / 1000 : 0;
        assert_in_range(w.timed, RUNS / all[i].one_in * 9 / 10,
                        RUNS / all[i].one_in * 5 / 4 + tried);
        world_close();
        world_ops.timing_ns = 0;
    }
}
#endif

static void failing_resource_is_excluded_and_its_times_ignored(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 3);
    begin(3, DYNSEL_NEVER_RESAMPLE);
    w.devices[0].fails = true;
    w.devices[0].ns = 1;
    live(&task, 2000);
    assert_int_equal(w.best, 1);
    assert_int_equal(w.runs[0], EXPLORES ? 4 : 2);
    assert_true(w.timed < 400);
    world_close();
}

/* One that fails only now and then is known at last. */
static void failed_profiling_turn_is_repeated(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && EXPLORES);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    w.devices[0].ns = 10;
    for (uint32_t i = 0; i < 60; i++) {
        w.devices[0].fails = w.runs[0] < 3;
        (void)world_run(&w, &task);
    }
    assert_int_equal(w.best, 0);
    assert_true(w.runs[0] > 50);
    world_close();
}

static void work_failing_on_all_resources_is_still_submitted(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    w.devices[0].fails = true;
    w.devices[1].fails = true;
    live(&task, 100);
    assert_int_equal(w.runs[0] + w.runs[1], 100);
    w.devices[0].fails = false;
    live(&task, 100);
    assert_int_equal(w.best, 0);
    world_close();
}

static void next_best_resource_replaces_best_out_of_service(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 3);
    begin(3, DYNSEL_NEVER_RESAMPLE);
    live(&task, 6 + SETTLED_AFTER);
    assert_int_equal(w.best, 0);
    dynsel_health_retire(&tuner.policy, 0, DYNSEL_E_DEVICE);
    for (uint32_t i = 0; i < 100; i++) {
        const uint32_t index = world_run(&w, &task);
        assert_true(index == 1 || (EXPLORES && index == 2 && i > 0));
    }
    dynsel_health_retire(&tuner.policy, 1, DYNSEL_E_DEVICE);
    assert_int_equal(world_run(&w, &task), 2);
    assert_int_equal(w.last.reason, DYNSEL_REASON_ONLY_IN_SERVICE);
    dynsel_health_retire(&tuner.policy, 2, DYNSEL_E_DEVICE);
    dynsel_selection selection;
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_select(&tuner.policy, &task, &selection));
    for (uint32_t i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, dynsel_resource_reinstate(&tuner.policy, i));
    }
    live(&task, 40);
    assert_int_equal(w.best, 0);
    world_close();
}

/* Who comes back in the middle of the first turns takes those that it missed. */
static void profiling_continues_while_resources_come_and_go(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 4);
    static const uint32_t with_two[] = {0, 1, 3, 0};
    static const uint32_t with_all[] = {2, 1, 2, 3};
    begin(4, DYNSEL_NEVER_RESAMPLE);
    dynsel_health_retire(&tuner.policy, 2, DYNSEL_E_DEVICE);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(world_run(&w, &task), with_two[i]);
    }
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&tuner.policy, 2));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(world_run(&w, &task), with_all[i]);
    }
    assert_int_equal(world_run(&w, &task), 0);
    assert_int_equal(w.last.reason, DYNSEL_REASON_BEST_KNOWN);
    world_close();
}

static dynsel_backend other_backend = {.ops = &world_ops};

static void resources_without_task_form_are_not_profiled(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 4 && CONFIG_DYNSEL_MAX_TUNED_TASKS >= 4);
    begin(4, DYNSEL_NEVER_RESAMPLE);
    tuner.policy.resources[1].backend = &other_backend;
    tuner.policy.resources[3].backend = &other_backend;
    const dynsel_task_form forms[] = {{&other_backend, world_nothing}};
    const dynsel_task some = {.forms = forms, .form_count = 1, .id = 9};
    static const uint32_t expected[] = {1, 3, 1, 3, 1, 1};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(world_run(&w, &some), expected[i]);
    }
    tuner.policy.resources[3].backend = &world_backend;
    const dynsel_task only = {.forms = forms, .form_count = 1, .id = 10};
    for (int i = 0; i < 40; i++) {
        assert_int_equal(world_run(&w, &only), 1);
        assert_int_equal(w.last.reason, DYNSEL_REASON_ONLY_CANDIDATE);
        assert_int_equal(w.last.wants, 0);
    }
    dynsel_health_retire(&tuner.policy, 1, DYNSEL_E_DEVICE);
    dynsel_selection selection;
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_select(&tuner.policy, &only, &selection));
    tuner.policy.resources[1].backend = &world_backend;
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_select(&tuner.policy, &only, &selection));
    tuner.policy.resources[1].backend = &other_backend;
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&tuner.policy, 1));
    assert_int_equal(world_run(&w, &only), 1);
    tuner.policy.resources[1].backend = &world_backend; /* as deinitialization knows it */
    world_close();
}

/* Whoever comes with fewer forms does not narrow the choice for others. */
static void task_with_fewer_forms_does_not_change_known_best(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    tuner.policy.resources[1].backend = &other_backend;
    const dynsel_task_form forms[] = {{&other_backend, world_nothing}};
    const dynsel_task fewer = {.forms = forms, .form_count = 1, .id = task.id};
    live(&task, 4 + SETTLED_AFTER);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(world_run(&w, &fewer), 1);
        assert_int_equal(w.last.reason, DYNSEL_REASON_ONLY_CANDIDATE);
        (void)world_run(&w, &task);
        assert_true(w.last.reason ==
                    (w.last.index == 0 ? DYNSEL_REASON_BEST_KNOWN : DYNSEL_REASON_EXPLORING));
    }
    tuner.policy.resources[1].backend = &world_backend;
    world_close();
}

/* That the others are out of service is no reason to stop looking. */
static void reinstated_resources_are_profiled_again(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    dynsel_health_retire(&tuner.policy, 0, DYNSEL_E_DEVICE);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(world_run(&w, &task), 1);
        assert_int_equal(w.last.reason, DYNSEL_REASON_ONLY_IN_SERVICE);
    }
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&tuner.policy, 0));
    static const uint32_t expected[] = {0, 1, 0, 1, 0};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(world_run(&w, &task), expected[i]);
    }
    world_close();
}

static void resampling_discards_earlier_times(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    static const uint64_t starts[] = {1, UINT32_MAX - 700, ((uint64_t)7 << 32) - 3};
    for (size_t k = 0; k < 3; k++) {
        begin(2, 1000000);
        w.now_ns = starts[k];
        live(&task, 30);
        assert_int_equal(w.best, 0);
        w.devices[0].ns = 2000;
        w.now_ns = starts[k] + 999999;
        assert_int_equal(world_choose(&task).reason, DYNSEL_REASON_BEST_KNOWN);
        w.now_ns = starts[k] + 1000000;
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(world_run(&w, &task), i % 2);
            assert_int_equal(w.last.reason, DYNSEL_REASON_PROFILING);
        }
        live(&task, 10);
        assert_int_equal(w.best, 1);
        w.now_ns += 1000000;
        w.devices[0].ns = 1110; /* one percent slower: what was best before is no argument */
        live(&task, 5);
        assert_int_equal(w.best, 1);
        w.now_ns += 1000000;
        w.devices[0].ns = 1000;
        w.devices[1].ns = 990;
        live(&task, 5);
        assert_int_equal(w.best, 1);
        world_close();
    }
}

static void default_interval_never_resamples(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    live(&task, 4);
    w.now_ns += (uint64_t)1 << 62;
    w.reasons[DYNSEL_REASON_PROFILING] = 0;
    live(&task, 100);
    assert_int_equal(w.reasons[DYNSEL_REASON_PROFILING], 0);
    world_close();
}

static void late_reports_of_earlier_round_are_dropped(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, 1000000);
    dynsel_selection old[4];
    for (int i = 0; i < 4; i++) {
        old[i] = world_choose(&task);
        world_tell(&old[i], DYNSEL_TASK_SUBMISSION, 0);
    }
    w.now_ns += 1000000;
    w.devices[0].ns = 3000;
    live(&task, 4);
    for (int i = 0; i < 4; i++) {
        world_tell(&old[i], DYNSEL_TASK_TIME, i % 2 == 0 ? 1 : 100000);
        world_tell(&old[i], DYNSEL_TASK_COMPLETION, 0);
    }
    live(&task, 1);
    assert_int_equal(w.last.index, 1);
    assert_int_equal(w.last.reason, DYNSEL_REASON_BEST_KNOWN);
    live(&task, 30);
    assert_int_equal(w.best, 1);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(tuner.loads[i].value, 0);
    }
    world_close();
}

static uint32_t unfinished_of_all(void)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < CONFIG_DYNSEL_MAX_TUNED_TASKS; k++) {
        for (uint32_t i = 0; i < tuner.policy.count; i++) {
            sum += tuner.tasks[k].resources[i].unfinished;
        }
    }
    return sum;
}

static void work_in_flight_is_counted_across_rounds(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, 1000000);
    dynsel_selection runs[8];
    for (int i = 0; i < 8; i++) {
        w.now_ns += i == 4 ? 1000000 : 0;
        runs[i] = world_choose(&task);
        world_tell(&runs[i], DYNSEL_TASK_SUBMISSION, 0);
    }
    assert_int_equal(unfinished_of_all(), 8);
    for (int i = 0; i < 8; i++) {
        world_tell(&runs[i], DYNSEL_TASK_COMPLETION, 0);
        assert_int_equal(unfinished_of_all(), 7 - i);
    }
    world_close();
}

static uint32_t refusals;

static dynsel_status start_at_last(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    if (refusals != 0) {
        refusals--;
        return DYNSEL_E_AGAIN;
    }
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static uint32_t placed[64];
static uint32_t placed_count;

static dynsel_status work_for_a_while(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    (void)done;
    const uint32_t index = (uint32_t)((const dynsel_resource *)where->handle - world_resources);
    placed[placed_count++] = index;
    w.now_ns += w.devices[index].ns;
    return w.devices[index].fails ? DYNSEL_E_TASK : DYNSEL_OK;
}

/* A run that did not take place had no turn, neither the first nor the second. */
static void refused_run_returns_its_profiling_turn(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    dynsel_backend_ops ops = world_ops;
    ops.start = start_at_last;
    world_backend.ops = &ops;
    begin(2, DYNSEL_NEVER_RESAMPLE);
    const dynsel_task real = {.function = work_for_a_while, .id = 4};
    static const uint32_t expected[] = {0, 1, 0, 1, 0, 0};
    placed_count = 0;
    for (uint32_t i = 0; i < 6; i++) {
        refusals = 1;
        assert_status(DYNSEL_E_AGAIN, dynsel_try_submit(&tuner.policy, &real, NULL));
        refusals = 7; /* dynsel_submit() waits for the resource */
        assert_status(DYNSEL_OK, dynsel_submit(&tuner.policy, &real, NULL));
        assert_int_equal(placed[i], expected[i]);
    }
    uint32_t counted = 0;
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(tuner.loads[i].value, 0);
        for (uint32_t k = 0; k < CONFIG_DYNSEL_MAX_TUNED_TASKS; k++) {
            counted += tuner.tasks[k].resources[i].runs;
        }
    }
    assert_int_equal(counted, EXPLORES ? 6 : 2); /* without exploration those that are timed */
    world_close();
    world_backend.ops = &world_ops;
}

static void submitted_work_is_profiled_and_tuned(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 3);
    begin(3, DYNSEL_NEVER_RESAMPLE);
    w.devices[0].fails = true;
    const dynsel_task real = {.function = work_for_a_while};
    placed_count = 0;
    for (uint32_t i = 0; i < 40; i++) {
        dynsel_submission submission;
        assert_status(DYNSEL_OK, dynsel_submit(&tuner.policy, &real, &submission));
        assert_status(placed[placed_count - 1] == 0 ? DYNSEL_E_TASK : DYNSEL_OK,
                      dynsel_wait(&submission));
    }
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(placed[i], i % 3);
    }
    for (uint32_t i = 8; i < 20; i++) {
        assert_int_equal(placed[i], 1);
    }
    world_close();
}

/* The entry of the only kind. */
static const dynsel_tuned_task *only_entry(void)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_TUNED_TASKS; i++) {
        if (tuner.tasks[i].tag.value != 0) {
            return &tuner.tasks[i];
        }
    }
    return NULL;
}

/* Copies of a selection are reported as work of their own. */
static void counts_of_work_in_flight_saturate(void **state)
{
    enum { TIMES = UINT16_MAX + 5 };
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    live(&task, 2); /* the first runs, so that the next one is a turn that is timed */
    const dynsel_selection turn = world_choose(&task);
    assert_int_equal(turn.reason, DYNSEL_REASON_PROFILING);
    const dynsel_tuned_resource *const times = &only_entry()->resources[turn.index];
    dynsel_selection copy = turn;
    for (uint32_t i = 0; i < TIMES; i++) {
        copy = turn;
        world_tell(&copy, DYNSEL_TASK_SUBMISSION, 0);
    }
    assert_int_equal(times->unfinished, UINT16_MAX);
    assert_int_equal(times->turns, UINT8_MAX);
    assert_int_equal(tuner.loads[turn.index].value, TIMES);
    const dynsel_selection submitted = copy;
    for (uint32_t i = 0; i < TIMES; i++) {
        copy = submitted;
        world_tell(&copy, DYNSEL_TASK_COMPLETION, 0);
    }
    assert_int_equal(times->unfinished, 0);
    assert_int_equal(tuner.loads[turn.index].value, 0);
    world_close();
}

/* No run is forgotten: one that cost much would be tried again. */
static void run_counts_are_halved_before_they_overflow(void **state)
{
    static dynsel_tuned_task entry;
    enum { HALF = 1 << 30 };
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    dynsel_tuned_count_runs(&entry, 0, 2u * HALF);
    assert_int_equal(entry.runs, 2u * HALF);
    dynsel_tuned_count_runs(&entry, 1, 1);
    assert_int_equal(entry.resources[0].runs, HALF);
    assert_int_equal(entry.resources[1].runs, 1);
    assert_int_equal(entry.runs, HALF + 1);
}

static void reinitialized_policy_has_no_learned_times(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    dynsel_selection lost = world_choose(&task);
    world_tell(&lost, DYNSEL_TASK_SUBMISSION, 0);
    live(&task, 30);
    world_close();
    begin(2, DYNSEL_NEVER_RESAMPLE);
    assert_int_equal(tuner.loads[0].value, 0);
    static const uint32_t expected[] = {0, 1, 0, 1, 0};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(world_run(&w, &task), expected[i]);
    }
    world_close();
}

static void init_with_wrong_arguments_is_refused(void **state)
{
    (void)state;
    static dynsel_auto_tune_policy policy;
    dynsel_selection selection;
    assert_status(DYNSEL_E_INVALID, dynsel_auto_tune_init(NULL, NULL, 0));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_select(&policy.policy, &task, &selection));
    const dynsel_options options = {.count = 1};
    assert_status(DYNSEL_E_INVALID, dynsel_auto_tune_init(&policy, &options, 0));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_policy_deinit(&policy.policy));
    begin(1, DYNSEL_NEVER_RESAMPLE);
    assert_status(DYNSEL_E_INVALID, dynsel_auto_tune_init(&tuner, NULL, 0));
    assert_int_equal(tuner.policy.ops->needs,
                     DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME);
    world_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_selections_profile_each_resource_twice_then_use_best),
        cmocka_unit_test(first_runs_are_ignored_however_late_reported),
        cmocka_unit_test(burst_without_known_times_spreads_evenly),
        cmocka_unit_test(burst_avoids_resources_loaded_by_other_kinds),
        cmocka_unit_test(profiling_turn_is_repeated_only_after_failure),
        cmocka_unit_test(selections_inside_submit_claim_their_turn),
        cmocka_unit_test(settled_kind_is_timed_once_in_sixteen_runs),
#if CONFIG_DYNSEL_CUSTOM_BACKENDS && !CONFIG_DYNSEL_IN_FLIGHT_SMALL
        cmocka_unit_test(short_work_is_timed_rarely_where_that_is_dear),
#endif
        cmocka_unit_test(failing_resource_is_excluded_and_its_times_ignored),
        cmocka_unit_test(failed_profiling_turn_is_repeated),
        cmocka_unit_test(work_failing_on_all_resources_is_still_submitted),
        cmocka_unit_test(next_best_resource_replaces_best_out_of_service),
        cmocka_unit_test(profiling_continues_while_resources_come_and_go),
        cmocka_unit_test(resources_without_task_form_are_not_profiled),
        cmocka_unit_test(task_with_fewer_forms_does_not_change_known_best),
        cmocka_unit_test(reinstated_resources_are_profiled_again),
        cmocka_unit_test(resampling_discards_earlier_times),
        cmocka_unit_test(default_interval_never_resamples),
        cmocka_unit_test(late_reports_of_earlier_round_are_dropped),
        cmocka_unit_test(work_in_flight_is_counted_across_rounds),
        cmocka_unit_test(refused_run_returns_its_profiling_turn),
        cmocka_unit_test(submitted_work_is_profiled_and_tuned),
        cmocka_unit_test(counts_of_work_in_flight_saturate),
        cmocka_unit_test(run_counts_are_halved_before_they_overflow),
        cmocka_unit_test(reinitialized_policy_has_no_learned_times),
        cmocka_unit_test(init_with_wrong_arguments_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
