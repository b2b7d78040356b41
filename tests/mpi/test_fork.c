/* SPDX-License-Identifier: Apache-2.0 */
/* A child of rank 0 has no ranks: what belongs to the parent is refused, MPI is not called,
 * policies of its own work, and the parent goes on. */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <stdbool.h>

#include "mpi/served.h"
#include "process/child.h"
#include "support/count_run.h"

static const dynsel_task counting = DYNSEL_TASK(count_run, NULL);
static dynsel_round_robin_policy policy;
static dynsel_resource resources[8];
static size_t count;
static dynsel_submission work;

static void child_has_no_ranks(void)
{
    static dynsel_round_robin_policy own;
    static dynsel_round_robin_policy other;
    const dynsel_options options = {.resources = resources, .count = count};
    size_t found = 7;
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_submit(&policy.policy, &counting, NULL));
    child_expects_text("initialize policies after fork()");
    child_expects(dynsel_wait(&work) != DYNSEL_OK);
    child_expects_status(DYNSEL_E_INVALID, dynsel_mpi_resources(0, NULL, 0, &found));
    child_expects(dynsel_mpi_rank_count() == 0 && dynsel_mpi_rank_of(&resources[0]) == 0);
    child_expects_status(DYNSEL_E_INVALID, dynsel_mpi_close());
    child_expects_status(DYNSEL_E_INVALID, dynsel_mpi_serve());
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_mpi_open(NULL));
    child_expects_text("does not survive fork()");
    child_expects_status(DYNSEL_E_INVALID, dynsel_round_robin_init(&other, &options, 0));
    child_expects_status(DYNSEL_OK, dynsel_round_robin_init(&own, NULL, 0));
    for (int i = 0; i < 10; i++) {
        child_expects_status(DYNSEL_OK, dynsel_submit_and_wait(&own.policy, &counting));
    }
    child_expects_status(DYNSEL_OK, dynsel_policy_deinit(&own.policy));
}

static void child_of_rank_0_has_no_ranks(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_mpi_resources(0, resources, 8, &count));
    const dynsel_options options = {.resources = resources, .count = count};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
    for (int i = 0; i < 20; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &counting, &work));
        if (i % 4 == 0) {
            assert_child_succeeds(child_has_no_ranks);
        }
        assert_status(DYNSEL_OK, dynsel_wait(&work));
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_mpi_close());
}

int main(void)
{
    static const dynsel_mpi_task tasks[] = {{.function = count_run, .name = "count_run"}};
    const struct CMUnitTest tests[] = {cmocka_unit_test(child_of_rank_0_has_no_ranks)};
    dynsel_mpi_options options = served_options();
    options.tasks = tasks;
    options.task_count = 1;
    served_begin(options);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
