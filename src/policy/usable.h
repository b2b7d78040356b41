/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a policy can be used, and which use of its memory this is. */
#ifndef DYNSEL_POLICY_USABLE_H
#define DYNSEL_POLICY_USABLE_H

#include <dynsel/policy.h>

#include "port/atomic.h"
#include "port/context.h"
#include "port/likely.h"

enum {
    DYNSEL_SUBMIT_WITH_SLOTS = 1,       /* in dynsel_policy.submit_flags: some work may outlive its
                                           submit */
    DYNSEL_SUBMIT_THROUGH_BACKENDS = 4, /* some backend does more than call the task function */
    DYNSEL_SUBMIT_CUSTOM =
        2, /* the policy has a submit, try_submit or submit_and_wait, or no try_select */
    DYNSEL_SUBMIT_BY_PARENT = 8, /* the parent of this process initialized it: no use */
    DYNSEL_SUBMIT_CHANGES = 16   /* its set of resources may change */
};

enum {
    /* Submissions without a slot outlive their policy: deinitialization knows nothing of them. With
     * small tables all have one. Where all work is done in the caller, bytes count more than a
     * release that comes too late. */
    DYNSEL_SUBMISSIONS_KNOW_LIFE =
        CONFIG_DYNSEL_SUBMITS_IN_CALLER + CONFIG_DYNSEL_IN_FLIGHT_SMALL == 0
};

/* Why a policy cannot be used: DYNSEL_E_INVALID or DYNSEL_E_UNINITIALIZED, on behalf of `function`;
 * or DYNSEL_E_CONTEXT: in an interrupt, or after fork(). */
DYNSEL_RARE dynsel_status dynsel_policy_refuse_use(const dynsel_policy *policy,
                                                   const char *function);

static inline bool dynsel_policy_is_initialized(const dynsel_policy *policy)
{
    return policy != NULL && policy->self == policy;
}

/* How many resources are in the table. It may grow meanwhile: loops that need the same number twice
 * keep it. */
static inline uint32_t dynsel_policy_count(const dynsel_policy *policy)
{
#if CONFIG_DYNSEL_RESOURCE_SETS
    return dynsel_number_load_acquire(&policy->count);
#else
    return policy->count;
#endif
}

/* Whether resources may be added to and removed from it. */
static inline bool dynsel_policy_changes(const dynsel_policy *policy)
{
    return CONFIG_DYNSEL_RESOURCE_SETS && (policy->submit_flags & DYNSEL_SUBMIT_CHANGES) != 0;
}

/* By the caller: not from an interrupt. */
static inline bool dynsel_policy_is_usable(const dynsel_policy *policy)
{
    return dynsel_policy_is_initialized(policy) && !dynsel_in_interrupt();
}

/* The number of this initialization of the policy; never 0. Taken at the first call, and unique
 * within 2^31 of them. */
uint32_t dynsel_policy_life(dynsel_policy *policy);

/* life: such a number, of this policy or of an earlier one at its address; 0: none was taken. */
static inline bool dynsel_policy_is_of_life(const dynsel_policy *policy, uint32_t life)
{
    return life == 0 || dynsel_word_load_relaxed(&policy->life) == life;
}

/* Whether work may go on when `start` has returned. */
static inline bool dynsel_outlives_submit(const dynsel_backend *backend)
{
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    return backend->ops->outlives_submit;
#else
    (void)backend;
    return false;
#endif
}

/* Whether slots are needed: constant where there is no table of submissions in flight. */
static inline bool dynsel_policy_outlives(const dynsel_policy *policy)
{
    return CONFIG_DYNSEL_IN_FLIGHT && (policy->submit_flags & DYNSEL_SUBMIT_WITH_SLOTS) != 0;
}

#endif
