/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers as arguments: which resources reach what they point to. */
#ifndef DYNSEL_GROUPS_POINTERS_H
#define DYNSEL_GROUPS_POINTERS_H

#include "groups/group.h"
#include "policy/policy.h"

/* Keeps the blocks of shared memory that they point into, until the group lets go of them: when it
 * is over or was refused. */
void dynsel_pointers_hold(dynsel_handler *group);
void dynsel_pointers_let_go(dynsel_handler *group);

/* Whether some resource does not take all pointers of the group; excluded: out, a bit for each
 * resource of the policy, in DYNSEL_EXCLUDED_WORDS words. */
bool dynsel_pointers_exclude(const dynsel_handler *group, const dynsel_policy *policy,
                             uint32_t *excluded);

/* Why resources were passed over, and none was left; on behalf of `function`. */
DYNSEL_RARE dynsel_status dynsel_pointers_refuse(const dynsel_handler *group,
                                                 const dynsel_policy *policy, const char *function);

#endif
