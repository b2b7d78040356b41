/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submissions that a command group follows because its group function said so
 * (dynsel_depends_on()): command groups, and tasks. They are in `followed` of the group, the tasks
 * first, and those that are not over in its dependencies, before all others.
 */
#ifndef DYNSEL_GROUPS_FOLLOW_H
#define DYNSEL_GROUPS_FOLLOW_H

#include <dynsel/error.h>

#include "groups/group.h"
#include "port/likely.h"

/* Whether the group follows work that is over and has failed. For the thread that starts, runs or
 * ends the group, or under the lock. */
static inline bool dynsel_follows_failure(const dynsel_handler *group)
{
    return dynsel_group_follows(group) && dynsel_followed_has_failed(&group->followed);
}

/* The error of such a group. */
dynsel_error dynsel_follow_error(const dynsel_handler *group);

/* Before the start: makes the results of the work that it follows visible, where that was only
 * polled. Without the lock. */
DYNSEL_RARE void dynsel_follow_synchronize(const dynsel_handler *group);

/* The group has ended: it fails if work that it follows has failed. error: in and out. */
DYNSEL_RARE void dynsel_follow_end(dynsel_handler *group, dynsel_kept_error *error);

#endif
