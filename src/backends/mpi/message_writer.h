/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the message of an operation, part by part, and sends it. */
#ifndef DYNSEL_BACKENDS_MPI_MESSAGE_WRITER_H
#define DYNSEL_BACKENDS_MPI_MESSAGE_WRITER_H

#include "backends/mpi/operations.h"
#include "backends/mpi/protocol.h"

typedef struct dynsel_mpi_writer {
    dynsel_mpi_message *message;
    size_t bytes; /* of the body so far, a multiple of 8 */
} dynsel_mpi_writer;

/* resource: its place on its rank; 0 where the operation concerns none. */
void dynsel_mpi_write_begin(dynsel_mpi_writer *writer, dynsel_mpi_message *message,
                            dynsel_mpi_kind kind, uint32_t resource);

/* Appends a part; the next one begins at a multiple of 8. */
void dynsel_mpi_write(dynsel_mpi_writer *writer, const void *bytes, size_t count);

/* Appends the operations that this one comes behind; those that have succeeded say nothing. The
 * last part. */
void dynsel_mpi_write_after(dynsel_mpi_writer *writer, const dynsel_event *after, size_t count);

/* Takes the lock, and sends the message as an operation. NULL: the rank is lost. */
dynsel_mpi_operation *dynsel_mpi_write_send(const dynsel_mpi_writer *writer, uint32_t rank,
                                            const dynsel_mpi_exchange *with);

#endif
