/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mpi/ranks.h"

#include <stdio.h>
#include <string.h>

#include "backends/mpi/state.h"
#include "base/fail.h"
#include "port/atomic.h"
#include "port/likely.h"

dynsel_mpi_rank_record dynsel_mpi_ranks[CONFIG_DYNSEL_MPI_RANKS];

static dynsel_word users;

void dynsel_mpi_use(bool begins)
{
    (void)dynsel_word_add_relaxed(&users, begins ? 1 : (uint32_t)-1);
}

void dynsel_mpi_forget_users(void)
{
    dynsel_word_store_relaxed(&users, 0);
}

uint32_t dynsel_mpi_users(void)
{
    return dynsel_word_load_acquire(&users);
}

const dynsel_mpi_resource *dynsel_mpi_resource_of(const void *handle)
{
    for (uint32_t rank = 1; rank < dynsel_mpi.rank_count; rank++) {
        const dynsel_mpi_rank_record *const record = &dynsel_mpi_ranks[rank];
        for (uint32_t i = 0; i < record->resource_count; i++) {
            if (handle == &record->resources[i]) {
                return &record->resources[i];
            }
        }
    }
    return NULL;
}

#if CONFIG_DYNSEL_ASPECTS
static void copy_text(char *to, size_t bytes, const char *from)
{
    (void)snprintf(to, bytes, "%s", from != NULL ? from : "");
}
#endif

DYNSEL_RARE void dynsel_mpi_describe_own(const dynsel_resource *resource, uint32_t rank,
                                         dynsel_mpi_description *description)
{
    *description = (dynsel_mpi_description){.is_device = false};
    (void)snprintf(description->name, sizeof description->name, "rank %u: %s", (unsigned)rank,
                   dynsel_resource_name(resource));
#if CONFIG_DYNSEL_BACKEND_OPENCL
    description->is_device = resource->backend == &dynsel_opencl_backend;
#endif
#if CONFIG_DYNSEL_ASPECTS
    dynsel_device device;
    if (dynsel_resource_describe(resource, &device) == DYNSEL_OK) {
        copy_text(description->backend, sizeof description->backend, device.backend);
        copy_text(description->platform, sizeof description->platform, device.platform);
        copy_text(description->vendor, sizeof description->vendor, device.vendor);
        copy_text(description->type, sizeof description->type, device.type);
        copy_text(description->device, sizeof description->device, device.name);
        copy_text(description->driver, sizeof description->driver, device.driver);
        description->aspects = device.aspects;
    }
#endif
}

dynsel_status dynsel_mpi_refuse_handle(void)
{
    return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_backend"), DYNSEL_E_INVALID,
                          "the handle is no resource of another rank: take resources from "
                          "dynsel_mpi_resources()",
                          0);
}

#if CONFIG_DYNSEL_ASPECTS
/* With the backend's name on its own rank, so that the same target recognizes it. */
DYNSEL_RARE dynsel_status dynsel_mpi_describe(dynsel_backend *backend, const void *handle,
                                              dynsel_device *device)
{
    const dynsel_mpi_resource *const resource = dynsel_mpi_resource_of(handle);
    (void)backend;
    if (resource == NULL) {
        return dynsel_mpi_refuse_handle();
    }
    const dynsel_mpi_description *const its = &resource->description;
    *device = (dynsel_device){.backend = its->backend,
                              .platform = its->platform,
                              .vendor = its->vendor,
                              .type = its->type,
                              .name = its->device,
                              .driver = its->driver,
                              .aspects = its->aspects,
                              .processors = DYNSEL_PROCESSORS_ELSEWHERE};
    return DYNSEL_OK;
}
#endif

/* rank: 0: all. kinds: bit 0 host forms, bit 1 device forms. */
static size_t list(uint32_t rank, uint32_t kinds, dynsel_resource *resources, size_t capacity)
{
    size_t count = 0;
    const uint32_t end = rank == 0 ? dynsel_mpi.rank_count : rank + 1;
    for (uint32_t of = rank == 0 ? 1 : rank; of < end; of++) {
        dynsel_mpi_rank_record *const record = &dynsel_mpi_ranks[of];
        for (uint32_t i = 0; i < record->resource_count; i++) {
            const bool is_device = record->resources[i].description.is_device;
            if ((kinds & (is_device ? 2u : 1u)) == 0) {
                continue;
            }
            if (count < capacity) {
                resources[count] = (dynsel_resource){
                    .backend = is_device ? &dynsel_mpi_device_backend : &dynsel_mpi_backend,
                    .handle = &record->resources[i]};
            }
            count++;
        }
    }
    return count;
}

dynsel_status dynsel_mpi_list(dynsel_backend *backend, bool devices, dynsel_resource *resources,
                              size_t capacity, size_t *count)
{
    (void)backend;
    *count = list(0, devices ? 2u : 1u, resources, capacity);
    return DYNSEL_OK;
}

DYNSEL_RARE dynsel_status dynsel_mpi_resources(uint32_t rank, dynsel_resource *resources,
                                               size_t capacity, size_t *count)
{
    if (count == NULL || (resources == NULL && capacity != 0)) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "resources or count is NULL");
    }
    *count = 0;
    if (dynsel_mpi.rank_count == 0 || dynsel_mpi.rank != 0) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "only rank 0 has them, after dynsel_mpi_open()");
    }
    if (rank >= dynsel_mpi.rank_count) {
        return DYNSEL_FAIL_NUMBER(DYNSEL_E_INVALID, "there are {} ranks, which count from 0",
                                  dynsel_mpi.rank_count);
    }
    *count = list(rank, 3, resources, capacity);
    return capacity != 0 && *count > capacity
               ? DYNSEL_FAIL_NUMBER(DYNSEL_E_FULL, "{} resources are there, more than fit", *count)
               : DYNSEL_OK;
}

uint32_t dynsel_mpi_rank_of(const dynsel_resource *where)
{
    if (where == NULL ||
        (where->backend != &dynsel_mpi_backend && where->backend != &dynsel_mpi_device_backend)) {
        return 0;
    }
    const dynsel_mpi_resource *const resource = dynsel_mpi_resource_of(where->handle);
    return resource != NULL ? resource->rank : 0;
}

bool dynsel_mpi_rank_is_lost(uint32_t rank)
{
    return dynsel_mpi.rank == 0 && rank != 0 && rank < dynsel_mpi.rank_count &&
           dynsel_mpi_is_lost(rank);
}
