/* SPDX-License-Identifier: Apache-2.0 */
/* A test that runs as ranks: all of them are there, each a process with the test's environment. */
#define _POSIX_C_SOURCE 200809L

#include "mpi/ranks.h"

#include "test.h"

static int rank_count;

static void test_as_many_ranks_as_asked_for(void **state)
{
    (void)state;
    assert_true(rank_count > 1);
    assert_int_equal(rank_count, expected_ranks());
}

static void test_each_rank_says_hello(void **state)
{
    (void)state;
    for (int rank = 1; rank < rank_count; rank++) {
        const rank_hello hello = say_hello_to(rank);
        assert_int_equal(hello.rank, rank);
        assert_int_equal(hello.count, rank_count);
        assert_int_equal(hello.expected, rank_count);
        assert_int_not_equal(hello.pid, getpid());
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_ranks_as_asked_for),
        cmocka_unit_test(test_each_rank_says_hello),
    };
    int rank = 0;
    int failed = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
    if (rank == 0) {
        failed = cmocka_run_group_tests(tests, NULL, NULL);
        for (int other = 1; other < rank_count; other++) {
            tell_to_end(other);
        }
    } else {
        answer_rank_0();
    }
    MPI_Finalize();
    return failed;
}
