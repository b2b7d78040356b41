/* SPDX-License-Identifier: Apache-2.0 */
/* Freeing copies. Under the lock of src/data/buffers.h unless noted: drivers may be slow to free
 * memory. */
#ifndef DYNSEL_DATA_EVICT_H
#define DYNSEL_DATA_EVICT_H

#include "data/buffers.h"

/* A copy that was removed from the table. */
typedef struct dynsel_given_copy {
    dynsel_backend *backend;
    void *own;
    dynsel_memory memory;
} dynsel_given_copy;

/* Takes the copy out of the table. given: out. */
void dynsel_copy_take(dynsel_buffer_record *record, uint32_t domain, dynsel_given_copy *given);

/* The same with one in the domain that is not in use and valid elsewhere, the least recently used;
 * false: there was none. */
bool dynsel_copy_evict(uint32_t domain, dynsel_given_copy *given);

/* Without the lock: gives its memory back. */
void dynsel_copy_release(dynsel_given_copy *given);

/* Without the lock: gives back all copies of a buffer that no handle leads to and nobody uses. */
void dynsel_copies_end(dynsel_buffer_record *record);

#endif
