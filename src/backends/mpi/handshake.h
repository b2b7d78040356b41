/* SPDX-License-Identifier: Apache-2.0 */
/* What the ranks tell each other at the beginning. */
#ifndef DYNSEL_BACKENDS_MPI_HANDSHAKE_H
#define DYNSEL_BACKENDS_MPI_HANDSHAKE_H

#include <mpi.h>
#include <stdint.h>

#include <dynsel/status.h>

/* Compares the builds and the lists of all ranks, and lets rank 0 know the resources of the others.
 * Collective. status: how this rank judges its own options; all ranks fail if one does. Fills in
 * dynsel_mpi_ranks on rank 0. deadline_ns: on the clock of dynsel_now_ns(). */
dynsel_status dynsel_mpi_shake_hands(MPI_Comm communicator, dynsel_status status,
                                     uint64_t deadline_ns);

/* MPI_Comm_dup() with a limit. */
dynsel_status dynsel_mpi_duplicate(MPI_Comm of, MPI_Comm *made, uint64_t deadline_ns);

/* Fails with a code of MPI. */
dynsel_status dynsel_mpi_fail(const char *function, int code);

#endif
