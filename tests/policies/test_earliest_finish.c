/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish through submits and selections, on queues whose work ends when the test says so,
 * by a clock of the test: what it refuses, where work goes, and that nothing is left of work that
 * failed, was withdrawn or never submitted.
 */
#include <dynsel/dynsel.h>

#include <stdatomic.h>
#include <string.h>

#include "policies/finish_queues.h"
#include "support/do_nothing.h"
#include "support/put_in_service.h"
#include "test.h"

static const dynsel_task task = {.function = manual_enqueue, .id = 7};

/* Many pieces may be submitted before the first time is known: timing them all would take long. */
static void few_first_runs_are_timed_at_once(void **state)
{
    (void)state;
    enum { PIECES = 60 };
    dynsel_selection selections[PIECES];
    unsigned timed[QUEUES] = {0};
    for (unsigned i = 0; i < PIECES; i++) {
        selections[i] = choose(&task);
        assert_status(DYNSEL_OK, dynsel_report(&selections[i], DYNSEL_TASK_SUBMISSION));
        timed[selections[i].index] +=
            dynsel_selection_needs(&selections[i], DYNSEL_TASK_TIME) ? 1 : 0;
    }
    for (unsigned i = 0; i < QUEUES; i++) {
        assert_in_range(timed[i], 0, 8);
    }
    for (unsigned i = 0; i < PIECES; i++) {
        assert_status(DYNSEL_OK, dynsel_report(&selections[i], DYNSEL_TASK_COMPLETION));
    }
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    static dynsel_earliest_finish_policy copy;
    const dynsel_resource resource = manual_resource(&manual, 0);
    const dynsel_options options = {.resources = &resource, .count = 1};
    dynsel_selection selection;
    assert_status(DYNSEL_E_INVALID, dynsel_earliest_finish_init(NULL, &options));
    assert_status(DYNSEL_E_INVALID, dynsel_earliest_finish_init(&finisher, &options));
    copy.policy = finisher.policy;
    assert_status(DYNSEL_E_INVALID, dynsel_select(&copy.policy, &task, &selection));
    assert_status(DYNSEL_E_INVALID, dynsel_submit(&copy.policy, &task, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_earliest_finish_init(&copy, &options));
    assert_status(DYNSEL_E_INVALID, dynsel_policy_deinit(&copy.policy));
    assert_int_equal(dynsel_earliest_finish_untracked(NULL), 0);
}

static void wrong_key_words_are_refused(void **state)
{
    (void)state;
    static const uint32_t words[CONFIG_DYNSEL_MAX_KEY_WORDS + 1] = {1};
    dynsel_selection selection = {.index = 99};
    dynsel_task wrong = task;
    wrong.key_words = words;
    wrong.key_word_count = CONFIG_DYNSEL_MAX_KEY_WORDS + 1;
    assert_status(DYNSEL_E_INVALID, dynsel_select(&finisher.policy, &wrong, &selection));
    assert_error_number(CONFIG_DYNSEL_MAX_KEY_WORDS + 1);
    assert_error_says("CONFIG_DYNSEL_MAX_KEY_WORDS");
    assert_status(DYNSEL_E_INVALID, dynsel_submit(&finisher.policy, &wrong, NULL));
    wrong.key_words = NULL;
    wrong.key_word_count = CONFIG_DYNSEL_MAX_KEY_WORDS;
    if (CONFIG_DYNSEL_MAX_KEY_WORDS > 0) {
        assert_status(DYNSEL_E_INVALID, dynsel_select(&finisher.policy, &wrong, &selection));
        assert_error_says("NULL");
        assert_status(DYNSEL_E_INVALID, dynsel_submit(&finisher.policy, &wrong, NULL));
    }
    assert_int_equal(selection.index, 99);
    wrong.key_words = words;
    assert_int_equal(run_on(0, &wrong, 1), 1);
}

static void backend_without_times_is_refused(void **state)
{
    (void)state;
    static dynsel_earliest_finish_policy other;
    const dynsel_resource resource = manual_resource(&manual, 0);
    const dynsel_options options = {.resources = &resource, .count = 1};
    ops.reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION;
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_earliest_finish_init(&other, &options));
    ops.reports |= DYNSEL_TASK_TIME;
}

