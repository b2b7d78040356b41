/* SPDX-License-Identifier: Apache-2.0 */
/* The order of command groups. Under the lock of src/data/buffers.h. */
#ifndef DYNSEL_GROUPS_ORDER_H
#define DYNSEL_GROUPS_ORDER_H

#include <dynsel/status.h>

#include "groups/group.h"
#include "port/likely.h"

/*
 * Enters the command group behind all earlier ones: finds its dependencies, and makes it the last
 * writer or a reader of its buffers. function: the public one, for error texts. waits: out, whether
 * dynsel_order_look() has to be asked before the start; else it would say DYNSEL_OK. DYNSEL_E_FULL:
 * a table is full (last error set), and `token` is that of work whose end will make room;
 * DYNSEL_E_STALE: a buffer was ended. Nothing was changed then.
 */
dynsel_status dynsel_order_enter(dynsel_handler *group, const char *function, bool *waits,
                                 uint32_t *token);

/*
 * Whether its dependencies allow the start on its resource: DYNSEL_OK, DYNSEL_E_AGAIN, or another
 * failure (group->error set) if it reads the output of failed work or will fail, and all
 * dependencies are over. Sets `after` to the work whose events it follows, and with DYNSEL_E_AGAIN
 * group->waits_for.
 */
dynsel_status dynsel_order_look(dynsel_handler *group);

/* Removes a waiting host accessor from the order, so that it can end at once. If other groups
 * depend on it, it stays until its dependencies are over. */
void dynsel_order_leave(dynsel_handler *group);

/* Whether this work is a host accessor that the calling thread has open. */
bool dynsel_order_is_own(uint32_t token);

/* dynsel_pending_ops.holds: work that failed in its start without an event of its command ends only
 * after its dependencies, because its dependents rely on that. Takes the lock itself. */
bool dynsel_order_holds(const dynsel_slot *slot);

/* dynsel_pending_ops.find_dependency. Takes the lock itself. */
dynsel_status dynsel_order_find_dependency(const dynsel_slot *slot, uint32_t *token);

/* dynsel_pending_ops.ended. Takes the lock itself, and only after a failure. */
void dynsel_order_ended(dynsel_slot *slot);

/* Before a slot is used: tokens wrap, and old tokens of this slot in buffers must not be taken for
 * the new work. token: of the slot. Takes the lock itself, and very rarely. */
DYNSEL_RARE void dynsel_order_forget(dynsel_uses *uses);

static inline void dynsel_order_renew(uint32_t token)
{
    dynsel_uses *const uses = dynsel_uses_in(token);
    if (!DYNSEL_LIKELY(token + 1 > uses->token)) {
        dynsel_order_forget(uses);
    }
}

#endif
