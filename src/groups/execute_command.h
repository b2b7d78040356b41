/* SPDX-License-Identifier: Apache-2.0 */
/* Executes the command of a command group on the chosen resource. */
#ifndef DYNSEL_GROUPS_EXECUTE_COMMAND_H
#define DYNSEL_GROUPS_EXECUTE_COMMAND_H

#include <dynsel/task.h>

/* The task function of all command groups; args: the dynsel_handler. Copies the data in, then
 * launches the command or calls its host form. Takes the lock several times, never while a driver
 * or the user's function runs. */
dynsel_status dynsel_group_run(const dynsel_resource *where, void *args, dynsel_event *done);

#endif
