/* SPDX-License-Identifier: Apache-2.0 */
/* Frees copies of buffers. Under the lock of src/data/buffers.h unless noted: a copy is removed
 * from the table under the lock, and its memory freed without, because drivers may be slow. */
#ifndef DYNSEL_DATA_EVICT_H
#define DYNSEL_DATA_EVICT_H

#include "data/buffers.h"

/* A copy that was removed from the table. */
typedef struct dynsel_given_copy {
    dynsel_backend *backend; /* NULL: its memory is not freed */
    void *own;
    dynsel_memory memory;
} dynsel_given_copy;

/* Removes the copy from the table. given: out. */
void dynsel_copy_take(dynsel_buffer_record *record, uint32_t domain, dynsel_given_copy *given);

/* The same with the least recently used copy in the domain that is not in use and whose data are
 * valid elsewhere. False: there is none. */
bool dynsel_copy_evict(uint32_t domain, dynsel_given_copy *given);

/* Without the lock: frees the memory. */
void dynsel_copy_release(dynsel_given_copy *given);

/* Without the lock: frees all copies of a buffer that is being ended. */
void dynsel_copies_end(dynsel_buffer_record *record);

#endif
