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
    uint32_t number;         /* among those of the backend */
    uint32_t uses;           /* counted, to know what was used least recently */
    bool shares;             /* its last copy was the host's memory itself */
    uint64_t copied_out_ns;  /* when the last copy to the host was seen to have ended */
    dynsel_movement movement;
} dynsel_domain_record;

extern dynsel_domain_record dynsel_domains[CONFIG_DYNSEL_MAX_DOMAINS];

/* The domain of a resource, from its backend; number 0: the host's memory. */
static inline dynsel_domain dynsel_domain_ask(dynsel_backend *backend, void *own)
{
    return backend->ops->memory != NULL ? backend->ops->memory->domain(backend, own)
                                        : (dynsel_domain){.in_order = backend->ops->in_order};
}

/* The place in the table + 1; DYNSEL_HOST_DOMAIN also where there is none: src/data/enter_domain.h
 * enters it. */
static inline uint32_t dynsel_domain_find(const dynsel_backend *backend, uint32_t number)
{
    for (uint32_t i = 0; number != 0 && i < CONFIG_DYNSEL_MAX_DOMAINS; i++) {
        if (dynsel_domains[i].number == number && dynsel_domains[i].backend == backend) {
            return i + 1;
        }
    }
    return DYNSEL_HOST_DOMAIN;
}

#endif
