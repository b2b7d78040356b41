/* SPDX-License-Identifier: Apache-2.0 */
/* The static slots for submissions in flight: the cases that differ from the general table. */
#include <dynsel/dynsel.h>

#include "fakes/marked_backend.h"
#include "room.h"
#include "support/put_in_service.h"
#include "test.h"

#define SLOTS CONFIG_DYNSEL_MAX_IN_FLIGHT

static marked_device device;
static dynsel_fixed_resource_policy policy;
static uint64_t clock_ns;

/* The clock of this test, so that it says how long work takes; it goes on a little by itself, so
 * that waits end. */
uint64_t dynsel_now_ns(void)
{
    return ++clock_ns;
}

static int set_up(void **state)
{
    (void)state;
    marked_reset(&device);
    marked_releases = 0;
    const dynsel_resource resource = marked_resource(&device);
    const dynsel_options options = {.resources = &resource, .count = 1};
    return dynsel_fixed_resource_init(&policy, &options, 0);
}

static int tear_down(void **state)
{
    (void)state;
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_int_equal(device.attached, 0);
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
    assert_true(dynsel_invariants_hold(NULL));
    return 0;
}

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    *done = (dynsel_event){.native = marked_event(), .value = 7};
    return args != NULL ? *(dynsel_status *)args : DYNSEL_OK;
}

static const dynsel_task task = {.function = enqueue};

static dynsel_status wait_group(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(&policy.policy));
}

static void second_completion_is_stale(void **state)
{
    (void)state;
    dynsel_submission first;
    dynsel_submission second;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &first));
    const uint32_t token = device.queue[0]->token;
    assert_int_not_equal(token, 0);
    assert_status(DYNSEL_E_STALE, dynsel_complete(0, DYNSEL_OK, 0));
    assert_status(DYNSEL_E_STALE, dynsel_complete(token + SLOTS, DYNSEL_OK, 0));
    marked_end(&device, DYNSEL_E_DEVICE, 0);
    assert_status(DYNSEL_E_STALE, dynsel_complete(token, DYNSEL_OK, 0));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&first));
    assert_status(DYNSEL_E_STALE, dynsel_complete(token, DYNSEL_OK, 0));
    for (unsigned i = 0; i < SLOTS; i++) { /* until its slot is in use again */
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &second));
        assert_status(DYNSEL_E_STALE, dynsel_complete(token, DYNSEL_OK, 0));
        assert_status(DYNSEL_E_STALE, dynsel_wait(&first));
        marked_end(&device, DYNSEL_OK, 0);
        assert_status(DYNSEL_OK, dynsel_wait(&second));
    }
    assert_int_equal(marked_releases, 1 + SLOTS);
}

static dynsel_status enqueue_and_go_on(const dynsel_resource *where, void *args, dynsel_event *done)
{
    marked_device *other = args;
    (void)where;
    device.ends_in_start = false;
    dynsel_progress();
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 1);
    if (SLOTS > 1) {
        assert_status(DYNSEL_OK, dynsel_try_submit(&policy.policy, &task, NULL));
    }
    marked_end(other, DYNSEL_OK, 0);
    dynsel_progress();
    assert_int_equal(marked_releases, SLOTS > 1 ? 1 : 0); /* the inner one's alone */
    done->native = marked_event();
    return DYNSEL_OK;
}

/* Its slot is not taken away before its task function has returned. */
static void completion_during_start_keeps_slot_until_function_returns(void **state)
{
    (void)state;
    const dynsel_task nested = {.function = enqueue_and_go_on, .args = &device};
    device.ends_in_start = true;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &nested, NULL));
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
    assert_int_equal(marked_releases, SLOTS > 1 ? 2 : 1);
}

