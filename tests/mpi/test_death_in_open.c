/* SPDX-License-Identifier: Apache-2.0 */
/* A rank that dies before or within dynsel_mpi_open(): the others are told so in time. */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <mpi.h>
#include <signal.h>
#include <stdlib.h>

#include "test.h"

enum { DIES = 1 };

#define SILENCE_NS UINT64_C(1500000000)
#define WITHIN_NS  UINT64_C(20000000000)

static int rank;
static int collectives; /* before which the rank dies, counted down */

static void step(void)
{
    if (rank == DIES && collectives-- == 0) {
        (void)raise(SIGKILL);
    }
}

int MPI_Comm_idup(MPI_Comm of, MPI_Comm *made, MPI_Request *request)
{
    step();
    return PMPI_Comm_idup(of, made, request);
}

int MPI_Iallgather(const void *own, int count, MPI_Datatype type, void *all, int each,
                   MPI_Datatype of, MPI_Comm in, MPI_Request *request)
{
    step();
    return PMPI_Iallgather(own, count, type, all, each, of, in, request);
}

static void death_of_a_rank_is_a_timeout(void **state)
{
    const dynsel_mpi_options options = {
        .silence_ns = SILENCE_NS, .own_thread = getenv("DYNSEL_TEST_OWN_THREAD") != NULL};
    const uint64_t begin_ns = dynsel_now_ns();
    (void)state;
    assert_status(DYNSEL_E_TIMEOUT, dynsel_mpi_open(&options));
    assert_true(dynsel_now_ns() - begin_ns < WITHIN_NS);
    assert_error_says("another rank did not call it in time, or it died");
    assert_int_equal(dynsel_mpi_rank_count(), 0);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_mpi_open(&options));
}

int main(int argc, char **argv)
{
    const char *const steps = getenv("DYNSEL_TEST_STEPS");
    const struct CMUnitTest tests[] = {cmocka_unit_test(death_of_a_rank_is_a_timeout)};
    collectives = steps != NULL ? (int)strtol(steps, NULL, 10) : 0;
    if (getenv("DYNSEL_TEST_OWN_THREAD") == NULL) {
        MPI_Init(&argc, &argv);
    }
    /* mpirun says it before MPI is initialized */
    rank = (int)strtol(getenv("OMPI_COMM_WORLD_RANK"), NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL); /* MPI_Finalize() would wait for the dead */
}
