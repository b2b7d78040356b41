/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish: a timed run begins and ends while its kind, or the root of that, loses its entry
 * to another kind, in every order of their atomic operations: nothing stays unfinished, because a
 * resource that seems to have a trial run in flight gets no other.
 */
#include <stdio.h>
#include <stdlib.h>

#include "policies/earliest_finish_parts.h"
#include "stepping/step.h"

/* Last: its short names would hide parameters of the headers above. */
#include "policies/finish_queues.h"

enum { ID = 60, FIRST_OTHER_ID = 1000 };

static dynsel_selection timed;
static dynsel_task other;
static dynsel_finish_kind *own;
static dynsel_finish_kind *root;
static bool ends_at_once;

static void begin_timed_run(void)
{
    assert_status(DYNSEL_OK, dynsel_report(&timed, DYNSEL_TASK_SUBMISSION));
}

static void end_timed_run(void)
{
    assert_status(DYNSEL_OK, dynsel_report(&timed, DYNSEL_TASK_COMPLETION));
}

static void run_thread(unsigned thread)
{
    if (thread == 1) {
        (void)dynsel_finish_find(&finisher, &other);
        return;
    }
    begin_timed_run();
    if (ends_at_once) {
        end_timed_run();
    }
}

static void check_nothing_is_unfinished(void)
{
    if (!ends_at_once) {
        end_timed_run();
    }
    if (own->resources[0].unfinished.value != 0 || root->resources[0].unfinished.value != 0) {
        (void)fprintf(stderr, "a run stays unfinished, in the order %s\n", step_path());
        abort();
    }
}

static void fill_table(void)
{
    uint32_t filled = 0;
    for (uint32_t id = FIRST_OTHER_ID; filled < KINDS; id++) {
        (void)choose(&(dynsel_task){.function = manual_enqueue, .id = id});
        filled = 0;
        for (unsigned k = 0; k < KINDS; k++) {
            filled += finisher.kinds[k].tag.value != 0 ? 1 : 0;
        }
    }
}

/* A task whose kind is not in the table, and whose search begins at the entry. */
static dynsel_task task_that_begins_at(const dynsel_finish_kind *entry)
{
    dynsel_task task = {.function = manual_enqueue, .id = 1u << 20};
    const uint64_t at = (uint64_t)(entry - finisher.kinds);
    while ((uint64_t)dynsel_task_key_hash(&task, dynsel_task_key_of(&task)) * KINDS >> 32 != at) {
        task.id++;
    }
    return task;
}

/* The run is chosen, and the next search that finds no entry makes room at one of the two. */
static void prepare(bool root_is_lost)
{
    static const uint32_t word = 1;
    const dynsel_task keyed = {
        .function = manual_enqueue, .id = ID, .key_words = &word, .key_word_count = 1};
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    begin_with(1);
    timed = choose(&keyed);
    assert_true(dynsel_selection_needs(&timed, DYNSEL_TASK_TIME));
    const dynsel_finish_kinds kinds = dynsel_finish_find(&finisher, &keyed);
    own = kinds.own;
    root = kinds.root;
    assert_true(own != NULL && own != root);
    assert_ptr_equal(root, entry_of(&(dynsel_task){.id = ID}));
    fill_table();
    for (unsigned k = 0; k < KINDS; k++) {
        finisher.kinds[k].used.value = finisher.clock.value; /* none was used longer ago */
    }
    finisher.untracked.value = 0;
    other = task_that_begins_at(root_is_lost ? root : own);
}

static void step(bool root_is_lost)
{
    prepare(root_is_lost);
    char *const own_rest = (char *)&own->resources[1];
    char *const root_rest = (char *)&root->resources[1];
    const size_t entry_bytes = offsetof(dynsel_finish_kind, resources[1]);
    const size_t rest_bytes = sizeof(*own) - entry_bytes;
    const step_piece memory[] = {
        {.memory = &timed, .bytes = sizeof(timed)},
        {.memory = &finisher, .bytes = offsetof(dynsel_earliest_finish_policy, speeds)},
        {.memory = own, .bytes = entry_bytes},
        {.memory = root, .bytes = entry_bytes},
        {.memory = own_rest, .bytes = rest_bytes, .counters = true}, /* of unused resources */
        {.memory = root_rest, .bytes = rest_bytes, .counters = true},
    };
    const step_scenario scenario = {run_thread, check_nothing_is_unfinished, memory,
                                    sizeof(memory) / sizeof(memory[0])};
    const step_result result = step_through(&scenario);
    print_message("%9.3g interleavings, %7lu states, %5lu ends, %3u steps\n", result.orders,
                  result.states, result.ends, result.longest);
    assert_int_equal(result.overslept, 0);
    begin_timed_run();
    end_timed_run();
}

static void kind_that_loses_its_entry_leaves_nothing_unfinished(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        ends_at_once = i != 0;
        step(false);
    }
}

static void root_that_loses_its_entry_leaves_nothing_unfinished(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        ends_at_once = i != 0;
        step(true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(kind_that_loses_its_entry_leaves_nothing_unfinished),
        TEST(root_that_loses_its_entry_leaves_nothing_unfinished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
