/* SPDX-License-Identifier: Apache-2.0 */
/* What tells kinds of task apart for auto_tune, and a table that is full of them. */
#include <dynsel/dynsel.h>

#include "policies/auto_tune_one_world.h"

#include "core/policy.h"
#include "core/room.h"
#include "policies/auto_tune_parts.h"

static dynsel_status another(const dynsel_resource *where, void *args, dynsel_event *done)
{
    return world_nothing(where, args, done);
}

/* A kind that was not seen yet begins with the first resource. */
static void assert_new(const dynsel_task *what, bool is_new)
{
    const dynsel_selection selection = world_choose(what);
    assert_int_equal(selection.index, is_new ? 0 : 1);
    assert_int_equal(selection.reason, DYNSEL_REASON_PROFILING);
}

static void kinds_are_told_apart_by_id_or_function(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && CONFIG_DYNSEL_MAX_TUNED_TASKS >= 16);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    const dynsel_task_form forms[] = {{&world_backend, another}};
    assert_new(&(dynsel_task){.function = world_nothing, .id = 1}, true);
    assert_new(&(dynsel_task){.function = world_nothing, .id = 2}, true);
    assert_new(&(dynsel_task){.function = another, .id = 1}, false);
    assert_new(&(dynsel_task){.function = world_nothing}, true);
    assert_new(&(dynsel_task){.function = another}, true);
    assert_new(&(dynsel_task){.function = world_nothing}, false);
    assert_new(&(dynsel_task){.forms = forms, .form_count = 1}, false);
    assert_new(&(dynsel_task){.forms = forms, .form_count = 1, .id = 2}, false);
    world_close();
}

/* Two kinds that are looked for in the same place first, and differ in one thing only. */
static void assert_told_apart(const dynsel_task *settled, const dynsel_task *other)
{
    begin(2, DYNSEL_NEVER_RESAMPLE);
    live(settled, 4 + SETTLED_AFTER);
    assert_int_equal(w.last.reason, DYNSEL_REASON_BEST_KNOWN);
    live(other, 1);
    assert_int_equal(w.last.reason, DYNSEL_REASON_PROFILING);
    world_close();
}

static uint32_t place_of(const dynsel_task *what)
{
    return dynsel_tuned_first(dynsel_tuned_hash(what, dynsel_tuned_function(what)));
}

static void neighbours_in_the_table_are_told_apart(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && CONFIG_DYNSEL_MAX_TUNED_TASKS >= 2);
    static const dynsel_task first = {.function = world_nothing, .id = 7};
    dynsel_task other = first;
    do {
        other.id++;
    } while (place_of(&other) != place_of(&first));
    assert_told_apart(&first, &other);
    assert_told_apart(&other, &first);
    const dynsel_task by_function = {.function = world_nothing};
    for (other.id = 1; place_of(&other) != place_of(&by_function);) {
        other.id++;
    }
    assert_told_apart(&by_function, &other);
    assert_told_apart(&other, &by_function);
    dynsel_task by_another = by_function;
    for (uintptr_t address = 1; place_of(&by_another) != place_of(&by_function) ||
                                by_another.function == by_function.function;
         address++) {
        by_another.function = (dynsel_task_fn)address; /* which nobody calls */
    }
    assert_told_apart(&by_function, &by_another);
#if CONFIG_DYNSEL_MAX_KEY_WORDS >= 1
    uint32_t words[2] = {0, 1};
    dynsel_task keyed = {
        .function = world_nothing, .id = 7, .key_words = &words[0], .key_word_count = 1};
    while (place_of(&keyed) != place_of(&first)) {
        words[0]++;
    }
    assert_told_apart(&first, &keyed);
    assert_told_apart(&keyed, &first);
    dynsel_task rekeyed = keyed;
    rekeyed.key_words = &words[1];
    while (place_of(&rekeyed) != place_of(&keyed) || words[0] == words[1]) {
        words[1]++;
    }
    assert_told_apart(&keyed, &rekeyed);
#endif
}

#if CONFIG_DYNSEL_MAX_KEY_WORDS >= 2
static void kinds_are_told_apart_by_key_words(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && CONFIG_DYNSEL_MAX_TUNED_TASKS >= 16);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    uint32_t words[] = {1, 2};
    dynsel_task keyed = {.function = world_nothing, .id = 1, .key_words = words};
    assert_new(&keyed, true);
    keyed.key_word_count = 1;
    assert_new(&keyed, true);
    keyed.key_word_count = 2;
    assert_new(&keyed, true);
    words[1] = 3;
    assert_new(&keyed, true);
    words[0] = 3;
    words[1] = 1;
    assert_new(&keyed, true);
    words[0] = 1;
    words[1] = 2;
    assert_new(&keyed, false);
    keyed.id = 0;
    assert_new(&keyed, true);
    keyed.key_word_count = 0;
    keyed.id = 1;
    assert_new(&keyed, false);
    world_close();
}
#endif

