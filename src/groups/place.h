/* SPDX-License-Identifier: Apache-2.0 */
/* From a command group that was recorded to its place: on a resource, and in the order. */
#ifndef DYNSEL_GROUPS_PLACE_H
#define DYNSEL_GROUPS_PLACE_H

#include "groups/group.h"
#include "submission/start.h"

/* Has the policy choose, for a slot that is not published. */
dynsel_status dynsel_place_choose(dynsel_handler *group, dynsel_policy *policy,
                                  const dynsel_manner *manner);

/* The same after a refusal; see dynsel_deferred_choose_again(). */
dynsel_status dynsel_place_choose_again(dynsel_handler *group);

/* Under the lock: takes over what was chosen. DYNSEL_E_FULL: too many domains (last error set). */
dynsel_status dynsel_place_take(dynsel_handler *group);

/* After the choice: gives it its place in the order, publishes it, and starts it, or lets it wait.
 * keepers: as of dynsel_deferred_publish(). A failure had no effect. */
dynsel_status dynsel_place_enter(dynsel_handler *group, const dynsel_manner *manner,
                                 uint32_t keepers);

#endif
