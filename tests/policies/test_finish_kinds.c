/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds of earliest_finish: kinds without an entry, and kinds with key words and their
 * root. */
#include "policies/task_kind.h"

/* Last: its short names would hide parameters of the header above. */
#include "policies/finish_queues.h"

/* As often as a selection found no entry; one of them in 16 makes room for its kind. */
static void kinds_without_entry_are_counted(void **state)
{
    (void)state;
    enum { ROUNDS = 10, MANY = 2 * KINDS + 16 };
    uint32_t untracked = 0;
    assert_int_equal(dynsel_earliest_finish_untracked(&finisher), 0);
    for (uint32_t i = 0; i < ROUNDS * MANY; i++) {
        const dynsel_task one = {.function = manual_enqueue, .id = 100 + i % MANY};
        const dynsel_selection selection = choose(&one);
        untracked += selection.reason == DYNSEL_REASON_UNTRACKED ? 1 : 0;
        (void)run(&one); /* looks once more */
    }
    const uint32_t counted = dynsel_earliest_finish_untracked(&finisher);
    const dynsel_task_form here[] = {{&manual.backend, manual_enqueue}};
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    begin_with(1);
    for (uint32_t i = 0; i < 2 * MANY; i++) { /* without a choice there is a better reason */
        const dynsel_task one = {.forms = here, .form_count = 1, .id = 100 + i};
        assert_int_equal(choose(&one).reason, DYNSEL_REASON_ONLY_CANDIDATE);
    }
    const dynsel_task_form nowhere[] = {{&dynsel_inline_backend, manual_enqueue}};
    for (uint32_t id = 1; id <= 32; id++) {
        const dynsel_task one = {.forms = nowhere, .form_count = 1, .id = id};
        dynsel_selection selection;
        assert_status(DYNSEL_E_UNSUPPORTED, dynsel_select(&finisher.policy, &one, &selection));
    }
    assert_true(untracked >= ROUNDS * (MANY - KINDS) / 2);
    assert_in_range(counted, untracked, 2 * untracked + 2 * untracked / 8 + 1);
}

/* Without an entry the shortest queue of equal resources counts. */
static void untracked_work_goes_to_shortest_queue(void **state)
{
    (void)state;
    const unsigned first = newest_event() + 1;
    unsigned seen = 0;
    for (uint32_t id = 1; id < 1000 && seen < QUEUES; id++) {
        const dynsel_task one = {.function = manual_enqueue, .id = id};
        const dynsel_selection selection = choose(&one);
        if (selection.reason == DYNSEL_REASON_UNTRACKED) {
            assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, &one, NULL));
            assert_int_equal(queue_of(newest_event()), selection.index);
            assert_int_equal(selection.index, seen);
            seen++;
        }
    }
    assert_int_equal(seen, QUEUES);
    assert_int_equal(newest_event() + 1 - first, QUEUES);
    assert_status(DYNSEL_OK, wait_for_all());
}

#if CONFIG_DYNSEL_MAX_KEY_WORDS > 0
/* Work of one id with other key words tells how long new ones take. */
static void kinds_of_one_id_learn_from_each_other(void **state)
{
    (void)state;
    takes_ns[0] = 200 * US;
    takes_ns[1] = 20 * US;
    takes_ns[2] = 200 * US;
    for (uint32_t size = 1; size <= 4; size++) {
        const dynsel_task sized = {
            .function = manual_enqueue, .id = 60, .key_words = &size, .key_word_count = 1};
        (void)run_on(1, &sized, 100);
    }
    const uint32_t other = 9;
    const dynsel_task fresh = {
        .function = manual_enqueue, .id = 60, .key_words = &other, .key_word_count = 1};
    const dynsel_selection selection = choose(&fresh);
    assert_int_equal(selection.index, 1);
    assert_int_equal(selection.reason, DYNSEL_REASON_EARLIEST_FINISH);
    const dynsel_task root = {.id = 60};
    assert_non_null(entry_of(&root));
    assert_true(entry_of(&root)->resources[1].samples.value >= 4);
}
#endif

