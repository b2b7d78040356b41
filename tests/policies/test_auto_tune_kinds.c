/* SPDX-License-Identifier: Apache-2.0 */
/* What tells kinds of task apart for auto_tune, and a table that is full of them. */
#include <dynsel/dynsel.h>

#include "policies/auto_tune_one_world.h"

#include "policies/auto_tune_parts.h"
#include "policy/policy.h"
#include "room.h"

static dynsel_status another(const dynsel_resource *where, void *args, dynsel_event *done)
{
    return world_nothing(where, args, done);
}

/* A kind that was not seen yet begins with the first resource. */
static void assert_new(const dynsel_task *what, bool is_new)
{
    dynsel_selection selection = world_choose(what);
    assert_int_equal(selection.index, is_new ? 0 : 1);
    assert_int_equal(selection.reason, DYNSEL_REASON_PROFILING);
    world_tell(&selection, DYNSEL_TASK_SUBMISSION, 0);
    world_tell(&selection, DYNSEL_TASK_COMPLETION, 0);
}

static void task_kinds_differ_by_id_or_function(void **state)
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
    return dynsel_tuned_first(dynsel_task_key_hash(what, dynsel_task_key_of(what)));
}

static void task_kinds_with_equal_hash_are_distinct(void **state)
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
static void task_kinds_differ_by_key_words(void **state)
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

static void wrong_key_words_are_refused(void **state)
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

static dynsel_task kind_of(uint32_t number)
{
    return (dynsel_task){.function = world_nothing, .id = 1000 + number};
}

static dynsel_selection begin_run_of(uint32_t number)
{
    const dynsel_task what = kind_of(number);
    dynsel_selection selection = world_choose(&what);
    world_tell(&selection, DYNSEL_TASK_SUBMISSION, 0);
    return selection;
}

static void live_as(uint32_t number, uint32_t runs)
{
    const dynsel_task what = kind_of(number);
    live(&what, runs);
}

enum { TABLE = CONFIG_DYNSEL_MAX_TUNED_TASKS, LEARNED = 4 + SETTLED_AFTER };

/* Kinds 0 and on have all places. */
static void fill_table(uint32_t runs_of_each)
{
    begin(2, DYNSEL_NEVER_RESAMPLE);
    for (uint32_t k = 0; k < TABLE; k++) {
        live_as(k, runs_of_each);
    }
    assert_int_equal(dynsel_auto_tune_untracked(&tuner), 0);
}

static bool has_place(uint32_t number)
{
    for (uint32_t k = 0; k < TABLE; k++) {
        if (tuner.tasks[k].tag.value != 0 && tuner.tasks[k].kind.name[0].value == 1000 + number) {
            return true;
        }
    }
    return false;
}

static void untracked_kind_uses_least_loaded_resource_in_turn(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && TABLE <= 32);
    fill_table(1);
    dynsel_selection selections[7];
    selections[0] = begin_run_of(TABLE); /* it is the one that will make room */
    assert_int_equal(selections[0].reason, DYNSEL_REASON_UNTRACKED);
    live_as(TABLE + 1, 1);
    assert_true(has_place(TABLE + 1));
    for (uint32_t i = 1; i < 7; i++) {
        selections[i] = begin_run_of(TABLE + 1 + i);
        assert_int_equal(selections[i].reason, DYNSEL_REASON_UNTRACKED);
        assert_int_equal(selections[i].index, i % 2);
        assert_false(dynsel_selection_needs(&selections[i], DYNSEL_TASK_TIME));
    }
    assert_int_equal(dynsel_auto_tune_untracked(&tuner), 7);
    for (uint32_t i = 0; i < 7; i++) {
        world_tell(&selections[i], DYNSEL_TASK_COMPLETION, 0);
    }
    uint32_t counts[2] = {0};
    for (uint32_t i = 0; i < 8; i++) {
        const dynsel_task what = kind_of(2 * TABLE + 10 + i);
        counts[world_run(&w, &what)]++;
    }
    assert_int_equal(counts[0], 4);
    assert_int_equal(dynsel_auto_tune_untracked(NULL), 0);
    world_close();
}

/* However slow the first resource is, where the work of one more kind would go if it stayed out. */
static void new_kind_in_full_table_evicts_least_recently_used(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && TABLE >= 3 && TABLE <= 32);
    fill_table(LEARNED);
    live_as(0, LEARNED); /* so that kind 1 is the one */
    w.devices[0].ns = 1000000;
    memset(w.runs, 0, sizeof w.runs);
    live_as(TABLE, 1000);
    assert_in_range(w.runs[1], 900, 1000);
    assert_false(has_place(1));
    for (uint32_t k = 2; k <= TABLE; k++) {
        assert_true(has_place(k));
    }
    assert_true(has_place(0));
    world_close();
}

/* All take turns, so that the one that was used least lately is the next to come. */
static void kinds_beyond_table_size_are_learned(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && TABLE >= 8 && TABLE <= 32);
    begin(2, DYNSEL_NEVER_RESAMPLE);
    w.devices[0].ns = 100000;
    enum { KINDS = TABLE + TABLE / 8, ROUNDS = 400 };
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t k = 0; k < KINDS; k++) {
            live_as(k, 1);
        }
    }
    assert_true(w.runs[1] > KINDS * ROUNDS / 10 * 8);
    world_close();
}

