/* SPDX-License-Identifier: Apache-2.0 */
/* Staging memory: device memory for the ranges of command groups, in a table. A command group takes
 * the memory that it needs when it is started; the table keeps the memory for the next. Under the
 * lock of src/data/buffers.h unless noted. */
#ifndef DYNSEL_DATA_STAGING_H
#define DYNSEL_DATA_STAGING_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/policy.h>

#include "data/buffer_uses.h"

/* Whether the ranges of a command group can be staged at all. */
typedef enum dynsel_staging_need {
    DYNSEL_STAGING_FITS,
    DYNSEL_STAGING_TOO_MANY, /* more than there are staging buffers */
    DYNSEL_STAGING_TOO_LARGE /* more than a domain's staging memory */
} dynsel_staging_need;

/* Without the lock. */
dynsel_staging_need dynsel_staging_need_of(const dynsel_uses *uses);

/* The bytes that they need in a domain; UINT32_MAX: so many or more. Without the lock. */
uint32_t dynsel_staging_bytes_of(const dynsel_uses *uses);

/* Takes all staging memory for the start of the work in its domain, or none: DYNSEL_E_AGAIN, with
 * uses->obstacle; and with uses->wants_staging if the work is the first in its domain that waits:
 * then it has to be notified when users of staging memory end. */
dynsel_status dynsel_staging_take(dynsel_uses *uses);

/* Token + 1 of the last user of this place of CONFIG_DYNSEL_STAGING_COUNT; 0: none. */
uint32_t dynsel_staging_user(uint32_t place);

/* The start did not take place: the memory is free again. */
void dynsel_staging_give_back(const dynsel_uses *uses);

/* The work was given up, and its device may use the memory for ever: forgets it. */
void dynsel_staging_give_up(const dynsel_uses *uses);

/* Without the lock, for the thread that starts the work: the memory that was taken; native NULL: to
 * be allocated. */
dynsel_memory *dynsel_staging_memory(const dynsel_staged *staged);

/* The same: sets the resource with which the memory was allocated. */
void dynsel_staging_allocated(const dynsel_staged *staged, void *own);

/* The same: the new memory was made usable. */
void dynsel_staging_usable(const dynsel_staged *staged);

/* Removes unused memory from the table, the least recently used. False: there is none.
 * dynsel_staging_release() frees it. */
bool dynsel_staging_evict(uint32_t domain);

/* Without the lock: frees the memory that was removed. */
void dynsel_staging_release(void);

/* A policy is about to leave its resources: frees memory that was allocated with them. Takes the
 * lock. */
void dynsel_staging_leave(const dynsel_policy *policy);

/* All earlier work of the slot is over; see dynsel_order_renew(). */
void dynsel_staging_forget(const dynsel_uses *uses);

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(). */
void dynsel_staging_forget_all(void);
#endif

#endif
