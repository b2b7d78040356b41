/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who uses a buffer: the last work that writes it and those that read it since, which are in its
 * record, and earlier work that is not over although others have come after it: on a device that
 * keeps the order nobody may have looked at it yet. Under the lock of src/data/buffers.h.
 */
#ifndef DYNSEL_DATA_USERS_H
#define DYNSEL_DATA_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include "data/buffers.h"
#include "data/uses.h"

/* Another is about to take the place of the buffer's writer and its readers. */
void dynsel_users_replaced(dynsel_buffer_record *record);

/* All that the slot was used for before is over. */
void dynsel_users_forget(dynsel_uses *uses);

/* Whether work that is not over uses it. */
bool dynsel_buffer_in_use(dynsel_buffer_record *record);

/* Token + 1 of work in the domain that uses the buffer, for which the start was decided, and which
 * is not over; 0: there is none. */
uint32_t dynsel_user_of(dynsel_buffer_record *record, uint32_t domain);

#endif
