/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at command groups that wait, and starts or ends them. */
#ifndef DYNSEL_GROUPS_PROGRESS_H
#define DYNSEL_GROUPS_PROGRESS_H

#include "data/buffers.h"
#include "groups/group.h"

/* Registers with the core, once. Under the lock. */
void dynsel_waiting_register(void);

/* Starts or ends all that can be; see submission/pending.h. */
void dynsel_waiting_progress(void);

/* Under the lock: whether it may be started now. DYNSEL_OK: it has to be, or taken back;
 * DYNSEL_E_AGAIN, with a copy to the host to begin, or NULL; or why it never will
 * (group->error). */
dynsel_status dynsel_waiting_look(dynsel_handler *group, dynsel_buffer_record **copy_out);

/* The same where the order is known to allow it. */
dynsel_status dynsel_waiting_look_at_data(dynsel_handler *group, dynsel_buffer_record **copy_out);

/* Without the lock: starts work that was taken after a look that allowed it. False: it waits again.
 */
bool dynsel_waiting_start(dynsel_handler *group);

#endif