static void dropped_selections_evict_no_kind(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && TABLE >= 2 && TABLE <= 32);
    fill_table(LEARNED);
    for (uint32_t i = 0; i < 100 * TABLE; i++) {
        const dynsel_task what = kind_of(TABLE + i);
        (void)world_choose(&what);
        (void)world_choose(&what);
    }
    for (uint32_t k = 0; k < TABLE; k++) {
        assert_true(has_place(k));
    }
    assert_int_equal(dynsel_auto_tune_untracked(&tuner), 0);
    world_close();
    begin(2, DYNSEL_NEVER_RESAMPLE);
    for (uint32_t i = 0; i < 100 * TABLE; i++) {
        const dynsel_task what = kind_of(TABLE + i);
        (void)world_choose(&what);
    }
    for (uint32_t k = 0; k < TABLE; k++) { /* what nobody uses has no place to keep */
        live_as(k, LEARNED);
        assert_int_equal(w.last.reason, DYNSEL_REASON_BEST_KNOWN);
    }
    assert_int_equal(dynsel_auto_tune_untracked(&tuner), 0);
    world_close();
}

static uint32_t unfinished_of_all(void)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < TABLE; k++) {
        for (uint32_t i = 0; i < tuner.policy.count; i++) {
            sum += tuner.tasks[k].resources[i].unfinished;
        }
    }
    return sum;
}

/* Of a kind that was given up while its work was out, and of one that was only selected. */
static void late_reports_of_evicted_kind_are_dropped(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2 && TABLE <= 32);
    fill_table(1);
    dynsel_selection begun[TABLE];
    dynsel_selection chosen[TABLE];
    for (uint32_t k = 0; k < TABLE; k++) {
        begun[k] = begin_run_of(k);
        const dynsel_task what = kind_of(k);
        chosen[k] = world_choose(&what);
    }
    uint32_t others = TABLE;
    while (has_place(0)) { /* used for the last time before all others */
        live_as(others++, 1);
    }
    for (; others < 40 * TABLE; others++) {
        live_as(others, 1);
    }
    for (uint32_t k = 0; k < TABLE; k++) {
        world_tell(&chosen[k], DYNSEL_TASK_SUBMISSION, 0);
        world_tell(&begun[k], DYNSEL_TASK_TIME, 1);
        world_tell(&chosen[k], DYNSEL_TASK_TIME, 1);
        world_tell(&begun[k], DYNSEL_TASK_COMPLETION, 0);
        world_tell(&chosen[k], DYNSEL_TASK_COMPLETION, 0);
    }
    assert_int_equal(unfinished_of_all(), 0);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(tuner.loads[i].value, 0);
        for (uint32_t k = 0; k < TABLE; k++) {
            const dynsel_tuned_task *entry = &tuner.tasks[k];
            assert_true(!EXPLORES || entry->kind.name[0].value < 1000 + TABLE ||
                        dynsel_tuned_estimate(&entry->resources[i]) > 1);
        }
    }
    world_close();
}

/* Many kinds at once, in any order, against a count of turns for each: none has two entries, and
 * turns are those of the kind as long as it has one. */
static void many_kinds_keep_separate_turns(void **state)
{
    (void)state;
    test_random random = {test_seed()};
    enum { KINDS = 4 * TABLE };
    for (int life = 0; life < 20; life++) {
        const uint32_t count = 1 + test_random_below(&random, RESOURCES_UP_TO(5));
        static uint32_t turns[KINDS];
        uint32_t untracked = 0;
        memset(turns, 0, sizeof turns);
        begin(count, DYNSEL_NEVER_RESAMPLE);
        for (uint32_t i = 0; i < 24 * KINDS; i++) {
            const uint32_t kind = test_random_below(&random, KINDS);
            turns[kind] = has_place(kind) ? turns[kind] : 0;
            dynsel_selection selection = begin_run_of(kind);
            if (selection.reason == DYNSEL_REASON_UNTRACKED) {
                assert_false(has_place(kind));
                untracked += count > 1 ? 1 : 0;
            } else if (turns[kind] < 2 * count) {
                assert_true(has_place(kind));
                assert_int_equal(selection.index, turns[kind] % count);
            }
            turns[kind] += 1;
            world_tell(&selection, DYNSEL_TASK_COMPLETION, 0);
        }
        assert_int_equal(dynsel_auto_tune_untracked(&tuner), untracked);
        world_close();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(task_kinds_differ_by_id_or_function),
        cmocka_unit_test(task_kinds_with_equal_hash_are_distinct),
#if CONFIG_DYNSEL_MAX_KEY_WORDS >= 2
        cmocka_unit_test(task_kinds_differ_by_key_words),
#endif
        cmocka_unit_test(wrong_key_words_are_refused),
        cmocka_unit_test(untracked_kind_uses_least_loaded_resource_in_turn),
        cmocka_unit_test(new_kind_in_full_table_evicts_least_recently_used),
        cmocka_unit_test(kinds_beyond_table_size_are_learned),
        cmocka_unit_test(dropped_selections_evict_no_kind),
        cmocka_unit_test(late_reports_of_evicted_kind_are_dropped),
        cmocka_unit_test(many_kinds_keep_separate_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
