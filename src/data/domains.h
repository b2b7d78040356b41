/* SPDX-License-Identifier: Apache-2.0 */
/* The table of memory domains. Under the lock of src/data/buffers.h. */
#ifndef DYNSEL_DATA_DOMAINS_H
#define DYNSEL_DATA_DOMAINS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/backend.h>
#include <dynsel/buffer.h>
#include <dynsel/memory.h>

#include "data/validity.h"

typedef struct dynsel_domain_record {
    dynsel_backend *backend; /* NULL: free */
    uint32_t number;         /* the backend's number of the domain */
    uint32_t uses;           /* the count of uses of copies, to find the least recently used */
    bool shares;             /* the last copy that was allocated here is the host's memory */
    uint8_t beside_power; /* copies of so many bytes, as a power of two, and more move to the host
                                beside queued work */
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    dynsel_copy_set apart; /* the domains from which nothing can be passed here */
#endif
    uint64_t copied_out_ns; /* when the last copy to the host was seen complete */
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    /* Aligned so that the record has 96 bytes on 64-bit machines, not 88: then its address needs no
     * more instructions than without the option. */
    _Alignas(16) dynsel_movement movement;
#else
    dynsel_movement movement;
#endif
} dynsel_domain_record;

extern dynsel_domain_record dynsel_domains[CONFIG_DYNSEL_MAX_DOMAINS];

/* Domains behind these were never entered. */
extern uint32_t dynsel_domain_count;

/* Counts how a copy moved. before: memory->pinning before the transfer. */
static inline void dynsel_movement_count_pinned(dynsel_movement *movement,
                                                const dynsel_memory *memory, uint8_t before)
{
    if (memory->pinning == DYNSEL_PINNED) {
        movement->bytes_pinned += memory->bytes;
    } else if (memory->pinning == DYNSEL_PIN_REFUSED && before != DYNSEL_PIN_REFUSED) {
        movement->pins_refused++;
    }
}

/* Asks the backend for the domain of a resource; number 0: the host's memory. */
static inline dynsel_domain dynsel_domain_ask(dynsel_backend *backend, void *own)
{
    return backend->ops->memory != NULL ? backend->ops->memory->domain(backend, own)
                                        : (dynsel_domain){.in_order = backend->ops->in_order};
}

/* The backend whose name its domains have in the table. */
static inline dynsel_backend *dynsel_domains_of(dynsel_backend *backend)
{
#if CONFIG_DYNSEL_BACKEND_MPI
    const dynsel_memory_ops *const memory = backend->ops->memory;
    if (memory != NULL && memory->domains_of != NULL) {
        return memory->domains_of;
    }
#endif
    return backend;
}

/* The place in the table + 1; DYNSEL_HOST_DOMAIN: none, also if the domain is not entered yet (see
 * src/data/enter_domain.h). */
static inline uint32_t dynsel_domain_find(dynsel_backend *backend, uint32_t number)
{
    const dynsel_backend *const owner = dynsel_domains_of(backend);
    for (uint32_t i = 0; number != 0 && i < dynsel_domain_count; i++) {
        if (dynsel_domains[i].number == number && dynsel_domains[i].backend == owner) {
            return i + 1;
        }
    }
    return DYNSEL_HOST_DOMAIN;
}

#endif
