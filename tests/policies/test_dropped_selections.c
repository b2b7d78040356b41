/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selections that are dropped leave auto_tune as it was: turns, tries and what is timed are those
 * of the work that is submitted. And rounds: one that began is finished before the next begins.
 */
#include <dynsel/dynsel.h>

#include <string.h>

#include "room.h"
#include "test.h"

enum { EXPLORES = CONFIG_DYNSEL_AUTO_TUNE_EXPLORE_PERCENT > 0 };

#define MS UINT64_C(1000000)

static uint64_t now_ns;

uint64_t dynsel_now_ns(void)
{
    return now_ns;
}

static dynsel_auto_tune_policy policy;
static dynsel_resource hosts[CONFIG_DYNSEL_MAX_RESOURCES];
static uint64_t times[CONFIG_DYNSEL_MAX_RESOURCES]; /* what a run needs, by resource */
static uint32_t runs[CONFIG_DYNSEL_MAX_RESOURCES];
static uint32_t last;

static dynsel_status work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    (void)done;
    last = (uint32_t)((const dynsel_resource *)where->handle - hosts);
    runs[last]++;
    now_ns += times[last];
    return DYNSEL_OK;
}

static const dynsel_task task = {.function = work, .id = 1};

static void begin(uint32_t count, const uint64_t *of, uint64_t interval_ns)
{
    for (uint32_t i = 0; i < count; i++) {
        hosts[i] = (dynsel_resource){&dynsel_inline_backend, &hosts[i]};
        times[i] = of[i];
    }
    const dynsel_options options = {.resources = hosts, .count = count};
    memset(runs, 0, sizeof runs);
    now_ns = 1;
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&policy, &options, interval_ns));
}

static void end(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static dynsel_selection choose(void)
{
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &task, &selection));
    return selection;
}

static void drop(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)choose();
    }
}

static void tell(dynsel_selection *selection, dynsel_execution_info info, uint64_t value)
{
    if (dynsel_selection_needs(selection, info)) {
        assert_status(DYNSEL_OK, info == DYNSEL_TASK_TIME
                                     ? dynsel_report_value(selection, info, value)
                                     : dynsel_report(selection, info));
    }
}

/* The ways to run one piece of work; each returns where it ran. */
static uint32_t by_submit(void)
{
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &task));
    return last;
}

static uint32_t by_submit_selection(void)
{
    dynsel_selection selection = choose();
    assert_status(DYNSEL_OK, dynsel_submit_selection_and_wait(&selection, &task));
    return last;
}

static uint32_t by_reports(void)
{
    dynsel_selection selection = choose();
    dynsel_event done = {.native = NULL};
    tell(&selection, DYNSEL_TASK_SUBMISSION, 0);
    assert_status(DYNSEL_OK, work(dynsel_selection_unwrap(&selection), NULL, &done));
    tell(&selection, DYNSEL_TASK_TIME, times[last]);
    tell(&selection, DYNSEL_TASK_COMPLETION, 0);
    return last;
}

/* Where interrupts are signals, each lock is two calls of the system; the choice is the same. */
enum { IS_FAST = CONFIG_DYNSEL_HAS_FULL_SPEED && !CONFIG_DYNSEL_CONTEXT_INTERRUPTS };

static uint32_t (*const ways[])(void) = {by_submit, by_submit_selection, by_reports};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void dropped_selections_consume_no_turns(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 4);
    static const uint64_t of[] = {MS, MS, MS, MS / 100};
    enum { RUNS = IS_FAST ? 2000 : 200 };
    for (uint32_t way = 0; way < WAYS; way++) {
        for (uint32_t dropped = 0; dropped < 20; dropped++) {
            begin(4, of, DYNSEL_NEVER_RESAMPLE);
            for (uint32_t i = 0; i < RUNS; i++) {
                drop(dropped);
                const uint32_t index = ways[way]();
                assert_true(i >= 8 || index == i % 4);
            }
            assert_in_range(runs[3], EXPLORES ? RUNS - 20 : RUNS - 6, RUNS - 6);
            end();
        }
    }
}

static void selection_after_dropped_one_is_equal(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 3);
    static const uint64_t of[] = {3 * MS, MS, 2 * MS};
    begin(3, of, DYNSEL_NEVER_RESAMPLE);
    for (uint32_t i = 0; i < 500; i++) {
        const dynsel_selection first = choose();
        const dynsel_selection second = choose();
        assert_int_equal(first.index, second.index);
        assert_int_equal(first.reason, second.reason);
        assert_int_equal(by_submit(), first.index);
    }
    end();
}

/* Whoever submits them in the end. */
static void several_selections_of_one_turn_count_once(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    static const uint64_t of[] = {2 * MS, MS};
    begin(2, of, DYNSEL_NEVER_RESAMPLE);
    dynsel_selection held[5];
    for (uint32_t i = 0; i < 5; i++) {
        held[i] = choose();
        assert_int_equal(held[i].index, 0);
    }
    times[0] = 500 * MS; /* it compiles */
    for (uint32_t i = 0; i < 5; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_selection_and_wait(&held[i], &task));
    }
    times[0] = MS / 2;
    assert_int_equal(by_submit(), 1);
    assert_int_equal(by_submit(), 0); /* its second turn, which counts */
    assert_int_equal(by_submit(), 1);
    for (uint32_t i = 0; i < 8; i++) {
        assert_int_equal(by_submit(), 0);
    }
    end();
}