static void all_work_goes_to_only_resource(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    begin_with(1);
    for (uint32_t i = 0; i < 100; i++) {
        const dynsel_task any = {.function = manual_enqueue, .id = i % 5 + 1, .amount = i};
        const dynsel_selection selection = choose(&any);
        assert_int_equal(selection.index, 0);
        assert_int_equal(selection.reason, DYNSEL_REASON_ONLY_CANDIDATE);
        assert_int_equal(run(&any), 0);
    }
}

static void fastest_resource_gets_work(void **state)
{
    (void)state;
    for (unsigned best = 0; best < QUEUES; best++) {
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
        begin_with(QUEUES);
        for (unsigned i = 0; i < QUEUES; i++) {
            takes_ns[i] = i == best ? 20 * US : (100 + 10 * i) * US;
        }
        (void)run_on(best, &task, 300);
        assert_in_range(run_on(best, &task, 300), 280, 300);
    }
}

/* What is in flight elsewhere counts, and what is on the fastest resource delays. */
static void work_in_flight_spreads(void **state)
{
    (void)state;
    enum { TOGETHER = 30 };
    unsigned counts[QUEUES] = {0};
    takes_ns[0] = 20 * US;
    takes_ns[1] = 40 * US;
    takes_ns[2] = 20000 * US;
    (void)run_on(0, &task, 300);
    assert_true(entry_of(&task)->resources[1].samples.value >= 2);
    const unsigned first = newest_event() + 1;
    for (unsigned i = 0; i < TOGETHER; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, &task, NULL));
        counts[queue_of(first + i)]++;
    }
    assert_in_range(counts[0], 17, 23); /* two thirds */
    assert_in_range(counts[1], 7, 13);
    assert_true(counts[2] <= 1);
    assert_true(finisher.states[0].is.unfinished.value >= 200 * US / 256);
    for (unsigned i = 0; i < TOGETHER; i++) {
        pass(US);
        manual_complete(&manual, first + i);
    }
    assert_status(DYNSEL_OK, wait_for_all());
}

static void forms_are_respected(void **state)
{
    (void)state;
    static dynsel_backend other;
    other = manual.backend;
    const dynsel_task_form here[] = {{&manual.backend, manual_enqueue}};
    const dynsel_task_form there[] = {{&other, manual_enqueue}};
    const dynsel_task some = {.forms = here, .form_count = 1, .id = 30};
    const dynsel_task none = {.forms = there, .form_count = 1, .id = 31};
    dynsel_selection selection;
    assert_int_equal(run_on(0, &some, 1), 1);
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_select(&finisher.policy, &none, &selection));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_submit(&finisher.policy, &none, NULL));
    finisher.policy.resources[2].backend = &other;
    selection = choose(&none);
    assert_int_equal(selection.index, 2);
    assert_int_equal(selection.reason, DYNSEL_REASON_ONLY_CANDIDATE);
    for (int i = 0; i < 100; i++) {
        assert_int_not_equal(choose(&some).index, 2);
    }
    finisher.policy.resources[2].backend = &manual.backend;
}

#if CONFIG_DYNSEL_ASPECT_FP64
static void aspects_are_respected(void **state)
{
    (void)state;
    const dynsel_task precise = {
        .function = manual_enqueue, .id = 32, .aspects = DYNSEL_ASPECT_BIT(fp64)};
    const dynsel_task impossible = {
        .function = manual_enqueue, .id = 33, .aspects = DYNSEL_ASPECT_BIT(gpu)};
    dynsel_selection selection = choose(&precise);
    assert_int_equal(selection.reason, DYNSEL_REASON_ONLY_WITH_ASPECTS);
    assert_int_equal(run_on(1, &precise, 50), 50);
    assert_status(DYNSEL_E_ASPECT, dynsel_select(&finisher.policy, &impossible, &selection));
    assert_status(DYNSEL_E_ASPECT, dynsel_submit(&finisher.policy, &impossible, NULL));
}
#endif

