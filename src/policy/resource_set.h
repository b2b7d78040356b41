/* SPDX-License-Identifier: Apache-2.0 */
/* Another set of resources for a policy in use: found and verified first, then entered. */
#ifndef DYNSEL_POLICY_RESOURCE_SET_H
#define DYNSEL_POLICY_RESOURCE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/policy.h>

#if CONFIG_DYNSEL_RESOURCE_SETS

/* A set that is about to be entered. */
typedef struct dynsel_new_set {
    dynsel_policy *found;                         /* with the resources of the set, attached */
    uint32_t count;                               /* of these */
    uint32_t before;                              /* how many the policy had */
    uint32_t after;                               /* and has with those that are new */
    uint32_t places[CONFIG_DYNSEL_MAX_RESOURCES]; /* in the policy, of each that was found */
} dynsel_new_set;

/* Finds the resources that `options` say, attaches them, and tells where the policy has them or
 * would. One set at a time: waits for another thread. A failure has no effect; after DYNSEL_OK the
 * set has to be entered or dropped. */
dynsel_status dynsel_set_find(dynsel_policy *policy, const dynsel_options *options,
                              const char *function, dynsel_new_set *set);

/* Whether a resource of the policy is in the set. */
bool dynsel_set_has(const dynsel_new_set *set, uint32_t place);

/* Puts the new resources into the table, and those that were removed and come back. Those that the
 * policy has already stay as they are. DYNSEL_E_FULL, or the policy refuses one: the set was
 * dropped, and nothing else changed. */
dynsel_status dynsel_set_enter(dynsel_policy *policy, dynsel_new_set *set, const char *function);

void dynsel_set_drop(dynsel_new_set *set);

/* The resource has left: no work holds it, and no more can come. */
void dynsel_set_remove(dynsel_policy *policy, uint32_t index);

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(). */
void dynsel_sets_forget(void);
#endif

#endif

#endif
