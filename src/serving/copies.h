/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copies that rank 0 keeps on this rank: buffers of bytes over the memory of dynsel_mpi_open(),
 * and the transfers between them and other ranks.
 *
 * A transfer has its place in the order of the library from when its host accessor is open. Until
 * then messages that would overtake it are held, by dynsel_served_copy_is_held(); all others go on.
 */
#ifndef DYNSEL_SERVING_COPIES_H
#define DYNSEL_SERVING_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/buffer.h>

#include "serving/operations.h"
#include "serving/order.h"
#include "serving/reader.h"

/*
 * The buffer of this place, which the first message that names it makes; so does one that names it
 * with another size: a place of ranges holds one after the other.
 *
 * DYNSEL_E_AGAIN: the former one is in use. Any other failure is that of the thread.
 */
dynsel_status dynsel_served_copy_get(const dynsel_mpi_place *place, dynsel_buffer *buffer);

/* Whether a use that comes now would overtake a transfer. number: below CONFIG_DYNSEL_MPI_COPIES.
 */
bool dynsel_served_copy_is_held(uint32_t number, bool writes);

/* The operation that brings its data now, + 1; 0: none does. */
uint32_t dynsel_served_copy_brought_by(uint32_t number);

/* The messages of these kinds. DYNSEL_E_AGAIN: not now. Any other failure is to be answered. */
dynsel_status dynsel_served_copy_bring(const dynsel_mpi_header *header, dynsel_served_reader body);
dynsel_status dynsel_served_copy_fetch(const dynsel_mpi_header *header, dynsel_served_reader body);

/* The end of a copy, which is not answered: false while it is in use. Ignores what is no copy. */
bool dynsel_served_copy_release(uint32_t number);

/* Moves a transfer on. True: something has changed. */
bool dynsel_served_copy_look(dynsel_served *operation);

/* The message that says so, which may come before that of the transfer: that is refused then. */
void dynsel_served_copy_abandon_turn(const dynsel_mpi_header *header);

/* Takes back a transfer, which ends with DYNSEL_E_OUT_OF_SERVICE; ignores all other operations. */
void dynsel_served_copy_abandon(dynsel_served *operation);

/* A rank is lost: its transfers are taken back, and those that come are refused. */
void dynsel_served_copy_lose_rank(uint32_t rank);

/* Ends all copies. False: the memory of one may still be used. */
bool dynsel_served_copy_end_all(void);

/* Begins without copies, and with all ranks alive. */
void dynsel_served_copy_reset(void);

#endif