static void resource_out_of_service_is_avoided_and_used_again(void **state)
{
    (void)state;
    takes_ns[0] = 40 * US;
    takes_ns[1] = 10 * US;
    (void)run_on(1, &task, 100);
    assert_in_range(run_on(1, &task, 100), 90, 100);
    atomic_store(&manual.queues[1].refuses, true);
    assert_int_equal(run_on(1, &task, 100), 0);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&finisher.policy, 1));
    atomic_store(&manual.queues[0].refuses, true);
    (void)run_on(2, &task, 50);
    assert_int_equal(run_on(2, &task, 20), 20);
    assert_int_equal(choose(&task).reason, DYNSEL_REASON_ONLY_IN_SERVICE);
    atomic_store(&manual.queues[2].refuses, true);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_submit(&finisher.policy, &task, NULL));
    dynsel_selection selection;
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_select(&finisher.policy, &task, &selection));
    for (unsigned i = 0; i < QUEUES; i++) {
        atomic_store(&manual.queues[i].refuses, false);
        put_in_service(&finisher.policy, i);
    }
    assert_in_range(run_on(1, &task, 100), 85, 100);
}

/* A kind that is new when the others are out of service learns of them when they are back. */
static void reinstated_resource_is_tried(void **state)
{
    (void)state;
    takes_ns[1] = 10 * US;
    atomic_store(&manual.queues[1].refuses, true);
    assert_int_equal(run_on(1, &task, 50), 0);
    for (unsigned i = 0; i < 40 && dynsel_resource_in_service(&finisher.policy, 1) == DYNSEL_OK;
         i++) {
        (void)run_on(1, &task, 10);
    }
    atomic_store(&manual.queues[1].refuses, false);
    put_in_service(&finisher.policy, 1);
    (void)run_on(1, &task, 300);
    assert_in_range(run_on(1, &task, 100), 90, 100);
}

static uint32_t queued_ticks(unsigned queue)
{
    return finisher.states[queue].is.free_at.value - (uint32_t)(now_ns >> 8);
}

static void withdrawn_work_leaves_no_load(void **state)
{
    (void)state;
    (void)run_on(0, &task, 20);
    for (unsigned i = 0; i < QUEUES; i++) {
        atomic_store(&manual.queues[i].is_full, true);
    }
    pass(1000 * US);
    const uint32_t credit = entry_of(&task)->credit.value;
    for (int i = 0; i < 50; i++) {
        assert_status(DYNSEL_E_AGAIN, dynsel_try_submit(&finisher.policy, &task, NULL));
        assert_nothing_is_unfinished();
    }
    for (unsigned i = 0; i < QUEUES; i++) {
        assert_true((int32_t)queued_ticks(i) <= 0);
        atomic_store(&manual.queues[i].is_full, false);
    }
    assert_int_equal(entry_of(&task)->credit.value, credit);
    atomic_store(&manual.queues[0].refuses, true);
    assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, &task, NULL));
    assert_int_not_equal(queue_of(newest_event()), 0);
    assert_int_equal(finisher.states[0].is.unfinished.value, 0);
    assert_status(DYNSEL_OK, wait_for_all());
}

