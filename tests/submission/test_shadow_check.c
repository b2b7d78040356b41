/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow check: work runs on a second resource, too, and a third decides where they differ. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "room.h"
#include "submission/manual_fixture.h"
#include "test.h"

enum {
    COUNT = RESOURCES_UP_TO(3),
    SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT,
    WORDS = CONFIG_DYNSEL_KEPT_BYTES / 4 < 4 ? CONFIG_DYNSEL_KEPT_BYTES / 4 : 4,
    BLOCKS_OF_CHECK = 2
};

#define TWO_RUNS   (COUNT > 1 && SLOTS >= 2 && CONFIG_DYNSEL_KEPT_COUNT >= BLOCKS_OF_CHECK)
#define THREE_RUNS (TWO_RUNS && COUNT > 2)

static dynsel_repeat_statistics before;

/* What the work reads and writes, and what each resource adds to what is right. */
static struct {
    uint32_t input;
    uint32_t results[WORDS];
    uint32_t errors[COUNT];
    bool in_place; /* the input is overwritten, too */
    uint32_t runs;
    uint32_t wrong_run;      /* 1: the first; 0: none */
    uintptr_t values[COUNT]; /* of the runs of each resource */
} the_work;

static int set_up(void **state)
{
    (void)state;
    (void)memset(&the_work, 0, sizeof(the_work));
    the_work.input = 1000;
    before = dynsel_get_repeat_statistics();
    return manual_open(true, (dynsel_options){.count = COUNT});
}

static uint32_t index_of(const dynsel_resource *where)
{
    size_t count = 0;
    return (uint32_t)(where - dynsel_get_resources(policy, &count));
}

static void compute_at(const dynsel_resource *where)
{
    the_work.runs++;
    const uint32_t error =
        the_work.errors[index_of(where)] + (the_work.runs == the_work.wrong_run ? 1 : 0);
    for (uint32_t i = 0; i < WORDS; i++) {
        the_work.results[i] = the_work.input + 1 + i + (i + 1 == WORDS ? error : 0);
    }
    the_work.input += the_work.in_place ? 1 : 0;
}

static dynsel_status compute(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    compute_at(where);
    return manual_enqueue(where, NULL, done);
}

static dynsel_repeat checked_one_in(uint32_t number)
{
    return (dynsel_repeat){.results = the_work.results,
                           .results_bytes = sizeof(the_work.results),
                           .check_one_in = number};
}

static dynsel_status start(uint32_t index, const dynsel_repeat *repeat, dynsel_submission *work)
{
    dynsel_selection selection = {.policy = policy, .index = index};
    return dynsel_try_submit_selection(&selection,
                                       &(dynsel_task){.function = compute, .repeat = repeat}, work);
}

/* Runs the work, first on resource 0. */
static dynsel_status run(const dynsel_repeat *repeat)
{
    dynsel_submission work;
    const dynsel_status status = start(0, repeat, &work);
    return status == DYNSEL_OK ? dynsel_wait(&work) : status;
}

static void assert_results(uint32_t error)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        assert_int_equal(1001 + i + (i + 1 == WORDS ? error : 0), the_work.results[i]);
    }
}

static void assert_counts(uint32_t compared, uint32_t mismatched, uint32_t undecided,
                          uint32_t unchecked)
{
    const dynsel_repeat_statistics now = dynsel_get_repeat_statistics();
    assert_int_equal(compared, now.compared - before.compared);
    assert_int_equal(mismatched, now.mismatched - before.mismatched);
    assert_int_equal(undecided, now.undecided - before.undecided);
    assert_int_equal(unchecked, now.unchecked - before.unchecked);
    assert_int_equal(0, now.repeated - before.repeated);
}

static void equal_results_need_two_runs(void **state)
{
    (void)state;
    NEEDS(TWO_RUNS);
    const dynsel_repeat each = checked_one_in(1);
    dynsel_submission work;
    assert_status(DYNSEL_OK, start(0, &each, &work));
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_int_equal(0, index_of(dynsel_submission_resource(&work)));
    assert_int_equal(2, the_work.runs);
    assert_ptr_not_equal(manual.events[0].queue, manual.events[1].queue);
    assert_results(0);
    assert_counts(1, 0, 0, 0);
}

