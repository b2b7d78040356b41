/* SPDX-License-Identifier: Apache-2.0 */
/* Command groups that are cancelled before they start. */
#include <dynsel/dynsel.h>

#include "groups/two_numbers.h"

static void end(void)
{
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    queues_end();
}

static void cancelled_command_group_leaves_contents_from_before(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job unwanted = CHANGES(2, a);
    job dependent = READS(3, a);
    job later = CHANGES(4, a);
    dynsel_submission submissions[3];
    send(0, &first, &submissions[0]);
    send(1, &unwanted, &submissions[1]);
    send(2, &dependent, &submissions[2]);
    assert_status(DYNSEL_E_BUSY, dynsel_cancel(&submissions[0]));
    assert_error_says("dynsel_cancel");
    assert_status(DYNSEL_OK, dynsel_cancel(&submissions[1]));
    assert_status(DYNSEL_E_STALE, dynsel_cancel(&submissions[1]));
    assert_error_says("cancelled before");
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submissions[1], 0)); /* behind the first */
    complete(&first);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_status(DYNSEL_E_STALE, dynsel_cancel(&submissions[0]));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[2]));
    assert_error_says("cancelled before it started");
    assert_status(DYNSEL_E_STALE, dynsel_cancel(&submissions[1]));
    assert_status(DYNSEL_E_CANCELLED, dynsel_wait(&submissions[1]));
    assert_error_says("the program cancelled it");
    assert_runs(0, &unwanted);
    assert_runs(0, &dependent);
    send(3, &later, NULL);
    complete(&later);
    queues_wait();
    end();
    assert_int_equal(worked_in(worked_in(7, 1), 4), numbers[0]);
}

static void cancelled_and_released_command_group_fails_its_submission_group(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job unwanted = READS(2, a);
    dynsel_submission submission;
    send(0, &first, NULL);
    send(1, &unwanted, &submission);
    assert_status(DYNSEL_OK, dynsel_cancel(&submission));
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_cancel(&submission));
    complete(&first);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&queues[0].policy)));
    assert_status(DYNSEL_E_CANCELLED,
                  dynsel_wait_group(dynsel_get_submission_group(&queues[1].policy)));
    assert_runs(0, &unwanted);
    end();
}

/* One that waits behind another for the full queue is cancelled, then the one that tries the queue
 * for the others. */
static void cancelled_command_groups_leave_line_of_full_queue(void **state)
{
    (void)state;
    job jobs[] = {READS(2, a), READS(3, b), READS(4, b)};
    dynsel_submission submissions[3];
    atomic_store(&manual.queues[0].is_full, true);
    for (unsigned i = 0; i < 3; i++) {
        send(0, &jobs[i], &submissions[i]);
    }
    dynsel_progress();
    assert_status(DYNSEL_OK, dynsel_cancel(&submissions[1]));
    assert_status(DYNSEL_E_CANCELLED, dynsel_wait_for(&submissions[1], 0));
    assert_status(DYNSEL_OK, dynsel_cancel(&submissions[0]));
    assert_status(DYNSEL_E_CANCELLED, dynsel_wait_for(&submissions[0], 0));
    dynsel_progress();
    atomic_store(&manual.queues[0].is_full, false);
    dynsel_progress();
    assert_runs(0, &jobs[0]);
    assert_runs(0, &jobs[1]);
    assert_runs(1, &jobs[2]);
    complete(&jobs[2]);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[2]));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(cancelled_command_group_leaves_contents_from_before),
        TEST_SET_UP(cancelled_and_released_command_group_fails_its_submission_group),
        TEST_SET_UP(cancelled_command_groups_leave_line_of_full_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