static void withdrawn_trials_are_repeated(void **state)
{
    (void)state;
    takes_ns[1] = 10 * US;
    for (unsigned i = 1; i < QUEUES; i++) {
        atomic_store(&manual.queues[i].is_full, true);
    }
    assert_int_equal(run_on(0, &task, 2000), 2000);
    for (unsigned i = 1; i < QUEUES; i++) {
        atomic_store(&manual.queues[i].is_full, false);
    }
    (void)run_on(0, &task, 300);
    assert_in_range(run_on(1, &task, 100), 90, 100);
}

/* What a submit would change. */
static uint64_t trace_of(const dynsel_finish_kind *kind)
{
    uint64_t trace = kind->credit.value * UINT64_C(31) + kind->earned.value;
    for (unsigned i = 0; i < QUEUES; i++) {
        const dynsel_finish_times *times = &kind->resources[i];
        trace = trace * 31 + times->runs.value;
        trace = trace * 31 + times->unfinished.value;
        trace = trace * 31 + times->trials.value;
        trace = trace * 31 + finisher.states[i].is.unfinished.value;
        trace = trace * 31 + finisher.states[i].is.free_at.value;
        trace = trace * 31 + finisher.states[i].is.worth.value;
    }
    return trace * 31 + finisher.submitted_to.value + finisher.one_by_one.value;
}

static void dropped_selections_leave_nothing(void **state)
{
    (void)state;
    takes_ns[0] = 20 * US;
    for (int i = 0; i < 100; i++) {
        const dynsel_selection first = choose(&task);
        const uint64_t before = trace_of(entry_of(&task));
        for (int k = 0; k < 20; k++) {
            const dynsel_selection again = choose(&task);
            assert_int_equal(again.index, first.index);
            assert_int_equal(again.reason, first.reason);
            assert_int_equal(again.wants, first.wants);
        }
        assert_int_equal(trace_of(entry_of(&task)), before);
        assert_int_equal(run(&task), first.index);
    }
    /* with so much in flight that another than the fastest is the best */
    for (int i = 0; i < 12; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, &task, NULL));
    }
    const uint64_t before = trace_of(entry_of(&task));
    for (int k = 0; k < 20; k++) {
        (void)choose(&task);
    }
    assert_int_equal(trace_of(entry_of(&task)), before);
    assert_status(DYNSEL_OK, wait_for_all());
}

static void selection_counts_when_submitted(void **state)
{
    (void)state;
    dynsel_selection selection = choose(&task);
    assert_int_equal(finisher.states[0].is.unfinished.value, 0);
    assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &task, NULL));
    assert_int_not_equal(finisher.states[queue_of(newest_event())].is.unfinished.value, 0);
    assert_status(DYNSEL_OK, wait_for_all());
}

static void reports_of_program_are_learned(void **state)
{
    (void)state;
    unsigned runs[QUEUES] = {0};
    for (int i = 0; i < 200; i++) {
        dynsel_selection selection = choose(&task);
        assert_true(dynsel_selection_needs(&selection, DYNSEL_TASK_SUBMISSION));
        assert_true(dynsel_selection_needs(&selection, DYNSEL_TASK_COMPLETION));
        assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
        const uint64_t ns = selection.index == 2 ? 10 * US : 50 * US;
        pass(ns);
        if (dynsel_selection_needs(&selection, DYNSEL_TASK_TIME)) {
            assert_status(DYNSEL_OK, dynsel_report_value(&selection, DYNSEL_TASK_TIME, ns));
        }
        assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_COMPLETION));
        runs[selection.index]++;
    }
    assert_true(runs[2] >= 150);
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Queue 0 is faster, but its results take long to copy back. Nothing else is in question at first,
 * so that most of its runs are not timed. */
