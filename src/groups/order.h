/* SPDX-License-Identifier: Apache-2.0 */
/* The order of command groups. Under the lock of src/data/buffers.h. */
#ifndef DYNSEL_GROUPS_ORDER_H
#define DYNSEL_GROUPS_ORDER_H

#include <dynsel/status.h>

#include "groups/group.h"
#include "port/likely.h"

/*
 * Enters the command group behind all earlier ones: finds its dependencies, and makes it the last
 * writer or a reader of its buffers. function: the public function, for error texts. waits: out;
 * false: dynsel_order_look() would return DYNSEL_OK. DYNSEL_E_FULL: a table is full (last error
 * set), and `token` is that of work whose end will make room. DYNSEL_E_STALE: a buffer was ended. A
 * failure has no effect.
 */
dynsel_status dynsel_order_enter(dynsel_handler *group, const char *function, bool *waits,
                                 uint32_t *token);

/*
 * Whether the dependencies allow the start on the group's resource: DYNSEL_OK, DYNSEL_E_AGAIN, or
 * another failure (group->error set) if all dependencies are over and the group reads the output of
 * failed work or will fail for another reason. Sets `after` to the work whose events the command
 * waits for, and with DYNSEL_E_AGAIN group->waits_for.
 */
dynsel_status dynsel_order_look(dynsel_handler *group);

/* Removes a waiting host accessor from the order, so that it can end immediately. If other groups
 * depend on it, it stays until its dependencies are over. */
void dynsel_order_leave(dynsel_handler *group);

/* Whether the work is a host accessor that the calling thread has open. */
bool dynsel_order_is_own(uint32_t token);

/* dynsel_pending_ops.holds: work that failed in its start without an event of its command ends only
 * after its dependencies, because its dependents rely on that. Takes the lock itself. */
bool dynsel_order_holds(const dynsel_slot *slot);

/* dynsel_pending_ops.find_dependency. Takes the lock itself. */
dynsel_status dynsel_order_find_dependency(const dynsel_slot *slot, uint32_t *token);

/* dynsel_pending_ops.ended. Takes the lock itself, and only after a failure. */
void dynsel_order_ended(dynsel_slot *slot);

/* Removes the tokens of the slot's earlier work from buffers. Takes the lock. */
DYNSEL_RARE void dynsel_order_forget(dynsel_uses *uses);

/* Before a slot is used. Tokens wrap; then tokens of earlier work could be taken for the new work.
 * */
static inline void dynsel_order_renew(uint32_t token)
{
    dynsel_uses *const uses = dynsel_uses_in(token);
    if (!DYNSEL_LIKELY(token + 1 > uses->token)) {
        dynsel_order_forget(uses);
    }
}

#endif