static void work_is_over_when_both_runs_are(void **state)
{
    (void)state;
    NEEDS(TWO_RUNS);
    atomic_store(&manual.wait_completes, false);
    const dynsel_repeat each = checked_one_in(1);
    dynsel_submission work;
    assert_status(DYNSEL_OK, start(0, &each, &work));
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
    manual_complete(&manual, 0);
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
    assert_int_equal(2, the_work.runs);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&work, 1000));
    assert_true(dynsel_invariants_hold(policy));
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
}

static void one_in_so_many_is_checked(void **state)
{
    (void)state;
    NEEDS(TWO_RUNS);
    enum { PIECES = 40, ONE_IN = 4 };
    const dynsel_repeat some = checked_one_in(ONE_IN);
    const dynsel_repeat none = checked_one_in(0);
    for (unsigned i = 0; i < PIECES; i++) {
        assert_status(DYNSEL_OK, run(&some));
        assert_status(DYNSEL_OK, run(&none));
    }
    assert_int_equal(2 * PIECES + PIECES / ONE_IN, the_work.runs);
    assert_counts(PIECES / ONE_IN, 0, 0, 0);
}

static void third_resource_decides(void **state)
{
    (void)state;
    NEEDS(THREE_RUNS);
    const dynsel_repeat each = checked_one_in(1);
    for (uint32_t wrong = 1; wrong <= 2; wrong++) {
        the_work.runs = 0;
        the_work.wrong_run = wrong;
        dynsel_submission work;
        assert_status(DYNSEL_OK, start(0, &each, &work));
        assert_status(DYNSEL_OK, dynsel_wait(&work));
        assert_int_equal(3, the_work.runs);
        assert_results(0);
        assert_int_equal(wrong == 1, index_of(dynsel_submission_resource(&work)) != 0);
        assert_counts(wrong, wrong, 0, 0);
    }
}

static void wrong_results_take_the_resource_out_of_service(void **state)
{
    (void)state;
    NEEDS(THREE_RUNS && CONFIG_DYNSEL_MAX_MISMATCHES < 100);
    const dynsel_repeat each = checked_one_in(1);
    the_work.errors[0] = 1;
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_MISMATCHES; i++) {
        assert_status(DYNSEL_OK, dynsel_resource_in_service(policy, 0));
        assert_status(DYNSEL_E_INVALID, dynsel_resource_reinstate(policy, 0)); /* no effect */
        assert_status(DYNSEL_OK, run(&each));
        assert_results(0);
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(policy, 0));
    for (uint32_t i = 1; i < COUNT; i++) {
        assert_status(DYNSEL_OK, dynsel_resource_in_service(policy, i));
    }
    assert_counts(CONFIG_DYNSEL_MAX_MISMATCHES, CONFIG_DYNSEL_MAX_MISMATCHES, 0, 0);
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(policy, 0));
    assert_status(DYNSEL_OK, run(&each));
    assert_int_equal(CONFIG_DYNSEL_MAX_MISMATCHES > 1 ? DYNSEL_OK : DYNSEL_E_OUT_OF_SERVICE,
                     dynsel_resource_in_service(policy, 0));
}

static void wrong_second_runs_take_their_resource_out_of_service(void **state)
{
    (void)state;
    NEEDS(THREE_RUNS && CONFIG_DYNSEL_MAX_MISMATCHES < 100);
    enum { LIAR = 1, MOST = 4 * CONFIG_DYNSEL_MAX_MISMATCHES };
    const dynsel_repeat each = checked_one_in(1);
    the_work.errors[LIAR] = 1;
    for (unsigned i = 0; i < MOST; i++) {
        assert_status(DYNSEL_OK, run(&each));
        assert_results(0);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_status(i == LIAR ? DYNSEL_E_OUT_OF_SERVICE : DYNSEL_OK,
                      dynsel_resource_in_service(policy, i));
    }
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(policy, LIAR));
    the_work.errors[LIAR] = 0;
    the_work.errors[0] = 1; /* its earlier results were not wrong */
    assert_status(DYNSEL_OK, run(&each));
    assert_int_equal(CONFIG_DYNSEL_MAX_MISMATCHES > 1 ? DYNSEL_OK : DYNSEL_E_OUT_OF_SERVICE,
                     dynsel_resource_in_service(policy, 0));
}

static void two_resources_decide_nothing(void **state)
{
    (void)state;
    NEEDS(THREE_RUNS);
    atomic_store(&manual.queues[2].refuses, true);
    const dynsel_repeat each = checked_one_in(1);
    the_work.errors[0] = 1;
    assert_status(DYNSEL_E_DEVICE, run(&each));
    assert_int_equal(2, the_work.runs);
    assert_results(1);
    assert_counts(1, 1, 1, 0);
}

