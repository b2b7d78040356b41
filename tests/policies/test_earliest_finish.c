/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish through submits and selections, on queues whose work ends when the test says so,
 * by a clock of the test: what it refuses, where work goes, and that nothing is left of work that
 * failed, was withdrawn or never submitted.
 */
#include <dynsel/dynsel.h>

#include <stdatomic.h>
#include <string.h>

#include "fakes/manual_backend.h"
#include "policies/task_kind.h"
#include "support/do_nothing.h"
#include "support/put_in_service.h"
#include "test.h"

enum { QUEUES = 3, KINDS = CONFIG_DYNSEL_EARLIEST_FINISH_KINDS };

#define US UINT64_C(1000)

static _Atomic uint64_t now_ns;
static manual_backend manual;
static dynsel_backend_ops ops;
static dynsel_earliest_finish_policy finisher;
static uint64_t takes_ns[QUEUES]; /* a piece of work */
static uint64_t predicts_ns[QUEUES];
static unsigned predictions;
static unsigned asked; /* queues, as bits */
static const dynsel_task *predicted;

uint64_t dynsel_now_ns(void)
{
    return atomic_load(&now_ns);
}

static unsigned queue_number(const void *handle)
{
    return (unsigned)((const manual_queue *)handle - manual.queues);
}

static uint64_t predict(dynsel_backend *backend, const void *own, const dynsel_task *task)
{
    (void)backend;
    predictions++;
    asked |= 1u << queue_number(own);
    predicted = task;
    return predicts_ns[queue_number(own)];
}

#if CONFIG_DYNSEL_ASPECT_FP64
/* Queue 1 has it. */
static dynsel_status describe(dynsel_backend *backend, const void *handle, dynsel_device *device)
{
    (void)backend;
    device->aspects = queue_number(handle) == 1 ? DYNSEL_ASPECT_BIT(fp64) : 0;
    return DYNSEL_OK;
}
#endif

static void begin_with(unsigned count)
{
    dynsel_resource resources[QUEUES];
    for (unsigned i = 0; i < count; i++) {
        resources[i] = manual_resource(&manual, i);
        takes_ns[i] = 100 * US;
    }
    const dynsel_options options = {.resources = resources, .count = count};
    memset(&finisher.policy, 0, sizeof finisher.policy); /* the rest is as it was left */
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &options));
}

static int set_up(void **state)
{
    (void)state;
    atomic_store(&now_ns, (uint64_t)1 << 40);
    manual_backend_reset(&manual, true);
    ops = *manual.backend.ops;
    ops.reports |= DYNSEL_TASK_TIME;
#if CONFIG_DYNSEL_ASPECT_FP64
    ops.describe = describe;
#endif
    manual.backend.ops = &ops;
    predictions = 0;
    begin_with(QUEUES);
    return 0;
}

static void assert_nothing_is_unfinished(void)
{
    for (unsigned i = 0; i < finisher.policy.count; i++) {
        assert_int_equal(finisher.states[i].is.unfinished.value, 0);
        for (unsigned k = 0; k < KINDS; k++) {
            assert_int_equal(finisher.kinds[k].resources[i].unfinished.value, 0);
        }
    }
}

static int tear_down(void **state)
{
    (void)state;
    assert_nothing_is_unfinished();
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
    manual_assert_clean(&manual);
    return 0;
}

static dynsel_selection choose(const dynsel_task *task)
{
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&finisher.policy, task, &selection));
    return selection;
}

static unsigned newest_event(void)
{
    return atomic_load(&manual.event_count) - 1;
}

static unsigned queue_of(unsigned event)
{
    return queue_number(manual.events[event].queue);
}

static void pass(uint64_t ns)
{
    atomic_fetch_add(&now_ns, ns);
}

/* Submits the task, of manual_enqueue(), and lets it end. Returns its queue. */
static unsigned run(const dynsel_task *task)
{
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&finisher.policy, task, &submission));
    const unsigned event = newest_event();
    pass(takes_ns[queue_of(event)]);
    manual_complete(&manual, event);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    return queue_of(event);
}

/* How many of the runs a queue gets. */
static unsigned run_on(unsigned queue, const dynsel_task *task, unsigned times)
{
    unsigned runs = 0;
    for (unsigned i = 0; i < times; i++) {
        runs += run(task) == queue ? 1 : 0;
    }
    return runs;
}

static dynsel_status wait_for_all(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(&finisher.policy));
}

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

/* The entry of a task without key words. */
static const dynsel_finish_kind *entry_of(const dynsel_task *of)
{
    for (unsigned k = 0; k < KINDS; k++) {
        const dynsel_finish_kind *kind = &finisher.kinds[k];
        if (kind->tag.value != 0 && kind->kind.name[0].value == of->id &&
            (kind->kind.shape.value & 0xff) == 0) {
            return kind;
        }
    }
    return NULL;
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
        TEST(kinds_without_entry_are_counted),
        TEST(untracked_work_goes_to_shortest_queue),
#if CONFIG_DYNSEL_MAX_KEY_WORDS > 0
        TEST(kinds_of_one_id_learn_from_each_other),
        TEST(entry_with_key_words_is_no_root),
        TEST(kinds_that_lose_entries_leave_nothing_unfinished),
#endif
        TEST(reinitialized_policy_knows_nothing),
        TEST(deinit_with_work_in_flight_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