static void bad_key_words_are_refused(void **state)
{
    (void)state;
    begin(1, DYNSEL_NEVER_RESAMPLE);
    const uint32_t words[CONFIG_DYNSEL_MAX_KEY_WORDS + 1] = {0};
    dynsel_selection selection;
    dynsel_task keyed = {.function = world_nothing,
                         .key_words = words,
                         .key_word_count = CONFIG_DYNSEL_MAX_KEY_WORDS + 1};
    assert_status(DYNSEL_E_INVALID, dynsel_select(&tuner.policy, &keyed, &selection));
    assert_error_says("CONFIG_DYNSEL_MAX_KEY_WORDS");
    assert_status(DYNSEL_E_INVALID, dynsel_submit(&tuner.policy, &keyed, NULL));
    keyed.key_word_count = SIZE_MAX;
    assert_status(DYNSEL_E_INVALID, dynsel_select(&tuner.policy, &keyed, &selection));
    keyed.key_word_count = CONFIG_DYNSEL_MAX_KEY_WORDS;
    assert_status(DYNSEL_OK, dynsel_select(&tuner.policy, &keyed, &selection));
    if (CONFIG_DYNSEL_MAX_KEY_WORDS > 0) {
        keyed.key_words = NULL;
        assert_status(DYNSEL_E_INVALID, dynsel_select(&tuner.policy, &keyed, &selection));
    }
    world_close();
}

static void what_does_not_fit_runs_where_the_least_is_unfinished(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && CONFIG_DYNSEL_MAX_TUNED_TASKS <= 32);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    for (uint32_t id = 1; id <= CONFIG_DYNSEL_MAX_TUNED_TASKS; id++) {
        assert_new(&(dynsel_task){.function = world_nothing, .id = id * 77777}, true);
    }
    assert_int_equal(dynsel_auto_tune_untracked(&tuner), 0);
    dynsel_selection selections[6];
    for (uint32_t i = 0; i < 6; i++) {
        selections[i] = world_choose(&(dynsel_task){.function = world_nothing, .id = 3 + i});
        assert_int_equal(selections[i].reason, DYNSEL_REASON_UNTRACKED);
        assert_int_equal(selections[i].index, i % 2);
        assert_false(dynsel_selection_needs(&selections[i], DYNSEL_TASK_TIME));
        world_tell(&selections[i], DYNSEL_TASK_SUBMISSION, 0);
    }
    assert_int_equal(dynsel_auto_tune_untracked(&tuner), 6);
    for (uint32_t i = 1; i < 6; i += 2) {
        world_tell(&selections[i], DYNSEL_TASK_COMPLETION, 0);
    }
    assert_int_equal(world_choose(&(dynsel_task){.function = world_nothing, .id = 3}).index, 1);
    assert_new(&(dynsel_task){.function = world_nothing, .id = 77777}, false);
    assert_int_equal(dynsel_auto_tune_untracked(NULL), 0);
    world_close();
}

/* Many kinds at once, in any order, against a count of turns for each. */
static void kinds_do_not_disturb_each_other(void **state)
{
    (void)state;
    test_random random = {test_seed()};
    enum { KINDS = 4 * CONFIG_DYNSEL_MAX_TUNED_TASKS };
    for (int life = 0; life < 20; life++) {
        const uint32_t count = 1 + test_random_below(&random, RESOURCES_UP_TO(5));
        const uint32_t first = test_random_next(&random);
        static uint8_t turns[KINDS];
        static bool is_untracked[KINDS];
        uint32_t tracked = 0;
        uint32_t untracked = 0;
        memset(turns, 0, sizeof turns);
        memset(is_untracked, 0, sizeof is_untracked);
        begin(count, DYNSEL_NEVER_RESAMPLE);
        for (uint32_t i = 0; i < 6 * KINDS; i++) {
            const uint32_t kind = test_random_below(&random, KINDS);
            const dynsel_selection selection = world_choose(
                &(dynsel_task){.function = world_nothing, .id = (first + kind * 257) | 1u << 31});
            if (selection.reason == DYNSEL_REASON_UNTRACKED) {
                assert_true(turns[kind] == 0 || is_untracked[kind]);
                is_untracked[kind] = true;
                untracked++;
            } else {
                tracked += turns[kind] == 0 ? 1 : 0;
                assert_false(is_untracked[kind]);
                if (count != 0 && turns[kind] < 2 * count) {
                    assert_int_equal(selection.index, turns[kind] % count);
                }
            }
            turns[kind] = (uint8_t)(turns[kind] < UINT8_MAX ? turns[kind] + 1 : UINT8_MAX);
        }
        assert_true(tracked <= CONFIG_DYNSEL_MAX_TUNED_TASKS);
        assert_true(tracked == CONFIG_DYNSEL_MAX_TUNED_TASKS || CONFIG_DYNSEL_MAX_TUNED_TASKS > 32);
        assert_int_equal(dynsel_auto_tune_untracked(&tuner), untracked);
        world_close();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_told_apart_by_id_or_function),
        cmocka_unit_test(neighbours_in_the_table_are_told_apart),
#if CONFIG_DYNSEL_MAX_KEY_WORDS >= 2
        cmocka_unit_test(kinds_are_told_apart_by_key_words),
#endif
        cmocka_unit_test(bad_key_words_are_refused),
        cmocka_unit_test(what_does_not_fit_runs_where_the_least_is_unfinished),
        cmocka_unit_test(kinds_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