static void task_function_status_precedes_completion_status(void **state)
{
    (void)state;
    dynsel_status fails = DYNSEL_E_TASK;
    const dynsel_task failing = {.function = enqueue, .args = &fails};
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &failing, &submission));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0)); /* what it enqueued goes on */
    marked_end(&device, DYNSEL_E_DEVICE, 0);
    assert_status(DYNSEL_E_TASK, dynsel_wait_for(&submission, 0));
    device.ends_in_start = true;
    assert_status(DYNSEL_E_TASK, dynsel_submit_and_wait(&policy.policy, &failing));
}

static void unwrap_shows_event_after_completion(void **state)
{
    (void)state;
    dynsel_submission submission;
    dynsel_event done = {.value = 1};
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_null(done.native);
    assert_int_equal(done.value, 0);
    marked_end(&device, DYNSEL_OK, 0);
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_ptr_equal(done.native, marked_event());
    assert_int_equal(done.value, 7);
    assert_int_equal(marked_releases, 0);
    assert_status(DYNSEL_E_INVALID, dynsel_submission_unwrap(&submission, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_submission_unwrap(NULL, &done));
    assert_ptr_equal(dynsel_submission_policy(&submission), &policy.policy);
    assert_int_equal(dynsel_submission_reason(&submission), DYNSEL_REASON_FIXED);
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_int_equal(marked_releases, 1);
    assert_status(DYNSEL_E_STALE, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_unwrap(&submission, &done));
}

/* Fills the table, as far as the device has room. */
static void fill(dynsel_submission *submissions)
{
    device.room = MARKED_QUEUE;
    for (unsigned i = 0; i < SLOTS; i++) {
        dynsel_submission *submission = submissions != NULL ? &submissions[i] : NULL;
        assert_status(DYNSEL_OK, dynsel_try_submit(&policy.policy, &task, submission));
    }
}

static dynsel_status submit_inside(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    done->native = marked_event();
    assert_status(DYNSEL_E_FULL, dynsel_submit(&policy.policy, &task, NULL));
    assert_status(DYNSEL_E_IN_TASK, dynsel_submit_and_wait(&policy.policy, &task));
    assert_status(DYNSEL_E_IN_TASK, wait_group());
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy.policy));
    return DYNSEL_OK;
}

static void full_slot_table_is_waited_for_if_work_can_complete(void **state)
{
    (void)state;
    static dynsel_submission submissions[SLOTS <= MARKED_QUEUE ? SLOTS : 1];
    NEEDS(SLOTS <= MARKED_QUEUE);
    const dynsel_in_flight_statistics before = dynsel_get_in_flight_statistics();
    assert_int_equal(before.capacity, SLOTS);
    assert_int_equal(before.in_use, 0);
    fill(submissions);
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, SLOTS);
    assert_status(DYNSEL_E_FULL, dynsel_try_submit(&policy.policy, &task, NULL));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_submit_for(&policy.policy, &task, NULL, 10));
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy.policy));
    for (unsigned i = 0; i < SLOTS; i++) {
        marked_end(&device, DYNSEL_OK, 0);
    }
    assert_status(DYNSEL_E_FULL, dynsel_submit(&policy.policy, &task, NULL)); /* all uncollected */
    assert_error_says("CONFIG_DYNSEL_MAX_IN_FLIGHT");
    if (CONFIG_DYNSEL_STATISTICS) {
        assert_int_equal(dynsel_get_in_flight_statistics().refusals, before.refusals + 3);
        assert_int_equal(dynsel_get_in_flight_statistics().most_in_use, SLOTS);
    }
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy.policy));
    for (unsigned i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_submission_release(&submissions[i]));
    }
}

static void submit_in_task_function_does_not_wait(void **state)
{
    (void)state;
    NEEDS(SLOTS <= MARKED_QUEUE);
    for (unsigned i = 0; i + 1 < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    }
    assert_status(DYNSEL_OK,
                  dynsel_submit(&policy.policy, &DYNSEL_TASK(submit_inside, NULL), NULL));
    for (unsigned i = 0; i < SLOTS; i++) {
        marked_end(&device, DYNSEL_OK, 0);
    }
    assert_status(DYNSEL_OK, wait_group());
}

