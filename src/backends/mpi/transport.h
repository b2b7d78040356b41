/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages and data between the ranks: the only file that calls MPI while work goes on. Nothing
 * blocks. All functions: under dynsel_mpi_lock, on rank 0; a rank that serves has one thread.
 *
 * Where only one thread may call MPI, the functions of other threads leave what is to be sent or
 * received in tables, and dynsel_mpi_pump() of that thread hands it to MPI.
 */
#ifndef DYNSEL_BACKENDS_MPI_TRANSPORT_H
#define DYNSEL_BACKENDS_MPI_TRANSPORT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/status.h>

#include "backends/mpi/protocol.h"
#include "port/spinlock.h"

/* Guards what these files keep. */
extern dynsel_spinlock dynsel_mpi_lock;

enum {
    DYNSEL_MPI_PIECES = 4 /* of one transfer in flight */
};

/* The data of one operation on their way. All zero: none. */
typedef struct dynsel_mpi_transfer {
    unsigned char *data;
    size_t bytes;
    size_t begun; /* bytes that MPI has */
    size_t ended; /* bytes that have arrived, or left */
    uint32_t rank;
    uint32_t operation;
    bool sends;
    bool listed; /* MPI, or this file, may still use it */
    bool abandoned;
    int32_t code; /* MPI's, of a failure */
    MPI_Request pieces[DYNSEL_MPI_PIECES];
    struct dynsel_mpi_transfer *next; /* in the list of those that go on */
} dynsel_mpi_transfer;

/* Begins with the communicator, which becomes the transport's. anybody_calls: any thread may call
 * MPI, one at a time; else only the calling one. MPI's error code. */
int dynsel_mpi_transport_open(MPI_Comm communicator, bool anybody_calls);

/* Ends: frees the requests and the communicator. clean: all ranks live, so that MPI can be asked to
 * end what is under way; else it is left alone. */
void dynsel_mpi_transport_close(bool clean);

/* Whether this thread may call MPI. */
bool dynsel_mpi_may_call(void);

/* The place from which the next message leaves, to be filled in and sent under the same lock; not
 * cleared. NULL: the table of leaving messages is full; pump, and try again. */
dynsel_mpi_message *dynsel_mpi_place_message(void);

/* Sends what was filled in there. body_bytes, tag: see below. */
void dynsel_mpi_send_placed(dynsel_mpi_message *message, uint32_t rank, size_t body_bytes, int tag);

/* Copies a message, and sends it. message: a dynsel_mpi_message; with 0 body_bytes its header is
 * enough. body_bytes: used bytes of `body`. tag: DYNSEL_MPI_TAG_MESSAGE or _PING. False: the table
 * of leaving messages is full; pump, and try again. */
bool dynsel_mpi_send(uint32_t rank, const void *message, size_t body_bytes, int tag);

/* The oldest message that has arrived, and its rank and used bytes of body; NULL: none. It stays
 * until dynsel_mpi_took_message(). Pings and their answers overtake. Reads what pump has found. */
const dynsel_mpi_message *dynsel_mpi_next_message(uint32_t *rank, size_t *body_bytes);
void dynsel_mpi_took_message(void);

/* Begins to send the data, or to receive them; `transfer` is not in use, and stays where it is.
 * operation: the dynsel_mpi_data_number(). */
void dynsel_mpi_transfer_begin(dynsel_mpi_transfer *transfer, uint32_t rank, uint32_t operation,
                               void *data, size_t bytes, bool sends);

/* DYNSEL_E_AGAIN: it goes on. DYNSEL_OK; DYNSEL_E_DEVICE: MPI failed, see `code`. */
dynsel_status dynsel_mpi_transfer_state(const dynsel_mpi_transfer *transfer);

/* Takes back what MPI lets be taken back, at once or at the next pump of the thread that may; until
 * then it is `listed`. The memory may still be used where the other side is slow, and not lost. */
void dynsel_mpi_transfer_abandon(dynsel_mpi_transfer *transfer);

/* A rank is lost: no place stays occupied by messages to it, whether MPI can send them or not. */
void dynsel_mpi_transport_lose(uint32_t rank);

/* Whether messages to other ranks wait to be sent. */
bool dynsel_mpi_is_sending(void);

/* Whether data move, or wait for the other side. */
bool dynsel_mpi_is_moving(void);

/* Moves everything on that can move, without waiting: tests and sends and receives. True: something
 * has arrived or ended since. In threads that may not call MPI: false. */
bool dynsel_mpi_pump(void);

/* MPI's code of the first failure with this rank; 0: none. With MPI_ERRORS_RETURN a failure names a
 * rank only through the call. */
int dynsel_mpi_failure_of(uint32_t rank);

#endif
