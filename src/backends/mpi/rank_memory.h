/* SPDX-License-Identifier: Apache-2.0 */
/* The memory that each rank gave, as rank 0 divides it. Under dynsel_mpi_lock. */
#ifndef DYNSEL_BACKENDS_MPI_RANK_MEMORY_H
#define DYNSEL_BACKENDS_MPI_RANK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The place of one copy. dynsel_memory.native points to it. */
typedef struct dynsel_mpi_copy {
    uint64_t offset;
    uint64_t bytes; /* of the place, at least those of the buffer */
    uint32_t next;  /* the copy that lies behind it, + 1; of a free entry: the next free one, + 1 */
    bool named;     /* a message has named it, so the rank knows it */
    bool is_buffers; /* else it is memory for ranges, which the library keeps for other work */
    bool is_past;    /* from before the last dynsel_mpi_memory_begin(): it only is given back */
} dynsel_mpi_copy;

/* Begins without copies on any rank. */
void dynsel_mpi_memory_begin(void);

/* How many copies of buffers a rank has. */
uint32_t dynsel_mpi_buffers_on(uint32_t rank);

/* The first gap with room for `bytes`; NULL: none, or too many copies. */
dynsel_mpi_copy *dynsel_mpi_copy_take(uint32_t rank, size_t bytes, bool is_buffers);

void dynsel_mpi_copy_give_back(uint32_t rank, dynsel_mpi_copy *copy);

/* Its number in messages. */
uint32_t dynsel_mpi_copy_number(uint32_t rank, const dynsel_mpi_copy *copy);

#endif
