/* SPDX-License-Identifier: Apache-2.0 */
/* Pointer arguments: which resources can access the memory. */
#ifndef DYNSEL_GROUPS_POINTER_ACCESS_H
#define DYNSEL_GROUPS_POINTER_ACCESS_H

#include "groups/group.h"
#include "policy/policy.h"

/* Holds references to the blocks of shared memory behind the pointers, until the group is over or
 * was refused. */
void dynsel_pointers_hold(dynsel_handler *group);
void dynsel_pointers_let_go(dynsel_handler *group);

/* Whether a resource cannot access all pointers of the group; excluded: out, a bit for each
 * resource of the policy, in DYNSEL_EXCLUDED_WORDS words. */
bool dynsel_pointers_exclude(const dynsel_handler *group, const dynsel_policy *policy,
                             uint32_t *excluded);

/* Fails because all resources were excluded, on behalf of `function`. */
DYNSEL_RARE dynsel_status dynsel_pointers_refuse(const dynsel_handler *group,
                                                 const dynsel_policy *policy, const char *function);

#endif
