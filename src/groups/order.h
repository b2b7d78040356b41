/* SPDX-License-Identifier: Apache-2.0 */
/* Which command groups come before which. Under the lock of src/data/buffers.h. */
#ifndef DYNSEL_GROUPS_ORDER_H
#define DYNSEL_GROUPS_ORDER_H

#include <dynsel/status.h>

#include "groups/group.h"
#include "port/likely.h"

/*
 * Gives the command group its place behind all that were entered before: finds what it depends on,
 * and makes it the last writer or one of the readers of its buffers. function: the public one, for
 * error texts. waits: out, whether dynsel_order_look() has to be asked before the start; else it
 * would say DYNSEL_OK. DYNSEL_E_FULL: a table is full (last error set), and `token` is that of work
 * whose end will make room; DYNSEL_E_STALE: a buffer was ended. Nothing was changed then.
 */
dynsel_status dynsel_order_enter(dynsel_handler *group, const char *function, bool *waits,
                                 uint32_t *token);

/*
 * Whether what it depends on allows the start on its resource: DYNSEL_OK, DYNSEL_E_AGAIN, or
 * another failure (group->error set) when something that it reads was to be written by work that
 * failed, or it is going to fail, and all that it depends on is over. Notes in `after` what to come
 * after by its event; with DYNSEL_E_AGAIN, in group->waits_for what it waits for first.
 */
dynsel_status dynsel_order_look(dynsel_handler *group);

/* A host accessor that waits is given up: takes it out of the order, so that it can end at once and
 * nobody waits for it. Where others came behind it already it stays, until all is over that it
 * depends on. */
void dynsel_order_leave(dynsel_handler *group);

/* Whether somebody has to wait for this work who has it open himself, as a host accessor. */
bool dynsel_order_is_own(uint32_t token);

/* dynsel_pending_ops.holds: work that failed in its start, and whose event (if any) is not that of
 * its command, ends only when what it depends on is over: what comes behind it counts on that.
 * Takes the lock itself. */
bool dynsel_order_holds(const dynsel_slot *slot);

/* What its start or end waits for first, as dynsel_pending_ops.find_dependency says. Takes the lock
 * itself. */
dynsel_status dynsel_order_find_dependency(const dynsel_slot *slot, uint32_t *token);

/* dynsel_pending_ops.ended: takes the lock itself, and only where it failed. */
void dynsel_order_ended(dynsel_slot *slot);

/* Before a slot is used: tokens come round, and what stands in the buffers of this slot's must not
 * be taken for the new work. token: of the slot. Takes the lock itself, and very rarely. */
DYNSEL_RARE void dynsel_order_forget(dynsel_uses *uses);

static inline void dynsel_order_renew(uint32_t token)
{
    dynsel_uses *const uses = dynsel_uses_in(token);
    if (!DYNSEL_LIKELY(token + 1 > uses->token)) {
        dynsel_order_forget(uses);
    }
}

#endif
