/* SPDX-License-Identifier: Apache-2.0 */
/* What dynsel_mpi_open() was given and has found. Constant from its end to that of the backend. */
#ifndef DYNSEL_BACKENDS_MPI_STATE_H
#define DYNSEL_BACKENDS_MPI_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/mpi.h>

typedef struct dynsel_mpi_state {
    dynsel_mpi_options options; /* silence_ns and idle_ns are set */
    uint32_t rank;
    uint32_t rank_count; /* 0: not open */
    uint32_t beginnings; /* how often dynsel_mpi_open() has succeeded */
    bool is_ours;        /* dynsel_mpi_open() has initialized MPI */
    /* Of this rank, if it serves: what it offers, in this order. */
    dynsel_resource resources[CONFIG_DYNSEL_MPI_RANK_RESOURCES];
    uint32_t resource_count;
} dynsel_mpi_state;

extern dynsel_mpi_state dynsel_mpi;

/* Calls a function, of a rank that serves, in the thread that calls MPI; waits for its result. */
dynsel_status dynsel_mpi_call(dynsel_status (*function)(void));

/* Ends the transport, finalizes MPI if it is ours, and forgets all of the above. clean: every rank
 * lives and takes part; else MPI is left as it is. */
void dynsel_mpi_end(bool clean);

#endif
