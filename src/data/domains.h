/* SPDX-License-Identifier: Apache-2.0 */
/* The table of memory domains. Under the lock of src/data/buffers.h. */
#ifndef DYNSEL_DATA_DOMAINS_H
#define DYNSEL_DATA_DOMAINS_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/backend.h>
#include <dynsel/buffer.h>
#include <dynsel/memory.h>

typedef struct dynsel_domain_record {
    dynsel_backend *backend; /* NULL: free */
    uint32_t number;         /* among those of the backend */
    uint32_t uses;           /* counted, to know what was used least recently */
    bool shares;             /* its last copy was the host's memory itself */
    uint64_t fetched_ns;     /* when the last fetch was seen to have ended */
    dynsel_movement movement;
} dynsel_domain_record;

extern dynsel_domain_record dynsel_domains[CONFIG_DYNSEL_MAX_DOMAINS];

/* The domain of a resource: DYNSEL_HOST_DOMAIN, or a place in the table + 1, which is entered if
 * need be. in_order: out, may be NULL. DYNSEL_E_FULL when the table is full. A place is given up
 * when no copy is left in it and another domain needs it. */
dynsel_status dynsel_domain_of(dynsel_backend *backend, void *own, uint32_t *domain,
                               bool *in_order);

/* The same without entering it: DYNSEL_HOST_DOMAIN also for a domain that is not known. */
uint32_t dynsel_domain_known(dynsel_backend *backend, void *own);

/* Whether the resource works in the host's memory, known or not. */
bool dynsel_domain_is_host(dynsel_backend *backend, void *own);

#endif
