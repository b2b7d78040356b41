/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rank 0 without MPI: replaces the transport of a rank that serves. dynsel_mpi_serve() runs in a
 * thread; the test pushes messages, moves data, and looks at answers.
 *
 * All waits give up after 20 s, and the test fails then.
 */
#ifndef DYNSEL_TESTS_SERVING_FAKE_RANK_0_H
#define DYNSEL_TESTS_SERVING_FAKE_RANK_0_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/mpi.h>

#include "backends/mpi/protocol.h"

enum { FAKE_RANK = 2, FAKE_RANKS = 4, FAKE_TURN = 1 /* of all operations */ };

/* An answer. */
typedef struct fake_done {
    dynsel_status status;
    int32_t code;
    uint64_t took_ns;
    char text[DYNSEL_MPI_ERROR_BYTES + 1];
    unsigned char back[CONFIG_DYNSEL_MPI_ARGUMENT_BYTES];
    uint32_t back_bytes;
} fake_done;

/* Begins to serve with these options and resources, as dynsel_mpi_open() leaves them. */
void fake_begin(const dynsel_mpi_options *options, const dynsel_resource *resources,
                uint32_t count);

/* Waits until dynsel_mpi_serve() has returned, and returns its status. text: out, its error's. */
dynsel_status fake_join(char *text, size_t bytes);

/* Sends DYNSEL_MPI_END, joins, and checks that all ended well. */
void fake_end(void);
void fake_end_all(bool clean); /* false: a rank was lost */

/* Whether dynsel_mpi_end() was called, and how. */
bool fake_ended_clean(void);
bool fake_ended(void);

/* Appends a message to the line, or puts it before all others as a ping. */
void fake_push(const dynsel_mpi_message *message, size_t body_bytes);
void fake_push_from(uint32_t rank, const dynsel_mpi_message *message, size_t body_bytes);
void fake_push_ahead(const dynsel_mpi_message *message, size_t body_bytes);
void fake_tell(dynsel_mpi_kind kind, uint32_t operation);
void fake_tell_ahead(dynsel_mpi_kind kind, uint32_t operation);

/* How many messages were not taken from the line. */
uint32_t fake_line(void);

/* Waits for the answer of an operation, and forgets it. */
fake_done fake_wait(uint32_t operation);
bool fake_has_answer(uint32_t operation);
uint32_t fake_answers(void); /* that were not waited for */
void fake_forget_answers(void);

/* Waits until the line is empty and there are exactly so many answers. */
void fake_wait_for_answers(uint32_t count);

/* Waits until so many pumps have passed: what can happen has happened. */
void fake_let_pass(uint32_t pumps);

/* Waits for so many PONGs since the begin. */
void fake_wait_for_pongs(uint32_t count);
bool fake_has_bye(void);

/* True: the table of leaving messages is full from now on. */
void fake_block_sends(bool blocked);

/* Waits until a transfer of this operation goes on. */
void fake_wait_for_data(uint32_t operation);
bool fake_moves_data(uint32_t operation);
bool fake_abandoned(uint32_t operation);

/* Ends it; data: what this rank receives, or out, what it sends. bytes: those of the transfer, as
 * is checked. */
void fake_give_data(uint32_t operation, const void *data, size_t bytes);
void fake_take_data(uint32_t operation, void *data, size_t bytes);
void fake_fail_data(uint32_t operation, int code);

/* True: transfers end by themselves, received bytes are zero. */
void fake_moves_by_itself(bool by_itself);

/* MPI fails with rank 0 from now on. */
void fake_lose_rank_0(int code);

#endif
