/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank that kills or stops itself at a step of the protocol: a message or piece of data that it
 * hands to MPI (before and after), that it lets MPI receive, or that has arrived or left. The
 * functions of MPI are wrapped, as its profiling interface allows.
 */
#ifndef DYNSEL_TESTS_MPI_DIES_H
#define DYNSEL_TESTS_MPI_DIES_H

#include <mpi.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

static atomic_uint steps_left; /* to the step of its death; 0: it does not die */
static int dies_by = SIGKILL;

static void step(void)
{
    if (atomic_load(&steps_left) != 0 && atomic_fetch_sub(&steps_left, 1) == 1) {
        (void)raise(dies_by);
    }
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm in,
              MPI_Request *request)
{
    step();
    const int code = PMPI_Isend(data, count, type, to, tag, in, request);
    step();
    return code;
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm in,
              MPI_Request *request)
{
    const int code = PMPI_Irecv(data, count, type, from, tag, in, request);
    step();
    return code;
}

int MPI_Test(MPI_Request *request, int *is_over, MPI_Status *status)
{
    const int code = PMPI_Test(request, is_over, status);
    if (*is_over != 0) {
        step();
    }
    return code;
}

#endif
