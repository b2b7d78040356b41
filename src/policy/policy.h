/* SPDX-License-Identifier: Apache-2.0 */
/* Policies, for the layers above: their state, and the initialization of the built-in ones. */
#ifndef DYNSEL_POLICY_POLICY_H
#define DYNSEL_POLICY_POLICY_H

#include <dynsel/policy.h>

#include "policy/candidates.h"
#include "policy/health.h"
#include "policy/selection.h"
#include "policy/task.h"
#include "policy/traced.h"
#include "policy/usable.h"

/* The name of a policy of the library. */
#if CONFIG_DYNSEL_STATUS_NAMES
#define DYNSEL_POLICY_NAME(text) (text)
#else
#define DYNSEL_POLICY_NAME(text) ""
#endif

/* In the operations of a policy that needs reports, and times. */
#if CONFIG_DYNSEL_IN_FLIGHT_SMALL
void dynsel_tell_step(struct dynsel_slot *slot);
void dynsel_note_time(struct dynsel_slot *slot, uint64_t end_ns);
#define DYNSEL_HEARS_STEPS .note_step = dynsel_tell_step,
#define DYNSEL_HEARS_TIMES .note_step = dynsel_tell_step, .note_end = dynsel_note_time,
#else
#define DYNSEL_HEARS_STEPS
#define DYNSEL_HEARS_TIMES
#endif

/* In the operations of a policy that has nothing to prepare for another resource. */
#if CONFIG_DYNSEL_RESOURCE_SETS
dynsel_status dynsel_policy_take_any(dynsel_policy *policy, uint32_t index);
#define DYNSEL_TAKES_ANY_RESOURCE .add_resource = dynsel_policy_take_any,
#else
#define DYNSEL_TAKES_ANY_RESOURCE
#endif

/* In the operations of a policy that knows no times. */
#if CONFIG_DYNSEL_BACKEND_THREADS || CONFIG_DYNSEL_BACKEND_OPENCL || CONFIG_DYNSEL_BACKEND_MPI
#define DYNSEL_LEAVES_OUT_CALLER .leaves_out_caller = true,
#else
#define DYNSEL_LEAVES_OUT_CALLER
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Whether it chooses without looking at data and at what has ended. */
static inline bool dynsel_policy_is_settled(const dynsel_policy *policy)
{
    return policy->ops->is_settled != NULL && policy->ops->is_settled(policy);
}
#endif

/* dynsel_policy_init() for the library's own: `offset` must be in the table. */
dynsel_status dynsel_policy_init_at(dynsel_policy *policy, const dynsel_policy_ops *ops,
                                    const dynsel_options *options, size_t offset);

#endif
