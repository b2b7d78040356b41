/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of pending command groups: starts or ends them. */
#ifndef DYNSEL_GROUPS_START_PENDING_H
#define DYNSEL_GROUPS_START_PENDING_H

#include "data/buffers.h"
#include "groups/group.h"

/* Registers with the core, once. Under the lock. */
void dynsel_groups_register(void);

/* Starts or ends all groups that are ready; see submission/pending.h. */
void dynsel_groups_progress(void);

/* Under the lock: whether it may be started now. DYNSEL_OK: the caller starts it, or takes the
 * decision back; DYNSEL_E_AGAIN, with a copy to the host to begin, or NULL; another failure: it
 * never will (group->error). */
dynsel_status dynsel_group_look(dynsel_handler *group, dynsel_buffer_record **copy_out);

/* The same if its dependencies are known to allow it. */
dynsel_status dynsel_group_look_at_data(dynsel_handler *group, dynsel_buffer_record **copy_out);

/* Lets waiting work end without a start; see dynsel_pending_ops.cancel. Dependents of a host
 * accessor are not affected. Takes the lock itself. */
dynsel_status dynsel_group_cancel(dynsel_slot *slot, const dynsel_kept_error *error);

/* Without the lock: starts taken work that may be started. False: it waits again. */
bool dynsel_group_start(dynsel_handler *group);

#endif
