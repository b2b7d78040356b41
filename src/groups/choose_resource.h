/* SPDX-License-Identifier: Apache-2.0 */
/* Has a policy choose the resource of a command group. */
#ifndef DYNSEL_GROUPS_CHOOSE_RESOURCE_H
#define DYNSEL_GROUPS_CHOOSE_RESOURCE_H

#include "groups/group.h"
#include "submission/start.h"

/* For a slot that is not published. */
dynsel_status dynsel_choose_resource(dynsel_handler *group, dynsel_policy *policy,
                                     const dynsel_submit_options *options);

/* The same after a refusal; see dynsel_pending_choose_again(). */
dynsel_status dynsel_choose_resource_again(dynsel_handler *group);

/* Under the lock: takes over what was chosen. DYNSEL_E_FULL: too many domains (last error set). */
dynsel_status dynsel_take_choice(dynsel_handler *group);

#endif
