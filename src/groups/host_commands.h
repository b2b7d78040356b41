/* SPDX-License-Identifier: Apache-2.0 */
/* Commands in the host's memory. */
#ifndef DYNSEL_GROUPS_HOST_COMMANDS_H
#define DYNSEL_GROUPS_HOST_COMMANDS_H

#include "groups/group.h"

/* Runs the command's host form in this thread; its arguments point to the host's memory. */
dynsel_status dynsel_host_command(dynsel_handler *group);

#endif