#if CONFIG_DYNSEL_MAX_KEY_WORDS > 0
/* Chooses for new kinds until each entry has one. */
static void fill_table(void)
{
    uint32_t filled = 0;
    for (uint32_t id = 1000; filled < KINDS; id++) {
        (void)choose(&(dynsel_task){.function = manual_enqueue, .id = id});
        filled = 0;
        for (unsigned k = 0; k < KINDS; k++) {
            filled += finisher.kinds[k].tag.value != 0 ? 1 : 0;
        }
    }
}

/* The first key word, from one on, with which a task's search begins at an entry. */
static uint32_t key_that_begins_at(uint32_t entry, dynsel_task of, uint32_t key)
{
    of.key_words = &key;
    of.key_word_count = 1;
    const dynsel_task_key all = dynsel_task_key_of(&of);
    while ((uint64_t)dynsel_task_key_hash(&of, all) * KINDS >> 32 != entry) {
        key++;
    }
    return key;
}

/* The entry of the id without key words goes to a kind of that id with other ones: it is no root,
 * and a time of the first kind is none of its own. */
static void entry_with_key_words_is_no_root(void **state)
{
    (void)state;
    const dynsel_task root = {.function = manual_enqueue, .id = 60};
    const uint32_t first = 1;
    dynsel_task keyed = root;
    keyed.key_words = &first;
    keyed.key_word_count = 1;
    dynsel_selection selection = choose(&keyed);
    assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
    const uint32_t at = (uint32_t)(entry_of(&root) - finisher.kinds);
    dynsel_finish_kind *const entry = &finisher.kinds[at];
    fill_table();
    assert_ptr_equal(entry_of(&root), entry);
    entry->used.value = 0; /* no other was used longer ago */
    const uint32_t second = key_that_begins_at(at, root, first + 1);
    keyed.key_words = &second;
    for (unsigned i = 0; i < 16 && entry->kind.shape.value == 0; i++) {
        (void)choose(&keyed); /* one search in so many makes room */
    }
    assert_int_equal(entry->kind.shape.value, 1);
    assert_int_equal(entry->kind.key_words[0].value, second);
    assert_true(dynsel_selection_needs(&selection, DYNSEL_TASK_TIME));
    assert_status(DYNSEL_OK, dynsel_report_value(&selection, DYNSEL_TASK_TIME, 20 * US));
    assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_COMPLETION));
    assert_int_equal(entry->resources[selection.index].samples.value, 0);
}

/* Most of the kinds lose their entries while their work is in flight; their root does not. */
static void kinds_that_lose_entries_leave_nothing_unfinished(void **state)
{
    (void)state;
    static dynsel_selection selections[4 * KINDS];
    for (uint32_t i = 0; i < 4 * KINDS; i++) {
        const dynsel_task keyed = {
            .function = manual_enqueue, .id = 60, .key_words = &i, .key_word_count = 1};
        selections[i] = choose(&keyed);
        assert_status(DYNSEL_OK, dynsel_report(&selections[i], DYNSEL_TASK_SUBMISSION));
    }
    for (uint32_t i = 0; i < 4 * KINDS; i++) {
        assert_status(DYNSEL_OK, dynsel_report(&selections[i], DYNSEL_TASK_COMPLETION));
    }
    assert_true(dynsel_earliest_finish_untracked(&finisher) >= 16); /* at least one lost it */
    assert_nothing_is_unfinished();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(kinds_without_entry_are_counted),
        TEST(untracked_work_goes_to_shortest_queue),
#if CONFIG_DYNSEL_MAX_KEY_WORDS > 0
        TEST(kinds_of_one_id_learn_from_each_other),
        TEST(entry_with_key_words_is_no_root),
        TEST(kinds_that_lose_entries_leave_nothing_unfinished),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
