/* SPDX-License-Identifier: Apache-2.0 */
/* Which resources can access the memory behind pointer arguments. */
#ifndef DYNSEL_GROUPS_POINTER_ACCESS_H
#define DYNSEL_GROUPS_POINTER_ACCESS_H

#include "groups/group.h"
#include "policy/policy.h"

/* References to the blocks of shared memory behind the pointers, until the group is over or was
 * refused. given_up: a resource that was given up may still run it. */
void dynsel_pointers_ref(dynsel_handler *group);
void dynsel_pointers_unref(dynsel_handler *group, bool given_up);

/* Sets a bit in `excluded` (DYNSEL_EXCLUDED_WORDS words) for each resource of the policy that
 * cannot access all pointers of the group. False: there is none. */
bool dynsel_pointers_exclude(const dynsel_handler *group, const dynsel_policy *policy,
                             uint32_t *excluded);

/* Fails because all resources were excluded, on behalf of `function`. */
DYNSEL_RARE dynsel_status dynsel_pointers_refuse(const dynsel_handler *group,
                                                 const dynsel_policy *policy, const char *function);

#endif
