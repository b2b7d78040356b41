/* SPDX-License-Identifier: Apache-2.0 */
/* Builds messages of rank 0, part by part, as its backend writes them. */
#ifndef DYNSEL_TESTS_SERVING_REQUESTS_H
#define DYNSEL_TESTS_SERVING_REQUESTS_H

#include <string.h>

#include "serving/fake_rank_0.h"

typedef struct request {
    dynsel_mpi_message message;
    size_t bytes;
} request;

static inline void request_begin(request *r, dynsel_mpi_kind kind, uint32_t resource,
                                 uint32_t operation)
{
    r->message.header = (dynsel_mpi_header){.kind = (uint8_t)kind,
                                            .resource = (uint8_t)resource,
                                            .operation = operation,
                                            .turn = FAKE_TURN};
    r->bytes = 0;
}

static inline void request_add(request *r, const void *part, size_t bytes)
{
    memcpy(r->message.body + r->bytes, part, bytes);
    r->bytes = DYNSEL_MPI_ROUND(r->bytes + bytes);
}

/* After all parts: an operation that this one comes behind. */
static inline void request_follow(request *r, uint32_t operation)
{
    memcpy(r->message.body + r->bytes, &operation, sizeof operation);
    r->bytes += sizeof operation;
    r->message.header.after_count++;
}

static inline void request_push(const request *r)
{
    fake_push(&r->message, r->bytes);
}

#endif
