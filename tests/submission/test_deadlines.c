/* SPDX-License-Identifier: Apache-2.0 */
/* To the nanosecond, with a clock of the test's own: a bounded call ends at the first look at the
 * clock that is not before its deadline, and not before. */
#include <dynsel/dynsel.h>

#include <stdbool.h>

#include "room.h"
#include "support/do_nothing.h"
#include "test.h"

enum { SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT, BEGIN = 1000, MOST_LOOKS = 1000 };

static uint64_t time_ns; /* at the next look */
static uint64_t step_ns; /* how much later the look after that is */
static uint64_t seen_ns; /* at the last look */
static unsigned looks;

/* Instead of the port's. Time that stands still does so only for some time. */
uint64_t dynsel_now_ns(void)
{
    looks++;
    seen_ns = time_ns;
    time_ns += looks < MOST_LOOKS ? step_ns : MOST_LOOKS;
    return seen_ns;
}

static void set_clock(uint64_t begin, uint64_t step)
{
    time_ns = begin;
    step_ns = step;
    looks = 0;
}

static uint32_t tokens[SLOTS + 1];
static unsigned started;
static bool busy;

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    if (busy) {
        return DYNSEL_E_AGAIN;
    }
    dynsel_work_call(work);
    tokens[started++] = work->token;
    return DYNSEL_OK;
}

static const dynsel_backend_ops ops = {.name = "patient",
                                       .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,
                                       .outlives_submit = true,
                                       .marks_completion = true,
                                       .start = start};
static dynsel_backend patient = {&ops};
static dynsel_fixed_resource_policy policy;

static const dynsel_task task = {.function = do_nothing};

static int set_up(void **state)
{
    (void)state;
    const dynsel_resource resource = {.backend = &patient};
    set_clock(BEGIN, 1);
    started = 0;
    busy = false;
    return dynsel_fixed_resource_init(&policy,
                                      &(dynsel_options){.resources = &resource, .count = 1}, 0);
}

static int tear_down(void **state)
{
    (void)state;
    for (unsigned i = 0; i < started; i++) {
        assert_status(DYNSEL_OK, dynsel_complete(tokens[i], DYNSEL_OK, 0));
    }
    set_clock(BEGIN, 1);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    return dynsel_policy_deinit(&policy.policy);
}

/* What each of the calls that are bounded may wait for. */
static dynsel_submission submission;

static dynsel_status wait_for_the_end(uint64_t timeout_ns)
{
    return dynsel_wait_for(&submission, timeout_ns);
}

static dynsel_status submit_for(uint64_t timeout_ns)
{
    return dynsel_submit_for(&policy.policy, &task, NULL, timeout_ns);
}

static void assert_bounded(dynsel_status (*call)(uint64_t timeout_ns))
{
    for (uint64_t timeout_ns = 0; timeout_ns < 5; timeout_ns++) {
        set_clock(BEGIN, 1);
        assert_status(DYNSEL_E_TIMEOUT, call(timeout_ns));
        assert_int_equal(timeout_ns == 0 ? BEGIN + 1 : BEGIN + timeout_ns, seen_ns);
    }
    set_clock(BEGIN, 0); /* it is the deadline from the beginning, and never later */
    assert_status(DYNSEL_E_TIMEOUT, call(0));
    assert_int_equal(BEGIN, seen_ns);
}

static void bounded_wait_ends_at_deadline(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    assert_bounded(wait_for_the_end);
    assert_status(DYNSEL_OK, dynsel_complete(tokens[--started], DYNSEL_OK, 0));
    set_clock(BEGIN, 0);
    assert_status(DYNSEL_OK, dynsel_wait_for(&submission, 0)); /* it looks once all the same */
}

static dynsel_status wait_for_policy(uint64_t timeout_ns)
{
    return dynsel_wait_group_for(dynsel_get_submission_group(&policy.policy), timeout_ns);
}

static dynsel_status wait_for_backend(uint64_t timeout_ns)
{
    return dynsel_wait_group_for(dynsel_get_backend_submission_group(&patient), timeout_ns);
}

static void bounded_group_wait_ends_at_deadline(void **state)
{
    (void)state;
    const unsigned count = SLOTS < 2 ? 1 : 2;
    for (unsigned i = 0; i < count; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    }
    assert_bounded(wait_for_policy);
    assert_bounded(wait_for_backend);
    while (started > 0) {
        assert_status(DYNSEL_E_TIMEOUT, wait_for_policy(0));
        assert_status(DYNSEL_OK, dynsel_complete(tokens[--started], DYNSEL_E_TASK, 0));
    }
    set_clock(BEGIN, 0);
    assert_status(DYNSEL_OK, wait_for_backend(0)); /* which takes no failure of the policy's */
    assert_status(DYNSEL_E_TASK, wait_for_policy(0));
    assert_status(DYNSEL_OK, wait_for_policy(0));
}

static void bounded_submit_without_free_slot_ends_at_deadline(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SLOTS; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    }
    assert_bounded(submit_for);
}

static void bounded_submit_to_busy_resource_ends_at_deadline(void **state)
{
    (void)state;
    busy = true;
    assert_bounded(submit_for);
}

/* Past the end of all time there is none. */
static void deadline_beyond_clock_range_never_expires(void **state)
{
    static const uint64_t early[] = {0, 1, 2};
    (void)state;
    for (unsigned i = 0; i < sizeof early / sizeof early[0]; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
        assert_status(DYNSEL_OK, dynsel_complete(tokens[--started], DYNSEL_OK, 0));
        set_clock(BEGIN, 1);
        assert_status(DYNSEL_OK, dynsel_wait_for(&submission, UINT64_MAX - early[i]));
    }
    set_clock(BEGIN, 0);
    assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submission));
    time_ns = UINT64_MAX - 10;
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
    step_ns = 3;
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 5));
    assert_int_equal(UINT64_MAX - 4, seen_ns);
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bounded_wait_ends_at_deadline),
        TEST(bounded_group_wait_ends_at_deadline),
        TEST(bounded_submit_without_free_slot_ends_at_deadline),
        TEST(bounded_submit_to_busy_resource_ends_at_deadline),
        TEST(deadline_beyond_clock_range_never_expires),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
