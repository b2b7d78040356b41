/* SPDX-License-Identifier: Apache-2.0 */
/* The event and value of a task function, for the waiting caller: before, during and after the
 * wait.
 */
#include <dynsel/dynsel.h>

#include "test.h"

enum { VALUE = 42 };

static int the_event;
static int references; /* to it; the task function makes the first */
static bool can_retain;
static bool ends_at_once;
static uint32_t running; /* token of the work that is not ended */

static dynsel_status leave(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    done->native = &the_event;
    done->value = VALUE;
    references = 1;
    return args != NULL ? *(const dynsel_status *)args : DYNSEL_OK;
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    running = work->token;
    dynsel_work_call(work);
    if (ends_at_once) {
        assert_status(DYNSEL_OK, dynsel_complete(running, DYNSEL_OK, 0));
    }
    return DYNSEL_OK;
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    assert_ptr_equal(work->done.native, &the_event);
    assert_true(references > 0);
    references--;
}

#if CONFIG_DYNSEL_IN_FLIGHT_SMALL
/* The library's own reference is handed out. */
#define RETAINS
#else
static bool retain(dynsel_backend *backend, const dynsel_work *work)
{
    (void)backend;
    assert_ptr_equal(work->done.native, &the_event);
    assert_true(references > 0);
    references += can_retain ? 1 : 0;
    return can_retain;
}

#define RETAINS .retain = retain
#endif

#define OPS .name = "counting", .outlives_submit = true, .marks_completion = true, .start = start

static const dynsel_backend_ops counting = {OPS, .release = release, RETAINS};
static const dynsel_backend_ops releasing = {OPS, .release = release};
static const dynsel_backend_ops plain = {OPS};

static dynsel_backend backend;
static dynsel_fixed_resource_policy policy;
static dynsel_submission submission;

static void init(const dynsel_backend_ops *ops)
{
    static dynsel_resource resource = {&backend, NULL};
    const dynsel_options options = {.resources = &resource, .count = 1};
    backend.ops = ops;
    can_retain = true;
    ends_at_once = true;
    policy = (dynsel_fixed_resource_policy){.policy = {.ops = NULL}};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
}

static void finish(int expected_references)
{
    assert_int_equal(references, expected_references);
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void submit(void)
{
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &DYNSEL_TASK(leave, NULL), &submission));
}

static void expect(void *native, uintptr_t value)
{
    dynsel_event done = {.native = &done, .value = 1};
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_ptr_equal(done.native, native);
    assert_int_equal(done.value, value);
}

static void event_value_stays_after_wait(void **state)
{
    (void)state;
    init(&counting);
    submit();
    expect(&the_event, VALUE);
    dynsel_submission copy = submission;
    dynsel_event done;
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(references, 0);
    expect(NULL, VALUE);
    submit(); /* the slot may be used again meanwhile */
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    expect(NULL, VALUE);
    assert_status(DYNSEL_E_STALE, dynsel_submission_unwrap(&copy, &done));
    assert_status(DYNSEL_E_STALE, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_release(&submission));
    expect(NULL, VALUE);
    finish(0);
}

static void event_value_of_failed_work_stays_after_wait(void **state)
{
    (void)state;
    dynsel_status failure = DYNSEL_E_TASK;
    init(&counting);
    assert_status(DYNSEL_OK,
                  dynsel_submit(&policy.policy, &DYNSEL_TASK(leave, &failure), &submission));
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    expect(NULL, VALUE);
    finish(0);
}

static void wait_timeout_changes_nothing(void **state)
{
    (void)state;
    init(&counting);
    ends_at_once = false;
    submit();
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
    expect(NULL, 0);
    assert_status(DYNSEL_OK, dynsel_complete(running, DYNSEL_OK, 0));
    assert_status(DYNSEL_OK, dynsel_wait_for(&submission, 0));
    expect(NULL, VALUE);
    finish(0);
}

static void unwrap_of_released_work_is_stale(void **state)
{
    (void)state;
    dynsel_event done;
    init(&counting);
    submit();
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_unwrap(&submission, &done));
    finish(0);
}

static void wait_and_unwrap_returns_own_event_reference(void **state)
{
    (void)state;
    dynsel_event done = {.native = NULL};
    init(&counting);
    submit();
    assert_status(DYNSEL_OK, dynsel_wait_and_unwrap(&submission, &done));
    assert_ptr_equal(done.native, &the_event);
    assert_int_equal(done.value, VALUE);
    assert_status(DYNSEL_E_STALE, dynsel_wait_and_unwrap(&submission, &done));
    finish(1);
}

static void wait_and_unwrap_of_failed_work_returns_event(void **state)
{
    (void)state;
    dynsel_status failure = DYNSEL_E_TASK;
    dynsel_event done = {.native = NULL};
    init(&counting);
    assert_status(DYNSEL_OK,
                  dynsel_submit(&policy.policy, &DYNSEL_TASK(leave, &failure), &submission));
    assert_status(DYNSEL_E_TASK, dynsel_wait_and_unwrap(&submission, &done));
    assert_ptr_equal(done.native, &the_event);
    finish(1);
}

static void event_that_cannot_be_retained_is_not_returned(void **state)
{
    (void)state;
    if (CONFIG_DYNSEL_IN_FLIGHT_SMALL) {
        skip();
    }
    static const dynsel_backend_ops *const all[] = {&counting, &releasing};
    for (int i = 0; i < 2; i++) {
        dynsel_event done = {.native = &done};
        init(all[i]);
        can_retain = false;
        submit();
        assert_status(DYNSEL_OK, dynsel_wait_and_unwrap(&submission, &done));
        assert_null(done.native);
        assert_int_equal(done.value, VALUE);
        finish(0);
    }
}

static void event_without_release_stays_after_wait(void **state)
{
    (void)state;
    dynsel_event done = {.native = NULL};
    init(&plain);
    submit();
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    expect(&the_event, VALUE);
    submit();
    assert_status(DYNSEL_OK, dynsel_wait_and_unwrap(&submission, &done));
    assert_ptr_equal(done.native, &the_event);
    finish(1);
}

static void wrong_arguments_leave_work_unchanged(void **state)
{
    (void)state;
    dynsel_event done;
    dynsel_submission never = {.policy = NULL};
    init(&counting);
    submit();
    assert_status(DYNSEL_E_INVALID, dynsel_wait_and_unwrap(&submission, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_wait_and_unwrap(NULL, &done));
    assert_status(DYNSEL_E_INVALID, dynsel_wait_and_unwrap(&never, &done));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    finish(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_value_stays_after_wait),
        cmocka_unit_test(event_value_of_failed_work_stays_after_wait),
        cmocka_unit_test(wait_timeout_changes_nothing),
        cmocka_unit_test(unwrap_of_released_work_is_stale),
        cmocka_unit_test(wait_and_unwrap_returns_own_event_reference),
        cmocka_unit_test(wait_and_unwrap_of_failed_work_returns_event),
        cmocka_unit_test(event_that_cannot_be_retained_is_not_returned),
        cmocka_unit_test(event_without_release_stays_after_wait),
        cmocka_unit_test(wrong_arguments_leave_work_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