static void completion_from_interrupt_ends_each_wait(void **state)
{
    (void)state;
    dynsel_submission submission;
    marked_timer_on(&device, 1);
    for (unsigned i = 0; i < 60; i++) { /* for slots, then for room in the queue */
        device.room = i < 30 ? MARKED_QUEUE : 2;
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    }
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &task));
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    assert_status(DYNSEL_OK,
                  dynsel_wait_group(dynsel_get_backend_submission_group(&marked_backend)));
    assert_int_equal(device.put, device.taken);
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(device.put, device.taken);
    marked_timer_off();
}

static void backend_refusal_status_is_returned(void **state)
{
    (void)state;
    dynsel_submission submission;
    dynsel_selection selection;
    device.room = 0;
    assert_status(DYNSEL_E_AGAIN, dynsel_try_submit(&policy.policy, &task, &submission));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_submit_for(&policy.policy, &task, &submission, 10));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_TIMEOUT);
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &task, &selection));
    assert_status(DYNSEL_E_AGAIN, dynsel_try_submit_selection(&selection, &task, NULL));
    device.refuses = DYNSEL_E_OUT_OF_SERVICE;
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_submit(&policy.policy, &task, &submission));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_OUT_OF_SERVICE);
    assert_status(CONFIG_DYNSEL_MAX_FAILURES > 0 ? DYNSEL_E_OUT_OF_SERVICE : DYNSEL_OK,
                  dynsel_resource_in_service(&policy.policy, 0));
    put_in_service(&policy.policy, 0);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_submit_selection(&selection, &task, NULL));
    put_in_service(&policy.policy, 0);
    device.refuses = DYNSEL_OK;
    device.room = MARKED_QUEUE;
    assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &task, &submission));
    assert_status(DYNSEL_E_STALE, dynsel_submit_selection(&selection, &task, NULL));
    marked_end(&device, DYNSEL_OK, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
}

static void task_without_form_for_resource_is_refused(void **state)
{
    (void)state;
    static dynsel_backend elsewhere;
    const dynsel_task_form forms[] = {{&elsewhere, enqueue}, {&marked_backend, enqueue}};
    dynsel_task formed = {.forms = forms, .form_count = 1};
    dynsel_selection selection;
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_select(&policy.policy, &formed, &selection));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_submit(&policy.policy, &formed, NULL));
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &task, &selection));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_submit_selection(&selection, &formed, NULL));
    formed.form_count = 2;
    assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &formed, NULL));
    marked_end(&device, DYNSEL_OK, 0);
    assert_status(DYNSEL_OK, wait_group());
}

static void detached_failures_reach_submission_group(void **state)
{
    (void)state;
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    marked_end(&device, DYNSEL_E_DEVICE, 0);
    assert_status(DYNSEL_E_DEVICE, wait_group());
    assert_status(DYNSEL_OK, wait_group());
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    marked_end(&device, DYNSEL_E_DEVICE, 0);
    assert_status(DYNSEL_E_DEVICE, wait_group());
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    marked_end(&device, DYNSEL_E_DEVICE, 0);
    assert_status(DYNSEL_OK, wait_group());
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_DEVICE, wait_group());
}

static dynsel_status start_nothing(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static void backend_without_completion_marks_is_refused(void **state)
{
    (void)state;
    static const dynsel_backend_ops silent = {
        .name = "silent", .outlives_submit = true, .start = start_nothing};
    static const dynsel_backend_ops at_once = {.name = "at once", .start = start_nothing};
    dynsel_backend backend = {&silent};
    const dynsel_resource resources[] = {{.backend = &backend}};
    const dynsel_options options = {.resources = resources, .count = 1};
    dynsel_fixed_resource_policy other = {0};
    assert_status(DYNSEL_E_INVALID, dynsel_fixed_resource_init(&other, &options, 0));
    assert_error_says("dynsel_complete()");
    backend.ops = &at_once;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&other, &options, 0));
    /* an event would wait for nobody */
    assert_status(DYNSEL_E_INVALID, dynsel_submit_and_wait(&other.policy, &task));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&other.policy));
}

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE && CONFIG_DYNSEL_MAX_RESOURCES >= 2 &&                          \
    CONFIG_DYNSEL_AUTO_TUNE_EXPLORE_PERCENT == 0 /* else the next selection may be a trial */

