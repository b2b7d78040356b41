/* SPDX-License-Identifier: Apache-2.0 */
/* Messages about copies and command groups. */
#ifndef DYNSEL_TESTS_SERVING_DATA_REQUESTS_H
#define DYNSEL_TESTS_SERVING_DATA_REQUESTS_H

#include <dynsel/command_group.h>

#include "serving/requests.h"

static inline dynsel_mpi_place place_of(uint32_t copy, uint64_t offset, uint64_t bytes)
{
    return (dynsel_mpi_place){.offset = offset, .bytes = bytes, .room = bytes, .copy = copy};
}

static inline void data_begin(request *r, dynsel_mpi_kind kind, uint32_t operation,
                              dynsel_mpi_place place, uint32_t peer)
{
    const dynsel_mpi_data_body body = {.place = place, .peer = peer};
    request_begin(r, kind, 0, operation);
    request_add(r, &body, sizeof body);
}

static inline void data_push(dynsel_mpi_kind kind, uint32_t operation, dynsel_mpi_place place,
                             uint32_t peer)
{
    request r;
    data_begin(&r, kind, operation, place, peer);
    request_push(&r);
}

static inline void launch_begin(request *r, uint32_t operation, uint32_t resource, uint32_t kernel,
                                uint32_t argument_count, dynsel_range global)
{
    const dynsel_mpi_launch_body body = {
        .kernel = kernel, .argument_count = argument_count, .global = global};
    request_begin(r, DYNSEL_MPI_LAUNCH, resource, operation);
    request_add(r, &body, sizeof body);
}

static inline void launch_data(request *r, dynsel_mpi_place place, dynsel_access_mode access)
{
    dynsel_mpi_argument argument = {.kind = DYNSEL_ARGUMENT_DATA, .place = place};
    argument.place.access = (uint32_t)access;
    request_add(r, &argument, sizeof argument);
}

static inline void launch_other(request *r, dynsel_argument_kind kind, uint32_t bytes)
{
    const dynsel_mpi_argument argument = {.kind = (uint32_t)kind, .bytes = bytes};
    request_add(r, &argument, sizeof argument);
}

static inline void launch_value(request *r, const void *value, uint32_t bytes)
{
    launch_other(r, DYNSEL_ARGUMENT_VALUE, bytes);
    request_add(r, value, bytes);
}

#endif