static void three_different_results_are_a_failure(void **state)
{
    (void)state;
    NEEDS(TWO_RUNS);
    const dynsel_repeat each = checked_one_in(1);
    for (uint32_t i = 0; i < COUNT; i++) {
        the_work.errors[i] = 7 + i;
    }
    assert_status(DYNSEL_E_DEVICE, run(&each));
    assert_results(7);
    assert_int_equal(COUNT, the_work.runs);
    assert_counts(1, 1, 1, 0);
    assert_status(DYNSEL_OK, start(0, &each, NULL));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait_group(dynsel_get_submission_group(policy)));
}

static void third_run_that_fails_decides_nothing(void **state)
{
    (void)state;
    NEEDS(THREE_RUNS);
    atomic_store(&manual.wait_completes, false);
    const dynsel_repeat each = checked_one_in(1);
    for (uint32_t wrong = 1; wrong <= 2; wrong++) {
        const unsigned events = atomic_load(&manual.event_count);
        the_work.runs = 0;
        the_work.wrong_run = wrong;
        dynsel_submission work;
        assert_status(DYNSEL_OK, start(0, &each, &work));
        for (unsigned i = 0; i < 2; i++) {
            manual_complete(&manual, events + i);
            assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
        }
        manual_fail(&manual, events + 2);
        assert_status(DYNSEL_E_DEVICE, dynsel_wait(&work));
        assert_results(wrong == 1);
        assert_counts(wrong, wrong, wrong, 0);
        for (uint32_t i = 0; i < COUNT; i++) {
            const dynsel_status status = dynsel_resource_reinstate(policy, i);
            assert_true(status == DYNSEL_OK || status == DYNSEL_E_INVALID);
        }
    }
}

static void second_run_that_fails_says_nothing(void **state)
{
    (void)state;
    NEEDS(TWO_RUNS);
    atomic_store(&manual.wait_completes, false);
    const dynsel_repeat each = checked_one_in(1);
    the_work.errors[0] = 3;
    dynsel_submission work;
    assert_status(DYNSEL_OK, start(0, &each, &work));
    manual_complete(&manual, 0);
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
    manual_fail(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_results(3);
    assert_counts(0, 0, 0, 1);
}

static void first_run_that_fails_is_repeated_and_not_checked(void **state)
{
    (void)state;
    NEEDS(TWO_RUNS);
    atomic_store(&manual.wait_completes, false);
    const dynsel_repeat each = checked_one_in(1);
    the_work.errors[0] = 3;
    dynsel_submission work;
    assert_status(DYNSEL_OK, start(0, &each, &work));
    manual_fail(&manual, 0);
    assert_status(DYNSEL_E_AGAIN, dynsel_submission_poll(&work));
    manual_complete(&manual, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&work));
    assert_results(0);
    assert_int_equal(2, the_work.runs);
    assert_int_equal(1, dynsel_get_repeat_statistics().repeated - before.repeated);
    assert_int_equal(0, dynsel_get_repeat_statistics().compared - before.compared);
}

static void work_without_another_resource_keeps_its_results(void **state)
{
    (void)state;
    NEEDS(TWO_RUNS);
    for (uint32_t i = 1; i < COUNT; i++) {
        atomic_store(&manual.queues[i].refuses, true);
    }
    const dynsel_repeat each = checked_one_in(1);
    assert_status(DYNSEL_OK, run(&each));
    assert_results(0);
    assert_int_equal(1, the_work.runs);
    assert_counts(0, 0, 0, 1);
}

static void each_run_has_the_same_input(void **state)
{
    (void)state;
    NEEDS(THREE_RUNS && CONFIG_DYNSEL_KEPT_COUNT > BLOCKS_OF_CHECK);
    the_work.in_place = true;
    the_work.errors[0] = 9;
    dynsel_repeat each = checked_one_in(1);
    each.overwritten = &the_work.input;
    each.overwritten_bytes = sizeof(the_work.input);
    assert_status(DYNSEL_OK, run(&each));
    assert_int_equal(3, the_work.runs);
    assert_int_equal(1001, the_work.input);
    assert_results(0);
    assert_counts(1, 1, 0, 0);
}

