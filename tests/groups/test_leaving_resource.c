/* SPDX-License-Identifier: Apache-2.0 */
/* Command groups that wait for a resource that leaves are started on another one. */
#include <dynsel/dynsel.h>

#include "groups/two_numbers.h"

static dynsel_round_robin_policy both;

/* Over the first two queues; the next group is for the first. */
static void begin_policy(void)
{
    const dynsel_resource resources[] = {manual_resource(&manual, 0), manual_resource(&manual, 1)};
    both = (dynsel_round_robin_policy){0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(
                                 &both, &(dynsel_options){.resources = resources, .count = 2}, 0));
}

static void end(void)
{
    assert_true(dynsel_invariants_hold(&both.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&both.policy));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    queues_end();
}

static void submit(job *what, dynsel_submission *submission)
{
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&both.policy, group_of, what, submission));
}

static const dynsel_queue *queue_of(const job *what)
{
    const manual_queue *const queue = manual.events[what->event].queue;
    return queue == &manual.queues[0] ? &both.policy.queues[0] : &both.policy.queues[1];
}

/* `first` is on another policy's queue, and the group behind it is for the first resource. */
static void leave_while_it_waits(dynsel_status (*leave)(dynsel_policy *, size_t))
{
    begin_policy();
    job first = CHANGES(1, a);
    job moved = CHANGES(2, a);
    dynsel_submission submission;
    send(2, &first, NULL);
    submit(&moved, &submission);
    assert_runs(0, &moved);
    assert_int_equal(0, submission.index);
    assert_status(DYNSEL_OK, leave(&both.policy, 0));
    complete(&first);
    queues_wait();
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
    assert_runs(1, &moved);
    assert_ptr_equal(&both.policy.queues[1], queue_of(&moved));
    complete(&moved);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    end();
    assert_int_equal(worked_in(worked_in(7, 1), 2), numbers[0]);
}

static void pending_group_of_retired_resource_runs_elsewhere(void **state)
{
    (void)state;
    leave_while_it_waits(dynsel_resource_retire);
}

static void pending_group_of_drained_resource_runs_elsewhere(void **state)
{
    (void)state;
    leave_while_it_waits(dynsel_resource_drain);
}

static void pending_group_without_another_resource_fails(void **state)
{
    (void)state;
    begin_policy();
    job first = CHANGES(1, a);
    job stuck = CHANGES(2, a);
    dynsel_submission submission;
    send(2, &first, NULL);
    assert_status(DYNSEL_OK, dynsel_resource_retire(&both.policy, 1));
    submit(&stuck, &submission);
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&both.policy, 1));
    assert_status(DYNSEL_OK, dynsel_resource_retire(&both.policy, 0));
    atomic_store(&manual.queues[1].refuses, true); /* the device is lost */
    complete(&first);
    queues_wait();
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_wait(&submission));
    assert_runs(0, &stuck);
    end();
    assert_int_equal(worked_in(7, 1), numbers[0]);
}

static void groups_on_probation_run_one_at_a_time(void **state)
{
    (void)state;
    begin_policy();
    job first = READS(1, a);
    job second = READS(2, b);
    dynsel_submission submissions[2];
    assert_status(DYNSEL_OK, dynsel_resource_retire(&both.policy, 0));
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&both.policy, 0));
    assert_status(DYNSEL_OK, dynsel_resource_retire(&both.policy, 1));
    submit(&first, &submissions[0]);
    assert_status(DYNSEL_E_AGAIN,
                  dynsel_try_submit_command_group(&both.policy, group_of, &second, NULL));
    complete(&first);
    submit(&second, &submissions[1]);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_runs(1, &second);
    complete(&second);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    end();
}

/* Nobody but the accessor looks at the work that its group waits behind. */
static void host_accessor_sees_the_end_of_work_on_probation(void **state)
{
    (void)state;
    begin_policy();
    job first = CHANGES(1, a);
    job moved = CHANGES(2, a);
    job other = READS(3, b);
    dynsel_host_accessor accessor = {.data = NULL};
    assert_status(DYNSEL_OK, dynsel_resource_retire(&both.policy, 0));
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(&both.policy, 0));
    assert_status(DYNSEL_OK, dynsel_resource_retire(&both.policy, 1));
    send(2, &first, NULL);
    submit(&moved, NULL);
    submit(&other, NULL);
    assert_runs(1, &other);
    complete(&first);
    queues_wait();
    assert_runs(0, &moved);
    complete(&other);
    atomic_store(&manual.wait_completes, false);
    for (unsigned i = 0; i < 1000 && atomic_load(&moved.runs) == 0; i++) {
        assert_status(DYNSEL_E_TIMEOUT, dynsel_host_accessor_open_for(
                                            &accessor, a, DYNSEL_ACCESS_READ, UINT64_C(1000000)));
    }
    assert_runs(1, &moved);
    complete(&moved);
    atomic_store(&manual.wait_completes, true);
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&accessor, a, DYNSEL_ACCESS_READ));
    assert_int_equal(worked_in(worked_in(7, 1), 2), numbers[0]);
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&both.policy)));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(pending_group_of_retired_resource_runs_elsewhere),
        TEST_SET_UP(pending_group_of_drained_resource_runs_elsewhere),
        TEST_SET_UP(pending_group_without_another_resource_fails),
        TEST_SET_UP(groups_on_probation_run_one_at_a_time),
        TEST_SET_UP(host_accessor_sees_the_end_of_work_on_probation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
