/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of devices that ranges are staged in: a table, from which command groups take what they
 * need when they are started, and which keeps the memory for the next. Under the lock of
 * src/data/buffers.h, but for what says otherwise. */
#ifndef DYNSEL_DATA_STAGING_H
#define DYNSEL_DATA_STAGING_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/policy.h>

#include "data/buffer_uses.h"

/* What becomes of a command group's ranges on devices. */
typedef enum dynsel_staging_need {
    DYNSEL_STAGING_FITS,
    DYNSEL_STAGING_TOO_MANY, /* more than there are staging buffers */
    DYNSEL_STAGING_TOO_LARGE /* more than a domain's staging memory */
} dynsel_staging_need;

/* Without the lock. */
dynsel_staging_need dynsel_staging_need_of(const dynsel_uses *uses);

/* Takes all that it needs for its start in its domain, or nothing: DYNSEL_E_AGAIN, with
 * group->obstacle; and group->wants_staging where it is the first in its domain, which those that
 * have some are to tell of their end. */
dynsel_status dynsel_staging_take(dynsel_uses *uses);

/* Token + 1 of who has taken this one of CONFIG_DYNSEL_STAGING_COUNT, or had; 0: nobody. */
uint32_t dynsel_staging_user(uint32_t place);

/* The start did not take place. */
void dynsel_staging_give_back(const dynsel_uses *uses);

/* What was taken: without the lock, for who starts the command group. The memory to be allocated
 * where it has none. */
dynsel_memory *dynsel_staging_memory(const dynsel_staged *staged);

/* The same: the resource that it was allocated with. */
void dynsel_staging_allocated(const dynsel_staged *staged, void *own);

/* Gives one up that nobody uses; false: there was none. Its memory is given back by
 * dynsel_staging_release(). */
bool dynsel_staging_evict(uint32_t domain);

/* Without the lock: gives back what was given up. */
void dynsel_staging_release(void);

/* A policy is about to leave its resources: gives up what was allocated with them. Takes the lock
 * itself. */
void dynsel_staging_leave(const dynsel_policy *policy);

/* As dynsel_order_renew(). */
void dynsel_staging_forget(const dynsel_uses *uses);

#endif
