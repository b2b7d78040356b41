/* SPDX-License-Identifier: Apache-2.0 */
/* What rank 0 knows of the other ranks, and of their resources. */
#ifndef DYNSEL_BACKENDS_MPI_RANKS_H
#define DYNSEL_BACKENDS_MPI_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/device.h>
#include <dynsel/mpi.h>

#include "backends/mpi/protocol.h"
#include "port/atomic.h"

enum { DYNSEL_MPI_NAME_BYTES = 96 };

/* A resource as its rank describes it: sent as bytes. Texts end in '\0', cut if need be. */
typedef struct dynsel_mpi_description {
    char name[DYNSEL_MPI_NAME_BYTES]; /* for dynsel_resource_name(): with its rank */
#if CONFIG_DYNSEL_ASPECTS
    char backend[16];
    char platform[DYNSEL_MPI_NAME_BYTES];
    char vendor[DYNSEL_MPI_NAME_BYTES];
    char type[16];
    char device[DYNSEL_MPI_NAME_BYTES];
    char driver[DYNSEL_MPI_NAME_BYTES];
    dynsel_aspect_set aspects;
#endif
    bool is_device; /* it runs the OpenCL form of kernels, not the host's */
} dynsel_mpi_description;

/* A resource of another rank; the handle of dynsel_resource. */
typedef struct dynsel_mpi_resource {
    dynsel_mpi_description description;
    uint32_t rank;
    uint32_t place; /* in the rank's list */
} dynsel_mpi_resource;

typedef struct dynsel_mpi_rank_record {
    uint32_t resource_count;
    uint32_t losses_told; /* how many lost ranks it knows of */
    uint32_t owed;        /* answers and data that have not come */
    dynsel_word lost;     /* 1 when it is */
    bool left;            /* it has said goodbye */
    bool heard;           /* a message has come since the last look at the clock */
    bool awaits_pong;     /* it was pinged, and has not answered that */
    uint64_t memory_bytes;
    uint64_t heard_ns;
    uint64_t asked_ns; /* when it was pinged because it owes an answer; 0: it was not since */
    uint64_t pinged_ns;
    char failure[DYNSEL_MPI_ERROR_BYTES]; /* the text of its last failed work */
    dynsel_mpi_resource resources[CONFIG_DYNSEL_MPI_RANK_RESOURCES];
} dynsel_mpi_rank_record;

/* By rank; that of rank 0 itself is not used. The descriptions are constant while it is open, the
 * rest is under dynsel_mpi_lock; `lost` is also read without it. */
extern dynsel_mpi_rank_record dynsel_mpi_ranks[CONFIG_DYNSEL_MPI_RANKS];

static inline bool dynsel_mpi_is_lost(uint32_t rank)
{
    return dynsel_word_load_acquire(&dynsel_mpi_ranks[rank].lost) != 0;
}

/* The resource behind a handle; NULL: it is none. */
const dynsel_mpi_resource *dynsel_mpi_resource_of(const void *handle);

/* Fails because of such a handle. */
dynsel_status dynsel_mpi_refuse_handle(void);

/* Fills in the description of one of this rank's resources. */
void dynsel_mpi_describe_own(const dynsel_resource *resource, uint32_t rank,
                             dynsel_mpi_description *description);

/* `describe` of both backends. */
dynsel_status dynsel_mpi_describe(dynsel_backend *backend, const void *handle,
                                  dynsel_device *device);

/* `get_default_resources` of both: the resources with this kind of form. */
dynsel_status dynsel_mpi_list(dynsel_backend *backend, bool devices, dynsel_resource *resources,
                              size_t capacity, size_t *count);

/* Counts the entries in tables of policies. */
void dynsel_mpi_use(bool begins);
uint32_t dynsel_mpi_users(void);

/* In the child of a fork(), whose policies are not its own. */
void dynsel_mpi_forget_users(void);

#endif
