/* SPDX-License-Identifier: Apache-2.0 */
/* Giving copies up. Under the lock of src/memory/lock.h. */
#ifndef DYNSEL_MEMORY_EVICT_H
#define DYNSEL_MEMORY_EVICT_H

#include "memory/buffers.h"

/* Token + 1 of work in the domain whose start was decided, which is not over and uses the buffer;
 * 0: none. Looks at everything in flight. */
uint32_t dynsel_user_of(const dynsel_buffer_record *record, uint32_t domain);

/* Gives the memory back. */
void dynsel_copy_give_up(dynsel_buffer_record *record, uint32_t domain);

#endif
