/* SPDX-License-Identifier: Apache-2.0 */
/* Starts or ends pending command groups as soon as their dependencies and data allow it. */
#ifndef DYNSEL_GROUPS_START_PENDING_H
#define DYNSEL_GROUPS_START_PENDING_H

#include "data/buffers.h"
#include "groups/group.h"

/* Starts or ends all groups that are ready; returns as dynsel_pending_ops.progress. */
bool dynsel_groups_progress(void);

/* Under the lock: whether the group may be started now. DYNSEL_OK: the caller starts it, or rolls
 * the decision back. DYNSEL_E_AGAIN: not yet; copy_out: a copy to the host that the caller begins,
 * or NULL. Another failure: never (group->error). */
dynsel_status dynsel_group_look(dynsel_handler *group, dynsel_buffer_record **copy_out);

/* The same if its dependencies are known to allow the start. */
dynsel_status dynsel_group_look_at_data(dynsel_handler *group, dynsel_buffer_record **copy_out);

/* Ends waiting work without a start; see dynsel_pending_ops.cancel. Dependents of a host accessor
 * are not affected. Takes the lock itself. */
dynsel_status dynsel_group_cancel(dynsel_slot *slot, const dynsel_kept_error *error);

/* Without the lock: starts a group that left the state WAITING. False: it waits again. */
bool dynsel_group_start(dynsel_handler *group);

#endif
