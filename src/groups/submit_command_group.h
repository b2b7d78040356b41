/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a submit that command groups and host accessors share. */
#ifndef DYNSEL_GROUPS_SUBMIT_COMMAND_GROUP_H
#define DYNSEL_GROUPS_SUBMIT_COMMAND_GROUP_H

#include "groups/group.h"
#include "submission/start.h"

/* After the choice: enters the group into the order, publishes it, and starts it if it is ready.
 * references: see dynsel_pending_publish(). A failure has no effect. */
dynsel_status dynsel_group_enter(dynsel_handler *group, const dynsel_submit_options *options,
                                 uint32_t references);

#endif
