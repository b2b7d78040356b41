/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of what ranges made move: who may ask, and when. */
#include "support/do_nothing.h"
#include "support/places_fixture.h"
#include "support/range_cases.h"

#include <string.h>

enum { DEVICE = 0 };

static const size_t BYTES_OF_ALL = RANGE_ELEMENTS * sizeof(int);
static const dynsel_range_bytes marked = {91, 92, 93};

static range_world world;
static range_job job_of_world = {&range_cases[0], &world}; /* one range in, one out */

static int set_up(void **state)
{
    (void)state;
    places_begin(false);
    range_fill(&world, 1);
    return 0;
}

static void check(const dynsel_range_bytes *bytes, uint64_t in, uint64_t out, uint64_t direct)
{
    assert_int_equal(in, bytes->staged_in);
    assert_int_equal(out, bytes->staged_out);
    assert_int_equal(direct, bytes->direct);
}

static void send(unsigned place, dynsel_submission *submission)
{
    *submission = (dynsel_submission){.policy = NULL};
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&places[place].policy, range_record,
                                                         &job_of_world, submission));
}

static void range_bytes_are_readable_until_submission_is_collected(void **state)
{
    dynsel_submission submission;
    dynsel_range_bytes bytes = marked;
    (void)state;
    sim.devices[DEVICE].pace = SIMULATED_BY_HAND;
    send(DEVICE, &submission);
    assert_status(DYNSEL_OK, dynsel_submission_range_bytes(&submission, &bytes));
    check(&bytes, BYTES_OF_ALL, BYTES_OF_ALL, 0);
    assert_status(DYNSEL_OK,
                  dynsel_wait_group(dynsel_get_submission_group(&places[DEVICE].policy)));
    bytes = marked;
    assert_status(DYNSEL_OK, dynsel_submission_range_bytes(&submission, &bytes));
    check(&bytes, BYTES_OF_ALL, BYTES_OF_ALL, 0);
    const dynsel_submission copy = submission;
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_submission_range_bytes(&submission, &bytes));
    assert_error_says("waited for or released before");
    check(&bytes, 0, 0, 0);
    assert_status(DYNSEL_E_STALE, dynsel_submission_range_bytes(&copy, &bytes));
}

/* Work that is in line has moved nothing yet. */
static void range_bytes_of_pending_submission_are_zero(void **state)
{
    dynsel_submission submissions[CONFIG_DYNSEL_STAGING_COUNT];
    const unsigned fits = CONFIG_DYNSEL_STAGING_COUNT / 2; /* each takes two */
    dynsel_range_bytes bytes = marked;
    (void)state;
    if (fits >= CONFIG_DYNSEL_MAX_IN_FLIGHT) {
        skip();
    }
    sim.devices[DEVICE].pace = SIMULATED_BY_HAND;
    for (unsigned i = 0; i <= fits; i++) {
        send(DEVICE, &submissions[i]);
    }
    assert_status(DYNSEL_OK, dynsel_submission_range_bytes(&submissions[fits], &bytes));
    check(&bytes, 0, 0, 0);
    for (unsigned i = 0; i <= fits; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
}

static void range_bytes_of_plain_task_are_zero(void **state)
{
    (void)state;
    for (unsigned place = 0; place < PLACES; place++) {
        dynsel_submission submission = {.policy = NULL};
        dynsel_range_bytes bytes = marked;
        assert_status(DYNSEL_OK, dynsel_submit(&places[place].policy,
                                               &DYNSEL_TASK(do_nothing, NULL), &submission));
        assert_status(DYNSEL_OK, dynsel_submission_range_bytes(&submission, &bytes));
        check(&bytes, 0, 0, 0);
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
    }
}

static void range_bytes_of_invalid_submission_are_refused(void **state)
{
    dynsel_range_bytes bytes = marked;
    dynsel_submission submission = {.policy = NULL};
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_submission_range_bytes(NULL, &bytes));
    assert_status(DYNSEL_E_INVALID, dynsel_submission_range_bytes(&submission, &bytes));
    send(HOST, &submission);
    assert_status(DYNSEL_E_INVALID, dynsel_submission_range_bytes(&submission, NULL));
    assert_error_says("NULL");
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
}

static void range_statistics_of_policy_sum_its_submissions(void **state)
{
    static dynsel_fixed_resource_policy none;
    dynsel_range_bytes before;
    dynsel_range_bytes after = marked;
    dynsel_submission submission;
    (void)state;
    const dynsel_policy copy = places[DEVICE].policy;
    assert_status(DYNSEL_E_INVALID, dynsel_get_range_statistics(NULL, &after));
    assert_status(DYNSEL_E_INVALID, dynsel_get_range_statistics(&copy, &after));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_get_range_statistics(&none.policy, &after));
    assert_status(DYNSEL_E_INVALID, dynsel_get_range_statistics(&places[DEVICE].policy, NULL));
    if (!CONFIG_DYNSEL_STATISTICS) {
        assert_status(DYNSEL_E_UNSUPPORTED,
                      dynsel_get_range_statistics(&places[DEVICE].policy, &after));
        return;
    }
    assert_status(DYNSEL_OK, dynsel_get_range_statistics(&places[DEVICE].policy, &before));
    for (unsigned i = 1; i <= 3; i++) {
        send(DEVICE, &submission);
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
        assert_status(DYNSEL_OK, dynsel_get_range_statistics(&places[DEVICE].policy, &after));
        check(&after, before.staged_in + i * BYTES_OF_ALL, before.staged_out + i * BYTES_OF_ALL,
              before.direct);
    }
    after = marked;
    assert_status(DYNSEL_OK, dynsel_get_range_statistics(&places[HOST].policy, &after));
    check(&after, 0, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(range_bytes_are_readable_until_submission_is_collected),
        TEST(range_bytes_of_pending_submission_are_zero),
        TEST(range_bytes_of_plain_task_are_zero),
        TEST(range_bytes_of_invalid_submission_are_refused),
        TEST(range_statistics_of_policy_sum_its_submissions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
