/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The users of a buffer: the last writer and the readers since, which are in its record, and
 * earlier work that is not known to be over although later work was started behind it on an
 * in-order device. Under the lock of src/data/buffers.h.
 */
#ifndef DYNSEL_DATA_USERS_H
#define DYNSEL_DATA_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include "data/buffers.h"
#include "data/uses.h"

/* The buffer's writer and readers are about to be replaced. */
void dynsel_users_replaced(dynsel_buffer_record *record);

/* All that the slot was used for before is over. */
void dynsel_users_forget(dynsel_uses *uses);

/* Whether work that is not over uses it. */
bool dynsel_buffer_in_use(dynsel_buffer_record *record);

/* Token + 1 of work in the domain that uses the buffer, for which the start was decided, and which
 * is not over; 0: there is none. */
uint32_t dynsel_user_of(dynsel_buffer_record *record, uint32_t domain);

#endif