static bool last_differs_by_less_than_10(const void *one, const void *other, size_t bytes)
{
    const uint32_t *const a = one;
    const uint32_t *const b = other;
    assert_int_equal(sizeof(the_work.results), bytes);
    const uint32_t low = a[WORDS - 1] < b[WORDS - 1] ? a[WORDS - 1] : b[WORDS - 1];
    return a[WORDS - 1] - low + b[WORDS - 1] - low < 10;
}

static void program_may_compare(void **state)
{
    (void)state;
    NEEDS(THREE_RUNS);
    dynsel_repeat each = checked_one_in(1);
    each.equal = last_differs_by_less_than_10;
    the_work.errors[0] = 9;
    assert_status(DYNSEL_OK, run(&each));
    assert_results(9); /* of the first run */
    assert_counts(1, 0, 0, 0);
    the_work.errors[0] = 10;
    assert_status(DYNSEL_OK, run(&each));
    assert_results(0);
    assert_counts(2, 1, 0, 0);
}

static void work_is_not_checked_while_no_block_is_free(void **state)
{
    (void)state;
    NEEDS(TWO_RUNS && CONFIG_DYNSEL_KEPT_COUNT / BLOCKS_OF_CHECK < SLOTS / 2);
    atomic_store(&manual.wait_completes, false);
    enum { MOST = CONFIG_DYNSEL_KEPT_COUNT / BLOCKS_OF_CHECK };
    const dynsel_repeat each = checked_one_in(1);
    for (unsigned i = 0; i <= MOST; i++) {
        assert_status(DYNSEL_OK, start(0, &each, NULL));
    }
    assert_counts(0, 0, 0, 1);
    atomic_store(&manual.wait_completes, true);
    for (unsigned i = 0; i <= MOST; i++) {
        manual_complete(&manual, i);
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_counts(MOST, 0, 0, 1);
}

static void what_cannot_be_compared_is_refused(void **state)
{
    (void)state;
    NEEDS(TWO_RUNS);
    static unsigned char large[CONFIG_DYNSEL_KEPT_BYTES + 1];
    const dynsel_repeat wrong[] = {
        {.check_one_in = 1},
        {.check_one_in = 1, .results = large},
        {.check_one_in = 1, .results_bytes = 1},
        {.check_one_in = 1, .results = large, .results_bytes = sizeof(large)},
    };
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_status(DYNSEL_E_INVALID, run(&wrong[i]));
    }
    assert_int_equal(0, the_work.runs);
}

static dynsel_status give_value(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    compute_at(where);
    done->value = the_work.values[index_of(where)];
    return DYNSEL_OK;
}

static void value_is_that_of_the_run_that_counts(void **state)
{
    (void)state;
    NEEDS(THREE_RUNS && CONFIG_DYNSEL_SUBMISSION_CONTROL);
    const dynsel_repeat each = checked_one_in(1);
    for (uint32_t i = 0; i < COUNT; i++) {
        the_work.values[i] = 10 + i;
    }
    for (uint32_t error = 0; error < 2; error++) {
        the_work.errors[0] = error;
        dynsel_selection selection = {.policy = policy, .index = 0};
        dynsel_submission work;
        assert_status(
            DYNSEL_OK,
            dynsel_try_submit_selection(
                &selection, &(dynsel_task){.function = give_value, .repeat = &each}, &work));
        dynsel_event event;
        assert_status(DYNSEL_OK, dynsel_wait_and_unwrap(&work, &event));
        assert_int_equal(error == 0, event.value == 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(equal_results_need_two_runs),
        TEST(work_is_over_when_both_runs_are),
        TEST(one_in_so_many_is_checked),
        TEST(third_resource_decides),
        TEST(wrong_results_take_the_resource_out_of_service),
        TEST(wrong_second_runs_take_their_resource_out_of_service),
        TEST(two_resources_decide_nothing),
        TEST(three_different_results_are_a_failure),
        TEST(third_run_that_fails_decides_nothing),
        TEST(second_run_that_fails_says_nothing),
        TEST(first_run_that_fails_is_repeated_and_not_checked),
        TEST(work_without_another_resource_keeps_its_results),
        TEST(each_run_has_the_same_input),
        TEST(program_may_compare),
        TEST(work_is_not_checked_while_no_block_is_free),
        TEST(what_cannot_be_compared_is_refused),
        TEST(value_is_that_of_the_run_that_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
