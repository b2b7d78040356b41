/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the memory domain of a resource, and enters new ones in the table. Under the lock of
 * src/data/buffers.h. */
#ifndef DYNSEL_DATA_ENTER_DOMAIN_H
#define DYNSEL_DATA_ENTER_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/backend.h>

/* The domain with this number of the backend: DYNSEL_HOST_DOMAIN for 0, or a place in the table
 * + 1. Enters a new domain, in place of one without copies if necessary. own: of a resource there.
 * DYNSEL_E_FULL: all places have copies. */
dynsel_status dynsel_domain_enter(dynsel_backend *backend, void *own, uint32_t number,
                                  uint32_t *domain);

#endif
