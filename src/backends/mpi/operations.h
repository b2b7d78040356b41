/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rank 0 has asked of other ranks: a table of operations, each from its message to its answer.
 * An operation is the event of work: dynsel_event.native points to it until the library releases
 * it. Its place is used again when it is released and all answers and data have come.
 *
 * All functions: under dynsel_mpi_lock. Those that wait for room give it to others meanwhile.
 */
#ifndef DYNSEL_BACKENDS_MPI_OPERATIONS_H
#define DYNSEL_BACKENDS_MPI_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/status.h>

#include "backends/mpi/protocol.h"
#include "backends/mpi/transport.h"
#include "port/atomic.h"

enum { DYNSEL_MPI_OWED_BY_RANK = 1, DYNSEL_MPI_OWED_BY_PEER = 2 };

typedef struct dynsel_mpi_operation {
    uint32_t rank;            /* that it was sent to */
    uint32_t peer;            /* the other rank of a transfer between two; 0: none */
    uint32_t turn;            /* counts the uses of this place */
    uint32_t tell_to_abandon; /* a rank whose side cannot go on, and does not know; 0: none */
    uint8_t owed;             /* answers: DYNSEL_MPI_OWED_BY_RANK, DYNSEL_MPI_OWED_BY_PEER */
    bool used;
    bool released;
    bool has_data;     /* between that rank and rank 0: `transfer` */
    dynsel_word ended; /* 1: all answers and data have come, or will not; what follows is final */
    dynsel_status status;
    int32_t code;
    uint64_t took_ns;
    void *back; /* what the bytes of an answer are copied to; NULL: nothing */
    uint32_t back_bytes;
    uint32_t next_free; /* place + 1 */
    dynsel_mpi_transfer transfer;
} dynsel_mpi_operation;

/* Empties the table. */
void dynsel_mpi_operations_begin(void);

/* What goes with the message of an operation. All zero: nothing. */
typedef struct dynsel_mpi_exchange {
    void *back; /* the bytes of the answer are copied to it */
    uint32_t back_bytes;
    bool sends; /* `data`; else they are received */
    void *data;
    size_t bytes;
} dynsel_mpi_exchange;

/* Takes a place, and sends the message; pumps until there is room for both. NULL: the rank is lost.
 */
dynsel_mpi_operation *dynsel_mpi_begin_operation(uint32_t rank, const dynsel_mpi_message *message,
                                                 size_t body_bytes,
                                                 const dynsel_mpi_exchange *with);

/* The same in two steps, so that the message is written where it leaves: takes places for both;
 * NULL: the rank is lost. Then, under the same lock, sends what was written. */
dynsel_mpi_operation *dynsel_mpi_place_operation(uint32_t rank, dynsel_mpi_message **message);
void dynsel_mpi_send_operation(dynsel_mpi_operation *operation, dynsel_mpi_message *message,
                               size_t body_bytes);

/* Sends a message of the same operation to another rank, which is the source of its data. False:
 * that rank is lost, and the operation fails. */
bool dynsel_mpi_join_operation(dynsel_mpi_operation *operation, uint32_t rank,
                               dynsel_mpi_message *message, size_t body_bytes);

/* How many are in use. */
uint32_t dynsel_mpi_operations_used(void);

/* Sends a message that is not answered, and is not urgent. */
void dynsel_mpi_tell(uint32_t rank, dynsel_mpi_kind kind, uint32_t operation);

/* The library needs it no more. */
void dynsel_mpi_release_operation(dynsel_mpi_operation *operation);

/* Moves all on, takes the messages that have come, and notices ranks that are silent. True:
 * something has come. */
bool dynsel_mpi_advance(void);

/* The same several times, until the operation has ended. Returns how many of the last calls were
 * without news. */
uint32_t dynsel_mpi_advance_operation(const dynsel_mpi_operation *operation, uint32_t most_calls);

/* DYNSEL_E_AGAIN, or the result, with details of a failure as the thread's last error. Any thread,
 * without the lock. */
dynsel_status dynsel_mpi_operation_result(const dynsel_mpi_operation *operation);
bool dynsel_mpi_has_succeeded(const dynsel_mpi_operation *operation);

/* Waits for the result; the lock is not held. */
dynsel_status dynsel_mpi_wait_for(const dynsel_mpi_operation *operation);

/* The number of an operation, and of an event. */
uint32_t dynsel_mpi_number_of(const dynsel_mpi_operation *operation);

/* Ends all operations of a rank that does not answer, and tells all ranks, also that one. code:
 * MPI's; 0: silence. */
void dynsel_mpi_lose(uint32_t rank, int code);

/* Fails because a rank is lost. */
dynsel_status dynsel_mpi_fail_lost(uint32_t rank);

/* The first rank that was lost; 0: none. */
uint32_t dynsel_mpi_first_lost(void);

/* Gives the lock to others for a moment. round: how often already. */
void dynsel_mpi_step_aside(uint32_t round);

#endif
