/* SPDX-License-Identifier: Apache-2.0 */
/* How often a wait wakes, over a port of the test's own whose time passes only while it sleeps. */
#include <dynsel/dynsel.h>
#include <dynsel/port.h>

#include "support/do_nothing.h"
#include "test.h"

#define SECOND UINT64_C(1000000000)

static const uint64_t longest_sleep_ns = CONFIG_DYNSEL_LONGEST_SLEEP_MS * UINT64_C(1000000);

static uint64_t now_ns;
static uint64_t ends_at_ns; /* of the work; 0: never */
static uint32_t token;
static uint32_t sleeps;
static uint32_t depth;

uint64_t dynsel_now_ns(void)
{
    return now_ns;
}

uint32_t dynsel_port_enter_critical(void)
{
    return depth++;
}

void dynsel_port_leave_critical(uint32_t before)
{
    depth = before;
}

bool dynsel_port_in_interrupt(void)
{
    return false;
}

/* The device interrupts when its work is over, which ends the sleep. */
void dynsel_port_wait_for_event(uint64_t longest_ns)
{
    assert_true(depth > 0 && longest_ns > 0);
    sleeps++;
    if (ends_at_ns != 0 && ends_at_ns <= now_ns + longest_ns) {
        now_ns = ends_at_ns;
        ends_at_ns = 0;
        assert_status(DYNSEL_OK, dynsel_complete(token, DYNSEL_OK, now_ns));
    } else {
        now_ns += longest_ns;
    }
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    token = work->token;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static dynsel_fixed_resource_policy policy;
static dynsel_submission submission;

static int set_up(void **state)
{
    static const dynsel_backend_ops ops = {
        .name = "device", .outlives_submit = true, .marks_completion = true, .start = start};
    static dynsel_backend device = {&ops};
    static const dynsel_resource resource = {&device, NULL};
    const dynsel_options options = {.resources = &resource, .count = 1};
    (void)state;
    now_ns = 1;
    ends_at_ns = 0;
    if (dynsel_fixed_resource_init(&policy, &options, 0) != DYNSEL_OK) {
        return 1;
    }
    const dynsel_status status =
        dynsel_submit(&policy.policy, &DYNSEL_TASK(do_nothing, NULL), &submission);
    sleeps = 0;
    return status == DYNSEL_OK ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    return dynsel_policy_deinit(&policy.policy) == DYNSEL_OK ? 0 : 1;
}

static void wait_of_five_seconds_wakes_as_often_as_configured(void **state)
{
    (void)state;
    ends_at_ns = now_ns + 5 * SECOND;
    const uint64_t end_ns = ends_at_ns;
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_true(now_ns == end_ns); /* its completion ended the last sleep */
    assert_in_range(sleeps, 1, 5 * SECOND / longest_sleep_ns + 1);
}

static void bounded_wait_wakes_no_more_often(void **state)
{
    (void)state;
    const uint64_t begin_ns = now_ns;
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 5 * SECOND));
    assert_true(now_ns - begin_ns == 5 * SECOND);
    assert_in_range(sleeps, 1, 5 * SECOND / longest_sleep_ns + 1);
    assert_status(DYNSEL_OK, dynsel_complete(token, DYNSEL_OK, 0));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
}

static void completion_before_sleep_prevents_sleep(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_complete(token, DYNSEL_OK, 0));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(sleeps, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(wait_of_five_seconds_wakes_as_often_as_configured),
        TEST(bounded_wait_wakes_no_more_often),
        TEST(completion_before_sleep_prevents_sleep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