static void selection_of_earlier_round_takes_no_turn(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    static const uint64_t of[] = {2 * MS, MS};
    begin(2, of, 100 * MS);
    dynsel_selection old = choose();
    for (uint32_t i = 0; i < 6; i++) {
        (void)by_submit();
    }
    now_ns += 100 * MS;
    drop(1); /* the round begins */
    assert_status(DYNSEL_OK, dynsel_submit_selection_and_wait(&old, &task));
    assert_int_equal(last, 0);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(by_submit(), i % 2);
    }
    assert_int_equal(by_submit(), 1);
    end();
}

/* However regular the pattern is in which they come between the work. */
static void dropped_selections_do_not_hide_changed_times(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && EXPLORES && IS_FAST);
    static const uint64_t of[] = {MS, 2 * MS};
    static const uint32_t patterns[] = {0, 1, 2, 3, 7, 15, 31, 63};
    for (uint32_t way = 0; way < WAYS; way++) {
        for (uint32_t k = 0; k < sizeof patterns / sizeof patterns[0]; k++) {
            begin(2, of, DYNSEL_NEVER_RESAMPLE);
            for (uint32_t i = 0; i < 2000; i++) {
                drop(patterns[k]);
                (void)ways[way]();
            }
            assert_in_range(runs[1], 2, 110); /* not more tries than the work pays for */
            times[0] = 10 * MS;
            memset(runs, 0, sizeof runs);
            for (uint32_t i = 0; i < 2000; i++) {
                drop(patterns[k]);
                (void)ways[way]();
            }
            assert_in_range(runs[1], 1000, 2000);
            times[0] = MS / 2; /* which only a try can show */
            for (uint32_t i = 0; i < 20000; i++) {
                drop(patterns[k]);
                (void)ways[way]();
            }
            memset(runs, 0, sizeof runs);
            for (uint32_t i = 0; i < 1000; i++) {
                drop(patterns[k]);
                (void)ways[way]();
            }
            assert_in_range(runs[0], 900, 1000);
            end();
        }
    }
}

static void profiling_longer_than_interval_completes(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 4);
    static const uint64_t two[] = {20 * MS, 5 * MS};
    static const uint64_t four[] = {5 * MS, 5 * MS, 5 * MS, MS};
    for (uint32_t way = 0; way < WAYS; way++) {
        begin(2, two, 5 * MS);
        for (uint32_t i = 0; i < 60; i++) {
            assert_int_equal(ways[way](), i % 2);
        }
        end();
        begin(4, four, 11 * MS);
        for (uint32_t i = 0; i < 800; i++) {
            assert_int_equal(ways[way](), i % 4);
        }
        end();
        begin(4, four, 35 * MS); /* the last runs of each round have time left */
        for (uint32_t i = 0; i < 800; i++) {
            (void)ways[way]();
        }
        assert_in_range(runs[3], 800 * 5 / 11 - 5, 800 * 5 / 11 + 5);
        end();
    }
}

/* What the seed does: twice round, then the best until the interval has passed since that began. */
static void rounds_agree_with_reference_implementation(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 3 && !EXPLORES);
    static const uint64_t of[] = {7 * MS, 3 * MS, 4 * MS};
    for (uint64_t interval = 1; interval < 60; interval++) {
        begin(3, of, interval * MS);
        uint32_t next = 0;
        uint64_t began_ns = now_ns;
        for (uint32_t i = 0; i < 200; i++) {
            if (next == 6 && now_ns - began_ns >= interval * MS) {
                next = 0;
                began_ns = now_ns;
            }
            const uint32_t expected = next < 6 ? next++ % 3 : 1;
            assert_int_equal(by_submit(), expected);
        }
        end();
    }
}

static void single_resource_is_not_resampled(void **state)
{
    (void)state;
    static const uint64_t of[] = {MS};
    begin(1, of, MS);
    for (uint32_t i = 0; i < 100; i++) {
        const dynsel_selection selection = choose();
        assert_int_equal(selection.reason, DYNSEL_REASON_ONLY_CANDIDATE);
        (void)by_submit();
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropped_selections_consume_no_turns),
        cmocka_unit_test(selection_after_dropped_one_is_equal),
        cmocka_unit_test(several_selections_of_one_turn_count_once),
        cmocka_unit_test(selection_of_earlier_round_takes_no_turn),
        cmocka_unit_test(dropped_selections_do_not_hide_changed_times),
        cmocka_unit_test(profiling_longer_than_interval_completes),
        cmocka_unit_test(rounds_agree_with_reference_implementation),
        cmocka_unit_test(single_resource_is_not_resampled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
