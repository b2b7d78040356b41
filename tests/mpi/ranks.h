/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of programs with ranks: rank 0 runs the tests, the others answer until they are told to
 * end. */
#ifndef DYNSEL_TESTS_MPI_RANKS_H
#define DYNSEL_TESTS_MPI_RANKS_H

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

enum { ASK = 1, ANSWER = 2 }; /* tags */
enum { HELLO = 1, END = 2 };  /* what is asked */

/* What a rank says of itself. */
typedef struct rank_hello {
    int rank;
    int count;
    int expected; /* $EXPECTED_RANKS */
    pid_t pid;
} rank_hello;

static inline int expected_ranks(void)
{
    const char *text = getenv("EXPECTED_RANKS");

    return text != NULL ? (int)strtol(text, NULL, 10) : 0;
}

/* Of a rank that is not 0: answers until it is told to end. */
static inline void answer_rank_0(void)
{
    int asked = HELLO;

    while (asked != END) {
        MPI_Recv(&asked, 1, MPI_INT, 0, ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (asked == HELLO) {
            rank_hello hello = {.expected = expected_ranks(), .pid = getpid()};
            MPI_Comm_rank(MPI_COMM_WORLD, &hello.rank);
            MPI_Comm_size(MPI_COMM_WORLD, &hello.count);
            MPI_Send(&hello, sizeof hello, MPI_BYTE, 0, ANSWER, MPI_COMM_WORLD);
        }
    }
}

static inline rank_hello say_hello_to(int rank)
{
    const int asked = HELLO;
    rank_hello hello = {0};

    MPI_Send(&asked, 1, MPI_INT, rank, ASK, MPI_COMM_WORLD);
    MPI_Recv(&hello, sizeof hello, MPI_BYTE, rank, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return hello;
}

static inline void tell_to_end(int rank)
{
    const int asked = END;

    MPI_Send(&asked, 1, MPI_INT, rank, ASK, MPI_COMM_WORLD);
}

#endif