static void copies_that_program_reports_are_learned(void **state)
{
    (void)state;
    unsigned runs[QUEUES] = {0};
    dynsel_task writes = task;
    writes.requirement_count = 1; /* only counted */
    for (int i = 0; i < 20000; i++) {
        dynsel_selection selection = choose(&writes);
        const uint64_t other_ns = i < 1500 ? 300 * US : 40 * US;
        const uint64_t ns = selection.index == 0 ? 20 * US : other_ns;
        assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
        pass(ns);
        if (dynsel_selection_needs(&selection, DYNSEL_TASK_TIME)) {
            assert_status(DYNSEL_OK, dynsel_report_value(&selection, DYNSEL_TASK_TIME, ns));
            if (selection.index == 0) {
                assert_status(DYNSEL_OK,
                              dynsel_report_value(&selection, DYNSEL_TASK_READBACK_TIME, 60 * US));
            }
        }
        assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_COMPLETION));
        runs[selection.index] += i >= 19500 ? 1 : 0;
    }
    assert_true(runs[0] <= 50);
}
#endif

static dynsel_status fail_at_once(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_E_TASK;
}

static void failing_work_leaves_no_load_and_teaches_nothing(void **state)
{
    (void)state;
    const dynsel_task fails = {.function = fail_at_once, .id = 40};
    for (int i = 0; i < 100; i++) {
        pass(US);
        assert_status(DYNSEL_E_TASK, dynsel_submit_and_wait(&finisher.policy, &fails));
        assert_nothing_is_unfinished();
    }
    for (unsigned i = 0; i < QUEUES; i++) {
        assert_int_equal(entry_of(&fails)->resources[i].samples.value, 0);
    }
    assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, &task, NULL));
    const unsigned queue = queue_of(newest_event());
    manual_fail(&manual, newest_event());
    assert_status(DYNSEL_E_DEVICE, wait_for_all());
    assert_nothing_is_unfinished();
    assert_int_equal(entry_of(&task)->resources[queue].samples.value, 0);
    put_in_service(&finisher.policy, queue); /* one may be enough */
}

/* A resource that fails what it tries gets no further trials of that kind. */
static void trials_that_fail_end(void **state)
{
    (void)state;
    unsigned tried = 0;
    for (int i = 0; i < 2000; i++) {
        dynsel_selection selection = choose(&task);
        assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
        pass(20 * US);
        if (selection.index == 0 && dynsel_selection_needs(&selection, DYNSEL_TASK_TIME)) {
            assert_status(DYNSEL_OK, dynsel_report_value(&selection, DYNSEL_TASK_TIME, 20 * US));
        }
        assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_COMPLETION));
        tried += selection.index != 0 ? 1 : 0;
    }
    assert_in_range(tried, 2, 8);
}

static void reasons_tell_why(void **state)
{
    (void)state;
    unsigned reasons[DYNSEL_REASON_FASTEST_ALONE + 1] = {0};
    assert_int_equal(choose(&task).reason, DYNSEL_REASON_PROFILING);
    takes_ns[0] = 20 * US;
    for (int i = 0; i < 300; i++) {
        reasons[choose(&task).reason]++;
        (void)run(&task);
    }
    assert_true(reasons[DYNSEL_REASON_EARLIEST_FINISH] > 200);
    assert_true(reasons[DYNSEL_REASON_EXPLORING] >= 2);
    assert_int_equal(300, reasons[DYNSEL_REASON_EARLIEST_FINISH] +
                              reasons[DYNSEL_REASON_EXPLORING] + reasons[DYNSEL_REASON_PROFILING] +
                              reasons[DYNSEL_REASON_FASTEST_ALONE]);
    assert_true(!CONFIG_DYNSEL_STATUS_NAMES ||
                text_contains(dynsel_reason_text(DYNSEL_REASON_EARLIEST_FINISH), "finish first"));
}

