/* SPDX-License-Identifier: Apache-2.0 */
/* Giving copies up. Under the lock of src/data/buffers.h, but for what says otherwise: drivers may
 * take their time to give memory back. */
#ifndef DYNSEL_DATA_EVICT_H
#define DYNSEL_DATA_EVICT_H

#include "data/buffers.h"

/* A copy that nothing leads to any more. */
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
