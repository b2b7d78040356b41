/* SPDX-License-Identifier: Apache-2.0 */
/* The second run of a repeatable command group, whose place in the order is that of the first. */
#ifndef DYNSEL_GROUPS_RUN_AGAIN_H
#define DYNSEL_GROUPS_RUN_AGAIN_H

#include <stdbool.h>

#include "groups/group.h"

#if CONFIG_DYNSEL_REPEAT

/* Claims what the second run of a recorded group needs, on behalf of `function`. */
DYNSEL_RARE dynsel_status dynsel_group_arm(dynsel_handler *group, const dynsel_policy *policy,
                                           const char *function);

/* If the group function said that it is repeatable. */
static inline dynsel_status dynsel_group_arm_repeatable(dynsel_handler *group,
                                                        const dynsel_policy *policy,
                                                        const char *function)
{
    return DYNSEL_LIKELY(!group->repeatable) ? DYNSEL_OK
                                             : dynsel_group_arm(group, policy, function);
}

/* See dynsel_pending_ops. */
dynsel_status dynsel_group_run_again(dynsel_slot *first, dynsel_slot *second);
bool dynsel_group_failed_alone(const dynsel_slot *slot);
bool dynsel_group_is_apart(const dynsel_slot *slot);

#else

static inline dynsel_status dynsel_group_arm_repeatable(const dynsel_handler *group,
                                                        const dynsel_policy *policy,
                                                        const char *function)
{
    (void)group;
    (void)policy;
    (void)function;
    return DYNSEL_OK;
}

#endif

#endif
