/* SPDX-License-Identifier: Apache-2.0 */
/* A test that kills a rank (recovers=True): the others live on, and the run passes. */
#define _POSIX_C_SOURCE 200809L

#include "mpi/ranks.h"

#include <signal.h>
#include <time.h>

#include "test.h"

enum { KILLED = 1, ROUNDS = 20, NAP_NS = 20000000 };

static int rank_count;

static void test_others_answer_after_a_rank_was_killed(void **state)
{
    const rank_hello killed = say_hello_to(KILLED);

    (void)state;
    assert_int_equal(kill(killed.pid, SIGKILL), 0);
    for (int i = 0; i < ROUNDS; i++) { /* until the launcher knows, too */
        (void)nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        for (int rank = KILLED + 1; rank < rank_count; rank++) {
            assert_int_equal(say_hello_to(rank).rank, rank);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_others_answer_after_a_rank_was_killed),
    };
    int rank = 0;
    int failed = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    if (rank != 0) {
        answer_rank_0();
    } else {
        failed = cmocka_run_group_tests(tests, NULL, NULL);
        for (int other = KILLED + 1; other < rank_count; other++) {
            tell_to_end(other);
        }
    }
    return failed; /* MPI_Finalize() would wait for the killed rank */
}
