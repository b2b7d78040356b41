/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a policy to choose the resource of a command group. */
#ifndef DYNSEL_GROUPS_CHOOSE_RESOURCE_H
#define DYNSEL_GROUPS_CHOOSE_RESOURCE_H

#include "groups/group.h"
#include "submission/start.h"

/* Before the slot is published. */
dynsel_status dynsel_choose_resource(dynsel_handler *group, dynsel_policy *policy,
                                     const dynsel_submit_options *options);

/* The same after the chosen resource refused the start; see dynsel_pending_choose_again(). */
dynsel_status dynsel_choose_resource_again(dynsel_handler *group);

#if CONFIG_DYNSEL_REPEAT
/* The same for the slot of a second run, but for the resource of the first. */
dynsel_status dynsel_choose_resource_elsewhere(dynsel_handler *group, dynsel_slot *second);
#endif

/* Under the lock: copies the choice of a slot into the group. DYNSEL_E_FULL: too many domains (last
 * error set). */
dynsel_status dynsel_take_choice(dynsel_handler *group, const dynsel_slot *slot);

#endif