static void prediction_of_backend_counts_until_times_are_known(void **state)
{
    (void)state;
    ops.predict = predict;
    predicts_ns[0] = 900 * US;
    predicts_ns[1] = 10 * US;
    predicts_ns[2] = 800 * US;
    const dynsel_selection first = choose(&task);
    assert_int_equal(first.index, 1);
    assert_int_equal(first.reason, DYNSEL_REASON_EARLIEST_FINISH);
    assert_true(predictions != 0 && predicted == &task);
    predicts_ns[1] = 256 * US;
    assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, &task, NULL));
    assert_int_equal(finisher.states[1].is.unfinished.value, US);
    asked = 0;
    assert_int_not_equal(choose(&task).index, 1);
    assert_int_equal(asked & 2u, 0); /* its run will tell */
    assert_status(DYNSEL_OK, wait_for_all());
    for (unsigned i = 0; i < QUEUES; i++) {
        takes_ns[i] = i == 0 ? 20 * US : 400 * US; /* they were wrong */
    }
    (void)run_on(0, &task, 500);
    for (unsigned i = 0; i < QUEUES; i++) {
        assert_true(entry_of(&task)->resources[i].samples.value >= 2);
    }
    predictions = 0;
    assert_in_range(run_on(0, &task, 100), 90, 100);
    assert_int_equal(predictions, 0);
    const dynsel_task fresh = {.function = manual_enqueue, .id = 50};
    predicts_ns[0] = UINT64_MAX; /* as the longest time */
    predicts_ns[1] = 800 * US;
    predicts_ns[2] = 5 * US;
    assert_int_equal(choose(&fresh).index, 2);
    assert_int_equal(choose(&fresh).reason, DYNSEL_REASON_EARLIEST_FINISH);
    predicts_ns[0] = 0; /* not known */
    predicts_ns[1] = 0;
    predicts_ns[2] = 0;
    assert_int_equal(choose(&fresh).reason, DYNSEL_REASON_PROFILING);
    ops.predict = NULL;
}

static void reinitialized_policy_knows_nothing(void **state)
{
    (void)state;
    takes_ns[0] = 20 * US;
    (void)run_on(0, &task, 100);
    for (uint32_t id = 1000; id < 1000 + 2 * KINDS; id++) {
        (void)choose(&(dynsel_task){.function = manual_enqueue, .id = id});
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    dynsel_selection selection;
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_select(&finisher.policy, &task, &selection));
    begin_with(QUEUES);
    assert_int_equal(dynsel_earliest_finish_untracked(&finisher), 0);
    assert_null(entry_of(&task));
    assert_int_equal(choose(&task).reason, DYNSEL_REASON_PROFILING);
    takes_ns[2] = 10 * US;
    (void)run_on(2, &task, 200);
    assert_in_range(run_on(2, &task, 100), 90, 100);
}

static void deinit_with_work_in_flight_is_refused(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, &task, NULL));
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&finisher.policy));
    assert_status(DYNSEL_OK, wait_for_all());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(wrong_arguments_are_refused),
        TEST(wrong_key_words_are_refused),
        TEST(backend_without_times_is_refused),
        TEST(all_work_goes_to_only_resource),
        TEST(fastest_resource_gets_work),
        TEST(work_in_flight_spreads),
        TEST(few_first_runs_are_timed_at_once),
        TEST(forms_are_respected),
#if CONFIG_DYNSEL_ASPECT_FP64
        TEST(aspects_are_respected),
#endif
        TEST(resource_out_of_service_is_avoided_and_used_again),
        TEST(reinstated_resource_is_tried),
        TEST(withdrawn_work_leaves_no_load),
        TEST(withdrawn_trials_are_repeated),
        TEST(dropped_selections_leave_nothing),
        TEST(selection_counts_when_submitted),
        TEST(reports_of_program_are_learned),
#if CONFIG_DYNSEL_COMMAND_GROUPS
        TEST(copies_that_program_reports_are_learned),
#endif
        TEST(failing_work_leaves_no_load_and_teaches_nothing),
        TEST(trials_that_fail_end),
        TEST(reasons_tell_why),
        TEST(prediction_of_backend_counts_until_times_are_known),
        TEST(reinitialized_policy_knows_nothing),
        TEST(deinit_with_work_in_flight_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
