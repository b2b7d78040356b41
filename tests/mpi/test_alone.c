/* SPDX-License-Identifier: Apache-2.0 */
/* A program that was started without mpirun: one rank, and all that it can do itself. */
#include <dynsel/dynsel.h>

#include <stdlib.h>

#include "support/count_run.h"
#include "test.h"

static void program_without_mpirun_works_on_its_own_resources(void **state)
{
    static dynsel_round_robin_policy policy;
    size_t count = 7;
    const dynsel_mpi_options options = {.own_thread = getenv("DYNSEL_TEST_OWN_THREAD") != NULL};
    (void)state;
    assert_status(DYNSEL_OK, dynsel_mpi_open(&options));
    assert_int_equal(dynsel_mpi_rank(), 0);
    assert_int_equal(dynsel_mpi_rank_count(), 1);
    assert_status(DYNSEL_OK, dynsel_mpi_resources(0, NULL, 0, &count));
    assert_int_equal(count, 0);
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_serve());
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, NULL, 0));
    const unsigned before = atomic_load(&runs);
    for (uint32_t i = 0; i < 10; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(count_run, NULL)));
    }
    assert_int_equal(atomic_load(&runs) - before, 10);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_mpi_close());
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_open(&options)); /* it has finalized MPI */
    assert_error_says("it was finalized");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_without_mpirun_works_on_its_own_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