/* Two devices; each got work twice, in turn, and the first time does not count. */
static marked_device pair[2];
static dynsel_auto_tune_policy tuner;
static const dynsel_task tuned = {.function = enqueue, .id = 1};

static void begin_pair(void)
{
    const dynsel_resource resources[] = {marked_resource(&pair[0]), marked_resource(&pair[1])};
    const dynsel_options options = {.resources = resources, .count = 2};
    marked_reset(&pair[0]);
    marked_reset(&pair[1]);
    tuner = (dynsel_auto_tune_policy){0};
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&tuner, &options, DYNSEL_NEVER_RESAMPLE));
    clock_ns = 1000;
    for (unsigned i = 0; i < 4; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&tuner.policy, &tuned, NULL));
        assert_int_equal(pair[0].put + pair[1].put, i + 1);
    }
    assert_int_equal(pair[0].put, 2);
}

/* The resource that counts as the faster one now. */
static uint32_t faster(void)
{
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&tuner.policy, &tuned, &selection));
    assert_int_equal(selection.reason, DYNSEL_REASON_BEST_KNOWN);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&tuner.policy));
    return selection.index;
}

static void task_time_excludes_queueing(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 4);
    begin_pair();
    marked_end(&pair[0], DYNSEL_OK, 1000000);
    marked_end(&pair[0], DYNSEL_OK, 1010000); /* 10 us */
    marked_end(&pair[1], DYNSEL_OK, 10000);
    marked_end(&pair[1], DYNSEL_OK, 30000); /* 20 us */
    assert_int_equal(faster(), 0);
}

static void work_behind_unknown_end_time_is_not_timed(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 4);
    begin_pair();
    marked_end(&pair[0], DYNSEL_OK, 0);
    marked_end(&pair[0], DYNSEL_OK, 100000);
    marked_end(&pair[1], DYNSEL_OK, 10000);
    marked_end(&pair[1], DYNSEL_OK, 1000000);
    assert_int_equal(faster(), 1);
}

static void failed_work_is_not_timed(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 4);
    begin_pair();
    marked_end(&pair[0], DYNSEL_OK, 10000);
    marked_end(&pair[0], DYNSEL_E_DEVICE, 20000);
    marked_end(&pair[1], DYNSEL_OK, 10000);
    marked_end(&pair[1], DYNSEL_OK, 1000000);
    assert_int_equal(faster(), 1);
    assert_int_equal(tuner.loads[0].value, 0);
}

#define TIMES                                                                                      \
    cmocka_unit_test(task_time_excludes_queueing),                                                 \
        cmocka_unit_test(work_behind_unknown_end_time_is_not_timed),                               \
        cmocka_unit_test(failed_work_is_not_timed),
#else
#define TIMES
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(second_completion_is_stale),
        TEST(completion_during_start_keeps_slot_until_function_returns),
        TEST(task_function_status_precedes_completion_status),
        TEST(unwrap_shows_event_after_completion),
        TEST(full_slot_table_is_waited_for_if_work_can_complete),
        TEST(submit_in_task_function_does_not_wait),
        TEST(completion_from_interrupt_ends_each_wait),
        TEST(backend_refusal_status_is_returned),
        TEST(task_without_form_for_resource_is_refused),
        TEST(detached_failures_reach_submission_group),
        TEST(backend_without_completion_marks_is_refused),
        TIMES};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
